//! Handles due rows (D13). Each row is claimed with SKIP LOCKED. Then one transaction does the
//! row's work and clears the row. The signal of a text is published before this transaction
//! commits.

use std::time::Duration;

use seven_domain::{
    AuditEvent, CaseSeverity, CaseSource, ConversationId, GuestId, InboundId, Language, OutboundId,
    OutboundState,
};
use seven_packs::TextKey;
use seven_runtime::{
    Error, Fleet,
    own_cases::{OwnCase, open_own_case},
};
use seven_store::{
    Tx,
    audit::Entry,
    casinos::Casino,
    due::{Due, DueKind, Kinds, UnknownKind},
    escalations::REPLY_WAITS,
    outbound::{NewOutbound, Origin, Queued, Recipient},
    pauses::Wake,
};
use seven_telemetry::{metrics, trace as spans};

/// Maximum number of rows per claim. It is small: even with a slow database, all rows must be
/// handled before the claim expires.
const BATCH: i64 = 50;
const CLAIM_TTL: Duration = Duration::from_secs(30);

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    loop {
        let rows = fleet
            .store
            .claim_due(Kinds::Signals, BATCH, CLAIM_TTL)
            .await?;
        let full = rows.len() == usize::try_from(BATCH).unwrap_or(usize::MAX);
        crate::rounds::each_of(rows, |row| &row.casino, |row| fire(&fleet, row)).await?;
        if !full {
            return Ok(());
        }
    }
}

/// Recreates missing due rows of calls in doubt. Without its due row, a call is never settled, and
/// the guest's later texts wait behind it. No code is known to lose such a row.
pub(crate) async fn renew_doubts(fleet: Fleet) -> Result<(), Error> {
    let renewed = fleet
        .store
        .renew_doubts(fleet.timing.doubt_grace() * 2)
        .await?;
    if renewed > 0 {
        metrics()
            .repairs
            .with_label_values(&["attempt_doubt"])
            .inc_by(renewed.unsigned_abs());
        tracing::warn!(renewed, "calls without a due row are settled now");
    }
    Ok(())
}

/// Ends a pause: the conversation continues, and the texts kept during the pause are answered.
async fn resume(fleet: &Fleet, row: &Due) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&row.casino).await?;
    let told = overdue(fleet, &mut tx, ConversationId(row.row_id)).await?;
    let wake = tx.wake(ConversationId(row.row_id)).await?;
    tx.clear_due(DueKind::Resume, row.row_id).await?;
    match wake {
        Wake::Later(rest) => tx.put_due(DueKind::Resume, row.row_id, rest).await?,
        Wake::Resumed(resumed) => {
            let detail = serde_json::json!({ "reason": resumed.reason, "texts": resumed.released });
            let subject = row.row_id.to_string();
            tx.audit(&Entry::of(
                AuditEvent::ConversationResumed,
                "scheduler",
                &subject,
                detail,
            ))
            .await?;
            // The signal follows the commit that opens the texts again; the sweep repeats a lost
            // signal.
            tx.commit().await?;
            if let Some((cause, trace)) = resumed.first {
                let copy = Some(format!("resume:{}", fleet.ids.uuid()));
                fleet
                    .bus
                    .signal_conversation(&row.casino, row.row_id, cause, copy, &trace)
                    .await?;
            }
            return fleet.signal_queued(&row.casino, &told, None, "").await;
        }
        Wake::Nothing => {}
    }
    tx.commit().await?;
    fleet.signal_queued(&row.casino, &told, None, "").await
}

