//! The promises that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`). The
//! program that ships contains none of this code.

use std::time::Duration;

use seven_cache::Cache;
use seven_domain::CasinoId;
use seven_faults::mutant;
use tokio::time::sleep;

/// How long a mutant waits, so that the process can be killed meanwhile.
const WIDE: Duration = Duration::from_secs(3);

/// Breaks a promise: every answer is given, even if the guest got the same one a moment ago.
pub(crate) fn answers_always() -> bool {
    mutant!("answers_always")
}

/// Breaks a promise: a text's age is counted from the moment at which we read the text.
pub(crate) fn ages_from_reading() -> bool {
    mutant!("ages_from_reading")
}

/// Breaks a promise: a START gets the time at which we read it instead of the time at which it was
/// sent.
pub(crate) fn starts_from_now() -> bool {
    mutant!("start_from_now")
}

/// Breaks a promise: marks the text as done before the work. Returns whether the text was marked
/// before this call.
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

/// Breaks a promise: the gate publishes late after its commit, and never for a duplicate.
pub(crate) fn forgets_duplicates() -> bool {
    mutant!("silent_duplicate")
}

/// Delays the publish, so that a process can be killed between the commit and the publish.
pub(crate) async fn dawdle() {
    if forgets_duplicates() {
        sleep(WIDE).await;
    }
}
