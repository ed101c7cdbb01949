//! Feature flags per guest: a rule always decides the same way for the same guest.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{GuestHash, Invalid, config::Features};

/// The prefix of every flag that has an effect. The name of a field of [`Features`] follows.
const FEATURES: &str = "features/";

/// Decides for which guests a flag is on:
/// - for the guests in `allow`;
/// - for `percentage` of all guests;
/// - for every guest, if there is no percentage and `allow` is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub enabled: bool,
    /// Percentage of guests for whom the flag is on, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentage: Option<u8>,
    /// Keyed hashes (`hmac:<key>:<hex>`) of guests for whom the flag is on regardless of the
    /// percentage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<DateTime<Utc>>,
    /// The end of the rule, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
}

/// Returns the guest's bucket, 0 to 99, for this flag. The same guest has other buckets for other
/// flags. Otherwise the same guests would always get new features first.
pub fn bucket(flag: &str, guest: &GuestHash) -> u8 {
    let digest = Sha256::digest(format!("{flag}:{}", guest.hex()));
    let first = digest
        .iter()
        .take(4)
        .fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
    u8::try_from(first % 100).unwrap_or(0)
}

// === impl Rule ===

impl Rule {
    pub fn is_on(&self, flag: &str, guest: &GuestHash, now: DateTime<Utc>) -> bool {
        let open =
            self.from.is_none_or(|from| from <= now) && self.until.is_none_or(|until| now < until);
        if !self.enabled || !open {
            return false;
        }
        if self.allow.iter().any(|tag| *tag == guest.tag()) {
            return true;
        }
        match self.percentage {
            Some(share) => bucket(flag, guest) < share,
            None => self.allow.is_empty(),
        }
    }

    /// Refuses a rule whose values can only be a mistake.
    pub fn check(&self) -> Result<(), Invalid> {
        let bad = |problem: &str, expected| Err(Invalid::new("flag", problem, expected));
        if self.percentage.is_some_and(|share| share > 100) {
            return bad("more than every guest", "a percentage from 0 to 100");
        }
        if self
            .from
            .zip(self.until)
            .is_some_and(|(from, until)| until <= from)
        {
            return bad("it ends before it begins", "an end after the start");
        }
        if self
            .allow
            .iter()
            .any(|tag| GuestHash::from_tag(tag).is_none())
        {
            return bad("a guest on the list is no keyed hash", "hmac:<key>:<hex>");
        }
        Ok(())
    }
}

/// The flags that may be set: the features that workers decide per guest. Workers read all other
/// features from the casino's document only.
pub const PER_GUEST: [&str; 3] = [
    "features/ai_disclosure_enabled",
    "features/comp_agent_enabled",
    "features/prompt_variant_enabled",
];

/// Returns the casino's features for this guest. A flag overrides the document; without a flag the
/// document's value applies.
pub fn applied(
    features: &Features,
    flags: &BTreeMap<String, Rule>,
    guest: &GuestHash,
    now: DateTime<Utc>,
) -> Features {
    let Ok(mut document) = serde_json::to_value(features) else {
        return features.clone();
    };
    for (name, rule) in flags {
        let field = name
            .strip_prefix(FEATURES)
            .and_then(|field| document.get_mut(field));
        if let Some(value) = field {
            *value = serde_json::Value::Bool(rule.is_on(name, guest, now));
        }
    }
    serde_json::from_value(document).unwrap_or_else(|_| features.clone())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMP: &str = "features/comp_agent_enabled";

    fn guest(n: u32) -> GuestHash {
        GuestHash {
            key_id: 1,
            bytes: Sha256::digest(n.to_be_bytes()).into(),
        }
    }

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test] // DEP-27
    fn rules_decide_by_switch_list_share_and_time() {
        let now = at("2026-11-22T12:00:00Z");
        let on = Rule {
            enabled: true,
            ..Rule::default()
        };
        let listed = Rule {
            allow: vec![guest(1).tag()],
            ..on
        };
        for (name, rule, first, second) in [
            ("off", Rule::default(), false, false),
            ("on", on.clone(), true, true),
            ("listed", listed.clone(), true, false),
            (
                "listed, but off",
                Rule {
                    enabled: false,
                    ..listed.clone()
                },
                false,
                false,
            ),
            (
                "listed beside no share",
                Rule {
                    percentage: Some(0),
                    ..listed.clone()
                },
                true,
                false,
            ),
            (
                "nobody",
                Rule {
                    percentage: Some(0),
                    ..on.clone()
                },
                false,
                false,
            ),
            (
                "everybody",
                Rule {
                    percentage: Some(100),
                    ..on.clone()
                },
                true,
                true,
            ),
            (
                "begun this instant",
                Rule {
                    from: Some(now),
                    ..on.clone()
                },
                true,
                true,
            ),
            (
                "not begun",
                Rule {
                    from: Some(at("2026-11-22T12:00:01Z")),
                    ..on.clone()
                },
                false,
                false,
            ),
            (
                "over this instant",
                Rule {
                    until: Some(now),
                    ..on
                },
                false,
                false,
            ),
            (
                "listed, but over",
                Rule {
                    until: Some(now),
                    ..listed
                },
                false,
                false,
            ),
        ] {
            assert_eq!(
                (
                    rule.is_on(COMP, &guest(1), now),
                    rule.is_on(COMP, &guest(2), now)
                ),
                (first, second),
                "{name}"
            );
        }
    }

    #[test] // DEP-27: the formula of the specification, with the keyed hash in the phone's place
    fn a_share_is_about_that_share_and_other_flags_shuffle_anew() {
        let guests: Vec<_> = (0..10_000).map(guest).collect();
        let in_first_quarter = |flag: &str| guests.iter().filter(|g| bucket(flag, g) < 25).count();
        assert!((2_300..2_700).contains(&in_first_quarter(COMP)));
        let both = guests
            .iter()
            .filter(|g| bucket(COMP, g) < 25 && bucket("features/other", g) < 25)
            .count();
        assert!((500..750).contains(&both), "{both}");
    }

    #[test] // DEP-23, DEP-28
    fn a_flag_moves_its_own_feature_only() {
        let now = at("2026-11-22T12:00:00Z");
        let document = Features::default();
        let flags = BTreeMap::from([
            (COMP.to_owned(), Rule::default()),
            (
                "features/no_such".to_owned(),
                Rule {
                    enabled: true,
                    ..Rule::default()
                },
            ),
        ]);
        let met = applied(&document, &flags, &guest(1), now);
        assert!(document.comp_agent_enabled && !met.comp_agent_enabled);
        assert_eq!(met.ai_disclosure_enabled, document.ai_disclosure_enabled);
        assert!(PER_GUEST.contains(&COMP));
        let document = serde_json::to_value(Features::default()).unwrap();
        let fields = PER_GUEST.map(|name| name.strip_prefix(FEATURES).unwrap());
        assert!(
            fields.iter().all(|field| document[field].is_boolean()),
            "{document}"
        );
    }

    proptest! {
        #[test] // DEP-27: nobody loses a feature because the share grows
        fn a_growing_share_keeps_who_was_in(
            n in any::<u32>(),
            small in 0_u8..=100,
            more in 0_u8..=100,
        ) {
            let large = small.saturating_add(more).min(100);
            let rule = |share| Rule { enabled: true, percentage: Some(share), ..Rule::default() };
            let now = at("2026-11-22T12:00:00Z");
            prop_assert!(
                !rule(small).is_on(COMP, &guest(n), now) || rule(large).is_on(COMP, &guest(n), now)
            );
        }
    }
}
