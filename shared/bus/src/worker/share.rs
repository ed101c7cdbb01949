//! Limits the messages that a worker takes from one casino to a fair share of the permits (D16).
//! Some permits stay free for the next casino that becomes busy.

use std::sync::{Arc, atomic::Ordering};

use seven_domain::Queue;
use tokio_util::sync::CancellationToken;

use super::{
    in_work::InWork,
    shared::{Handler, Shared},
};

/// Maximum number of messages that a casino requests while none of its messages is in progress.
/// Otherwise the first batches of all casinos together could use up the permits.
const FIRST: usize = 8;
const LARGEST: usize = 64;

/// Guard that counts one message as in progress.
pub(super) struct InWorkGuard<H: Handler> {
    shared: Arc<Shared<H>>,
    work: Arc<InWork>,
    queue: Option<Queue>,
}

/// Returns how many more of `permits` a casino may take. `mine` is the number of the casino's
/// messages in progress, `others` the number of other busy casinos. A casino may always have one
/// message in progress. An eighth of the permits stays free for the next busy casino.
fn room(permits: usize, others: usize, mine: usize) -> usize {
    let shared = permits.saturating_sub((permits / 8).max(1)).max(1);
    let fair = (shared / (others + 1)).max(1);
    let most = if mine == 0 { FIRST } else { LARGEST };
    fair.saturating_sub(mine).min(most)
}

impl<H: Handler> Shared<H> {
    /// Returns how many more messages the casino may take, at least one. If it has no room, waits
    /// until one of its messages ends.
    pub(super) async fn room(
        &self,
        queue: Option<Queue>,
        work: &InWork,
        stop: &CancellationToken,
    ) -> usize {
        let permits = self.settings.permits(queue);
        loop {
            let ended = work.ended.notified();
            let mine = work.count.load(Ordering::Acquire);
            let others = self
                .reserve(queue)
                .busy
                .load(Ordering::Acquire)
                .saturating_sub(usize::from(mine > 0));
            let room = room(permits, others, mine);
            if room > 0 {
                return room;
            }
            tokio::select! {
                () = stop.cancelled() => return 1,
                () = ended => {}
            }
        }
    }
}

impl<H: Handler> InWorkGuard<H> {
    pub(super) fn taken(shared: &Arc<Shared<H>>, queue: Option<Queue>, work: &Arc<InWork>) -> Self {
        if work.count.fetch_add(1, Ordering::AcqRel) == 0 {
            shared.reserve(queue).busy.fetch_add(1, Ordering::AcqRel);
        }
        Self {
            shared: Arc::clone(shared),
            work: Arc::clone(work),
            queue,
        }
    }
}

impl<H: Handler> Drop for InWorkGuard<H> {
    fn drop(&mut self) {
        if self.work.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared
                .reserve(self.queue)
                .busy
                .fetch_sub(1, Ordering::AcqRel);
        }
        // At most one task waits for this. If it does not wait yet, `notify_one` stores the wake-up
        // for it.
        self.work.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D16
    fn a_flood_leaves_room_for_whoever_writes_next() {
        for (permits, others, mine, expected) in [
            (64, 0, 0, 8),
            (64, 0, 8, 48),
            (64, 0, 56, 0),
            (64, 1, 56, 0),
            (64, 1, 0, 8),
            (64, 1, 20, 8),
            (64, 9, 0, 5),
            (64, 200, 0, 1),
            (64, 200, 1, 0),
            (16, 0, 8, 6),
            (17, 0, 8, 7),
            (4, 0, 0, 3),
            (3, 0, 1, 1),
            (3, 0, 2, 0),
            (3, 1, 0, 1),
            (2, 0, 0, 1),
            (2, 0, 1, 0),
            (1, 0, 0, 1),
        ] {
            assert_eq!(
                room(permits, others, mine),
                expected,
                "{permits} {others} {mine}"
            );
        }
    }
}
