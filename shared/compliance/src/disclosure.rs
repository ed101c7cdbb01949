//! Decides when a text must say that an AI writes it (SEC-49 to SEC-53b, C-16): in the guest's
//! first text, in the first of each session, and again after a material change in what the guest
//! was told about us.

use serde::{Deserialize, Serialize};

/// The reason why a disclosure is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Due {
    /// This guest has never received a disclosure.
    First,
    /// A new session began: the guest was silent for longer than a session lasts.
    Session,
    /// A material change occurred (SEC-53).
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

/// The names of the changes that count as material (SEC-53); all other names are ignored.
pub const TRIGGERS: [&str; 3] = ["outbound_campaign_start", "proactive_offer", "behavior_model_change"];

/// Facts about a guest at the time a text is written.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The casino's feature flag (SEC-53a).
    pub enabled: bool,
    /// Whether disclosure is mandatory, by the law of a state the guest may be in or by the
    /// casino's own rule.
    pub required: bool,
    pub ever_disclosed: bool,
    pub disclosed_this_session: bool,
    /// The name of a pending change; material only if it is one of [`TRIGGERS`].
    pub trigger: Option<&'a str>,
}

/// Returns the disclosure that this text must carry. A material change is disclosed even where the
/// flag is off; a full disclosure covers it.
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
