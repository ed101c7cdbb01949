//! The promises that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`), to see
//! that its checks notice. The program that ships contains none of this code.

use seven_faults::mutant;

/// Breaks the promise that a due deletion first reads the guest's texts on the bus.
pub(crate) fn erases_unread() -> bool {
    mutant!("erases_unread")
}

/// Breaks the promise that a STOP also reaches the casino that had the number before.
pub(crate) fn forgets_former() -> bool {
    mutant!("forgets_former")
}

/// Switches reconciliation off for these two mutants. It would repair the losses that they cause,
/// before a check sees the losses.
pub(crate) fn reconciles_nothing() -> bool {
    [mutant!("ack_before_publish"), mutant!("done_before_effect")].contains(&true)
}
