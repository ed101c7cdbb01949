//! Handling of an operator's switch in a turn (D14, SEC-121 to SEC-123): no model is asked and the
//! guest's texts stay open. In safe mode the guest is told once that nobody answers now.

use std::sync::Arc;

use seven_domain::{CasinoConfig, ConversationId, InboundId, OutboundId};
use seven_llm::Model;
use seven_packs::{Pack, TextKey};
use seven_runtime::Error;
use seven_store::{
    Tx,
    controls::Switch,
    conversations::Lease,
    inbound::OpenText,
    outbound::{NewOutbound, Origin, Queued},
};
use uuid::Uuid;

use crate::types::Swarm;

/// A leased conversation that may not be answered now.
pub(crate) struct Silenced<'a> {
    pub(crate) lease: &'a Lease,
    pub(crate) config: &'a CasinoConfig,
    pub(crate) pack: &'a Pack,
    pub(crate) model: &'a Arc<dyn Model>,
    pub(crate) open: &'a [OpenText],
}

/// Returns whether the switches forbid turns.
pub(crate) fn silent(switched: &[Switch]) -> bool {
    switched.iter().any(|switch| switch.silences_agents())
}

/// Leaves the texts open: when the switch ends, the recent ones are answered. Texts to a person who
/// took the conversation over are kept for that person. Releases the lease and returns the holding
/// text of safe mode where it is due.
pub(crate) async fn keep(
    swarm: &Swarm,
    tx: &mut Tx,
    silenced: &Silenced<'_>,
    switched: &[Switch],
) -> Result<Option<Queued>, Error> {
    let conversation = silenced.lease.conversation_id;
    tx.release_lease(conversation, silenced.lease.epoch).await?;
    let ids: Vec<Uuid> = silenced.open.iter().map(|text| text.inbound_id).collect();
    if tx.paused(conversation).await?.is_some() {
        tx.hold_texts(conversation, &ids).await?;
        return Ok(None);
    }
    let mute = [Switch::Outbound, Switch::Kill].iter().any(|switch| switched.contains(switch));
    let Some(newest) = silenced.open.last().filter(|_| switched.contains(&Switch::SafeMode) && !mute) else {
        return Ok(None);
    };
    if tx.told_of_safe_mode(conversation).await? {
        return Ok(None);
    }
    // Replies made before safe mode may not go out during it, and would precede this text in the
    // queue.
    tx.cancel_unsent(conversation, Switch::SafeMode.as_str()).await?;
    Ok(tx.queue(&holding_reply(swarm, silenced, conversation, newest)).await?)
}

fn holding_reply(
    swarm: &Swarm,
    silenced: &Silenced<'_>,
    conversation: ConversationId,
    newest: &OpenText,
) -> NewOutbound {
    let Silenced { lease, config, pack, model, open } = silenced;
    let stored = lease.language.as_deref().and_then(|language| language.parse().ok());
    let texts: Vec<String> = open.iter().map(|text| text.body.clone()).collect();
    let body = pack.say(TextKey::SafeMode, model.language(&texts, stored), config);
    let measure = seven_sms::measure(&body);
    NewOutbound {
        outbound_id: swarm.fleet.ids.next::<OutboundId>(),
        conversation_id: conversation,
        guest_id: lease.guest_id,
        origin: Origin::Inbound(InboundId(newest.inbound_id)),
        part: 1,
        parts: 1,
        kind: TextKey::SafeMode.as_str().to_owned(),
        class: pack.texts.class(TextKey::SafeMode),
        body,
        encoding: measure.encoding.as_str().to_owned(),
        units: i32::try_from(measure.units).unwrap_or(i32::MAX),
        segments: i32::try_from(measure.segments).unwrap_or(i32::MAX),
        agent: Switch::SafeMode.as_str().to_owned(),
        answers_at: None,
        delay: std::time::Duration::ZERO,
        useful_for: pack.rules.usefulness(),
        trace: newest.trace.clone(),
    }
}
