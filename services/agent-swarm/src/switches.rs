//! Handles a conversation while an operator's switch forbids turns (D14). No answer is generated.
//! The texts stay open, or are held if the conversation is paused. In safe mode the guest is told
//! once that nobody answers now.

use std::sync::Arc;

use seven_domain::{CasinoConfig, InboundId};
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

/// A conversation whose lease was taken, and that may not be answered now.
pub(crate) struct Silenced<'a> {
    pub(crate) lease: &'a Lease,
    pub(crate) config: &'a CasinoConfig,
    pub(crate) pack: &'a Pack,
    pub(crate) model: &'a Arc<dyn Model>,
    pub(crate) open: &'a [OpenText],
}

/// Returns whether any of these switches forbids turns.
pub(crate) fn silent(switched: &[Switch]) -> bool {
    switched.iter().any(|switch| switch.silences_agents())
}

/// Releases the lease and leaves the texts open. Recent ones are answered when the switch ends.
/// Returns the holding text of safe mode, if it is due.
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
        tx.hold_texts(conversation, &ids, None).await?;
        return Ok(None);
    }
    let mute = [Switch::Outbound, Switch::Kill]
        .iter()
        .any(|switch| switched.contains(switch));
    let Some(newest) = silenced
        .open
        .last()
        .filter(|_| switched.contains(&Switch::SafeMode) && !mute)
    else {
        return Ok(None);
    };
    if tx.told_of_safe_mode(conversation).await? {
        return Ok(None);
    }
    // Cancels replies from before safe mode. They must not go out now, and they would precede the
    // holding text.
    tx.cancel_unsent(conversation, Switch::SafeMode.as_str())
        .await?;
    Ok(tx.queue(&holding_reply(swarm, silenced, newest)).await?)
}

fn holding_reply(swarm: &Swarm, silenced: &Silenced<'_>, newest: &OpenText) -> NewOutbound {
    let Silenced {
        lease,
        config,
        pack,
        model,
        open,
    } = silenced;
    let key = TextKey::SafeMode;
    let texts: Vec<String> = open.iter().map(|text| text.body.clone()).collect();
    let body = pack.say(key, model.language(&texts, lease.language), config);
    let origin = Origin::Canned {
        inbound: InboundId(newest.inbound_id),
        key: key.as_str(),
    };
    let (class, useful_for) = (pack.texts.class(key), pack.rules.usefulness());
    NewOutbound::new(
        swarm.fleet.ids.next(),
        lease.recipient(),
        origin,
        class,
        body,
        useful_for,
    )
    .agent(Switch::SafeMode.as_str())
    .trace(&newest.trace)
}
