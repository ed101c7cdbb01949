//! The promises that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`), to see
//! that its checks notice. The program that ships contains none of this code.

use seven_faults::mutant;

/// Breaks the promise that a stream continues after the frames that the client says it has.
pub(crate) fn forgets_place() -> bool {
    mutant!("forgets_place")
}

/// Breaks the promise that a stream writes all messages that it read.
pub(crate) fn shows_newest() -> bool {
    mutant!("shows_newest")
}

/// Breaks the promise that a repeated call stores no second message.
pub(crate) fn takes_twice() -> bool {
    mutant!("takes_twice")
}
