//! Refusals: a STOP is written to Redis before anything else happens (D7). Redis can only add a
//! refusal, never a permission.

use std::sync::LazyLock;

use chrono::{DateTime, TimeZone, Utc};
use redis::Script;
use seven_domain::{CasinoId, GuestHash};

use crate::Cache;

/// Stores a refusal; only the newest STOP is kept.
static REFUSE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local old = tonumber(redis.call('GET', KEYS[1]) or '-1')
         if tonumber(ARGV[1]) > old then redis.call('SET', KEYS[1], ARGV[1], 'EX', 2592000) end
         return 1",
    )
});

/// Removes a refusal, unless it is newer than the START that lifts it.
static LIFT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local old = tonumber(redis.call('GET', KEYS[1]) or '-1')
         if old >= 0 and old < tonumber(ARGV[1]) then redis.call('DEL', KEYS[1]) end
         return 1",
    )
});

impl Cache {
    /// Refuses sends to this guest because of a STOP at `as_of`. Returns false if Redis did not
    /// store the refusal.
    pub async fn refuse(&self, casino: &CasinoId, guest: &GuestHash, as_of: DateTime<Utc>) -> bool {
        let mut call = REFUSE.key(self.key("refuse", casino.as_str(), &guest.hex()));
        self.invoke::<i64>("refusal", call.arg(as_of.timestamp_millis()))
            .await
            .is_some()
    }

    /// Lifts refusals older than a START at `as_of`.
    pub async fn lift(&self, casino: &CasinoId, guest: &GuestHash, as_of: DateTime<Utc>) {
        let mut call = LIFT.key(self.key("refuse", casino.as_str(), &guest.hex()));
        self.invoke::<i64>("refusal", call.arg(as_of.timestamp_millis()))
            .await;
    }

    /// Returns the time of the STOP that refuses sends to this guest, if Redis has one.
    pub async fn refused(&self, casino: &CasinoId, guest: &GuestHash) -> Option<DateTime<Utc>> {
        let command = redis::cmd("GET")
            .arg(self.key("refuse", casino.as_str(), &guest.hex()))
            .to_owned();
        let millis: Option<i64> = self.ask("refusal", &command).await?;
        Utc.timestamp_millis_opt(millis?).single()
    }
}
