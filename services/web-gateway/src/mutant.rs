//! The promises that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`), to see
//! that its checks notice. The program that ships contains none of this code.

use seven_faults::mutant;

/// Breaks a promise: a stream starts from the beginning, although the client says which frames it
/// has.
pub(crate) fn forgets_place() -> bool {
    mutant!("forgets_place")
}

/// Breaks a promise: a stream writes only the newest of the messages that it read.
pub(crate) fn shows_newest() -> bool {
    mutant!("shows_newest")
}

/// Breaks a promise: a repeated call stores a second message.
pub(crate) fn takes_twice() -> bool {
    mutant!("takes_twice")
}
