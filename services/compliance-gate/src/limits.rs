//! Inbound limits (SMS-11..14, PROD-1..4): counted after keywords, so that no limiter stands before STOP; the webhook was answered
//! 200 long ago. The text is stored either way.

use std::time::Duration;

use seven_cache::{Limit, LimitVerdict};
use seven_runtime::Fleet;

use crate::handler::Case;

pub(crate) enum Limited {
    No,
    /// Over the guest's limit for the first time in this window: one notice.
    TellOnce,
    Silently,
}

const MINUTE: Duration = Duration::from_secs(60);
/// `fleet_per_minute`: all casinos together; protection against a flood, not a quota (PROD-1).
pub(crate) async fn count(fleet: &Fleet, fleet_per_minute: u32, case: &Case<'_>) -> Limited {
    let per_minute = |key: String, fleet: bool, most: u32| Limit { key, fleet, most, window: MINUTE };
    let limits = [
        per_minute(format!("guest:{}", case.guest.hex()), false, case.config.limits.guest_texts_per_minute),
        per_minute("casino".to_owned(), false, case.config.limits.texts_per_minute()),
        per_minute("fleet".to_owned(), true, fleet_per_minute),
    ];
    match fleet.cache.count_text(&case.config.casino_id, &case.text.provider_message_id, &limits).await {
        LimitVerdict::Within => Limited::No,
        LimitVerdict::Over { limit: 0, first: true } => Limited::TellOnce,
        LimitVerdict::Over { .. } => Limited::Silently,
    }
}
