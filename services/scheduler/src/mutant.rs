//! The promises that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`), to see
//! that its checks notice. The program that ships contains none of this code.

use seven_faults::mutant;

/// Breaks a promise: a due deletion does not read the guest's texts on the bus first.
pub(crate) fn erases_unread() -> bool {
    mutant!("erases_unread")
}

/// Breaks a promise: a STOP to a number that changed its casino reaches only the casino that has
/// the number now.
pub(crate) fn forgets_former() -> bool {
    mutant!("forgets_former")
}

/// Switches reconciliation off, because it would repair the losses that these two mutants cause
/// before a check sees them.
pub(crate) fn reconciles_nothing() -> bool {
    [mutant!("ack_before_publish"), mutant!("done_before_effect")].contains(&true)
}
