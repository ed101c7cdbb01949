//! Deletion of a guest: a request that can be withdrawn for a time, then a job that can safely be
//! repeated. The keyed hash, suppression, consent chain and audit log stay as proof.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use seven_compliance::chain::Action;
use seven_domain::{
    Address, AuditEvent, ConsentTier, DeletionState, GuestHash, GuestId, GuestStatus, HashKeys,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Result, Tx,
    audit::Entry,
    consent::{Consent, method},
    due::DueKind,
    guests::address,
};

/// The current state of a deletion request.
#[derive(Debug, Clone, FromRow, serde::Serialize)]
pub struct Deletion {
    pub deletion_id: Uuid,
    pub key_id: i16,
    #[serde(skip)]
    pub phone_hash: Vec<u8>,
    pub guest_id: Uuid,
    pub state: DeletionState,
    pub requested_by: String,
    pub requested_at: DateTime<Utc>,
    pub due_at: DateTime<Utc>,
    pub counts: Value,
    pub completed_at: Option<DateTime<Utc>>,
}

impl Deletion {
    pub fn guest(&self) -> Option<GuestHash> {
        Some(GuestHash {
            key_id: self.key_id,
            bytes: self.phone_hash.clone().try_into().ok()?,
        })
    }
}

/// The address and the number of unsent texts of a guest whose deletion starts.
#[derive(Debug, Clone, FromRow)]
pub struct Remains {
    pub phone: Option<String>,
    pub visitor_id: Option<Uuid>,
    /// Number of texts that are queued or being sent, including the confirmation to the guest.
    pub unsent: i64,
}

impl Remains {
    /// Returns the guest's address.
    ///
    /// # Errors
    /// Fails when the row's address is malformed.
    pub fn address(&self) -> Result<Address> {
        address(self.phone.clone(), self.visitor_id)
    }
}

