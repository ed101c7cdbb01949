//! The open streams, by guest. A hint wakes a guest's streams, which then read the conversation
//! themselves. A slow reader costs no memory, because no messages are queued for a stream (D33).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::StreamExt;
use seven_domain::{CasinoId, GuestHash};
use seven_runtime::Fleet;
use seven_store::Error;
use tokio::{sync::watch, time::sleep};

/// Time between two searches for messages whose hint was lost.
const POLL: Duration = Duration::from_secs(20);
/// Pause before the next attempt to subscribe to the bus.
const AGAIN: Duration = Duration::from_secs(2);
/// Maximum number of guests in one query.
const MOST_GUESTS: usize = 1_000;

#[derive(Debug, Clone, Default)]
pub(crate) struct Live(Arc<Mutex<HashMap<Guest, Entry>>>);

type Guest = (CasinoId, [u8; 32]);

#[derive(Debug)]
struct Entry {
    wake_tx: watch::Sender<()>,
    key_id: i16,
    /// Sequence number of the newest message that the last search found; 0 before the first search.
    head: i64,
}

/// The subscription of one open stream; dropping it unsubscribes.
#[derive(Debug)]
pub(crate) struct Follower {
    live: Live,
    guest: Guest,
    wake_rx: watch::Receiver<()>,
}

// === impl Live ===

impl Live {
    pub(crate) fn follow(&self, casino: &CasinoId, guest: &GuestHash) -> Follower {
        let key = (casino.clone(), guest.bytes);
        let mut table = self.table();
        let entry = table.entry(key.clone()).or_insert_with(|| Entry {
            wake_tx: watch::Sender::new(()),
            key_id: guest.key_id,
            head: 0,
        });
        let wake_rx = entry.wake_tx.subscribe();
        Follower {
            live: self.clone(),
            guest: key,
            wake_rx,
        }
    }

    pub(crate) fn wake(&self, casino: &CasinoId, guest: [u8; 32]) {
        if let Some(entry) = self.table().get(&(casino.clone(), guest)) {
            entry.wake_tx.send_replace(());
        }
    }

    /// Returns the number of guests with an open stream.
    #[cfg(test)]
    fn guests(&self) -> usize {
        self.table().len()
    }

    /// Returns the followed guests, grouped by casino and by the key of their hashes.
    fn by_casino(&self) -> HashMap<(CasinoId, i16), Vec<[u8; 32]>> {
        let mut guests: HashMap<_, Vec<_>> = HashMap::new();
        for ((casino, guest), entry) in self.table().iter() {
            let of = guests.entry((casino.clone(), entry.key_id)).or_default();
            of.push(*guest);
        }
        guests
    }

    /// Wakes the streams of guests who have a newer message than at the last search.
    fn put_heads(&self, casino: &CasinoId, heads: Vec<([u8; 32], i64)>) {
        let mut table = self.table();
        for (guest, head) in heads {
            if let Some(entry) = table.get_mut(&(casino.clone(), guest))
                && entry.head < head
            {
                entry.head = head;
                entry.wake_tx.send_replace(());
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Guest, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes streams when the bus delivers hints. Runs until the task is aborted.
pub(crate) async fn hear(fleet: Fleet, live: Live) {
    loop {
        match fleet.bus.hints().await {
            Ok(hints) => {
                let mut hints = std::pin::pin!(hints);
                while let Some((casino, guest)) = hints.next().await {
                    live.wake(&casino, guest);
                }
            }
            Err(error) => tracing::debug!(%error, "streams look without the bus"),
        }
        sleep(AGAIN).await;
    }
}

/// Searches for messages whose hint was lost, for all streams together. Runs until the task is
/// aborted.
pub(crate) async fn look(fleet: Fleet, live: Live) {
    loop {
        sleep(POLL).await;
        for ((casino, key_id), guests) in live.by_casino() {
            for guests in guests.chunks(MOST_GUESTS) {
                match heads(&fleet, &casino, key_id, guests).await {
                    Ok(heads) => live.put_heads(&casino, heads),
                    Err(error) => {
                        tracing::debug!(%casino, %error, "lost hints are looked for later");
                    }
                }
            }
        }
    }
}

async fn heads(
    fleet: &Fleet,
    casino: &CasinoId,
    key_id: i16,
    guests: &[[u8; 32]],
) -> Result<Vec<([u8; 32], i64)>, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let heads = tx.web_heads(key_id, guests).await?;
    tx.commit().await?;
    Ok(heads)
}

// === impl Follower ===

impl Follower {
    /// Waits for news; returns at once if there was news since the last call.
    pub(crate) async fn news(&mut self) {
        if self.wake_rx.changed().await.is_err() {
            // The sender cannot be dropped: the table keeps it while this follower exists.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut table = self.live.table();
        let last = table
            .get(&self.guest)
            .is_some_and(|entry| entry.wake_tx.receiver_count() <= 1);
        if last {
            table.remove(&self.guest);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test] // D33
    fn a_hint_wakes_all_streams_of_its_guest_and_no_other() {
        let live = Live::default();
        let casino: CasinoId = "silver_birch".parse().unwrap();
        let other: CasinoId = "north_bank".parse().unwrap();
        let guest = |n: u8| GuestHash {
            key_id: 1,
            bytes: [n; 32],
        };
        let mut first = live.follow(&casino, &guest(1));
        let mut second = live.follow(&casino, &guest(1));
        let mut elsewhere = live.follow(&other, &guest(1));
        let mut stranger = live.follow(&casino, &guest(2));
        live.wake(&casino, [1; 32]);
        live.wake(&casino, [1; 32]);
        assert!(first.news().now_or_never().is_some());
        assert!(
            first.news().now_or_never().is_none(),
            "two hints are one flag"
        );
        assert!(second.news().now_or_never().is_some());
        assert!(elsewhere.news().now_or_never().is_none());
        assert!(stranger.news().now_or_never().is_none());
        live.put_heads(&casino, vec![([2; 32], 3)]);
        assert!(stranger.news().now_or_never().is_some());
        live.put_heads(&casino, vec![([2; 32], 3)]);
        assert!(stranger.news().now_or_never().is_none(), "nothing is newer");
        assert_eq!(live.guests(), 3);
        drop(first);
        assert_eq!(live.guests(), 3, "the second stream goes on");
        drop((second, elsewhere, stranger));
        assert_eq!(live.guests(), 0);
    }
}
