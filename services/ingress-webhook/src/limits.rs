//! Limits how many calls one process handles, and for how long. Reading and handling have separate
//! permits, so that slow callers cannot block handling.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    http::HeaderMap,
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use seven_http::{BodyFault, Connections, Crowd, Waits, read_body};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::answer::Answer;

/// Limits on the number of calls in progress, on the time of each call, and on callers that are
/// slow to send.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of calls handled at once. Further calls wait for a permit until their own
    /// time limit.
    pub concurrency: usize,
    /// Time from a call's head to its answer. A call that takes longer gets 503, so its provider
    /// repeats it. The body must arrive within half of this time; otherwise the call gets 408, for
    /// which nobody is paged.
    pub request: Duration,
    pub connections: Connections,
    /// Maximum number of calls whose body has not arrived yet.
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

    /// Reads the whole body.
    pub(crate) async fn read(
        &self,
        client: Option<IpAddr>,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Bytes, Answer> {
        let read = read_body(&self.bodies, client, headers, body, self.request / 2);
        read.await.map_err(|fault| match fault {
            BodyFault::TooLarge => Answer::TooLarge,
            BodyFault::TooSlow => Answer::TooSlow,
            BodyFault::Displaced => Answer::Displaced,
        })
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
