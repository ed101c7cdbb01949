//! Promises that `./scripts/chaos --mutants` breaks here (`seven_faults`); a product build has none of it.

use std::time::Duration;

use seven_cache::Cache;
use seven_domain::CasinoId;
use seven_faults::mutant;
use tokio::time::sleep;

/// How long a gap stays open, so that a kill can fall into it.
const WIDE: Duration = Duration::from_secs(3);

/// Every answer is given, however often it was given just now.
pub(crate) fn answers_always() -> bool {
    mutant!("answers_always")
}

/// A START counts from when we read it.
pub(crate) fn starts_from_now() -> bool {
    mutant!("start_from_now")
}

/// The text is noted as done before the work: whether it was noted already.
pub(crate) async fn noted_before(cache: &Cache, casino: &CasinoId, key: &str) -> bool {
    if !mutant!("done_before_effect") {
        return false;
    }
    if cache.is_done(casino, key).await {
        return true;
    }
    cache.mark_done(casino, key).await;
    sleep(WIDE).await;
    false
}

/// The gate publishes a moment after its commit, and not again for a duplicate.
pub(crate) fn forgets_duplicates() -> bool {
    mutant!("silent_duplicate")
}

/// The moment between commit and publish.
pub(crate) async fn dawdle() {
    if forgets_duplicates() {
        sleep(WIDE).await;
    }
}
