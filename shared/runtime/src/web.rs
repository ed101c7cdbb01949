//! Delivery to the websites (D33): a message is delivered when the pre-send check commits. A worker
//! that writes a message tries to deliver it in the same transaction; the sender delivers the
//! others.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use seven_domain::{AuditEvent, GuestHash, MessageClass, OutboundId, WEB};
use seven_store::{Result, Tx, audit::Entry, outbound::Queued, presend_check::PresendCheck};
use seven_telemetry::metrics;

use crate::Fleet;

/// Maximum age of the guest's message for an answer at once. Later answers are left to the sender,
/// because only the sender opens a case when an answer to a cry for help is late.
const LATE_AFTER: TimeDelta = TimeDelta::minutes(1);

/// A message that a transaction delivers to the web.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub outbound_id: OutboundId,
    pub class: MessageClass,
    pub guest: &'a GuestHash,
    /// The time at which the guest's message reached us; the reply time is measured from then.
    /// `None` if the reply time is not measured.
    pub asked: Option<DateTime<Utc>>,
    /// The name of the delivering worker, for the audit log.
    pub by: &'static str,
}

impl Fleet {
    /// Delivers the messages that the caller's transaction has queued, in order. Stops at the first
    /// message that a restriction may hold back, and returns the rest for the sender to check.
    /// `asked` is the time at which the guest's message reached us. After the commit, the caller
    /// must send a hint.
    ///
    /// # Errors
    /// Fails when Postgres does not answer.
    pub async fn show_at_once(
        &self,
        tx: &mut Tx,
        guest: &GuestHash,
        asked: DateTime<Utc>,
        mut queued: Vec<Queued>,
        by: &'static str,
    ) -> Result<Vec<Queued>> {
        if self.clock.now() - asked > LATE_AFTER {
            return Ok(queued);
        }
        let mut delivered = 0;
        for Queued { outbound_id, .. } in &queued {
            let Some(claim) = tx.claim_at_once(&self.web_check(*outbound_id)).await? else {
                break;
            };
            let shown = Shown {
                outbound_id: *outbound_id,
                class: claim.class,
                guest,
                asked: (delivered == 0).then_some(asked),
                by,
            };
            self.note_shown(tx, shown).await?;
            delivered += 1;
        }
        if delivered > 0 {
            tx.outlast_crash().await?;
        }
        Ok(queued.split_off(delivered))
    }

    /// Builds the pre-send check of a message to the web.
    pub fn web_check(&self, outbound_id: OutboundId) -> PresendCheck {
        PresendCheck {
            outbound_id,
            attempt_id: self.ids.next(),
            provider: WEB,
            sender: None,
            deadline: Duration::ZERO,
            grace: Duration::ZERO,
            window_open: true,
            exclusion_list_needed: false,
            called_at: self.clock.now(),
            refused_as_of: None,
            risk: None,
        }
    }

    /// Records a delivery in the transaction that makes it, and counts it after the commit.
    ///
    /// # Errors
    /// Fails when Postgres does not answer.
    pub async fn note_shown(&self, tx: &mut Tx, shown: Shown<'_>) -> Result<()> {
        let subject = shown.outbound_id.to_string();
        let detail = serde_json::json!({ "class": shown.class, "provider": WEB });
        let entry = Entry::of(AuditEvent::WebOutbound, shown.by, &subject, detail);
        tx.record_disclosure(shown.outbound_id).await?;
        tx.audit(&Entry {
            guest: Some(shown.guest),
            ..entry
        })
        .await?;
        let (casino, clock) = (tx.casino().clone(), self.clock.clone());
        let Shown { class, asked, .. } = shown;
        tx.once_committed(move || {
            let (metrics, casino) = (metrics(), casino.as_str());
            let checked = [casino, class.as_str(), "sent"];
            metrics.presend_check.with_label_values(&checked).inc();
            let sent = [casino, WEB, "sent"];
            metrics.texts.outcomes.with_label_values(&sent).inc();
            let took = asked.and_then(|asked| (clock.now() - asked).to_std().ok());
            let Some(took) = took else { return };
            // Delivery to the web involves no wait, so the processing time equals the whole time.
            for part in ["whole", "processing"] {
                let labels = [casino, part];
                let replies = metrics.texts.replies.with_label_values(&labels);
                replies.observe(took.as_secs_f64());
            }
        });
        Ok(())
    }
}
