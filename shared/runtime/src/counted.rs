//! Writes cases and changes of consent together with their metrics, so that no caller can forget to
//! count them. The metrics increase only after the commit.

use seven_compliance::chain::Action;
use seven_domain::{ConsentTier, HashKeys};
use seven_store::{Result, Tx, consent::Consent, escalations::NewEscalation};
use seven_telemetry::metrics;

use crate::own_cases::end_stopped_contacts;

/// Opens a case for a person; returns true if it is new.
pub async fn open_case(tx: &mut Tx, case: &NewEscalation<'_>) -> Result<bool> {
    let opened = tx.escalate(case).await?;
    if opened {
        let count = metrics().escalations.with_label_values(&[
            tx.casino().as_str(),
            case.severity.as_str(),
            case.reason,
        ]);
        tx.once_committed(move || count.inc());
    }
    Ok(opened)
}

/// Adds a change to a guest's consent chain. A change that revokes all consent is counted as an
/// opt-out, whatever caused the change. It also removes the guest's phone from the contacts of
/// staff (D28).
pub async fn record_consent(tx: &mut Tx, change: &Consent<'_>, keys: &HashKeys) -> Result<()> {
    tx.record_consent(change, keys).await?;
    if change.action == Action::Revoked && change.tier == ConsentTier::None {
        if let Some(guest) = change.guest_id {
            end_stopped_contacts(tx, guest, change.actor).await?;
        }
        let count = metrics()
            .guests
            .opt_outs
            .with_label_values(&[tx.casino().as_str(), change.method]);
        tx.once_committed(move || count.inc());
    }
    Ok(())
}
