//! Limits how many calls one process handles, and for how long. Reading and handling have separate
//! permits, so that slow callers cannot block handling.

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
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    answer::Answer,
    crowd::{Crowd, Waits},
};

/// Largest body that is read, in bytes; enforced with and without Content-Length.
const BODY_LIMIT: usize = 64 * 1024;

/// The most calls in progress, how long one may take, and how many callers may keep us waiting.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Calls handled at once. Further ones wait for a permit within their own time limit.
    pub concurrency: usize,
    /// Time from a call's head to its answer; after it the call gets 503, which providers repeat.
    /// The body may take half of it; later it gets 408, which pages nobody.
    pub request: Duration,
    /// Time in which a call's head must arrive, and how long a connection without a call stays
    /// open.
    pub head: Duration,
    /// Most open connections.
    pub connections: usize,
    /// Most connections that wait for a call.
    pub idle: Waits,
    /// Most calls whose body has not arrived yet.
    pub bodies: Waits,
}

/// The permits of one process.
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

    /// Reads the whole body. A body that arrived with its head never waits, so it cannot be
    /// displaced.
    pub(crate) async fn read(
        &self,
        client: Option<IpAddr>,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Bytes, Answer> {
        let announced = headers
            .get(CONTENT_LENGTH)
            .and_then(|n| n.to_str().ok()?.parse::<usize>().ok());
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

    /// Returns a permit to handle a call. Only calls with a valid signature ask for one.
    pub(crate) async fn handle(&self) -> Result<OwnedSemaphorePermit, Answer> {
        Arc::clone(&self.handling)
            .acquire_owned()
            .await
            .map_err(|_| Answer::NotDone)
    }
}

/// Answers 503 to a call that is not answered within its time.
pub(crate) async fn in_time(State(places): State<Places>, call: Request, next: Next) -> Response {
    timeout(places.request, next.run(call))
        .await
        .unwrap_or_else(|_| Answer::NotDone.into_response())
}
