//! Stores and audits a person's orders for dead letters, which the person gives on a page (D17).
//! The scheduler carries them out.

use seven_domain::{AuditEvent, CasinoId, DeadOrder};
use seven_runtime::Fleet;
use seven_store::{audit::Entry, controls::Order, dead::Ordered};

/// Orders dead letters to be replayed or discarded, and returns the number of letters. A letter
/// that already has a waiting order keeps that order.
///
/// # Errors
/// Fails when the store is unreachable; nothing is ordered then.
pub async fn order(
    fleet: &Fleet,
    casino: &CasinoId,
    letters: &Ordered,
    what: DeadOrder,
    order: Order<'_>,
) -> Result<u64, seven_store::Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let ordered = tx.order_dead(letters, what, order).await?;
    let subject = match letters {
        Ordered::One(id) => id.to_string(),
        Ordered::Kind { stage, reason } => format!("{stage} {reason}"),
    };
    let did = format!("order_{what}");
    let detail = serde_json::json!({ "did": did, "letters": ordered, "reason": order.reason });
    if ordered > 0 {
        let entry = Entry::of(AuditEvent::DeadLetterHandled, order.by, &subject, detail);
        tx.audit(&entry).await?;
    }
    tx.commit().await?;
    Ok(ordered)
}
