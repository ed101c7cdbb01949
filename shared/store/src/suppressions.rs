//! STOP and START per guest (D7): last writer wins on the provider's `occurred_at`, ties to STOP.

use chrono::{DateTime, Utc};
use seven_domain::GuestHash;

use crate::{Result, Tx};

/// What a STOP or START found and left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// The state changed to what the guest asked for.
    Changed,
    /// It already was so, or a newer word stands; nothing changed.
    Superseded,
    /// A repeated request for the state in force.
    Repeat,
}

impl Tx {
    /// Records a STOP. Commits wait for claims in progress, and claims for this: see `last_look`.
    pub async fn stop(&mut self, guest: &GuestHash, as_of: DateTime<Utc>, event_id: &str) -> Result<Applied> {
        self.put_suppression(guest, "stopped", as_of, event_id).await
    }

    /// Lifts a suppression; only the gate calls it.
    pub async fn start(&mut self, guest: &GuestHash, as_of: DateTime<Utc>, event_id: &str) -> Result<Applied> {
        self.put_suppression(guest, "opted_in", as_of, event_id).await
    }

    async fn put_suppression(
        &mut self,
        guest: &GuestHash,
        state: &str,
        as_of: DateTime<Utc>,
        event_id: &str,
    ) -> Result<Applied> {
        let casino = self.casino_str();
        let before: Option<(String, DateTime<Utc>, String)> = sqlx::query_as(
            "select state, as_of, event_id from suppressions where key_id = $1 and phone_hash = $2 for update",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .fetch_optional(self.conn())
        .await?;
        let changed = sqlx::query(
            "insert into suppressions (casino_id, key_id, phone_hash, state, as_of, event_id) values ($1, $2, $3, $4, $5, $6)
             on conflict (casino_id, key_id, phone_hash) do update
               set state = excluded.state, as_of = excluded.as_of, recorded_at = now(),
                   -- A repeat keeps the event that made the change, so that exactly that one is confirmed.
                   event_id = case when suppressions.state = excluded.state then suppressions.event_id else excluded.event_id end
               where suppressions.as_of < excluded.as_of or (suppressions.as_of = excluded.as_of and excluded.state = 'stopped')",
        )
        .bind(casino)
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .bind(state)
        .bind(as_of)
        .bind(event_id)
        .execute(self.conn())
        .await?
        .rows_affected()
            == 1;
        Ok(match before {
            // The same event again (ingress wrote it, now the gate comes): it counts as the change it was.
            Some((_, _, event)) if event == event_id => Applied::Changed,
            Some((was, ..)) if was == state => Applied::Repeat,
            _ if changed => Applied::Changed,
            _ => Applied::Superseded,
        })
    }

    /// Gives a new guest the row without which the last look refuses.
    pub async fn ensure_suppression_row(&mut self, guest: &GuestHash) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into suppressions (casino_id, key_id, phone_hash, state, as_of, event_id) values ($1, $2, $3, 'clear', to_timestamp(0), '')
             on conflict do nothing",
        )
        .bind(casino)
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// True when the guest is opted out.
    pub async fn is_stopped(&mut self, guest: &GuestHash) -> Result<bool> {
        let state: Option<String> =
            sqlx::query_scalar("select state from suppressions where key_id = $1 and phone_hash = $2")
                .bind(guest.key_id)
                .bind(&guest.bytes[..])
                .fetch_optional(self.conn())
                .await?;
        Ok(state.as_deref() == Some("stopped"))
    }
}
