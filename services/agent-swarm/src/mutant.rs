//! Guarantees that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`); a product
//! build contains none of this code.

use std::time::Duration;

use seven_faults::mutant;
use tokio::time::sleep;

/// Breaks a guarantee: a turn marks all open texts as answered, including those it did not read.
pub(crate) fn answers_all() -> bool {
    mutant!("all_answered")
}

/// Sleeps, so that another text can arrive between the model's answer and the commit.
pub(crate) async fn dawdle() {
    if answers_all() || mutant!("no_epoch") {
        sleep(Duration::from_millis(200)).await;
    }
}
