//! Guarantees that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`); a product
//! build contains none of this code.

use seven_faults::mutant;

/// Breaks a guarantee: a due deletion does not read the guest's texts on the bus first.
pub(crate) fn erases_unread() -> bool {
    mutant!("erases_unread")
}

/// Breaks a guarantee: a STOP to a number that was handed on reaches only the casino that has it
/// now.
pub(crate) fn forgets_former() -> bool {
    mutant!("forgets_former")
}

/// Switches reconciliation off: it would repair the losses of these two mutants before the checker
/// sees them.
pub(crate) fn reconciles_nothing() -> bool {
    [mutant!("ack_before_publish"), mutant!("done_before_effect")].contains(&true)
}
