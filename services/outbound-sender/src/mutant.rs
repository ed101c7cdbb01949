//! The promise that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`). The
//! program that ships contains none of this code.

use seven_faults::mutant;

/// Breaks a promise: texts leave in the order in which they came, whatever their class.
pub(crate) fn first_come() -> bool {
    mutant!("first_come")
}
