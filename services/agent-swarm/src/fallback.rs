//! Ends a turn that failed for good. The guest gets the casino's phone number once, and the guest's
//! texts become a dead letter.

use seven_bus::Outcome;
use seven_domain::{InboundId, Language};
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::outbound::{NewOutbound, Origin};
use uuid::Uuid;

use crate::types::{Swarm, Work};

pub(crate) async fn fall_back(
    swarm: &Swarm,
    work: &Work,
    why: &str,
    tries: u32,
) -> Result<Outcome, Error> {
    let Some(oldest) = work.open.first() else {
        return Ok(Outcome::Done);
    };
    let language = work.lease.language.unwrap_or_default();
    let text = canned(
        swarm,
        work,
        oldest.inbound_id,
        TextKey::Fallback,
        text(work, language),
        "fallback",
    );
    let ids: Vec<Uuid> = work.open.iter().map(|t| t.inbound_id).collect();
    let mut tx = swarm.fleet.store.bind(&work.casino).await?;
    let queued = tx.queue(&text).await?;
    tx.park_texts(&ids, text.outbound_id, why).await?;
    tx.commit().await?;
    let queued: Vec<_> = queued.into_iter().collect();
    swarm
        .fleet
        .signal_queued(&work.casino, &queued, None, &work.trace)
        .await?;
    Ok(Outcome::Park {
        reason: "turn_failed".into(),
        error: why.to_owned(),
        attempts: tries,
    })
}

/// Builds a text of the pack as the answer to the text `inbound`, without a turn.
pub(crate) fn canned(
    swarm: &Swarm,
    work: &Work,
    inbound: Uuid,
    key: TextKey,
    body: String,
    agent: &str,
) -> NewOutbound {
    let origin = Origin::Canned {
        inbound: InboundId(inbound),
        key: key.as_str(),
    };
    let (class, useful_for) = (work.pack.texts.class(key), work.pack.rules.usefulness());
    NewOutbound::new(
        swarm.fleet.ids.next(),
        work.lease.recipient(),
        origin,
        class,
        body,
        useful_for,
    )
    .agent(agent)
    .trace(&work.trace)
}

/// Returns the casino's own fallback text, or else the pack's. Both contain the phone number.
pub(crate) fn text(work: &Work, language: Language) -> String {
    let slots = work.pack.slots(&work.config);
    let own = work.config.prompts.fallback_message.as_deref();
    let own = own.and_then(|text| work.pack.texts.render_own(text, &slots).ok());
    own.unwrap_or_else(|| work.pack.texts.render(TextKey::Fallback, language, &slots))
}