/// Tells the guest once that no person wrote in the promised time, and raises the case (D28). The
/// text's origin consists of the case's inbound text and the text key. It is unique, so a second
/// text cannot be queued.
async fn overdue(
    fleet: &Fleet,
    tx: &mut Tx,
    conversation: ConversationId,
) -> Result<Vec<Queued>, Error> {
    tx.lock_conversation(conversation).await?;
    let Some(case) = tx.overdue(conversation).await? else {
        return Ok(Vec::new());
    };
    tx.raise_overdue(case.escalation_id).await?;
    let Some(Casino { config, .. }) = tx.casino_row().await? else {
        return Ok(Vec::new());
    };
    let (pack, key) = (fleet.packs.of(&config)?, TextKey::EscalationOverdue);
    let body = pack.say(key, case.language.unwrap_or(Language::En), &config);
    let to = Recipient {
        conversation_id: conversation,
        guest_id: GuestId(case.guest_id),
    };
    let origin = Origin::Canned {
        inbound: InboundId(case.inbound_id),
        key: key.as_str(),
    };
    let (id, class) = (fleet.ids.next(), pack.texts.class(key));
    let new = NewOutbound::new(id, to, origin, class, body, pack.rules.usefulness())
        .agent("scheduler")
        .trace(&case.trace);
    Ok(tx.queue(&new).await?.into_iter().collect())
}

/// Opens a case because a reply has waited too long for a person to release it.
async fn reply_waits(fleet: &Fleet, row: &Due) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&row.casino).await?;
    if let Some(conversation) = tx.tell_held(row.row_id).await? {
        let guest = tx.guest_in(conversation).await?.map(|(guest, _)| guest);
        let case = OwnCase {
            id: fleet.ids.uuid(),
            severity: CaseSeverity::Sev2,
            source: CaseSource::HostPromise,
            reason: REPLY_WAITS,
            subject: "",
            about: guest.map(|guest| (conversation, guest)),
            actor: "scheduler",
        };
        open_own_case(&mut tx, &case).await?;
    }
    tx.clear_due(DueKind::HeldReply, row.row_id).await?;
    Ok(tx.commit().await?)
}

/// Clears a row whose kind this build does not know.
async fn drop_unknown(fleet: &Fleet, row: &Due, unknown: &UnknownKind) -> Result<(), Error> {
    metrics().swept.with_label_values(&[&unknown.name]).inc();
    tracing::error!(
        kind = unknown.name,
        "a due row of a kind this version does not know"
    );
    let mut tx = fleet.store.bind(&row.casino).await?;
    tx.clear_unknown_due(unknown, row.row_id).await?;
    Ok(tx.commit().await?)
}

async fn fire(fleet: &Fleet, row: Due) -> Result<(), Error> {
    let kind = match &row.kind {
        Ok(kind) => *kind,
        Err(unknown) => return drop_unknown(fleet, &row, unknown).await,
    };
    metrics().swept.with_label_values(&[kind.as_str()]).inc();
    match kind {
        DueKind::Resume => resume(fleet, &row).await,
        DueKind::HeldReply => reply_waits(fleet, &row).await,
        DueKind::StopReach => crate::stop_reach::reach(fleet, &row).await,
        // `claim_due` does not claim deletions; `deletion::round` handles them.
        DueKind::Delete => Ok(()),
        DueKind::AttemptDoubt | DueKind::Send | DueKind::Held => signal(fleet, &row, kind).await,
    }
}

/// Signals the row's text if it is still queued.
async fn signal(fleet: &Fleet, row: &Due, kind: DueKind) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&row.casino).await?;
    // Stays empty if the text is sent again after a doubt. The sender then takes the trace from the
    // text's row.
    let mut trace = String::new();
    let text = if kind == DueKind::AttemptDoubt {
        tx.settle_doubt(row.row_id.into()).await?
    } else {
        let pending = tx.pending(OutboundId(row.row_id)).await?;
        pending
            .filter(|pending| pending.state == OutboundState::Queued)
            .map(|pending| {
                trace = pending.trace;
                Queued::new(OutboundId(row.row_id), pending.class)
            })
    };
    tx.clear_due(kind, row.row_id).await?;
    if let Some(text) = text {
        let copy = format!("due:{}", fleet.ids.uuid());
        let texts = [text];
        let signalled = fleet.signal_queued(&row.casino, &texts, Some(&copy), &trace);
        if trace.is_empty() {
            signalled.await?;
        } else {
            spans::resume("due", &row.casino, &trace, signalled).await?;
        }
    }
    tx.commit().await?;
    Ok(())
}
