//! The promises that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`). The
//! program that ships contains none of this code.

use std::time::Duration;

use seven_faults::mutant;
use tokio::time::sleep;

/// Breaks a promise: a turn marks all open texts as answered, even those that it did not read.
pub(crate) fn answers_all() -> bool {
    mutant!("all_answered")
}

/// Waits, so that another text can arrive between the model's answer and the commit.
pub(crate) async fn dawdle() {
    if answers_all() || mutant!("no_epoch") {
        sleep(Duration::from_millis(200)).await;
    }
}
