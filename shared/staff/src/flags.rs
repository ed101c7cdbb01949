//! The rules about flags that commands and the console share. They say which flags may be set, and
//! for which casinos the disclosure must stay on.

use seven_domain::{
    CasinoId,
    flags::{PER_GUEST, Rule},
};
use seven_runtime::Fleet;

/// The flag for the disclosure. While it is on, the first reply of a session says that an AI
/// writes.
const DISCLOSURE: &str = "features/ai_disclosure_enabled";
/// The flag for the second prompt of hosted models.
const VARIANT: &str = "features/prompt_variant_enabled";

/// Why a rule may not be set.
#[derive(Debug, thiserror::Error)]
pub enum NotAllowed {
    #[error(
        "no worker decides {0} per guest, so a flag of it would change nothing; the flags are: \
         {flags}. Other features are read from the casino's document",
        flags = PER_GUEST.join(", ")
    )]
    Unknown(String),
    #[error(
        "{DISCLOSURE} cannot be off for guests of every casino: where the law demands the \
         disclosure, workers make it anyway; name one casino with --casino"
    )]
    DisclosureEverywhere,
    #[error(
        "{0} discloses to every guest, whatever the flag says: \
         regulations.ai_disclosure_required of its document is true"
    )]
    DisclosureRequired(CasinoId),
    #[error("{0} has no second prompt; set prompts.system_prompt_variant of its document first")]
    NoVariant(CasinoId),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

/// Checks that a rule may be set for one casino, or for every casino if `casino` is `None`. Where
/// the law demands the disclosure, it may not be off for any guest, because workers would disclose
/// anyway. The second prompt may not be on for a casino that has none.
///
/// # Errors
/// Returns the reason why not, or fails when the store is unreachable.
pub async fn check(
    fleet: &Fleet,
    casino: Option<&CasinoId>,
    name: &str,
    rule: &Rule,
) -> Result<(), NotAllowed> {
    if !PER_GUEST.contains(&name) {
        return Err(NotAllowed::Unknown(name.to_owned()));
    }
    let hides = name == DISCLOSURE && leaves_guests_out(rule);
    let splits = name == VARIANT && rule.enabled;
    if !hides && !splits {
        return Ok(());
    }
    let Some(casino) = casino else {
        // A rule for every casino may turn the second prompt on: casinos without one keep the usual
        // prompt.
        return if hides {
            Err(NotAllowed::DisclosureEverywhere)
        } else {
            Ok(())
        };
    };
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    match row {
        Some(row) if hides && row.config.regulations.ai_disclosure_required => {
            Err(NotAllowed::DisclosureRequired(casino.clone()))
        }
        Some(row) if splits && !row.config.prompts.has_variant() => {
            Err(NotAllowed::NoVariant(casino.clone()))
        }
        _ => Ok(()),
    }
}

/// Returns true if the rule turns the feature off for some guest at some time.
fn leaves_guests_out(rule: &Rule) -> bool {
    let Rule {
        enabled,
        percentage,
        allow,
        from,
        until,
    } = rule;
    let for_all =
        percentage.is_none_or(|share| share == 100) && (allow.is_empty() || percentage.is_some());
    !enabled || !for_all || from.is_some() || until.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(percentage: Option<u8>, allow: usize) -> Rule {
        let allow = vec!["hmac:1:00".to_owned(); allow];
        Rule {
            enabled: true,
            percentage,
            allow,
            from: None,
            until: None,
        }
    }

    #[test]
    fn only_a_rule_for_all_guests_at_all_times_leaves_nobody_out() {
        for (percentage, allow, wanted) in [
            (None, 0, false),
            (Some(100), 0, false),
            (Some(100), 1, false),
            (Some(99), 0, true),
            (None, 1, true),
            (Some(0), 2, true),
        ] {
            assert_eq!(
                leaves_guests_out(&rule(percentage, allow)),
                wanted,
                "{percentage:?} {allow}"
            );
        }
        assert!(leaves_guests_out(&Rule {
            enabled: false,
            ..rule(None, 0)
        }));
        let now = Some(seven_domain::Clock::default().now());
        assert!(leaves_guests_out(&Rule {
            from: now,
            ..rule(None, 0)
        }));
        assert!(leaves_guests_out(&Rule {
            until: now,
            ..rule(None, 0)
        }));
    }
}
