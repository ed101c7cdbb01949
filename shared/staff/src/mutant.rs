//! The promise that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`). The program
//! that ships contains none of this code.

use seven_faults::mutant;

/// Breaks a promise: an answer under way is sent, although a person has taken the conversation
/// over.
pub(crate) fn speaks_over_staff() -> bool {
    mutant!("speaks_over_staff")
}
