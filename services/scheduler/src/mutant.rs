//! Promises that `./scripts/chaos --mutants` breaks here (`seven_faults`); a product build has none of it.

use seven_faults::mutant;

/// A deletion that is due destroys without reading what is on the bus.
pub(crate) fn erases_unread() -> bool {
    mutant!("erases_unread")
}

/// A STOP to a number that was handed on stays with the casino that has it now.
pub(crate) fn forgets_former() -> bool {
    mutant!("forgets_former")
}

/// Nobody looks at the provider's record: it would mend what these two lose before the checker sees it.
pub(crate) fn reconciles_nothing() -> bool {
    mutant!("ack_before_publish") || mutant!("done_before_effect")
}
