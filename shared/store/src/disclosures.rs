//! The AI disclosure counts as made only once the provider has accepted the text that carries it
//! (SEC-52, C-16).

use serde_json::json;
use seven_domain::{AuditEvent, GuestHash, OutboundId};
use sqlx::FromRow;

use crate::{Result, Tx, audit::Entry};

#[derive(FromRow)]
struct Made {
    kind: String,
    law: Option<String>,
    locale: String,
    key_id: i16,
    phone_hash: Vec<u8>,
}

/// Records the disclosure once per text: by the first receipt or answer that finds the text
/// accepted. A late receipt of an earlier disclosure does not cancel a pending one.
///
/// Reads key by key: with joins, the planner cross joins guests and texts until the tables are
/// analyzed (docs/performance.md).
const MADE: &str = "
with o as materialized (
  select turn_id, conversation_id from outbound_messages where outbound_id = $1 and part = 1 and state in ('sent', 'delivered')
), t as materialized (
  select guest_id, disclosure_kind, language from turns where turn_id = (select turn_id from o) and disclosure
), carried as materialized (
  select t.*, c.session_started_at from t, conversations c where c.conversation_id = (select conversation_id from o)
)
update guests g set disclosed_at = now(), disclosed_session = carried.session_started_at, redisclose = null
from carried
where g.guest_id = (select guest_id from t)
  and (g.disclosed_at is null or (g.redisclose is not null and carried.disclosure_kind = 'again')
       or g.disclosed_session is distinct from carried.session_started_at)
returning carried.disclosure_kind as kind, g.disclosure_law as law, carried.language as locale, g.key_id, g.phone_hash";

impl Tx {
    /// Records the disclosure that this text carried, if it carried one and was accepted.
    pub async fn record_disclosure(&mut self, outbound: OutboundId) -> Result<()> {
        let made: Option<Made> = sqlx::query_as(MADE).bind(outbound.0).fetch_optional(self.conn()).await?;
        let Some(made) = made else { return Ok(()) };
        let Ok(bytes) = made.phone_hash.try_into() else { return Ok(()) };
        let guest = GuestHash { key_id: made.key_id, bytes };
        let again = made.kind == "again";
        self.audit(&Entry {
            event: if again { AuditEvent::AiRedisclosureDelivered } else { AuditEvent::AiDisclosureDelivered },
            actor: "outbound-sender",
            subject: &outbound.to_string(),
            guest: Some(&guest),
            detail: json!({ "kind": made.kind, "locale": made.locale, "law_reference": made.law, "delivery_method": "sms_first_message" }),
            trace: None,
        })
        .await
    }

    /// Marks every guest who got the disclosure, so that the next text repeats it (SEC-53). Returns
    /// how many.
    pub async fn redisclose_all(&mut self, trigger: &str) -> Result<u64> {
        let done = sqlx::query("update guests set redisclose = $1 where disclosed_at is not null")
            .bind(trigger)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected())
    }
}
