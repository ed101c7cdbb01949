//! Counts texts against the inbound limits. Keywords are handled before, so that no limit can stop
//! a STOP. A text over a limit is stored all the same, and its webhook is answered.

use std::time::Duration;

use seven_cache::{Limit, LimitVerdict};
use seven_runtime::Fleet;
use seven_telemetry::Alert;

use crate::types::Case;

pub(crate) enum Limited {
    No,
    /// The guest is over the limit for the first time in this window, and gets one notice.
    TellOnce,
    /// The text is closed with this reason and gets no answer.
    Silently(&'static str),
}

const MINUTE: Duration = Duration::from_secs(60);

/// Counts the text against all limits. `fleet_per_minute` limits the texts of all casinos together.
/// While they exceed this limit, each casino may use an equal share of it. Raises an alert for each
/// casino whose guests get no answer.
pub(crate) async fn count(fleet: &Fleet, fleet_per_minute: u32, case: &Case<'_>) -> Limited {
    let casino = &case.config.casino_id;
    let per_minute = |key: &str, fleet: bool, most: u32| Limit {
        key: key.to_owned(),
        fleet,
        most,
        window: MINUTE,
    };
    let own = [
        per_minute(
            &format!("guest:{}", case.guest.hex()),
            false,
            case.config.limits.guest_texts_per_minute,
        ),
        per_minute("casino", false, case.config.limits.texts_per_minute()),
    ];
    let over = async |last: Limit| {
        let limits = [&own[..], &[last]].concat();
        fleet
            .cache
            .count_text(casino, &case.text.provider_message_id, &limits)
            .await
    };
    let mut verdict = over(per_minute("fleet", true, fleet_per_minute)).await;
    if let LimitVerdict::Over { limit: FLEET, .. } = verdict {
        let casinos = u32::try_from(fleet.roster.serving().len())
            .unwrap_or(u32::MAX)
            .max(1);
        verdict = over(per_minute(
            "share",
            false,
            (fleet_per_minute / casinos).max(1),
        ))
        .await;
    }
    match verdict {
        LimitVerdict::Within => Limited::No,
        LimitVerdict::Over {
            limit: GUEST,
            first: true,
        } => Limited::TellOnce,
        LimitVerdict::Over { limit: GUEST, .. } => Limited::Silently("rate_limited"),
        LimitVerdict::Over { limit: CASINO, .. } => {
            Limited::Silently(alert_over(case, "casino_limit"))
        }
        LimitVerdict::Over { .. } => Limited::Silently(alert_over(case, "fleet_limit")),
    }
}

const GUEST: usize = 0;
const CASINO: usize = 1;
const FLEET: usize = 2;

fn alert_over(case: &Case<'_>, limit: &'static str) -> &'static str {
    let text = match limit {
        "fleet_limit" => {
            "the fleet's texts per minute (limits.fleet_texts_per_minute) and this casino's share of them are exceeded"
        }
        _ => "this casino's texts per minute (limits.rate_limit_tier of its document) are exceeded",
    };
    let text = format!("GUESTS GET NO ANSWER: {text}; STOP, HELP and cries for help are answered");
    let casino = case.config.casino_id.as_str();
    Alert {
        name: "texts_over_limit",
        casino,
        provider: "",
        code: limit,
        text: &text,
    }
    .raise();
    limit
}
