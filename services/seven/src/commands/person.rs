//! Lets a person take over a conversation and write in it in place of the host
//! (D14).

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use seven_domain::{
    AuditEvent, CasinoId, ConversationId, GuestId, MessageClass, OutboundId, OutboundState,
    TraceContext,
};
use seven_runtime::Fleet;
use seven_store::{
    Tx,
    audit::Entry,
    outbound::{NewOutbound, Origin, Recipient},
};
use tokio::time::{Instant, sleep};

/// How long a command waits for the outcome of a text.
const OUTCOME_TIMEOUT: Duration = Duration::from_secs(5);

/// Result of queueing a person's reply.
#[derive(Debug)]
pub struct PersonsReply {
    pub texts: Vec<OutboundId>,
    /// Inbound texts of the guest that the reply counts as answering.
    pub answered: u64,
}

/// Takes the conversation over: the host is silent until the release, and a turn in progress can
/// send nothing more (D4).
pub async fn take_over(
    fleet: &Fleet,
    casino: &CasinoId,
    conversation: ConversationId,
    by: &str,
    reason: &str,
) -> Result<()> {
    let mut tx = fleet.store.bind(casino).await?;
    tx.cancel_unsent(conversation, "conversation_paused")
        .await?;
    tx.take_over(conversation, "operator").await?;
    note(
        &mut tx,
        AuditEvent::ConversationPaused,
        by,
        conversation,
        json!({ "reason": reason, "takeover": true }),
    )
    .await?;
    Ok(tx.commit().await?)
}

/// Queues a person's text. Refused unless the conversation is paused until a person ends the pause;
/// otherwise the host could write in between.
pub async fn say(
    fleet: &Fleet,
    casino: &CasinoId,
    conversation: ConversationId,
    by: &str,
    text: &str,
) -> Result<PersonsReply> {
    ensure!(!text.trim().is_empty(), "there is nothing to say");
    let mut tx = fleet.store.bind(casino).await?;
    tx.lock_conversation(conversation).await?;
    let shown = tx
        .shown_conversation(conversation)
        .await?
        .context("it was deleted this moment")?;
    ensure!(
        shown.paused && shown.paused_until.is_none(),
        "the host speaks there; first: seven conversation takeover"
    );
    let row = tx.casino_row().await?.context("the casino has no row")?;
    let rules = &fleet.packs.of(&row.config)?.rules;
    let shaped = seven_sms::shape(text.trim(), rules.max_texts);
    ensure!(
        !shaped.truncated,
        "that is longer than {} texts; say less",
        rules.max_texts
    );
    let trace = TraceContext::start().to_string();
    let parts = i32::try_from(shaped.texts.len()).unwrap_or(i32::MAX);
    let to = Recipient {
        conversation_id: conversation,
        guest_id: GuestId(shown.guest_id),
    };
    let (mut queued, mut texts) = (Vec::new(), Vec::new());
    for (part, body) in (1..).zip(shaped.texts) {
        let (id, class) = (fleet.ids.next(), MessageClass::Reply);
        let new = NewOutbound::new(id, to, Origin::Person, class, body, rules.usefulness())
            .part(part, parts)
            .trace(&trace);
        texts.push(new.outbound_id);
        queued.extend(tx.queue(&new).await?);
    }
    let first = texts.first().context("there is nothing to say")?;
    let answered = tx.answer_held(conversation, *first).await?;
    let detail = json!({ "texts": texts, "answered": answered });
    note(&mut tx, AuditEvent::PersonWrote, by, conversation, detail).await?;
    tx.commit().await?;
    super::told(fleet.signal_queued(casino, &queued, None, &trace).await);
    Ok(PersonsReply { texts, answered })
}

/// Returns the state of a text and its reason, as soon as it was sent or cannot be sent, at the
/// latest after 5 s.
pub async fn outcome(
    fleet: &Fleet,
    casino: &CasinoId,
    text: OutboundId,
) -> Result<(OutboundState, Option<String>)> {
    let end = Instant::now() + OUTCOME_TIMEOUT;
    loop {
        let mut tx = fleet.store.bind(casino).await?;
        let (state, reason) = tx
            .outbound_state(text)
            .await?
            .context("it was deleted this moment")?;
        tx.commit().await?;
        let under_way = match state {
            OutboundState::Queued => reason.is_none(),
            state => state == OutboundState::Sending,
        };
        if !under_way || Instant::now() > end {
            return Ok((state, reason));
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Records in the audit log what a person did in a conversation.
pub(super) async fn note(
    tx: &mut Tx,
    event: AuditEvent,
    by: &str,
    conversation: ConversationId,
    detail: Value,
) -> Result<()> {
    let guest = match tx.shown_conversation(conversation).await? {
        Some(shown) => tx.hash_of(shown.guest_id.into()).await?,
        None => None,
    };
    let subject = conversation.to_string();
    tx.audit(&Entry {
        event,
        actor: by,
        subject: &subject,
        guest: guest.as_ref(),
        detail,
        trace: None,
    })
    .await?;
    Ok(())
}
