//! Handles due rows (D13): each is claimed with SKIP LOCKED, then done and cleared in one
//! transaction, which publishes before it commits.

use std::time::Duration;

use seven_domain::{AuditEvent, ConversationId, MessageClass, OutboundId};
use seven_runtime::{Error, Fleet};
use seven_store::{
    audit::Entry,
    due::{Due, Kinds, STOP_REACH},
    pauses::{RESUME, Wake},
    providers::HELD,
};
use seven_telemetry::{metrics, trace as spans};

const BATCH: i64 = 200;
const CLAIM: Duration = Duration::from_secs(30);

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    loop {
        let rows = fleet.store.claim_due(Kinds::Signals, BATCH, CLAIM).await?;
        let full = rows.len() == usize::try_from(BATCH).unwrap_or(usize::MAX);
        crate::rounds::each_of(rows, |row| &row.casino, |row| fire(&fleet, row)).await?;
        if !full {
            return Ok(());
        }
    }
}

/// Ends a pause: the conversation continues, including the texts kept during it (SEC-104).
async fn resume(fleet: &Fleet, row: &Due) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&row.casino).await?;
    let wake = tx.wake(ConversationId(row.row_id)).await?;
    tx.clear_due(RESUME, row.row_id).await?;
    match wake {
        Wake::Later(rest) => tx.put_due(RESUME, row.row_id, rest).await?,
        Wake::Resumed(resumed) => {
            let detail = serde_json::json!({ "reason": resumed.reason, "texts": resumed.released });
            let subject = row.row_id.to_string();
            tx.audit(&Entry::of(AuditEvent::ConversationResumed, "scheduler", &subject, detail)).await?;
            // Signals after the commit that opens the texts; the sweep repeats a signal that is
            // lost.
            tx.commit().await?;
            if let Some((cause, trace)) = resumed.first {
                let copy = Some(format!("resume:{}", fleet.ids.uuid()));
                fleet.bus.signal_conversation(&row.casino, row.row_id, cause, copy, &trace).await?;
            }
            return Ok(());
        }
        Wake::Nothing => {}
    }
    Ok(tx.commit().await?)
}

async fn fire(fleet: &Fleet, row: Due) -> Result<(), Error> {
    metrics().swept.with_label_values(&[&row.kind]).inc();
    match row.kind.as_str() {
        RESUME => return resume(fleet, &row).await,
        STOP_REACH => return crate::stop_reach::reach(fleet, &row).await,
        _ => {}
    }
    let mut tx = fleet.store.bind(&row.casino).await?;
    // Empty for a text that is sent again after a doubt: the sender finds the trace in the text's
    // row.
    let mut trace = String::new();
    let signal = match row.kind.as_str() {
        "attempt_doubt" => tx.settle_doubt(row.row_id.into()).await?,
        "send" | HELD => match tx.pending(OutboundId(row.row_id)).await? {
            Some(pending) if pending.state == "queued" => {
                trace = pending.trace;
                Some(seven_store::outbound::Queued {
                    outbound_id: OutboundId(row.row_id),
                    lane: pending.class.parse::<MessageClass>()?.lane(),
                })
            }
            _ => None,
        },
        other => {
            tracing::error!(kind = other, "a due row of a kind this version does not know");
            None
        }
    };
    tx.clear_due(&row.kind, row.row_id).await?;
    if let Some(text) = signal {
        let copy = format!("due:{}", fleet.ids.uuid());
        let texts = [text];
        let signalled = fleet.signal_queued(&row.casino, &texts, Some(&copy), &trace);
        if trace.is_empty() { signalled.await? } else { spans::resume("due", &row.casino, &trace, signalled).await? }
    }
    tx.commit().await?;
    Ok(())
}
