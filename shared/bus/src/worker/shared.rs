//! The state of a stage in this process, shared by its loops.

use std::{future::Future, sync::atomic::AtomicUsize, time::Duration};

use prost::Message;
use seven_domain::{CasinoId, Queue, Stage, TraceContext};
use tokio::sync::{Semaphore, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{pulls::Pulls, tries::Tries};
use crate::{Bus, Roster};

/// A stage's work on one event. Implementations are thin and idempotent: a message may be
/// redelivered at any time.
pub trait Handler: Send + Sync + 'static {
    type Event: Message + Default;
    const STAGE: Stage;

    fn handle(&self, delivery: Delivery<Self::Event>) -> impl Future<Output = Outcome> + Send;

    /// Returns whether the stage's own dependencies answer; called while the stage waits after
    /// `Unavailable`.
    fn ready(&self) -> impl Future<Output = bool> + Send;
}

#[derive(Debug)]
pub(super) struct Shared<H> {
    pub(super) handler: H,
    pub(super) bus: Bus,
    pub(super) roster: Roster,
    pub(super) settings: WorkerSettings,
    pub(super) urgent: Reserve,
    pub(super) safety: Reserve,
    /// Permits of all queues except the urgent and the safety queue.
    pub(super) usual: Reserve,
    /// False while a dependency is unreachable.
    pub(super) open: watch::Sender<bool>,
    pub(super) pulls: Pulls,
    pub(super) tries: Tries,
    pub(super) tasks: TaskTracker,
    pub(super) shutdown: CancellationToken,
}

/// Permits for messages in progress, shared by one or more queues.
#[derive(Debug)]
pub(super) struct Reserve {
    pub(super) permits: Semaphore,
    /// Number of consumers (of a casino and queue) with messages in progress.
    pub(super) busy: AtomicUsize,
}

impl Reserve {
    pub(super) fn new(permits: usize) -> Self {
        Self {
            permits: Semaphore::new(permits),
            busy: AtomicUsize::new(0),
        }
    }
}

impl<H> Shared<H> {
    pub(super) fn reserve(&self, queue: Option<Queue>) -> &Reserve {
        match queue {
            Some(Queue::Urgent) => &self.urgent,
            Some(Queue::Safety) => &self.safety,
            Some(Queue::Reply | Queue::Bulk) | None => &self.usual,
        }
    }
}

/// One decoded message.
#[derive(Debug, Clone)]
pub struct Delivery<E> {
    pub casino: CasinoId,
    pub event: E,
    pub trace: TraceContext,
    /// The message's identity, the same for each of its copies.
    pub key: String,
    pub stream_seq: u64,
    /// Number of deliveries, 1 at first. It includes waits, so it is not the number of failures.
    pub deliveries: i64,
    /// Number of this try in this process, from 1: one more than the previous failures.
    pub tries: u32,
}

/// Result of handling a message. Only the worker loop acknowledges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The effect is durable and the follow-up messages are published.
    Done,
    /// The message failed; it is retried after `after`, and the try is counted.
    Retry { after: Duration, why: String },
    /// Nothing failed, but it is too early because of a lease, a pace or a time window.
    Wait { after: Duration, why: &'static str },
    /// A dependency is unreachable: the stage returns all messages and stops pulling until the
    /// dependency answers.
    Unavailable { what: String },
    /// The message cannot be handled and becomes a dead letter (D17).
    Park {
        reason: String,
        error: String,
        attempts: u32,
    },
}

#[derive(Debug, Clone, Copy)]
pub struct WorkerSettings {
    /// Maximum number of messages in progress. The urgent and the safety queue each have an
    /// additional reserve: an eighth of this number, but at least 4.
    pub concurrency: usize,
    /// Longest time a handler may take; then the handler is cancelled and the message is
    /// redelivered.
    pub deadline: Duration,
    /// Longest time for finishing messages after shutdown begins; the others are then returned to
    /// the bus.
    pub drain: Duration,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self {
            concurrency: 64,
            deadline: Duration::from_secs(60),
            drain: Duration::from_secs(8),
        }
    }
}

impl WorkerSettings {
    /// Returns the settings with the concurrency limited to this number.
    #[must_use]
    pub fn at_most(self, concurrency: usize) -> Self {
        Self {
            concurrency: self.concurrency.min(concurrency),
            ..self
        }
    }

    /// Returns the maximum number of a queue's messages in progress in this process.
    /// `deploy/render` computes the autoscaler's backlog thresholds from the same number.
    pub fn permits(&self, queue: Option<Queue>) -> usize {
        match queue {
            Some(Queue::Urgent | Queue::Safety) => (self.concurrency / 8).max(4),
            Some(Queue::Reply | Queue::Bulk) | None => self.concurrency,
        }
    }
}
