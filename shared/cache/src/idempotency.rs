//! Keys of finished work, set after the effect is durable (D3). They only make common duplicates
//! cheaper; correctness does not depend on them.

use chrono::{DateTime, TimeZone, Utc};
use seven_domain::CasinoId;

use crate::Cache;

/// How long records of finished work and of first calls are kept, in seconds: one day.
const KEPT_SECONDS: u64 = 86_400;

impl Cache {
    /// Returns true when this work is known to be done; false means only that this is not known.
    pub async fn is_done(&self, casino: &CasinoId, key: &str) -> bool {
        let command = redis::cmd("EXISTS")
            .arg(self.key("done", casino.as_str(), key))
            .to_owned();
        self.ask::<bool>("idempotency", &command)
            .await
            .unwrap_or(false)
    }

    /// Returns the time of the first webhook call for this message: that of an earlier call within
    /// the last day, or else `now`. Without Redis it returns `now`.
    pub async fn first_seen(
        &self,
        casino: &CasinoId,
        message_id: &str,
        now: DateTime<Utc>,
    ) -> DateTime<Utc> {
        let command = redis::cmd("SET")
            .arg(self.key("first", casino.as_str(), message_id))
            .arg(now.timestamp_millis())
            .arg("NX")
            .arg("GET")
            .arg("EX")
            .arg(KEPT_SECONDS)
            .to_owned();
        let first: Option<i64> = self.ask("idempotency", &command).await.flatten();
        first
            .and_then(|millis| Utc.timestamp_millis_opt(millis).single())
            .unwrap_or(now)
    }

    /// Returns true for the first call with this key within one day, whichever process makes it.
    /// Without Redis it always returns true.
    pub async fn is_first(&self, casino: &CasinoId, key: &str) -> bool {
        let command = redis::cmd("SET")
            .arg(self.key("taken", casino.as_str(), key))
            .arg(1)
            .arg("NX")
            .arg("EX")
            .arg(KEPT_SECONDS)
            .to_owned();
        // `Some(None)` means that the key already exists; `None` means that Redis did not answer.
        self.ask::<Option<String>>("idempotency", &command)
            .await
            .is_none_or(|set| set.is_some())
    }

    /// Records that the effect of this work is durable.
    pub async fn mark_done(&self, casino: &CasinoId, key: &str) {
        let command = redis::cmd("SET")
            .arg(self.key("done", casino.as_str(), key))
            .arg(1)
            .arg("EX")
            .arg(KEPT_SECONDS)
            .to_owned();
        self.ask::<()>("idempotency", &command).await;
    }
}
