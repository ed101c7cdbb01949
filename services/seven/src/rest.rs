//! A worker at rest gives back the memory that its start, or its last busy time, left behind (`seven-resident`).

use std::time::Duration;

use seven_telemetry::Process;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// After ready: the loops have begun by then.
const AFTER_START: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_secs(30);
/// Of one core between two looks; from it on a worker is at work.
const AT_WORK: f64 = 0.1;

/// What the looks so far showed.
#[derive(Debug, Default)]
struct Watched {
    at_work: bool,
}

impl Watched {
    /// True when the worker came to rest since the look before; `share` is what it took of one core since then.
    fn came_to_rest(&mut self, share: f64) -> bool {
        std::mem::replace(&mut self.at_work, share >= AT_WORK) && !self.at_work
    }
}

/// Gives back what the start took, and after each busy time what that took, until the shutdown.
pub(crate) async fn watch(shutdown: CancellationToken) {
    let watching = async {
        sleep(AFTER_START).await;
        give_back().await;
        let mut watched = Watched::default();
        let (mut taken, mut since) = (Process::cpu_seconds(), Instant::now());
        loop {
            sleep(LOOK).await;
            let (now, looked) = (Process::cpu_seconds(), Instant::now());
            let took = now.unwrap_or_default() - taken.unwrap_or_default();
            if watched.came_to_rest(took / looked.duration_since(since).as_secs_f64()) {
                give_back().await;
            }
            (taken, since) = (now, looked);
        }
    };
    shutdown.run_until_cancelled(watching).await;
}

async fn give_back() {
    let began = Instant::now();
    if let Ok(mapped_bytes) = tokio::task::spawn_blocking(seven_resident::give_back).await {
        tracing::debug!(mapped_bytes, millis = began.elapsed().as_millis(), "memory given back");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_goes_back_once_after_each_busy_time() {
        let mut watched = Watched::default();
        let looks =
            [(0.01, false), (0.5, false), (0.2, false), (0.02, true), (0.0, false), (AT_WORK, false), (0.0, true)];
        for (n, (share, given)) in looks.into_iter().enumerate() {
            assert_eq!(watched.came_to_rest(share), given, "look {n}");
        }
    }
}
