//! What one process takes on at once, and for how long (DEP-3): a caller that sends slowly, and a store that hangs, cost a place, never
//! the worker.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::{sync::Semaphore, time::timeout};

use crate::answer::Answer;

/// The most calls in progress, and how long one may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Further calls wait for a place, as long as their own time allows.
    pub concurrency: usize,
    /// From a call's head to its answer, the wait and the reading of its body included; beyond it 503, which providers repeat. Half of it
    /// for the body: who sends no faster gets 408, for which nobody is woken.
    pub request: Duration,
}

/// The places of one process.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    request: Duration,
}

impl Places {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { free: Arc::new(Semaphore::new(limits.concurrency)), request: limits.request }
    }
}

/// Lets a call in when there is a place.
pub(crate) async fn limit(State(places): State<Places>, call: Request, next: Next) -> Response {
    let answered = async {
        let _place = places.free.acquire().await.ok()?;
        Some(next.run(call).await)
    };
    timeout(places.request, answered).await.ok().flatten().unwrap_or_else(|| Answer::NotDone.into_response())
}
