//! One subscription for all pulls of a worker. An idle consumer then costs one table entry instead
//! of some kilobytes. Each message names its consumer, and each status message names its pull.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_nats::{StatusCode, Subject, jetstream};
use seven_domain::{CasinoId, Queue};
use tokio::sync::Notify;

use super::in_work::InWork;
use crate::{Bus, Error};

/// The inbox for the replies to all pulls of a worker, and a seat for each consumer that is served.
#[derive(Debug)]
pub(super) struct Pulls {
    inbox: String,
    numbers: AtomicU64,
    seats: Mutex<HashMap<String, Arc<Seat>>>,
}

/// One consumer that is served: its messages in progress and its current pull.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) casino: CasinoId,
    pub(super) queue: Option<Queue>,
    pub(super) work: Arc<InWork>,
    pull: Mutex<Pull>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct Pull {
    number: u64,
    /// Number of requested messages that have not arrived.
    left: usize,
    end: Option<End>,
}

/// How a pull ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// The pull got all the messages requested, or its time passed.
    Over,
    /// The server refused the pull or forgot it.
    Broken(String),
}

/// A message and the seat it belongs to; `None` when the consumer is no longer served.
pub(super) type Arrival = (Option<Arc<Seat>>, jetstream::Message);

// === impl Pulls ===

impl Pulls {
    pub(super) fn new(bus: &Bus) -> Self {
        Self {
            inbox: bus.client.new_inbox(),
            numbers: AtomicU64::new(0),
            seats: Mutex::default(),
        }
    }

    /// Returns the subject to subscribe to.
    pub(super) fn subject(&self) -> String {
        format!("{}.>", self.inbox)
    }

    pub(super) fn take(
        &self,
        consumer: &str,
        casino: &CasinoId,
        queue: Option<Queue>,
    ) -> Arc<Seat> {
        let seat = Arc::new(Seat {
            casino: casino.clone(),
            queue,
            work: Arc::default(),
            pull: Mutex::default(),
            ended: Notify::new(),
        });
        self.seats().insert(consumer.to_owned(), Arc::clone(&seat));
        seat
    }

    /// Removes the seat, unless another one has replaced it.
    pub(super) fn leave(&self, consumer: &str, seat: &Arc<Seat>) {
        let mut seats = self.seats();
        if seats
            .get(consumer)
            .is_some_and(|taken| Arc::ptr_eq(taken, seat))
        {
            seats.remove(consumer);
        }
    }

    /// Requests `asked` messages of the consumer, and waits until they have arrived or `expires`
    /// has passed.
    pub(super) async fn pull(
        &self,
        bus: &Bus,
        (stream, consumer): (&str, &str),
        seat: &Seat,
        asked: usize,
        expires: Duration,
    ) -> Result<End, Error> {
        // The server reports the end of a pull; this timeout applies when that report is lost.
        const PULL_END_GRACE: Duration = Duration::from_secs(5);
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        seat.begin(number, asked);
        let request = serde_json::json!({
            "batch": asked,
            "expires": u64::try_from(expires.as_nanos()).unwrap_or(u64::MAX),
        });
        let (subject, reply) = (
            format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"),
            format!("{}.{consumer}.{number}", self.inbox),
        );
        bus.client
            .publish_with_reply(subject, reply, request.to_string().into())
            .await
            .map_err(|e| Error::setup(format!("pull on {consumer}"))(e.into()))?;
        Ok(tokio::time::timeout(expires + PULL_END_GRACE, seat.end())
            .await
            .unwrap_or(End::Over))
    }

    /// Ends all pulls after a reconnect, since the server forgot the requests of the previous
    /// connection.
    pub(super) fn all_over(&self) {
        self.seats()
            .values()
            .for_each(|seat| seat.finish(None, None));
    }

    /// Returns a message with its seat. A status message only updates the pull that it reports on.
    pub(super) fn arrived(
        &self,
        message: async_nats::Message,
        context: &jetstream::Context,
    ) -> Option<Arrival> {
        match message.status {
            None | Some(StatusCode::OK) => {
                let message = jetstream::Message {
                    message,
                    context: context.clone(),
                };
                let seat = message
                    .info()
                    .ok()
                    .and_then(|info| self.seats().get(info.consumer).cloned());
                if let Some(seat) = &seat {
                    seat.got();
                }
                Some((seat, message))
            }
            Some(status) => {
                self.told(
                    &message.subject,
                    status,
                    message.description.as_deref().unwrap_or_default(),
                );
                None
            }
        }
    }

