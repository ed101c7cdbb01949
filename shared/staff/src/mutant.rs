//! `./scripts/chaos --mutants` breaks a promise here on purpose (`seven_faults`), to test that its
//! checks notice. The program that ships contains none of this code.

use seven_faults::mutant;

/// Breaks a promise: a turn in progress sends its answer although a person has taken the
/// conversation over.
pub(crate) fn speaks_over_staff() -> bool {
    mutant!("speaks_over_staff")
}
