//! Updates the profile from a guest's text.

use chrono::{DateTime, Utc};

use crate::{
    Grant, Profile, Setting, extract,
    extract::{Observed, observations},
};

/// The changes that one text made to the profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Learnt {
    /// The paths of new or changed values, in the order of the text, such as `core_identity.name`.
    pub paths: Vec<String>,
}

impl Learnt {
    /// Returns whether the profile learned anything. The caller counts turns without news to notice
    /// a conversation that goes in circles.
    pub fn is_news(&self) -> bool {
        !self.paths.is_empty()
    }
}

impl Profile {
    /// Merges the facts of a text written at `at` into the profile. A text without facts changes
    /// nothing.
    pub fn learn(
        &mut self,
        text: &str,
        setting: &Setting,
        at: DateTime<Utc>,
        grant: &Grant,
    ) -> Learnt {
        let mut learnt = Learnt::default();
        for seen in observations(&extract(text, setting), at, grant) {
            match seen {
                Observed::Field(seen) => {
                    let path = seen.key.path();
                    if self.observe(seen).is_news() {
                        learnt.paths.push(path.to_owned());
                    }
                }
                Observed::Companion(seen) => {
                    let met = self.meet(seen);
                    if met.is_some_and(|met| met.merged.iter().any(|(_, merged)| merged.is_news()))
                    {
                        learnt.paths.push("companions".to_owned());
                    }
                }
                Observed::Group(seen, number) => {
                    if self.meet_all(&seen, number) {
                        learnt.paths.push("companions".to_owned());
                    }
                }
            }
        }
        learnt.paths.dedup();
        learnt
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;
    use seven_domain::Language;
    use uuid::Uuid;

    use super::*;
    use crate::{GrantRef, Key, Scope, Value};

    fn setting() -> Setting {
        let now = Utc.with_ymd_and_hms(2026, 11, 20, 18, 0, 0).unwrap();
        Setting {
            now,
            zone: chrono_tz::America::New_York,
            language: Language::En,
            asked: None,
        }
    }

    fn grant() -> Grant {
        Grant {
            scope: Scope::Personalization,
            detail: String::new(),
            reference: GrantRef(Uuid::nil()),
            version: 1,
        }
    }

    #[test] // CONV-37, DATA-18
    fn a_text_teaches_once_and_a_correction_replaces() {
        let (setting, grant) = (setting(), grant());
        let mut profile = Profile::new(setting.now);
        let learnt = profile.learn(
            "Hi, I'm Ana, my husband and I are vegan",
            &setting,
            setting.now,
            &grant,
        );
        assert!(
            learnt.paths.iter().any(|path| path == Key::Name.path()),
            "{learnt:?}"
        );
        assert!(
            learnt.paths.iter().any(|path| path == "companions"),
            "{learnt:?}"
        );
        assert!(
            !profile
                .learn("I'm Ana", &setting, setting.now, &grant)
                .is_news()
        );
        assert!(
            !profile
                .learn(
                    "What time does the pool close?",
                    &setting,
                    setting.now,
                    &grant
                )
                .is_news()
        );
        let corrected = profile.learn("Actually, my name is Anna", &setting, setting.now, &grant);
        assert_eq!(corrected.paths, [Key::Name.path()]);
        assert_eq!(
            profile.seen(Key::Name, setting.now),
            Some(&Value::text("Anna"))
        );
    }
}
