//! Decides when a text must say that an AI writes it: in a guest's first text, in the first text of
//! each session, and after a material change.

use seven_domain::{DisclosureKind as Due, MaterialChange};

/// The facts about a guest at the time a text is written.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// Whether the casino's feature flag for AI disclosure is on (SEC-53a).
    pub enabled: bool,
    /// Whether disclosure is mandatory: by the law of a state in which the guest may be, or by the
    /// casino's own rule.
    pub required: bool,
    pub ever_disclosed: bool,
    pub disclosed_this_session: bool,
    /// A material change that has not been disclosed to this guest yet; `None` if there is none.
    pub trigger: Option<MaterialChange>,
}

/// Returns the disclosure that this text must carry. A material change is disclosed even if the
/// flag is off; a first or session disclosure covers such a change, too.
pub fn due(facts: &Facts) -> Option<Due> {
    let wanted = facts.enabled || facts.required;
    match facts {
        _ if wanted && !facts.ever_disclosed => Some(Due::First),
        _ if wanted && !facts.disclosed_this_session => Some(Due::Session),
        Facts {
            trigger: Some(_), ..
        } => Some(Due::Again),
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
        let on = Facts {
            enabled: true,
            ..none
        };
        let told = Facts {
            ever_disclosed: true,
            disclosed_this_session: true,
            ..on
        };
        for (facts, expected) in [
            (none, None),
            (on, Some(Due::First)),
            (
                Facts {
                    required: true,
                    ..none
                },
                Some(Due::First),
            ),
            (told, None),
            (
                Facts {
                    disclosed_this_session: false,
                    ..told
                },
                Some(Due::Session),
            ),
            (
                Facts {
                    disclosed_this_session: false,
                    enabled: false,
                    ..told
                },
                None,
            ),
            (
                Facts {
                    trigger: Some(MaterialChange::CampaignStart),
                    ..told
                },
                Some(Due::Again),
            ),
            (
                Facts {
                    trigger: Some(MaterialChange::ProactiveOffer),
                    ..none
                },
                Some(Due::Again),
            ),
            (
                Facts {
                    trigger: Some(MaterialChange::BehaviorModel),
                    ..told
                },
                Some(Due::Again),
            ),
            (
                Facts {
                    trigger: Some(MaterialChange::ProactiveOffer),
                    ..on
                },
                Some(Due::First),
            ),
        ] {
            assert_eq!(due(&facts), expected, "{facts:?}");
        }
    }
}
