//! Lets a person take a conversation over, write in place of the host, and give it back (D14).

use serde_json::{Value, json};
use seven_domain::{
    AuditEvent, CasinoId, ConversationId, GuestId, MessageClass, OutboundId, TraceContext,
};
use seven_runtime::Fleet;
use seven_sms::Shaped;
use seven_store::{
    Tx,
    audit::Entry,
    escalations::Settled,
    outbound::{NewOutbound, Origin, Queued, Recipient},
    pauses::Resumed,
};
use uuid::Uuid;

use crate::mutant;

/// A text that a person writes to a guest.
#[derive(Debug)]
pub struct Write<'a> {
    pub casino: &'a CasinoId,
    pub conversation: ConversationId,
    /// The person's name in the audit log.
    pub by: &'a str,
    pub text: &'a str,
    /// The thread's mark ([`Tx::thread_mark`]) when the person last read the thread. If the mark
    /// has changed since, the text is refused. `None` skips this check.
    pub read: Option<i64>,
}

/// The result of queueing a person's text.
#[derive(Debug)]
pub struct PersonsReply {
    pub texts: Vec<OutboundId>,
    /// Number of the guest's texts that are marked as answered by this reply.
    pub answered: u64,
}

/// Why a person's text was not queued.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("there is nothing to say")]
    Empty,
    #[error("the conversation was deleted this moment")]
    Gone,
    #[error("the host speaks there; take the conversation over first")]
    NotTaken,
    #[error("{0} has taken this conversation over; take it over yourself to write")]
    TakenBy(String),
    #[error("the conversation went on while you wrote")]
    MovedOn,
    #[error("that is longer than {most} texts; say less")]
    TooLong { most: usize },
    #[error(transparent)]
    Pack(#[from] seven_packs::Unknown),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

/// Takes the conversation over. The host is silent until the release, and a turn in progress can
/// send nothing more (D4). Marks the conversation's open cases as acknowledged by the person. The
/// caller commits.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn take_over(
    tx: &mut Tx,
    conversation: ConversationId,
    by: &str,
    reason: &str,
) -> seven_store::Result<()> {
    let from = holder(tx, conversation).await?;
    if !mutant::speaks_over_staff() {
        tx.cancel_unsent(conversation, "conversation_paused")
            .await?;
    }
    tx.take_over(conversation, "operator", by).await?;
    tx.acknowledge_all_of(conversation, by).await?;
    let detail = json!({ "reason": reason, "takeover": true, "from": from });
    note(tx, AuditEvent::ConversationPaused, by, conversation, detail).await
}

/// Locks the conversation and returns the person who has taken it over, if any.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn holder(
    tx: &mut Tx,
    conversation: ConversationId,
) -> seven_store::Result<Option<String>> {
    tx.lock_conversation(conversation).await?;
    let shown = tx.shown_conversation(conversation).await?;
    Ok(shown.and_then(|shown| shown.taken_by))
}

/// Queues a person's text, and marks the guest's held texts as answered. The conversation must be
/// paused without an end time; otherwise the host could write in between.
///
/// # Errors
/// Fails when the text cannot be queued; nothing is stored then.
pub async fn say(fleet: &Fleet, write: &Write<'_>) -> Result<PersonsReply, Refused> {
    let mut tx = fleet.store.bind(write.casino).await?;
    let written = write_down(fleet, &mut tx, write).await?;
    tx.commit().await?;
    written.signal(fleet, write.casino).await;
    Ok(written.reply)
}

/// A person's text that is queued in a transaction, but not committed yet.
pub(crate) struct Written {
    reply: PersonsReply,
    queued: Vec<Queued>,
    trace: String,
}

impl Written {
    /// Signals the texts to the sender; call it after the commit.
    pub(crate) async fn signal(&self, fleet: &Fleet, casino: &CasinoId) {
        told(
            fleet
                .signal_queued(casino, &self.queued, None, &self.trace)
                .await,
        );
    }
}

