//! A stage at work in this process, as its loops share it.

use std::{
    future::Future,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use prost::Message;
use seven_domain::{CasinoId, Lane, Stage, TraceContext};
use tokio::sync::{Semaphore, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{pulls::Pulls, tries::Tries};
use crate::{Bus, Roster};

/// A stage's work on one event. Implementations are thin and idempotent: a message may come again at any time.
pub trait Handler: Send + Sync + 'static {
    type Event: Message + Default;
    const STAGE: Stage;

    fn handle(&self, delivery: Delivery<Self::Event>) -> impl Future<Output = Outcome> + Send;

    /// True when the stage's own dependencies answer; asked while the stage waits after `Unavailable`.
    fn ready(&self) -> impl Future<Output = bool> + Send;
}

#[derive(Debug)]
pub(super) struct Shared<H> {
    pub(super) handler: H,
    pub(super) bus: Bus,
    pub(super) roster: Roster,
    pub(super) settings: WorkerSettings,
    pub(super) permits: Arc<Semaphore>,
    pub(super) safety_permits: Arc<Semaphore>,
    /// Casinos (by lane) with messages in work here, those of the safety lane apart.
    pub(super) busy: AtomicUsize,
    pub(super) safety_busy: AtomicUsize,
    /// False while a dependency is away.
    pub(super) open: watch::Sender<bool>,
    pub(super) pulls: Pulls,
    pub(super) tries: Tries,
    pub(super) tasks: TaskTracker,
    pub(super) shutdown: CancellationToken,
}

/// One message, decoded.
#[derive(Debug, Clone)]
pub struct Delivery<E> {
    pub casino: CasinoId,
    pub event: E,
    pub trace: TraceContext,
    /// The message's identity, the same for each of its copies.
    pub key: String,
    pub stream_seq: u64,
    /// 1 at first; counts waits too, so it says nothing about failures.
    pub deliveries: i64,
    /// Which try this is in this process, from 1: one more than the failures before.
    pub tries: u32,
}

/// Result of handling a message. The loop, and nothing else, acknowledges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The effect is durable and what follows is published.
    Done,
    /// This message failed; the row counts the try.
    Retry { after: Duration, why: String },
    /// Nothing is wrong, it is too early: a lease, a pace, a window.
    Wait { after: Duration, why: &'static str },
    /// A dependency is away: hand back everything and stop pulling until it answers.
    Unavailable { what: String },
    /// This message cannot be handled: a dead letter (D17).
    Park { reason: String, error: String, attempts: u32 },
}

#[derive(Debug, Clone, Copy)]
pub struct WorkerSettings {
    /// Messages in work at once; the safety lane has a reserve of its own of an eighth of this, at least 4.
    pub concurrency: usize,
    /// A handler that takes longer is abandoned and the message comes again.
    pub deadline: Duration,
    /// How long finishing may take after shutdown begins; then messages go back.
    pub drain: Duration,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { concurrency: 64, deadline: Duration::from_secs(60), drain: Duration::from_secs(8) }
    }
}

impl WorkerSettings {
    /// With no more in work at once.
    #[must_use]
    pub fn at_most(self, concurrency: usize) -> Self {
        Self { concurrency: self.concurrency.min(concurrency), ..self }
    }

    /// Messages of a lane in work here at once, at most: whoever scales by the backlog must expect as many in every worker.
    pub fn permits(&self, lane: Option<Lane>) -> usize {
        if lane == Some(Lane::Safety) { (self.concurrency / 8).max(4) } else { self.concurrency }
    }
}
