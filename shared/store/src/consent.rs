//! Consent and its proof (D8). Every change writes the guest's row, a link of the chain and an
//! audit entry in one transaction. There is no other way to change a consent.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use seven_compliance::chain::{self, Action, Change, GENESIS, Head, Stored};
use seven_domain::{AuditEvent, ConsentTier, GuestHash, GuestId, GuestStatus, HashKeys};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, audit::Entry};

/// Names of the ways in which consent is given or withdrawn (C-16, C-17). Rows, chain and audit log
/// use the same names.
pub mod method {
    pub const STOP_KEYWORD: &str = "sms_stop_keyword";
    pub const NATURAL_LANGUAGE: &str = "natural_language";
    pub const START_KEYWORD: &str = "sms_start_keyword";
    pub const DOUBLE_START: &str = "double_start";
    /// The guest answered YES to a question that showed the full wording.
    pub const WRITTEN_YES: &str = "express_written";
    /// The provider refuses the number: the guest opted out there (error 40300).
    pub const PROVIDER_BLOCK: &str = "provider_block";
    pub const DECAY: &str = "consent_decay";
    pub const DELETION: &str = "guest_deleted";
}

/// A consent change to record.
#[derive(Debug, Clone)]
pub struct Consent<'a> {
    pub guest: &'a GuestHash,
    /// None when only the hash is known.
    pub guest_id: Option<GuestId>,
    pub action: Action,
    pub method: &'a str,
    /// The tier after the change.
    pub tier: ConsentTier,
    pub at: DateTime<Utc>,
    /// Proof of the change: keyword, wording, prompting message, operator or document (SEC-67,
    /// CONV-9).
    pub evidence: Value,
    pub actor: &'a str,
    pub trace: Option<&'a str>,
}

/// The consent now recorded in the guest's row.
#[derive(Debug, Clone, FromRow, serde::Serialize)]
pub struct Standing {
    pub guest_id: Uuid,
    pub consent_tier: ConsentTier,
    pub consent_method: Option<String>,
    pub consent_at: Option<DateTime<Utc>>,
    pub disclosed_at: Option<DateTime<Utc>>,
    pub responsible_gaming_at: Option<DateTime<Utc>>,
    pub status: GuestStatus,
}

/// A guest's chain with its head, as `seven_compliance::chain::verify` takes it.
#[derive(Debug, Clone)]
pub struct Chain {
    pub events: Vec<Stored>,
    pub head: Option<Head>,
}

