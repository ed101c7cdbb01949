//! Handles DELETE: records the guest's request and lets the guest withdraw it for some time. Until
//! the deletion is done, the guest's further texts are answered by a notice.

use seven_domain::GuestStatus;
use std::time::Duration;

use seven_compliance::dialogue::keeps_data;
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::Tx;

use crate::{
    canned,
    types::{Case, Gate, Next},
};

pub(crate) async fn delete(gate: &Gate, tx: &mut Tx, case: &Case<'_>) -> Result<Next, Error> {
    if case.party.status == GuestStatus::PendingDeletion {
        return while_pending(gate, tx, case).await;
    }
    let conversation = case.party.conversation_id;
    tx.cancel_unsent(conversation, "guest_asked_for_deletion")
        .await?;
    tx.close_open_texts(conversation, case.inbound_id, "superseded_by_delete")
        .await?;
    let regret = Duration::from_secs(u64::from(case.pack.rules.privacy.regret_minutes) * 60);
    let delay = gate.fleet.timing.scaled(regret);
    let (id, at) = (gate.fleet.ids.uuid(), case.text.occurred_at);
    tx.request_deletion(id, &case.guest, case.party.guest_id, "guest", at, delay)
        .await?;
    canned::answer_unless_stopped(gate, tx, case, TextKey::DeleteReceived).await
}

/// Answers a guest whose deletion is pending with one notice; KEEP withdraws the deletion.
pub(crate) async fn while_pending(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
) -> Result<Next, Error> {
    if keeps_data(&case.text.body)
        && tx
            .withdraw_deletion(&case.guest, case.party.guest_id)
            .await?
    {
        return canned::answer_unless_stopped(gate, tx, case, TextKey::DeleteWithdrawn).await;
    }
    canned::answer_unless_stopped(gate, tx, case, TextKey::DeletePending).await
}
