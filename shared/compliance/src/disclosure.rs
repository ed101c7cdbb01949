//! When a text must say that an AI writes (SEC-49 to SEC-53b, C-16): the guest's first, the first of each session, and again when
//! what the guest was told about us has changed.

use serde::{Deserialize, Serialize};

/// The reason why a disclosure is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Due {
    /// Nothing was ever disclosed to this guest.
    First,
    /// A new session: the guest was silent for longer than a session lasts.
    Session,
    /// A material change (SEC-53).
    Again,
}

impl Due {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Session => "session",
            Self::Again => "again",
        }
    }
}

/// The changes that count as material (SEC-53); any other word is none.
pub const TRIGGERS: [&str; 3] = ["outbound_campaign_start", "proactive_offer", "behavior_model_change"];

/// Facts about a guest at the time when a text is about to be written.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The casino's feature flag (SEC-53a).
    pub enabled: bool,
    /// The law of a state the guest may be in, or the casino's own rule, leaves no choice.
    pub required: bool,
    pub ever_disclosed: bool,
    pub disclosed_this_session: bool,
    /// A pending change, by its name.
    pub trigger: Option<&'a str>,
}

/// The disclosure this text must carry. A change is told even where the flag is off; the full disclosure covers it.
pub fn due(facts: &Facts<'_>) -> Option<Due> {
    let wanted = facts.enabled || facts.required;
    match facts {
        _ if wanted && !facts.ever_disclosed => Some(Due::First),
        _ if wanted && !facts.disclosed_this_session => Some(Due::Session),
        Facts { trigger: Some(trigger), .. } if TRIGGERS.contains(trigger) => Some(Due::Again),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SEC-51, SEC-53, SEC-53a, C-16
    fn the_table() {
        let none = Facts {
            enabled: false,
            required: false,
            ever_disclosed: false,
            disclosed_this_session: false,
            trigger: None,
        };
        let on = Facts { enabled: true, ..none };
        let told = Facts { ever_disclosed: true, disclosed_this_session: true, ..on };
        for (facts, expected) in [
            (none, None),
            (on, Some(Due::First)),
            (Facts { required: true, ..none }, Some(Due::First)),
            (told, None),
            (Facts { disclosed_this_session: false, ..told }, Some(Due::Session)),
            (Facts { disclosed_this_session: false, enabled: false, ..told }, None),
            (Facts { trigger: Some("outbound_campaign_start"), ..told }, Some(Due::Again)),
            (Facts { trigger: Some("proactive_offer"), ..none }, Some(Due::Again)),
            (Facts { trigger: Some("behavior_model_change"), ..told }, Some(Due::Again)),
            (Facts { trigger: Some("new_logo"), ..told }, None),
            (Facts { trigger: Some("proactive_offer"), ..on }, Some(Due::First)),
        ] {
            assert_eq!(due(&facts), expected, "{facts:?}");
        }
    }
}
