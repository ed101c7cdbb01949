//! The worker loop of every stage (D16). It pulls messages, gives each casino its fair share and
//! limits concurrency. The loop stops pulling while a dependency is down. No other code
//! acknowledges messages.

mod in_work;
mod process;
mod pulls;
mod share;
mod shared;
mod tries;

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_nats::{Subscriber, jetstream::AckKind};
use futures::StreamExt;
use seven_domain::{CasinoId, Queue};
use seven_telemetry::metrics;
use tokio::{sync::watch, time::sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{
    pulls::{End, Pulls, Seat},
    share::InWorkGuard,
    shared::{Reserve, Shared},
    tries::Tries,
};
use crate::{Bus, Error, Roster, topology};

pub use self::shared::{Delivery, Handler, Outcome, WorkerSettings};

/// A stage that runs in this process.
#[derive(Debug)]
pub struct Worker<H> {
    shared: Arc<Shared<H>>,
}

/// How long a pull waits for messages. It is long because a fleet has thousands of consumers,
/// nearly all of them idle. A new connection ends the pull at once.
const PULL_EXPIRES: Duration = Duration::from_secs(30);
/// Pause after a pull that the server refused, doubled after each further refusal up to one second.
/// It limits the load after a server's restart, when the consumers of hundreds of casinos are
/// missing.
const PULL_RETRY_DELAY: Duration = Duration::from_millis(250);
const PULL_RETRY_DELAY_MAX: Duration = Duration::from_secs(1);
/// Delay before the redelivery of a message whose casino this process no longer serves. Without the
/// delay, a pull that is still open would get the message again and again.
const UNSERVED_NAK_DELAY: Duration = Duration::from_secs(5);
const ROSTER_PERIOD: Duration = Duration::from_millis(500);

// === impl Worker ===

impl<H: Handler> Worker<H> {
    pub fn new(
        handler: H,
        bus: Bus,
        roster: Roster,
        settings: WorkerSettings,
        shutdown: CancellationToken,
    ) -> Self {
        let shared = Shared {
            handler,
            pulls: Pulls::new(&bus),
            tries: Tries::default(),
            bus,
            roster,
            settings,
            urgent: Reserve::new(settings.permits(Some(Queue::Urgent))),
            safety: Reserve::new(settings.permits(Some(Queue::Safety))),
            usual: Reserve::new(settings.permits(None)),
            open: watch::Sender::new(true),
            tasks: TaskTracker::new(),
            shutdown,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Runs until shutdown, then finishes the messages in progress or returns them to the bus.
    pub async fn run(self) {
        let shared = self.shared;
        let mut pulling: HashMap<(CasinoId, Option<Queue>), CancellationToken> = HashMap::new();
        let pullers = TaskTracker::new();
        shared.tasks.spawn(Arc::clone(&shared).probe_loop());
        // Subscribes before the first pull: if nobody subscribes to a pull's replies, the server
        // forgets the pull.
        if let Some(arriving) = shared.subscribe().await {
            shared.tasks.spawn(Arc::clone(&shared).receive(arriving));
        }
        while !shared.shutdown.is_cancelled() {
            let serving = shared.roster.serving();
            pulling.retain(|(casino, _), stop| {
                let keep = serving.contains(casino);
                if !keep {
                    stop.cancel();
                }
                keep
            });
            for casino in serving {
                for queue in topology::queues_of(H::STAGE) {
                    pulling.entry((casino.clone(), *queue)).or_insert_with(|| {
                        let stop = shared.shutdown.child_token();
                        let (shared, casino, queue, token) =
                            (Arc::clone(&shared), casino.clone(), *queue, stop.clone());
                        pullers.spawn(async move { shared.pull_loop(casino, queue, token).await });
                        stop
                    });
                }
            }
            tokio::select! {
                () = shared.shutdown.cancelled() => {}
                () = sleep(ROSTER_PERIOD) => {}
            }
        }
        pullers.close();
        shared.tasks.close();
        let drained = async {
            pullers.wait().await;
            shared.tasks.wait().await;
        };
        if tokio::time::timeout(shared.settings.drain, drained)
            .await
            .is_err()
        {
            tracing::warn!(
                stage = %H::STAGE,
                "drain deadline passed; messages in work will be delivered again"
            );
        }
    }
}

// === impl Shared ===

impl<H: Handler> Shared<H> {
    /// Runs one pull after another, each for at most this casino's fair share of the permits. Each
    /// pull names the consumer anew, so that the loop keeps no state of a broken consumer.
    async fn pull_loop(
        self: Arc<Self>,
        casino: CasinoId,
        queue: Option<Queue>,
        stop: CancellationToken,
    ) {
        let name = topology::consumer_name(H::STAGE, &casino, queue);
        let seat = self.pulls.take(&name, &casino, queue);
        let mut pause = PULL_RETRY_DELAY;
        while !stop.is_cancelled() {
            let end = tokio::select! {
                () = stop.cancelled() => break,
                end = self.pull(&name, &seat, &stop) => end,
            };
            // The scheduler recreates missing consumers; this loop only retries.
            match end {
                Ok(End::Over) => {
                    pause = PULL_RETRY_DELAY;
                    continue;
                }
                Ok(End::Broken(why)) => {
                    tracing::debug!(
                        stage = %H::STAGE,
                        %casino,
                        why,
                        "pull ended early; asking again"
                    );
                }
                Err(error) => {
                    tracing::debug!(
                        stage = %H::STAGE,
                        %casino,
                        error = &error as &dyn std::error::Error,
                        "pull failed; asking again"
                    );
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(PULL_RETRY_DELAY_MAX);
        }
        self.pulls.leave(&name, &seat);
    }

    async fn pull(&self, name: &str, seat: &Seat, stop: &CancellationToken) -> Result<End, Error> {
        self.wait_until_open(stop).await;
        self.bus.connected().await;
        let room = self.room(seat.queue, &seat.work, stop).await;
        self.pulls
            .pull(
                &self.bus,
                (topology::stream_of(H::STAGE), name),
                seat,
                room,
                PULL_EXPIRES,
            )
            .await
    }

    async fn wait_until_open(&self, stop: &CancellationToken) {
        let mut open = self.open.subscribe();
        tokio::select! {
            () = stop.cancelled() => {}
            _ = open.wait_for(|open| *open) => {}
        }
    }

    /// Subscribes to the inbox that receives the messages of all pulls, and retries until it
    /// succeeds. Returns `None` if shutdown begins first.
    async fn subscribe(&self) -> Option<Subscriber> {
        loop {
            match self.bus.client.subscribe(self.pulls.subject()).await {
                Ok(arriving) => return Some(arriving),
                Err(error) => {
                    tracing::warn!(
                        stage = %H::STAGE,
                        %error,
                        "no subscription to pull through; trying again"
                    );
                }
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return None,
                () = sleep(PULL_RETRY_DELAY) => {}
            }
        }
    }

    /// Receives the messages of all pulls until shutdown. If a message's consumer is no longer
    /// served, the message goes back to the bus at once.
    async fn receive(self: Arc<Self>, mut arriving: Subscriber) {
        let mut connections = self.bus.connections.clone();
        connections.mark_unchanged();
        loop {
            let message = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => return self.hand_back(arriving).await,
                Ok(()) = connections.changed() => {
                    self.pulls.all_over();
                    continue;
                }
                message = arriving.next() => message,
            };
            let Some(message) = message else { return };
            self.take(message).await;
        }
    }

    async fn take(self: &Arc<Self>, message: async_nats::Message) {
        match self.pulls.arrived(message, &self.bus.js) {
            Some((Some(seat), message)) => {
                let (this, place) = (
                    Arc::clone(self),
                    InWorkGuard::taken(self, seat.queue, &seat.work),
                );
                self.tasks.spawn(async move {
                    this.process(seat.casino.clone(), seat.queue, message).await;
                    drop(place);
                });
            }
            Some((None, message)) => {
                self.acknowledge(&message, AckKind::Nak(Some(UNSERVED_NAK_DELAY)))
                    .await;
            }
            None => {}
        }
    }

    /// Ends the subscription. Messages that still arrive are returned to the bus.
    async fn hand_back(self: &Arc<Self>, mut arriving: Subscriber) {
        if arriving.drain().await.is_err() {
            return;
        }
        while let Ok(Some(message)) =
            tokio::time::timeout(Duration::from_millis(250), arriving.next()).await
        {
            if let Some((_, message)) = self.pulls.arrived(message, &self.bus.js) {
                self.acknowledge(&message, AckKind::Nak(None)).await;
            }
        }
    }
}

impl<H: Handler> Shared<H> {
    /// Stops all pulls; `probe_loop` then calls `ready` with growing pauses and resumes on the
    /// first success.
    fn close_until_ready(&self, what: &str) {
        if self.set_open(false) {
            tracing::warn!(
                stage = %H::STAGE,
                what,
                "dependency unreachable; the stage stops pulling messages"
            );
        }
    }

    /// Sets `open`; returns true when the value changed. Sets the metric under the same lock, so
    /// that `open` and the metric cannot differ.
    fn set_open(&self, opens: bool) -> bool {
        self.open.send_if_modified(|open| {
            let changes = *open != opens;
            *open = opens;
            metrics()
                .waiting
                .with_label_values(&[H::STAGE.as_str()])
                .set(i64::from(!opens));
            changes
        })
    }

    async fn probe_loop(self: Arc<Self>) {
        let mut open = self.open.subscribe();
        loop {
            tokio::select! {
                () = self.shutdown.cancelled() => return,
                _ = open.wait_for(|open| !*open) => {}
            }
            let mut pause = Duration::from_millis(100);
            while !self.handler.ready().await {
                tokio::select! { () = self.shutdown.cancelled() => return, () = sleep(pause) => {} }
                pause = (pause * 2).min(Duration::from_secs(1));
            }
            tracing::info!(
                stage = %H::STAGE,
                "dependency reachable again; the stage pulls messages again"
            );
            self.set_open(true);
        }
    }
}
