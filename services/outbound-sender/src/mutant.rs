//! The promise that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`). The
//! program that ships contains none of this code.

use seven_faults::mutant;

/// Breaks a promise: texts are sent in the order in which they were queued, whatever their class.
pub(crate) fn first_come() -> bool {
    mutant!("first_come")
}
