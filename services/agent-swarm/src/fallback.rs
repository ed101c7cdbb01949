//! Ends a turn that failed for good: the guest gets the casino's phone number once, and the texts
//! are parked with a dead letter.

use std::time::Duration;

use seven_bus::Outcome;
use seven_domain::{InboundId, Language, OutboundId};
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::outbound::{NewOutbound, Origin};
use uuid::Uuid;

use crate::types::{Swarm, Work};

pub(crate) async fn fall_back(swarm: &Swarm, work: &Work, why: &str, tries: u32) -> Result<Outcome, Error> {
    let Some(oldest) = work.open.first() else { return Ok(Outcome::Done) };
    let language: Language = work.lease.language.as_deref().and_then(|l| l.parse().ok()).unwrap_or_default();
    let text = canned(swarm, work, oldest.inbound_id, TextKey::Fallback, text(work, language), "fallback");
    let ids: Vec<Uuid> = work.open.iter().map(|t| t.inbound_id).collect();
    let mut tx = swarm.fleet.store.bind(&work.casino).await?;
    let queued = tx.queue(&text).await?;
    tx.park_texts(&ids, text.outbound_id, why).await?;
    tx.commit().await?;
    let queued: Vec<_> = queued.into_iter().collect();
    swarm.fleet.signal_queued(&work.casino, &queued, None, &work.trace).await?;
    Ok(Outcome::Park { reason: "turn_failed".into(), error: why.to_owned(), attempts: tries })
}

/// Builds a text of the pack, made without a turn, as the answer to this inbound text.
pub(crate) fn canned(
    swarm: &Swarm,
    work: &Work,
    inbound: Uuid,
    key: TextKey,
    body: String,
    agent: &str,
) -> NewOutbound {
    let pack = &work.pack;
    let measure = seven_sms::measure(&body);
    NewOutbound {
        outbound_id: swarm.fleet.ids.next::<OutboundId>(),
        conversation_id: work.lease.conversation_id,
        guest_id: work.lease.guest_id,
        origin: Origin::Inbound(InboundId(inbound)),
        part: 1,
        parts: 1,
        kind: key.as_str().to_owned(),
        class: pack.texts.class(key),
        body,
        encoding: measure.encoding.as_str().to_owned(),
        units: i32::try_from(measure.units).unwrap_or(i32::MAX),
        segments: i32::try_from(measure.segments).unwrap_or(i32::MAX),
        agent: agent.to_owned(),
        answers_at: None,
        delay: Duration::ZERO,
        useful_for: pack.rules.usefulness(),
        trace: work.trace.clone(),
    }
}

/// Returns the casino's own fallback text, or else the pack's; it always contains the phone number
/// (AGENT-63).
pub(crate) fn text(work: &Work, language: Language) -> String {
    let slots = work.pack.slots(&work.config);
    let own = work.config.prompts.fallback_message.as_deref();
    let own = own.and_then(|text| work.pack.texts.render_own(text, &slots).ok());
    own.unwrap_or_else(|| work.pack.texts.render(TextKey::Fallback, language, &slots))
}