    /// Ends the pull that a status message reports on.
    fn told(&self, subject: &Subject, status: StatusCode, description: &str) {
        let Some((seat, number)) = self.asker(subject) else {
            return;
        };
        let over = matches!(status, StatusCode::TIMEOUT | StatusCode::NOT_FOUND);
        seat.finish(
            Some(number),
            (!over).then(|| format!("{status} {description}")),
        );
    }

    /// Returns the seat and the number of a pull, parsed from `<inbox>.<consumer>.<number>`.
    fn asker(&self, subject: &Subject) -> Option<(Arc<Seat>, u64)> {
        let mut from_the_right = subject.rsplit('.');
        let number = from_the_right.next()?.parse().ok()?;
        Some((self.seats().get(from_the_right.next()?).cloned()?, number))
    }

    fn seats(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Seat>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Seat ===

impl Seat {
    fn begin(&self, number: u64, asked: usize) {
        *self.state() = Pull {
            number,
            left: asked,
            end: None,
        };
    }

    fn got(&self) {
        let all = {
            let mut pull = self.state();
            pull.left = pull.left.saturating_sub(1);
            pull.left == 0
        };
        if all {
            self.finish(None, None);
        }
    }

    /// Ends the pull with this number; `None` ends the current pull.
    fn finish(&self, number: Option<u64>, broken: Option<String>) {
        let mut pull = self.state();
        if pull.end.is_none() && number.is_none_or(|number| number == pull.number) {
            pull.end = Some(broken.map_or(End::Over, End::Broken));
            drop(pull);
            self.ended.notify_one();
        }
    }

    async fn end(&self) -> End {
        loop {
            let ended = self.ended.notified();
            if let Some(end) = self.state().end.clone() {
                return end;
            }
            ended.await;
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, Pull> {
        self.pull.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat() -> Seat {
        Seat {
            casino: "here".parse().unwrap(),
            queue: None,
            work: Arc::default(),
            pull: Mutex::default(),
            ended: Notify::new(),
        }
    }

    #[tokio::test] // D16
    async fn a_pull_ends_with_its_last_message_its_own_status_or_a_new_connection() {
        let seat = seat();
        seat.begin(1, 2);
        seat.got();
        seat.finish(Some(0), Some("of the pull before".to_owned()));
        assert!(seat.state().end.is_none());
        seat.got();
        assert_eq!(seat.end().await, End::Over);
        seat.begin(2, 8);
        seat.got();
        seat.finish(Some(2), None);
        assert_eq!(seat.end().await, End::Over, "its time is over");
        seat.begin(3, 8);
        seat.finish(Some(3), Some("409 Consumer Deleted".to_owned()));
        seat.finish(None, None);
        assert_eq!(
            seat.end().await,
            End::Broken("409 Consumer Deleted".to_owned()),
            "what came first holds"
        );
        seat.begin(4, 8);
        seat.finish(None, None);
        assert_eq!(seat.end().await, End::Over, "a new connection");
    }
    #[test] // D16
    fn a_status_ends_the_pull_it_names_and_no_other() {
        let pulls = Pulls {
            inbox: "_INBOX.one".to_owned(),
            numbers: AtomicU64::new(0),
            seats: Mutex::default(),
        };
        let casino = "here".parse().unwrap();
        let (seat, other) = (
            pulls.take("gate-here", &casino, None),
            pulls.take("swarm-here", &casino, None),
        );
        let told = |subject: &str, status| pulls.told(&subject.into(), status, "Consumer Deleted");
        seat.begin(7, 8);
        other.begin(7, 8);
        told("_INBOX.one.gate-here.6", StatusCode::TIMEOUT);
        told("_INBOX.one.nobody.7", StatusCode::TIMEOUT);
        assert!(seat.state().end.is_none() && other.state().end.is_none());
        told("_INBOX.one.gate-here.7", StatusCode::TIMEOUT);
        assert_eq!(
            (seat.state().end.clone(), other.state().end.clone()),
            (Some(End::Over), None)
        );
        seat.begin(8, 8);
        told("_INBOX.one.gate-here.8", StatusCode::from_u16(409).unwrap());
        assert!(
            matches!(&seat.state().end, Some(End::Broken(why)) if why.contains("Consumer Deleted"))
        );
        pulls.all_over();
        assert_eq!(other.state().end, Some(End::Over), "a new connection");
        pulls.leave("gate-here", &other);
        assert!(
            pulls.seats().contains_key("gate-here"),
            "it is somebody else's by now"
        );
    }
}
