//! Carries out a person's decision about a held reply (AGENT-15): to release it, to release it with
//! other words, or to discard it.

use seven_compliance::offers::{self, Action};
use seven_domain::{
    AuditEvent, CasinoId, ConversationId, GuestId, HeldDecision, MessageClass, OutboundId,
    OutboundState, TurnId,
};
use seven_knowledge::offers::catalogue_of;
use seven_runtime::Fleet;
use seven_sms::Shaped;
use seven_store::{
    Tx,
    escalations::REPLY_WAITS,
    held::HeldReply,
    outbound::{NewOutbound, Origin, Recipient},
};

use crate::desk::note;

/// Why no decision was made.
#[derive(Debug, thiserror::Error)]
pub enum Undecided {
    #[error("the reply does not wait any more: it was decided, cancelled, or became too old")]
    Gone,
    #[error("an earlier reply of the conversation waits, too; decide about that one first")]
    Earlier,
    #[error("the text is empty")]
    Empty,
    #[error("the text does not fit into {most} texts; write less")]
    TooLong { most: usize },
    #[error("the text has a link, which the host never sends")]
    Link,
    /// The text makes an offer, quoted here, that the casino's content and promotions do not
    /// support.
    #[error("nothing in the casino's content or promotions proves: {0}")]
    Offer(String),
    #[error(transparent)]
    Pack(#[from] seven_packs::Unknown),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

/// Carries out a person's decision about a held reply. `words` is the edited reply without the
/// disclosure, which this function puts in front of it.
///
/// # Errors
/// Returns why the decision or the words are refused; the reply then keeps waiting.
pub async fn decide(
    fleet: &Fleet,
    casino: &CasinoId,
    turn: TurnId,
    decision: HeldDecision,
    words: &str,
    by: &str,
) -> Result<(), Undecided> {
    let mut tx = fleet.store.bind(casino).await?;
    let held = tx.held_reply(turn).await?.ok_or(Undecided::Gone)?;
    let conversation = ConversationId(held.conversation_id);
    // The first read only told which conversation to lock. The reply is read again under the lock,
    // because somebody else may have decided meanwhile.
    tx.lock_conversation(conversation).await?;
    let held = tx.held_reply(turn).await?.ok_or(Undecided::Gone)?;
    // A later reply may refer to the earlier one, so the earlier one must be decided first.
    if decision != HeldDecision::Discarded && tx.waits_behind(&held).await? {
        return Err(Undecided::Earlier);
    }
    match decision {
        HeldDecision::Released => {}
        HeldDecision::Edited => edit(fleet, &mut tx, &held, words).await?,
        HeldDecision::Discarded => {
            for part in tx.held_parts(turn).await? {
                let (id, state) = (OutboundId(part.outbound_id), OutboundState::Suppressed);
                tx.end_queued(id, state, "discarded").await?;
            }
            tx.correct_turn(turn, None).await?;
        }
    }
    if !tx.decide_held(turn, decision, by).await? {
        return Err(Undecided::Gone);
    }
    tx.let_go(turn).await?;
    if !tx.has_held(conversation).await? {
        tx.withdraw_cases(conversation, REPLY_WAITS, by).await?;
    }
    let detail = serde_json::json!({ "turn_id": turn, "decision": decision });
    note(&mut tx, AuditEvent::ReplyReviewed, by, conversation, detail).await?;
    let queued = tx.queued_of(turn.0).await?;
    tx.commit().await?;
    // The first signal was handled when the texts were held, so they need a second one. Its own id
    // keeps NATS from dropping it as a duplicate.
    let copy = format!("review:{}", fleet.ids.uuid());
    let signalled = fleet.signal_queued(casino, &queued, Some(&copy), &held.trace);
    if let Err(error) = signalled.await {
        tracing::warn!(%casino, error = &error as &dyn std::error::Error, "a sweep signals the released reply");
    }
    Ok(())
}

/// Sets whether a person reviews this conversation's replies before they are sent.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn set_reviewed(
    tx: &mut Tx,
    conversation: ConversationId,
    on: bool,
    by: &str,
) -> seven_store::Result<()> {
    tx.set_reviewed(conversation, on, by).await?;
    let detail = serde_json::json!({ "replies_held": on });
    note(tx, AuditEvent::ReplyReviewed, by, conversation, detail).await
}

/// Replaces the turn's texts by the edited words, with the disclosure in front. The words must pass
/// the same checks as the host's words.
async fn edit(fleet: &Fleet, tx: &mut Tx, held: &HeldReply, words: &str) -> Result<(), Undecided> {
    let words = words.trim();
    if words.is_empty() {
        return Err(Undecided::Empty);
    }
    if seven_host::has_link(words) {
        return Err(Undecided::Link);
    }
    let row = tx.casino_row().await?.ok_or(Undecided::Gone)?;
    let zone = row.config.operational.timezone;
    let known = catalogue_of(&tx.content().await?, zone);
    let check = offers::check(words, &known, fleet.clock.property_now(), zone);
    if check.action == Action::Reject {
        let said = check
            .unverified_offers
            .iter()
            .map(|offer| offer.text.as_str());
        return Err(Undecided::Offer(said.collect::<Vec<_>>().join(", ")));
    }
    let pack = fleet.packs.of(&row.config)?;
    let most = pack.rules.max_texts;
    let (kind, language) = (held.disclosure_kind, held.language);
    let whole = pack.disclosed(kind, language, &row.config, held.channel, words);
    let shaped = Shaped::of(&whole, held.channel.profile().length.in_segments(), most);
    if shaped.truncated {
        return Err(Undecided::TooLong { most });
    }
    tx.correct_turn(TurnId(held.turn_id), Some(words)).await?;
    put(fleet, tx, held, &shaped.texts, pack.rules.usefulness()).await
}

/// Rewrites the turn's texts, cancels those that are no longer needed, and queues additional ones.
async fn put(
    fleet: &Fleet,
    tx: &mut Tx,
    held: &HeldReply,
    texts: &[String],
    useful_for: std::time::Duration,
) -> Result<(), Undecided> {
    let turn = TurnId(held.turn_id);
    let queued = tx.held_parts(turn).await?;
    let parts = i32::try_from(texts.len()).unwrap_or(i32::MAX);
    let to = Recipient {
        conversation_id: ConversationId(held.conversation_id),
        guest_id: GuestId(held.guest_id),
    };
    for (part, body) in (1..).zip(texts) {
        if let Some(known) = queued.iter().find(|known| known.part == part) {
            tx.reword(OutboundId(known.outbound_id), body, parts)
                .await?;
            continue;
        }
        let (id, origin, class) = (fleet.ids.next(), Origin::Turn(turn), MessageClass::Reply);
        let text = NewOutbound::new(id, to, origin, class, body.clone(), useful_for)
            .part(part, parts)
            .agent(&held.agent)
            .trace(&held.trace);
        tx.queue(&text).await?;
    }
    for extra in queued.iter().filter(|known| known.part > parts) {
        let id = OutboundId(extra.outbound_id);
        tx.end_queued(id, OutboundState::Suppressed, "edited")
            .await?;
    }
    Ok(())
}
