//! Extends a STOP to other casinos (D7, D40): to those that texted the guest from the same number
//! before. If the legal sender's opt-outs apply to all of its casinos, also extends the STOP to
//! those.

use chrono::{DateTime, Utc};
use seven_compliance::chain::Action;
use seven_domain::{ConsentTier, PhoneE164, PromptState, config::Scope};
use seven_runtime::{Error, Fleet, counted};
use seven_store::{
    consent::Consent,
    due::{Due, DueKind},
    numbers::{Reached, Through},
    suppressions::{Applied, Word},
};

use crate::mutant;

/// A guest's STOP that is to be extended to other casinos.
struct StopToCarry {
    phone: PhoneE164,
    /// The number to which the guest sent the STOP.
    number: String,
    at: DateTime<Utc>,
    event_id: String,
    method: String,
}

/// Extends the STOP of this due row to every other casino to which it applies.
pub(crate) async fn reach(fleet: &Fleet, row: &Due) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&row.casino).await?;
    let said = tx.said_stop(row.row_id).await?;
    let config = tx.casino_row().await?.map(|casino| casino.config);
    tx.commit().await?;
    if let (Some(said), Some(config)) = (said, config) {
        let said = StopToCarry {
            phone: said.phone.parse()?,
            number: said.casino_number,
            at: said.occurred_at,
            event_id: said.event_id,
            method: said.method,
        };
        let sender = match (
            &config.regulations.legal_sender,
            config.revocation_scope(said.at),
        ) {
            (Some(sender), Scope::Sender) => sender.id.as_str(),
            _ => "",
        };
        for reached in fleet
            .store
            .stop_reaches(&said.number, &row.casino, sender)
            .await?
        {
            if mutant::forgets_former() {
                break;
            }
            stop_at(fleet, &said, &reached).await?;
        }
    }
    let mut tx = fleet.store.bind(&row.casino).await?;
    tx.clear_due(DueKind::StopReach, row.row_id).await?;
    Ok(tx.commit().await?)
}

/// Stops one casino's texts to the guest. The consent record says by which rule the STOP applies
/// here, but not to which casino the guest wrote.
async fn stop_at(
    fleet: &Fleet,
    said: &StopToCarry,
    Reached { casino, through }: &Reached,
) -> Result<(), Error> {
    let guest = fleet.keys.hash(casino, &said.phone);
    let mut tx = fleet.store.bind(casino).await?;
    if *through == Through::FormerNumber && !tx.may_have_spoken_over(&guest, &said.number).await? {
        return Ok(());
    }
    if tx.consent_names(&guest, &said.event_id).await? {
        return Ok(());
    }
    // The provider blocks only the number to which the guest wrote, not this casino's number.
    let word = Word {
        method: &said.method,
        provider_knows: false,
    };
    let changed = tx.stop(&guest, said.at, &said.event_id, word).await? == Applied::Changed;
    // If ingress has already written this STOP's suppression, the steps below are still to be done.
    if changed || tx.has_word(&guest, &said.event_id).await? {
        let known = tx.conversation_of_guest(&guest).await?;
        if let Some((guest_id, conversation)) = known {
            tx.lock_conversation(conversation).await?;
            tx.cancel_unsent(conversation, "guest_opted_out").await?;
            tx.close_prompts(guest_id, PromptState::Declined).await?;
        }
        let change = Consent {
            guest: &guest,
            guest_id: known.map(|(guest_id, _)| guest_id),
            action: Action::Revoked,
            method: &said.method,
            tier: ConsentTier::None,
            at: said.at,
            evidence: serde_json::json!({
                "reached_through": through.as_str(),
                "event_id": said.event_id,
            }),
            actor: "scheduler",
            trace: None,
        };
        counted::record_consent(&mut tx, &change, &fleet.keys).await?;
        tracing::info!(
            %casino,
            through = through.as_str(),
            "a STOP at another number ended this casino's texts too"
        );
    }
    tx.commit().await?;
    fleet.cache.refuse(casino, &guest, said.at).await;
    Ok(())
}