/// Queues a person's text as [`say`] does. The caller commits.
pub(crate) async fn write_down(
    fleet: &Fleet,
    tx: &mut Tx,
    write: &Write<'_>,
) -> Result<Written, Refused> {
    if write.text.trim().is_empty() {
        return Err(Refused::Empty);
    }
    let conversation = write.conversation;
    tx.lock_conversation(conversation).await?;
    let shown = tx.shown_conversation(conversation).await?;
    let shown = shown.ok_or(Refused::Gone)?;
    if !shown.paused || shown.paused_until.is_some() {
        return Err(Refused::NotTaken);
    }
    if let Some(other) = shown.taken_by.filter(|other| other != write.by) {
        return Err(Refused::TakenBy(other));
    }
    if let Some(read) = write.read
        && tx.thread_mark(conversation).await? != read
    {
        return Err(Refused::MovedOn);
    }
    let row = tx.casino_row().await?.ok_or(Refused::Gone)?;
    let rules = &fleet.packs.of(&row.config)?.rules;
    let segments = shown.channel.profile().length.in_segments();
    let shaped = Shaped::of(write.text.trim(), segments, rules.max_texts);
    if shaped.truncated {
        return Err(Refused::TooLong {
            most: rules.max_texts,
        });
    }
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
    let first = texts.first().ok_or(Refused::Empty)?;
    let answered = tx.answer_held(conversation, *first).await?;
    let detail = json!({ "texts": texts, "answered": answered });
    note(tx, AuditEvent::PersonWrote, write.by, conversation, detail).await?;
    Ok(Written {
        reply: PersonsReply { texts, answered },
        queued,
        trace,
    })
}

/// The effect of settling a case.
#[derive(Debug)]
pub struct CaseSettled {
    /// Number of texts that the host answers now; `None` if the conversation stays paused or was
    /// not paused.
    pub released: Option<u64>,
}

/// Settles a case. The host goes on in the case's conversation, unless another case keeps the
/// conversation paused. Returns `None` if there is no such open case.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn settle(
    fleet: &Fleet,
    casino: &CasinoId,
    case: Uuid,
    by: &str,
) -> seven_store::Result<Option<CaseSettled>> {
    let mut tx = fleet.store.bind(casino).await?;
    let Some(settled) = tx.settle_case(case, by).await? else {
        return Ok(None);
    };
    finish(fleet, casino, tx, settled, by).await.map(Some)
}

/// Commits a settled case. If nothing else in the conversation waits for a person, the host goes
/// on.
pub(crate) async fn finish(
    fleet: &Fleet,
    casino: &CasinoId,
    mut tx: Tx,
    settled: Settled,
    by: &str,
) -> seven_store::Result<CaseSettled> {
    let resumed = match settled.resumes {
        Some(conversation) => go_on(&mut tx, conversation, by)
            .await?
            .map(|resumed| (conversation, resumed)),
        None => None,
    };
    tx.commit().await?;
    if let Some((conversation, resumed)) = &resumed {
        announce(fleet, casino, *conversation, resumed).await;
    }
    Ok(CaseSettled {
        released: resumed.map(|(_, resumed)| resumed.released),
    })
}

/// Ends the conversation's pause, and writes to the audit log who ended it. Returns `None` if the
/// conversation is not paused. Pass the result to [`announce`] after the commit.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn go_on(
    tx: &mut Tx,
    conversation: ConversationId,
    by: &str,
) -> seven_store::Result<Option<Resumed>> {
    tx.resolve_ticket(conversation, Some(by), None).await?;
    let Some(resumed) = tx.resume(conversation).await? else {
        return Ok(None);
    };
    let detail = json!({ "reason": resumed.reason, "texts": resumed.released });
    note(
        tx,
        AuditEvent::ConversationResumed,
        by,
        conversation,
        detail,
    )
    .await?;
    Ok(Some(resumed))
}

/// Signals the texts that the end of a pause reopened; call it after the commit. The sweep repeats
/// a lost signal.
pub async fn announce(
    fleet: &Fleet,
    casino: &CasinoId,
    conversation: ConversationId,
    resumed: &Resumed,
) {
    if let Some((cause, trace)) = &resumed.first {
        let copy = Some(format!("resume:{}", fleet.ids.uuid()));
        told(
            fleet
                .bus
                .signal_conversation(casino, conversation.0, *cause, copy, trace)
                .await,
        );
    }
}

/// Writes an action of a person in a conversation to the audit log.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn note(
    tx: &mut Tx,
    event: AuditEvent,
    by: &str,
    conversation: ConversationId,
    detail: Value,
) -> seven_store::Result<()> {
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
    .await
}

/// Logs a lost signal. The row is stored, so the sweep repeats the signal.
fn told<E: std::error::Error + 'static>(signalled: Result<(), E>) {
    if let Err(error) = signalled {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "it is stored; the workers hear of it within seconds"
        );
    }
}
