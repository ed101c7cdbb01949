//! Promises that `./scripts/chaos --mutants` breaks here (`seven_faults`); a product build has none of it.

use std::time::Duration;

use seven_faults::mutant;
use tokio::time::sleep;

/// A turn marks all open texts answered, also those it did not read.
pub(crate) fn answers_all() -> bool {
    mutant!("all_answered")
}

/// Leaves open the time in which another text may come.
pub(crate) async fn dawdle() {
    if answers_all() || mutant!("no_epoch") {
        sleep(Duration::from_millis(200)).await;
    }
}
