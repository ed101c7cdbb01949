//! The dates by which the fleet's secrets must be changed; docs/rotation.md describes the steps.

use chrono::{DateTime, TimeDelta, Utc};
use seven_store::upkeep::Upkeep;

use crate::Settings;

/// A secret by its name in the settings, and the number of days after which it must be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Secret {
    pub name: &'static str,
    pub days: u16,
}

pub const SECRETS: [Secret; 14] = [
    Secret {
        name: "telnyx.public_keys",
        days: 90,
    },
    Secret {
        name: "telnyx.api_key",
        days: 90,
    },
    Secret {
        name: "twilio.auth_tokens",
        days: 90,
    },
    Secret {
        name: "twilio.api_key_secret",
        days: 90,
    },
    Secret {
        name: "model.api_key",
        days: 180,
    },
    Secret {
        name: "knowledge.api_key",
        days: 180,
    },
    Secret {
        name: "alerts.pagerduty_routing_key",
        days: 365,
    },
    Secret {
        name: "alerts.slack_webhook_url",
        days: 365,
    },
    Secret {
        name: "notices.smtp_url",
        days: 365,
    },
    Secret {
        name: "console.oidc_client_secrets",
        days: 365,
    },
    Secret {
        name: "postgres.url",
        days: 365,
    },
    Secret {
        name: "postgres.owner_url",
        days: 365,
    },
    Secret {
        name: "nats.password",
        days: 365,
    },
    Secret {
        name: "redis.url",
        days: 365,
    },
];

/// The time at which a secret of the fleet was last changed, and the time of its next change.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Rotation {
    pub secret: &'static str,
    pub days: u16,
    /// `None` if no change was recorded; then `days` are counted from the creation of the database.
    pub rotated_at: Option<DateTime<Utc>>,
    pub due_at: DateTime<Utc>,
}

impl Secret {
    /// Returns whether the fleet uses this secret. Decides from other settings if possible, because
    /// a worker has only its own secrets.
    fn is_used(self, settings: &Settings) -> bool {
        match self.name {
            // Only a few workers know the SID of the Twilio account. The others list this secret
            // only if a change of it was recorded.
            "twilio.auth_tokens" => settings.twilio.account_sid.is_some(),
            "twilio.api_key_secret" => settings.twilio.api_key_secret.is_some(),
            "model.api_key" => settings.model.provider.has_key(),
            "knowledge.api_key" => settings.knowledge.provider.has_key(),
            "alerts.pagerduty_routing_key" => settings.alerts.pagerduty_routing_key.is_some(),
            "alerts.slack_webhook_url" => settings.alerts.slack_webhook_url.is_some(),
            "notices.smtp_url" => settings.notices.smtp_url.is_some(),
            "console.oidc_client_secrets" => !settings.console.oidc.is_empty(),
            "nats.password" => settings.nats.user.is_some(),
            _ => true,
        }
    }
}

/// Returns the secrets that this fleet uses or has ever changed, ordered by due date.
pub fn rotations(settings: &Settings, upkeep: &Upkeep) -> Vec<Rotation> {
    let is_known =
        |secret: &Secret| secret.is_used(settings) || upkeep.rotated.contains_key(secret.name);
    let used = SECRETS.into_iter().filter(is_known);
    let mut rotations: Vec<_> = used
        .map(|Secret { name, days }| {
            let rotated_at = upkeep.rotated.get(name).copied();
            let due_at = rotated_at.unwrap_or(upkeep.begun) + TimeDelta::days(i64::from(days));
            Rotation {
                secret: name,
                days,
                rotated_at,
                due_at,
            }
        })
        .collect();
    rotations.sort_by_key(|rotation| rotation.due_at);
    rotations
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test] // SEC-131
    fn a_secret_is_due_its_days_after_it_was_noted_or_after_the_beginning() {
        let settings = Settings::parse("").unwrap();
        let noted = at("2026-06-01T00:00:00Z");
        let rotated = BTreeMap::from(
            ["telnyx.api_key", "twilio.auth_tokens"].map(|name| (name.to_owned(), noted)),
        );
        let upkeep = Upkeep {
            begun: at("2026-01-01T00:00:00Z"),
            rotated,
            backed_up: None,
            drilled: None,
            review_due: None,
        };
        let due: Vec<_> = rotations(&settings, &upkeep)
            .iter()
            .map(|r| (r.secret, r.due_at))
            .collect();
        let year = at("2027-01-01T00:00:00Z");
        assert_eq!(
            due,
            [
                ("telnyx.public_keys", at("2026-04-01T00:00:00Z")),
                ("telnyx.api_key", at("2026-08-30T00:00:00Z")),
                ("twilio.auth_tokens", at("2026-08-30T00:00:00Z")),
                ("postgres.url", year),
                ("postgres.owner_url", year),
                ("redis.url", year),
            ],
            "no hosted model, no alert channel, no user at NATS; of Twilio what was noted"
        );
    }

    #[test] // SEC-131: what operators read says the same
    fn the_document_has_every_secret_and_its_days() {
        let page = include_str!("../../../docs/rotation.md");
        for Secret { name, days } in SECRETS {
            let (section, field) = name.split_once('.').unwrap();
            let row = page.lines().find(|line| {
                line.starts_with('|')
                    && (line.contains(&format!("`{name}`"))
                        || line.contains(&format!("`{section}.*`"))
                        || line.contains(section) && line.contains(&format!("`{field}`")))
            });
            assert!(
                row.is_some_and(|row| row.contains(&format!("{days} days"))),
                "{name}: {row:?}"
            );
        }
    }
}
