//! The promises that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`). The
//! program that ships contains none of this code.

use seven_faults::mutant;

/// Breaks a promise: a stream begins anew, although the client says what it has.
pub(crate) fn forgets_place() -> bool {
    mutant!("forgets_place")
}

/// Breaks a promise: a stream writes only the newest of the messages that it read.
pub(crate) fn shows_newest() -> bool {
    mutant!("shows_newest")
}

/// Breaks a promise: a repeated call is another message.
pub(crate) fn takes_twice() -> bool {
    mutant!("takes_twice")
}
