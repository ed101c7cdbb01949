//! How much one process takes on at once, and for how long (DEP-3). Reading a call and handling it have places of their own: a caller that
//! sends slowly, and a store that hangs, each cost a place of their kind and never the worker.

use std::{net::IpAddr, pin::pin, sync::Arc, task::Poll, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, header::CONTENT_LENGTH},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures::poll;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    answer::Answer,
    crowd::{Crowd, Waits},
};

/// Largest body we read; enforced with and without Content-Length.
const BODY_LIMIT: usize = 64 * 1024;

/// The most calls in progress, how long one may take, and how many callers may keep us waiting.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Calls handled at once. Further ones wait for a place, as long as their own time allows.
    pub concurrency: usize,
    /// From a call's head to its answer, the wait and the reading of its body included; beyond it 503, which providers repeat. Half of it
    /// for the body: a caller that sends no faster gets 408, for which nobody is woken.
    pub request: Duration,
    /// Time for the head of a call, and for which a connection without one stays open.
    pub head: Duration,
    /// Open connections.
    pub connections: usize,
    /// Connections that wait for a call.
    pub idle: Waits,
    /// Bodies that are waited for.
    pub bodies: Waits,
}

/// The places of one process.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    handling: Arc<Semaphore>,
    bodies: Crowd,
    request: Duration,
}

// === impl Places ===

impl Places {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            handling: Arc::new(Semaphore::new(limits.concurrency)),
            bodies: Crowd::new(limits.bodies),
            request: limits.request,
        }
    }

    /// The whole body. One that came with its head takes a place for a moment at most, and is never the one that has waited longest.
    pub(crate) async fn read(&self, client: Option<IpAddr>, headers: &HeaderMap, body: Body) -> Result<Bytes, Answer> {
        let announced = headers.get(CONTENT_LENGTH).and_then(|n| n.to_str().ok()?.parse::<usize>().ok());
        if announced.is_some_and(|n| n > BODY_LIMIT) {
            return Err(Answer::TooLarge);
        }
        let mut reading = pin!(to_bytes(body, BODY_LIMIT));
        if let Poll::Ready(body) = poll!(reading.as_mut()) {
            return body.map_err(|_| Answer::TooLarge);
        }
        let displaced = CancellationToken::new();
        let _place = self.bodies.enter(client, displaced.clone());
        tokio::select! {
            body = reading => body.map_err(|_| Answer::TooLarge),
            () = displaced.cancelled() => Err(Answer::Displaced),
            () = sleep(self.request / 2) => Err(Answer::TooSlow),
        }
    }

    /// A place among the calls that are handled. Only calls whose signature is right ask for one.
    pub(crate) async fn handle(&self) -> Result<SemaphorePermit<'_>, Answer> {
        self.handling.acquire().await.map_err(|_| Answer::NotDone)
    }
}

/// Ends a call that is not answered in its time.
pub(crate) async fn in_time(State(places): State<Places>, call: Request, next: Next) -> Response {
    timeout(places.request, next.run(call)).await.unwrap_or_else(|_| Answer::NotDone.into_response())
}
