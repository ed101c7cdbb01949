//! A cache for rows that look the same on all open pages of a casino. After a hint, all open pages
//! fetch these rows at the same time. One query per page would slow down the answers to guests.

use std::{sync::Arc, time::Duration};

use moka::future::Cache;
use seven_domain::CasinoId;

use crate::fault::Fault;

/// Maximum number of casinos whose readings are cached.
const MOST_CASINOS: u64 = 1_000;

/// The newest reading (the rows that were read) of each casino.
#[derive(Debug)]
pub(crate) struct Readings<T: Send + Sync + 'static>(Cache<CasinoId, Arc<T>>);

impl<T: Send + Sync + 'static> Readings<T> {
    /// Creates a cache that keeps each reading for `ttl`.
    pub(crate) fn kept_for(ttl: Duration) -> Self {
        let cache = Cache::builder().max_capacity(MOST_CASINOS);
        Self(cache.time_to_live(ttl).build())
    }

    /// Returns the casino's cached reading, or calls `read` if there is none. Concurrent callers
    /// wait for the same call; a failed reading is not cached.
    pub(crate) async fn of(
        &self,
        casino: &CasinoId,
        read: impl Future<Output = Result<T, Fault>>,
    ) -> Result<Arc<T>, Fault> {
        let read = async { read.await.map(Arc::new) };
        let found = self.0.try_get_with_by_ref(casino, read).await;
        found.map_err(|fault| *fault)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn callers_share_a_reading_of_their_casino_and_none_of_another() {
        let readings = Readings::kept_for(Duration::from_hours(1));
        let count = AtomicUsize::new(0);
        let read = async || {
            tokio::task::yield_now().await;
            Ok(count.fetch_add(1, Ordering::Relaxed))
        };
        let (ours, theirs) = ("silver_birch".parse().unwrap(), "marina".parse().unwrap());
        let both = tokio::join!(readings.of(&ours, read()), readings.of(&ours, read()));
        assert_eq!((*both.0.unwrap(), *both.1.unwrap()), (0, 0));
        assert_eq!(*readings.of(&theirs, read()).await.unwrap(), 1);
        assert_eq!(*readings.of(&ours, read()).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_failed_reading_is_not_kept() {
        let readings = Readings::<()>::kept_for(Duration::from_hours(1));
        let casino = "silver_birch".parse().unwrap();
        let failed = readings.of(&casino, async { Err(Fault::Trouble) }).await;
        assert_eq!(failed, Err(Fault::Trouble));
        assert!(readings.of(&casino, async { Ok(()) }).await.is_ok());
    }
}
