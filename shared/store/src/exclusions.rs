//! The casino's self-exclusion list, and the results of checking whether numbers were reassigned.
//! The pre-send check reads both in addition to the consent (SMS-31, C-23).

use chrono::{DateTime, Utc};
use seven_domain::{GuestHash, NumberCheck};

use crate::{Result, Tx};

impl Tx {
    /// Replaces the self-exclusion list; an empty list also counts as supplied.
    pub async fn replace_exclusions(&mut self, guests: &[GuestHash], source: &str) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query("delete from exclusions")
            .execute(self.conn())
            .await?;
        let (keys, hashes): (Vec<i16>, Vec<Vec<u8>>) =
            guests.iter().map(|g| (g.key_id, g.bytes.to_vec())).unzip();
        sqlx::query(
            "insert into exclusions (casino_id, key_id, phone_hash, source)
             select $1, k, h, $4 from unnest($2::smallint[], $3::bytea[]) as list (k, h) on conflict do nothing",
        )
        .bind(&casino)
        .bind(keys)
        .bind(hashes)
        .bind(source)
        .execute(self.conn())
        .await?;
        sqlx::query(
            "insert into exclusion_lists (casino_id, entries) values ($1, $2)
             on conflict (casino_id) do update set entries = excluded.entries, loaded_at = now()",
        )
        .bind(casino)
        .bind(i64::try_from(guests.len()).unwrap_or(i64::MAX))
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the time of the guest's consent if the guest's number has not been checked since.
    /// Returns `None` if it was checked, or if there is no consent.
    pub async fn number_unchecked_since(
        &mut self,
        guest: &GuestHash,
    ) -> Result<Option<DateTime<Utc>>> {
        let since: Option<Option<DateTime<Utc>>> = sqlx::query_scalar(
            "select g.consent_at from guests g left join number_checks n on n.key_id = g.key_id and n.phone_hash = g.phone_hash
             where g.key_id = $1 and g.phone_hash = $2 and (n.checked_at is null or n.checked_at < g.consent_at)",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .fetch_optional(self.conn())
        .await?;
        Ok(since.flatten())
    }

    /// Stores an answer of the reassigned-numbers database.
    pub async fn put_number_check(&mut self, guest: &GuestHash, result: NumberCheck) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into number_checks (casino_id, key_id, phone_hash, result) values ($1, $2, $3, $4)
             on conflict (casino_id, key_id, phone_hash) do update set result = excluded.result, checked_at = now()",
        )
        .bind(casino)
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .bind(result)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