impl Tx {
    /// Requests a guest's deletion after `delay`, unless a request is already in progress. Returns
    /// true when the request is new.
    pub async fn request_deletion(
        &mut self,
        id: Uuid,
        guest: &GuestHash,
        guest_id: GuestId,
        by: &str,
        at: DateTime<Utc>,
        delay: Duration,
    ) -> Result<bool> {
        let casino = self.casino_str();
        let new = sqlx::query(
            "insert into deletions (casino_id, deletion_id, key_id, phone_hash, guest_id, requested_by, requested_at, due_at)
             values ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8)) on conflict do nothing",
        )
        .bind(casino)
        .bind(id)
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .bind(guest_id.0)
        .bind(by)
        .bind(at)
        .bind(delay.as_secs_f64())
        .execute(self.conn())
        .await?
        .rows_affected()
            == 1;
        if new {
            self.set_guest_status(guest_id, GuestStatus::PendingDeletion)
                .await?;
            self.put_due(DueKind::Delete, id, delay).await?;
            self.privacy_entry(AuditEvent::DeletionRequested, id, guest, by, json!({}))
                .await?;
        }
        Ok(new)
    }

    /// Withdraws the guest's pending request; returns false when none was pending.
    pub async fn withdraw_deletion(
        &mut self,
        guest: &GuestHash,
        guest_id: GuestId,
    ) -> Result<bool> {
        let withdrawn: Option<Uuid> = sqlx::query_scalar(
            "update deletions set state = 'withdrawn', completed_at = now() where key_id = $1 and phone_hash = $2 and state = 'pending' returning deletion_id",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .fetch_optional(self.conn())
        .await?;
        let Some(id) = withdrawn else {
            return Ok(false);
        };
        self.set_guest_status(guest_id, GuestStatus::Active).await?;
        self.clear_due(DueKind::Delete, id).await?;
        self.privacy_entry(AuditEvent::DeletionWithdrawn, id, guest, "guest", json!({}))
            .await?;
        Ok(true)
    }

    /// Returns the time up to which this guest's data was erased. Texts from before that time
    /// belong to a guest who was deleted. If a copy of such a text arrives late, it is not
    /// accepted.
    pub async fn erased_until(&mut self, guest: &GuestHash) -> Result<Option<DateTime<Utc>>> {
        Ok(
            sqlx::query_scalar("select max(erased_until) from deletions where key_id = $1 and phone_hash = $2 and state = 'done'")
                .bind(guest.key_id)
                .bind(&guest.bytes[..])
                .fetch_one(self.conn())
                .await?,
        )
    }

    pub async fn deletion(&mut self, id: Uuid) -> Result<Option<Deletion>> {
        Ok(
            sqlx::query_as("select deletion_id, key_id, phone_hash, guest_id, state, requested_by, requested_at, due_at, counts, completed_at from deletions where deletion_id = $1 for update")
                .bind(id)
                .fetch_optional(self.conn())
                .await?,
        )
    }

    /// Returns deletion requests, newest first.
    pub async fn deletions(&mut self, most: i64) -> Result<Vec<Deletion>> {
        Ok(
            sqlx::query_as("select deletion_id, key_id, phone_hash, guest_id, state, requested_by, requested_at, due_at, counts, completed_at from deletions order by requested_at desc limit $1")
                .bind(most)
                .fetch_all(self.conn())
                .await?,
        )
    }

    /// Returns requests made more than `days` ago that are not done.
    pub async fn overdue_deletions(&mut self, days: i32) -> Result<Vec<Uuid>> {
        Ok(
            sqlx::query_scalar("select deletion_id from deletions where state in ('pending', 'running') and requested_at < now() - make_interval(days => $1)")
                .bind(days)
                .fetch_all(self.conn())
                .await?,
        )
    }

    /// Records the time and `last`, the sequence of the last message in the gate's stream. Later
    /// calls change nothing and return the recorded values. Texts up to that message must be read
    /// before anything is erased.
    pub async fn read_before_deletion(
        &mut self,
        id: Uuid,
        last: i64,
    ) -> Result<(i64, DateTime<Utc>)> {
        let note = "update deletions set read_to = coalesce(read_to, $2), read_since = coalesce(read_since, now()) where deletion_id = $1
                    returning read_to, read_since";
        Ok(sqlx::query_as(note)
            .bind(id)
            .bind(last)
            .fetch_one(self.conn())
            .await?)
    }

    /// Deletes the dead letters that contain one of `needles`. The transaction must be bound to the
    /// owner under which they are filed.
    pub async fn erase_letters(&mut self, needles: &[Vec<u8>]) -> Result<u64> {
        let query = "delete from dead_letters d using unnest($1::bytea[]) needle where position(needle in d.payload) > 0";
        Ok(sqlx::query(query)
            .bind(needles)
            .execute(self.conn())
            .await?
            .rows_affected())
    }

    /// Starts the deletion, which then cannot be withdrawn, and invalidates any turn in progress.
    /// Returns `None` if the guest's row is gone.
    pub async fn start_deletion(&mut self, id: Uuid, guest_id: Uuid) -> Result<Option<Remains>> {
        sqlx::query("update deletions set state = 'running' where deletion_id = $1")
            .bind(id)
            .execute(self.conn())
            .await?;
        sqlx::query("update conversations set turn_epoch = turn_epoch + 1, leased_until = null where guest_id = $1")
            .bind(guest_id)
            .execute(self.conn())
            .await?;
        Ok(sqlx::query_as(
            "select g.phone, g.visitor_id, (select count(*) from outbound_messages o where o.guest_id = g.guest_id and o.state in ('queued', 'sending')) as unsent
             from guests g where g.guest_id = $1",
        )
        .bind(guest_id)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Deletes every row with the guest's address or texts, and writes the proof. The proof
    /// includes `elsewhere`: the counts of what was erased from streams and dead letters before.
    /// `address` has the form used in events: a phone in E.164, or `web:` and the visitor's id.
    /// Returns `None` if another process completed the deletion.
    pub async fn erase(
        &mut self,
        deletion: &Deletion,
        guest: &GuestHash,
        address: Option<&str>,
        until: DateTime<Utc>,
        elsewhere: &Value,
        keys: &HashKeys,
    ) -> Result<Option<Value>> {
        let mut counts = json!({ "elsewhere": elsewhere });
        // A transaction always locks the conversation first.
        sqlx::query("select 1 from conversations where guest_id = $1 for update")
            .bind(deletion.guest_id)
            .execute(self.conn())
            .await?;
        if self
            .deletion(deletion.deletion_id)
            .await?
            .is_none_or(|now| now.state != DeletionState::Running)
        {
            return Ok(None);
        }
        for (what, statement) in ERASE {
            let done = sqlx::query(statement)
                .bind(deletion.guest_id)
                .bind(address)
                .execute(self.conn())
                .await?;
            counts[what] = json!(done.rows_affected());
        }
        let gone = Consent {
            guest,
            guest_id: None,
            action: Action::Updated,
            method: method::DELETION,
            tier: ConsentTier::None,
            at: until,
            evidence: json!({ "deletion_id": deletion.deletion_id }),
            actor: "scheduler",
            trace: None,
        };
        self.record_consent(&gone, keys).await?;
        sqlx::query("update deletions set state = 'done', erased_until = $2, completed_at = now(), counts = $3 where deletion_id = $1")
            .bind(deletion.deletion_id)
            .bind(until)
            .bind(&counts)
            .execute(self.conn())
            .await?;
        self.privacy_entry(
            AuditEvent::DataDeleted,
            deletion.deletion_id,
            guest,
            "scheduler",
            counts.clone(),
        )
        .await?;
        Ok(Some(counts))
    }

    async fn privacy_entry(
        &mut self,
        event: AuditEvent,
        id: Uuid,
        guest: &GuestHash,
        actor: &str,
        detail: Value,
    ) -> Result<()> {
        self.audit(&Entry {
            event,
            actor,
            subject: &id.to_string(),
            guest: Some(guest),
            detail,
            trace: None,
        })
        .await
    }

    pub async fn set_guest_status(&mut self, guest: GuestId, status: GuestStatus) -> Result<()> {
        sqlx::query("update guests set status = $2, updated_at = now() where guest_id = $1")
            .bind(guest.0)
            .bind(status)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}

/// Deletes and unlinks the guest's rows, in the lock order of ARCHITECTURE.md. $1 is the guest, $2
/// the address. If $2 is null, the statements change nothing. $2 must not be an empty string,
/// because every payload contains one.
const ERASE: [(&str, &str); 20] = [
    (
        "turn_facts",
        "delete from turn_facts f using turns t, conversations c where c.guest_id = $1 and t.conversation_id = c.conversation_id
             and f.turn_id = t.turn_id and $2::text is not null",
    ),
    (
        "turns",
        "delete from turns t using conversations c where c.guest_id = $1 and t.conversation_id = c.conversation_id and $2::text is not null",
    ),
    (
        "receipts",
        "delete from receipts r using outbound_messages o where o.guest_id = $1 and r.outbound_id = o.outbound_id and $2::text is not null",
    ),
    (
        "due",
        "delete from due d using outbound_messages o left join send_attempts a on a.outbound_id = o.outbound_id
             where o.guest_id = $1 and d.casino_id = o.casino_id and d.row_id in (o.outbound_id, a.attempt_id) and $2::text is not null",
    ),
    (
        "due_conversations",
        "delete from due d using conversations c where c.guest_id = $1 and d.casino_id = c.casino_id and d.row_id = c.conversation_id and $2::text is not null",
    ),
    (
        "outbound_messages",
        "delete from outbound_messages where guest_id = $1 and $2::text is not null",
    ),
    (
        "campaign_guests",
        "delete from campaign_guests where guest_id = $1 and $2::text is not null",
    ),
    (
        "inbound_messages",
        "delete from inbound_messages where guest_id = $1 and $2::text is not null",
    ),
    (
        "model_results",
        "delete from model_results m using conversations c where c.guest_id = $1 and m.conversation_id = c.conversation_id and $2::text is not null",
    ),
    (
        "sessions",
        "delete from sessions where guest_id = $1 and $2::text is not null",
    ),
    (
        "profiles",
        "delete from profiles where guest_id = $1 and $2::text is not null",
    ),
    (
        "conversations",
        "delete from conversations where guest_id = $1 and $2::text is not null",
    ),
    // An offer that was issued stays on record (DATA-57).
    (
        "offers_unlinked",
        "update offers set guest_id = null, conversation_id = null where guest_id = $1 and $2::text is not null",
    ),
    (
        "contacts_ended",
        "update contacts set ended_at = coalesce(ended_at, now()), ended_by = coalesce(ended_by, 'deletion'), address = '', guest_id = null,
           conversation_id = null where guest_id = $1 and $2::text is not null",
    ),
    // Incidents and cases are kept, but their references to the guest are removed.
    (
        "incidents_unlinked",
        "update incidents set guest_id = null, conversation_id = null, evidence = '{}' where guest_id = $1 and $2::text is not null",
    ),
    (
        "escalations_unlinked",
        "update escalations set guest_id = null, conversation_id = null, inbound_id = null, detail = null where guest_id = $1 and $2::text is not null",
    ),
    (
        "number_checks",
        "delete from number_checks n using guests g where g.guest_id = $1 and n.key_id = g.key_id and n.phone_hash = g.phone_hash and $2::text is not null",
    ),
    (
        "guests",
        "delete from guests where guest_id = $1 and $2::text is not null",
    ),
    (
        "dead_letters",
        "delete from dead_letters where $1::uuid is not null and position(convert_to($2, 'UTF8') in payload) > 0",
    ),
    (
        "spool",
        "delete from spool where $1::uuid is not null and position(convert_to($2, 'UTF8') in payload) > 0",
    ),
];
