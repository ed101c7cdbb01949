//! How long rows are kept (DATA-49 to DATA-55). Consent events and audit entries are excluded: they
//! are append-only.

use serde_json::{Value, json};
use seven_domain::{GuestHash, GuestId};
use uuid::Uuid;

use crate::{Result, Tx};

/// Deletes finished rows older than `$1` days. Open work is never deleted, however old it is.
const OLD: [(&str, &str); 13] = [
    (
        "conversation_notes",
        "delete from conversation_notes where created_at < now() - make_interval(days => $1)",
    ),
    (
        "held_turns",
        "delete from held_turns where held_at < now() - make_interval(days => $1)",
    ),
    (
        "incidents",
        "delete from incidents where resolved_at < now() - make_interval(days => $1)",
    ),
    ("turn_facts", "delete from turn_facts where at < now() - make_interval(days => $1)"),
    (
        "turns",
        "delete from turns where state <> 'drafted' and created_at < now() - make_interval(days => $1)",
    ),
    ("receipts", "delete from receipts where received_at < now() - make_interval(days => $1)"),
    (
        "outbound_messages",
        "delete from outbound_messages where state not in ('queued', 'sending') and created_at < now() - make_interval(days => $1)",
    ),
    (
        "inbound_messages",
        "delete from inbound_messages where disposition <> 'open' and stored_at < now() - make_interval(days => $1)",
    ),
    (
        "offers_expired",
        "update offers set status = 'expired' where status = 'issued' and expires_at < now() and $1::int is not null",
    ),
    (
        "offers",
        "delete from offers where status <> 'issued' and expires_at < now() - make_interval(days => $1)",
    ),
    // The newest session of a conversation is kept, because it is the current one.
    (
        "sessions",
        "delete from sessions s using conversations c where c.conversation_id = s.conversation_id and s.started_at is distinct from c.session_started_at
           and s.last_at < now() - make_interval(days => $1)",
    ),
    // The campaigns' guest lists are deleted with them.
    (
        "campaigns",
        "delete from campaigns where state in ('done', 'cancelled') and ended_at < now() - make_interval(days => $1)",
    ),
    (
        "dead_letters",
        "delete from dead_letters where state <> 'open' and greatest(last_at, handled_at) < now() - make_interval(days => $1)",
    ),
];

/// Archives idle guests or marks them as warm. A guest is idle since their last text. A guest who
/// never texted is idle since their row was created.
const LIFECYCLE: [(&str, &str); 2] = [
    (
        "archived",
        "update guests g set status = 'archived', updated_at = now() where g.status in ('active', 'warm')
           and coalesce((select max(c.last_inbound_at) from conversations c where c.guest_id = g.guest_id), g.created_at) < now() - make_interval(days => $1)",
    ),
    (
        "warm",
        "update guests g set status = 'warm', updated_at = now() where g.status = 'active'
           and coalesce((select max(c.last_inbound_at) from conversations c where c.guest_id = g.guest_id), g.created_at) < now() - make_interval(days => $1)",
    ),
];

const IDLE: &str = "
select g.guest_id, g.key_id, g.phone_hash from guests g where g.status <> 'pending_deletion'
  and coalesce((select max(c.last_inbound_at) from conversations c where c.guest_id = g.guest_id), g.created_at) < now() - make_interval(days => $1)
limit 500";

impl Tx {
    /// Removes the bound tenant's dead letters older than `days`, in any state. Meant for dead
    /// letters of texts to numbers that belong to no casino: these letters contain guests' words,
    /// too.
    pub async fn forget_letters(&mut self, days: i32) -> Result<u64> {
        let query = "delete from dead_letters where last_at < now() - make_interval(days => $1)";
        Ok(sqlx::query(query)
            .bind(days)
            .execute(self.conn())
            .await?
            .rows_affected())
    }

    /// Marks guests as warm after `warm` idle days and as archived after `archive` idle days.
    /// Deletes finished rows, such as texts, turns and receipts, after `archive` days.
    pub async fn apply_retention(&mut self, warm: i32, archive: i32) -> Result<Value> {
        let mut counts = json!({});
        for (what, statement) in OLD {
            counts[what] = json!(
                sqlx::query(statement)
                    .bind(archive)
                    .execute(self.conn())
                    .await?
                    .rows_affected()
            );
        }
        for ((status, statement), days) in LIFECYCLE.into_iter().zip([archive, warm]) {
            counts[status] = json!(
                sqlx::query(statement)
                    .bind(days)
                    .execute(self.conn())
                    .await?
                    .rows_affected()
            );
        }
        Ok(counts)
    }

    /// Returns at most 500 guests who were idle for more than `days` and whose phone numbers must
    /// therefore be deleted.
    pub async fn idle_guests(&mut self, days: i32) -> Result<Vec<(GuestId, GuestHash)>> {
        let rows: Vec<(Uuid, i16, Vec<u8>)> = sqlx::query_as(IDLE)
            .bind(days)
            .fetch_all(self.conn())
            .await?;
        Ok(rows
            .into_iter()
            .filter_map(|(id, key_id, hash)| {
                Some((
                    GuestId(id),
                    GuestHash {
                        key_id,
                        bytes: hash.try_into().ok()?,
                    },
                ))
            })
            .collect())
    }
}
