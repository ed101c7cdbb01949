//! The order in which texts ask the shared rate limits: the gravest class first. Within a class,
//! each guest's first text precedes any guest's second.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use seven_domain::{CasinoId, GuestHash, Lane, MessageClass, OutboundId};
use tokio::sync::oneshot;

use crate::mutant;

/// The queue of texts that wait to be sent for one casino, lane and provider. Only one of these
/// texts at a time asks the rate limits, so that a flood of texts does not burden Redis.
#[derive(Debug, Default)]
pub(crate) struct Line(Mutex<Places>);

#[derive(Debug, Default)]
struct Places {
    taken: bool,
    tickets: u64,
    waiting: BTreeMap<QueuePosition, (GuestHash, oneshot::Sender<()>)>,
}

/// The place of a text in the queue. The text with the smallest place is served first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QueuePosition {
    rank: u8,
    /// How many texts of the same guest and rank are queued before this text.
    nth: usize,
    ticket: u64,
}

/// The right to ask the rate limits. Dropping a turn passes this right to the next text.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Line>);

struct Waiting {
    line: Arc<Line>,
    place: QueuePosition,
    served: bool,
}

/// Returns the rank of a class; 0 is the gravest and goes first. Danger to life comes first, then
/// the confirmation of an opt-out, then help, then all others.
pub(crate) fn rank(class: MessageClass) -> u8 {
    match class {
        _ if mutant::first_come() => 0,
        MessageClass::Crisis | MessageClass::Emergency => 0,
        MessageClass::OptOutConfirmation => 1,
        MessageClass::Help => 2,
        _ => 3,
    }
}

/// Returns an additional wait before a text asks again for a place in the queue or for a provider.
/// The wait is zero for answers to cries for help. For other texts, it is a share of `most` that
/// depends on the text's id. Without this spread, all waiting texts would ask at the same moments,
/// and the answers to cries would wait behind the others.
pub(crate) fn put_off(class: MessageClass, text: OutboundId, most: Duration) -> Duration {
    if rank(class) == 0 {
        return Duration::ZERO;
    }
    // The last bits of a UUIDv7 are random.
    let share = (text.0.as_u128() & 0x3ff) as u32;
    most.mul_f64(f64::from(share) / 1024.0)
}

impl Line {
    /// Returns the number of queued texts, without the text whose turn it is.
    pub(crate) fn waiting(&self) -> usize {
        self.places().waiting.len()
    }

