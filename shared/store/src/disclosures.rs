//! The AI disclosure counts as made only once the provider has accepted the text that carries it
//! (SEC-52, C-16).

use serde_json::json;
use seven_domain::{AuditEvent, DisclosureKind, GuestHash, MaterialChange, OutboundId};
use sqlx::FromRow;

use crate::{Result, Tx, audit::Entry};

#[derive(FromRow)]
struct Made {
    kind: DisclosureKind,
    law: Option<String>,
    locale: String,
    key_id: i16,
    phone_hash: Vec<u8>,
}

/// Records the disclosure when the provider's answer or the first receipt shows that the text was
/// accepted. The statement reads row by row through keys, because the planner turned joins into
/// scans (docs/performance.md).
const MADE: &str = include_str!("../sql/record_disclosure.sql");

impl Tx {
    /// Records the disclosure that this text carried, if it carried one and was accepted.
    pub async fn record_disclosure(&mut self, outbound: OutboundId) -> Result<()> {
        let made: Option<Made> = sqlx::query_as(MADE)
            .bind(outbound.0)
            .fetch_optional(self.conn())
            .await?;
        let Some(made) = made else { return Ok(()) };
        let Ok(bytes) = made.phone_hash.try_into() else {
            return Ok(());
        };
        let guest = GuestHash {
            key_id: made.key_id,
            bytes,
        };
        let again = made.kind == DisclosureKind::Again;
        self.audit(&Entry {
            event: if again {
                AuditEvent::AiRedisclosureDelivered
            } else {
                AuditEvent::AiDisclosureDelivered
            },
            actor: "outbound-sender",
            subject: &outbound.to_string(),
            guest: Some(&guest),
            detail: json!({
                "kind": made.kind,
                "locale": made.locale,
                "law_reference": made.law,
                "delivery_method": "sms_first_message",
            }),
            trace: None,
        })
        .await
    }

    /// Marks every guest who got the disclosure, so that the next text repeats it (SEC-53). Returns
    /// how many.
    pub async fn redisclose_all(&mut self, trigger: MaterialChange) -> Result<u64> {
        let done = sqlx::query("update guests set redisclose = $1 where disclosed_at is not null")
            .bind(trigger)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected())
    }
}