impl Tx {
    /// Returns whether an entry of the guest's chain names this event in its evidence.
    pub async fn consent_names(&mut self, guest: &GuestHash, event_id: &str) -> Result<bool> {
        let query = "select exists (select 1 from consent_events
                     where key_id = $1 and phone_hash = $2 and event::jsonb->'metadata'->>'event_id' = $3)";
        let query = sqlx::query_scalar(query)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(event_id);
        Ok(query.fetch_one(self.conn()).await?)
    }

    /// Records the change and returns its position in the chain.
    pub async fn record_consent(&mut self, change: &Consent<'_>, keys: &HashKeys) -> Result<i64> {
        let (casino, key_id, hash) = (
            self.casino_str(),
            change.guest.key_id,
            &change.guest.bytes[..],
        );
        if let Some(guest) = change.guest_id {
            // The guest is locked before the chain, as deletion and every other writer do.
            sqlx::query("select 1 from guests where guest_id = $1 for update")
                .bind(guest.0)
                .execute(self.conn())
                .await?;
        }
        let (length, head_hash) = self.lock_head(change.guest).await?;
        let previous_state = self.state_before(change, length).await?;
        let new_state = state(change.tier);
        let link = Change {
            action: change.action,
            casino_id: casino.clone(),
            guest_phone_hash: change.guest.tag(),
            method: change.method.to_owned(),
            previous_state: previous_state.clone(),
            new_state: new_state.clone(),
            at: change.at,
            metadata: Some(change.evidence.clone()),
        }
        .link(u64::try_from(length).unwrap_or_default(), &head_hash);
        sqlx::query("insert into consent_events (casino_id, key_id, phone_hash, position, event, content_hash) values ($1, $2, $3, $4, $5, $6)")
            .bind(&casino)
            .bind(key_id)
            .bind(hash)
            .bind(length)
            .bind(&link.event)
            .bind(&link.content_hash)
            .execute(self.conn())
            .await?;
        let sealed = chain::seal_input(
            &casino,
            &change.guest.tag(),
            link.position + 1,
            &link.content_hash,
        );
        sqlx::query(
            "update consent_heads set length = $3, head_hash = $4, mac = $5 where key_id = $1 and phone_hash = $2",
        )
        .bind(key_id)
        .bind(hash)
        .bind(length + 1)
        .bind(&link.content_hash)
        .bind(&keys.seal(&sealed)[..])
        .execute(self.conn())
        .await?;
        if let Some(guest) = change.guest_id {
            self.set_tier(guest, change).await?;
        }
        let event = match change.action {
            Action::Granted => AuditEvent::ConsentGranted,
            Action::Revoked => AuditEvent::ConsentRevoked,
            Action::Updated => AuditEvent::ConsentUpdated,
        };
        let detail = json!({
            "method": change.method, "previous_state": previous_state, "new_state": new_state,
            "evidence": change.evidence,
            "chain_position": length, "content_hash": link.content_hash, "immutable": true,
        });
        let subject = change
            .guest_id
            .map_or_else(|| "unknown guest".to_owned(), |g| g.to_string());
        self.audit(&Entry {
            event,
            actor: change.actor,
            subject: &subject,
            guest: Some(change.guest),
            detail,
            trace: change.trace,
        })
        .await?;
        Ok(length)
    }

    async fn lock_head(&mut self, guest: &GuestHash) -> Result<(i64, String)> {
        let casino = self.casino_str();
        sqlx::query("insert into consent_heads (casino_id, key_id, phone_hash, length, head_hash, mac) values ($1, $2, $3, 0, $4, '') on conflict do nothing")
            .bind(casino)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(GENESIS)
            .execute(self.conn())
            .await?;
        Ok(
            sqlx::query_as("select length, head_hash from consent_heads where key_id = $1 and phone_hash = $2 for update")
                .bind(guest.key_id)
                .bind(&guest.bytes[..])
                .fetch_one(self.conn())
                .await?,
        )
    }

    /// Returns the state that the last event of the chain recorded. If there is no event, returns
    /// the state of the guest's row; if there is no row either, no consent.
    async fn state_before(&mut self, change: &Consent<'_>, length: i64) -> Result<Value> {
        let last: Option<String> = sqlx::query_scalar(
            "select event from consent_events where key_id = $1 and phone_hash = $2 and position = $3",
        )
        .bind(change.guest.key_id)
        .bind(&change.guest.bytes[..])
        .bind(length - 1)
        .fetch_optional(self.conn())
        .await?;
        if let Some(event) = last.and_then(|event| serde_json::from_str::<Value>(&event).ok()) {
            return Ok(event["new_state"].clone());
        }
        let tier: Option<ConsentTier> =
            sqlx::query_scalar("select consent_tier from guests where guest_id = $1")
                .bind(change.guest_id.map(|g| g.0))
                .fetch_optional(self.conn())
                .await?;
        Ok(state(tier.unwrap_or(ConsentTier::None)))
    }

    async fn set_tier(&mut self, guest: GuestId, change: &Consent<'_>) -> Result<()> {
        sqlx::query("update guests set consent_tier = $2, consent_method = $3, consent_at = $4, updated_at = now() where guest_id = $1")
            .bind(guest.0)
            .bind(change.tier)
            .bind(change.method)
            .bind(change.at)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Returns the consent and status recorded in the guest's row.
    pub async fn consent_standing(&mut self, guest: &GuestHash) -> Result<Option<Standing>> {
        Ok(
            sqlx::query_as("select guest_id, consent_tier, consent_method, consent_at, disclosed_at, responsible_gaming_at, status from guests where key_id = $1 and phone_hash = $2")
                .bind(guest.key_id)
                .bind(&guest.bytes[..])
                .fetch_optional(self.conn())
                .await?,
        )
    }

    /// Returns the guest's chain, first event first.
    pub async fn consent_chain(&mut self, guest: &GuestHash) -> Result<Chain> {
        let events: Vec<(i64, String, String)> = sqlx::query_as(
            "select position, event, content_hash from consent_events where key_id = $1 and phone_hash = $2 order by position",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .fetch_all(self.conn())
        .await?;
        let head: Option<(i64, String, Vec<u8>)> =
            sqlx::query_as("select length, head_hash, mac from consent_heads where key_id = $1 and phone_hash = $2")
                .bind(guest.key_id)
                .bind(&guest.bytes[..])
                .fetch_optional(self.conn())
                .await?;
        Ok(Chain {
            events: events
                .into_iter()
                .map(|(position, event, content_hash)| Stored {
                    position,
                    event,
                    content_hash,
                })
                .collect(),
            head: head.map(|(length, head_hash, mac)| Head {
                length,
                head_hash,
                mac,
            }),
        })
    }

    /// Verifies the guest's chain (SEC-72, SEC-73).
    pub async fn verify_chain(
        &mut self,
        guest: &GuestHash,
        keys: &HashKeys,
    ) -> Result<chain::Report> {
        let chain = self.consent_chain(guest).await?;
        let casino = self.casino_str();
        Ok(chain::verify(
            &casino,
            &guest.tag(),
            &chain.events,
            chain.head.as_ref(),
            |what| keys.seal(what),
        ))
    }

    /// Returns the guests with an event of the last `days`. Also returns each guest with a head but
    /// no event, because the head remains if a chain's events are removed (SEC-74). Without `days`,
    /// returns every guest with an event or a head.
    pub async fn chains(&mut self, days: Option<i32>) -> Result<Vec<GuestHash>> {
        let rows: Vec<(i16, Vec<u8>)> = sqlx::query_as(
            "select key_id, phone_hash from consent_events where $1::int is null or recorded_at > now() - make_interval(days => $1)
             union select key_id, phone_hash from consent_heads h
               where $1::int is null or not exists (select 1 from consent_events e where e.key_id = h.key_id and e.phone_hash = h.phone_hash)",
        )
        .bind(days)
        .fetch_all(self.conn())
        .await?;
        Ok(rows
            .into_iter()
            .filter_map(|(key_id, hash)| {
                Some(GuestHash {
                    key_id,
                    bytes: hash.try_into().ok()?,
                })
            })
            .collect())
    }
}

/// Returns the state that an event records (SEC-13, SEC-68): the two yes-or-no fields of the
/// specification, and the tier.
fn state(tier: ConsentTier) -> Value {
    let (opted_in, marketing) = (tier != ConsentTier::None, tier == ConsentTier::Marketing);
    json!({ "sms_opt_in": opted_in, "marketing_consent": marketing, "tier": tier })
}