    /// Waits for the turn of a text. A caller that stops waiting leaves the queue.
    pub(crate) async fn turn(self: &Arc<Self>, class: MessageClass, guest: GuestHash) -> Turn {
        let (turn_rx, mut waiting) = {
            let mut places = self.places();
            if !places.taken {
                places.taken = true;
                return Turn(Arc::clone(self));
            }
            let rank = rank(class);
            let nth = places
                .waiting
                .iter()
                .filter(|(place, (other, _))| place.rank == rank && *other == guest)
                .count();
            let place = QueuePosition {
                rank,
                nth,
                ticket: places.tickets,
            };
            places.tickets += 1;
            let (turn_tx, turn_rx) = oneshot::channel();
            places.waiting.insert(place, (guest, turn_tx));
            (
                turn_rx,
                Waiting {
                    line: Arc::clone(self),
                    place,
                    served: false,
                },
            )
        };
        // This never fails: the entry with `turn_tx` is removed only when `Waiting` is dropped, or
        // when this text gets its turn.
        turn_rx.await.ok();
        waiting.served = true;
        Turn(Arc::clone(self))
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    fn pass_on(&mut self) {
        match self.waiting.pop_first() {
            // If the receiver was dropped meanwhile, `Waiting` passes the turn on.
            Some((_, (_, next))) => drop(next.send(())),
            None => self.taken = false,
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.places().pass_on();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut places = self.line.places();
        if !self.served && places.waiting.remove(&self.place).is_none() {
            // The caller got the turn and gave up at the same moment: passes the turn on.
            places.pass_on();
        }
    }
}

/// Queues of texts that wait to be sent, for each casino, lane and provider.
#[derive(Debug, Default)]
pub(crate) struct Lines(Mutex<HashMap<Whose, Arc<Line>>>);

type Whose = (CasinoId, Lane, &'static str);

impl Lines {
    pub(crate) fn of(&self, casino: &CasinoId, lane: Lane, provider: &'static str) -> Arc<Line> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lines.entry((casino.clone(), lane, provider)).or_default())
    }
}

#[cfg(test)]
mod tests {
    use tokio::{sync::mpsc, time::timeout};

    use super::*;

    fn guest(n: u8) -> GuestHash {
        GuestHash {
            key_id: 1,
            bytes: [n; 32],
        }
    }

    /// Returns the order in which texts that are queued at the same time are served.
    async fn served(texts: &[(MessageClass, u8)]) -> Vec<usize> {
        let line = Arc::new(Line::default());
        let first = line.turn(MessageClass::Reply, guest(0)).await;
        let (turn_tx, mut turn_rx) = mpsc::unbounded_channel();
        for (n, (class, who)) in texts.iter().copied().enumerate() {
            let (in_line, turn_tx) = (Arc::clone(&line), turn_tx.clone());
            tokio::spawn(async move {
                let _turn = in_line.turn(class, guest(who)).await;
                turn_tx.send(n).unwrap();
            });
            while line.waiting() < n + 1 {
                tokio::task::yield_now().await;
            }
        }
        drop((first, turn_tx));
        let mut order = Vec::new();
        while let Some(n) = turn_rx.recv().await {
            order.push(n);
        }
        assert_eq!(line.waiting(), 0);
        assert!(!line.places().taken, "the line is free again");
        order
    }

    #[tokio::test] // issue G: a crisis answer never stands behind a flood of HELPs
    async fn the_gravest_class_goes_first_and_each_guest_in_turn() {
        use MessageClass::{Crisis, Emergency, Help, OptOutConfirmation, Reply};
        let texts = [
            (Help, 1),
            (Help, 1),
            (Help, 1),
            (Help, 2),
            (OptOutConfirmation, 3),
            (Crisis, 4),
            (Emergency, 1),
        ];
        assert_eq!(served(&texts).await, [5, 6, 4, 0, 3, 1, 2]);
        assert_eq!(
            served(&[(Reply, 1), (Reply, 2), (Reply, 1)]).await,
            [0, 1, 2]
        );
    }

    #[test] // issue G: of the texts that wait for a provider, a cry asks first
    fn a_cry_is_not_put_off_and_other_texts_are_spread() {
        let most = Duration::from_secs(10);
        let text = |n| OutboundId(uuid::Uuid::from_u128(n));
        for class in [MessageClass::Crisis, MessageClass::Emergency] {
            assert_eq!(put_off(class, text(1_000), most), Duration::ZERO);
        }
        let waits: Vec<Duration> = (0..1_024)
            .map(|n| put_off(MessageClass::Help, text(n), most))
            .collect();
        assert!(waits.iter().all(|wait| *wait < most));
        let early = waits.iter().filter(|wait| **wait < most / 10).count();
        assert!((90..120).contains(&early), "{early}");
    }

    #[tokio::test]
    async fn who_gives_up_leaves_the_line() {
        let line = Arc::new(Line::default());
        let first = line.turn(MessageClass::Help, guest(1)).await;
        for _ in 0..3 {
            let late = timeout(
                Duration::from_millis(1),
                line.turn(MessageClass::Help, guest(2)),
            )
            .await;
            assert!(late.is_err());
        }
        assert_eq!(line.waiting(), 0);
        // A caller that gives up when it gets the turn passes it to the next one.
        let mut gone = Box::pin(line.turn(MessageClass::Help, guest(2)));
        assert!(futures::poll!(&mut gone).is_pending());
        drop(first);
        drop(gone);
        timeout(
            Duration::from_secs(5),
            line.turn(MessageClass::Help, guest(3)),
        )
        .await
        .unwrap();
    }
}
