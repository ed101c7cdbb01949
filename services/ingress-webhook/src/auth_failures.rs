//! Records webhooks with a bad signature in the audit log. At most one entry a minute is written,
//! with the number of failures, so that strangers cannot flood the log.

use std::sync::Mutex;

use chrono::{DateTime, TimeDelta, Utc};
use seven_domain::{AuditEvent, CasinoId};
use seven_providers::telnyx::signature::Refusal;
use seven_runtime::Fleet;
use seven_store::audit::Entry;

#[derive(Debug, Default)]
pub(crate) struct AuthFailures(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    unwritten: u64,
    written_at: Option<DateTime<Utc>>,
}

impl AuthFailures {
    /// Counts one failure. If a minute has passed since the last audit entry, returns the number of
    /// failures to record now.
    fn count(&self, now: DateTime<Utc>) -> Option<u64> {
        let mut state = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        state.unwritten += 1;
        if state
            .written_at
            .is_some_and(|at| now - at < TimeDelta::minutes(1))
        {
            return None;
        }
        state.written_at = Some(now);
        Some(std::mem::take(&mut state.unwritten))
    }

    /// Records a refused webhook, without delaying its answer.
    pub(crate) fn note(&self, fleet: &Fleet, refusal: Refusal) {
        let Some(refused) = self.count(fleet.clock.now()) else {
            return;
        };
        let fleet = fleet.clone();
        tokio::spawn(async move {
            let written = async {
                // The body may not be read before it is verified, so the casino is unknown.
                let mut tx = fleet.store.bind(&CasinoId::unknown()).await?;
                let detail = serde_json::json!({
                    "reason": refusal.to_string(),
                    "refused_since_last_entry": refused,
                });
                tx.audit(&Entry::of(
                    AuditEvent::AuthFailure,
                    "ingress-webhook",
                    "webhook",
                    detail,
                ))
                .await?;
                tx.commit().await
            };
            if let Err(error) = written.await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "an auth failure could not be audited"
                );
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeZone;

    #[test] // SEC-1
    fn a_minute_of_refusals_is_one_entry() {
        let auth_failures = AuthFailures::default();
        let at = |second: i64| Utc.timestamp_opt(1_800_000_000 + second, 0).unwrap();
        assert_eq!(auth_failures.count(at(0)), Some(1));
        assert_eq!(
            (1..60)
                .filter_map(|second| auth_failures.count(at(second)))
                .sum::<u64>(),
            0
        );
        assert_eq!(auth_failures.count(at(60)), Some(60));
    }
}
