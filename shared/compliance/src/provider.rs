//! Lists the keywords to which a provider reacts by itself. Parses the report that the provider
//! sends about such a reaction.

use crate::{Intent, Keyword};

/// The messages, in capitals or not, to which a provider reacts by default: it blocks or unblocks
/// the guest's number and may answer.
const TELNYX_WORDS: &[&str] = &[
    "stop",
    "stopall",
    "stop all",
    "unsubscribe",
    "cancel",
    "end",
    "quit",
    "start",
    "unstop",
    "help",
];
const TWILIO_WORDS: &[&str] = &[
    "stop",
    "stopall",
    "unsubscribe",
    "cancel",
    "end",
    "quit",
    "revoke",
    "optout",
    "start",
    "yes",
    "unstop",
    "help",
    "info",
];

/// Returns whether the provider's own list makes it react to this message.
pub fn reacts(provider: &str, text: &str) -> bool {
    let words = if provider == seven_domain::TWILIO {
        TWILIO_WORDS
    } else {
        TELNYX_WORDS
    };
    words
        .iter()
        .any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// Returns the command that a webhook reports (Telnyx: `autoresponse_type`, Twilio: `OptOutType`).
/// The report decides whatever the text says, because provider accounts may have custom keywords.
pub fn keyword(verdict: &str) -> Option<Keyword> {
    let said = |intent, pattern_id| {
        Some(Keyword {
            intent,
            pattern_id,
            language: None,
        })
    };
    let letters: String = verdict.chars().filter(char::is_ascii_alphabetic).collect();
    match letters.to_ascii_lowercase().as_str() {
        "stop" | "optout" | "unsubscribe" => said(Intent::OptOut, "optout.provider"),
        "start" | "optin" | "unstop" | "subscribe" => said(Intent::OptIn, "optin.provider"),
        "help" | "info" => said(Intent::Help, "help.provider"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use seven_domain::{TELNYX, TWILIO};

    use super::*;

    #[test] // C-6: each provider reacts to its own list of words
    fn each_list_is_its_own() {
        for text in [
            "STOP",
            "stopall",
            "UNSUBSCRIBE",
            "cancel",
            "END",
            "quit",
            " start ",
            "UNSTOP",
            "Help",
        ] {
            assert!(reacts(TELNYX, text) && reacts(TWILIO, text), "{text}");
        }
        for (text, telnyx, twilio) in [
            ("Stop All", true, false),
            ("REVOKE", false, true),
            ("optout", false, true),
            ("OPT OUT", false, false),
            ("YES", false, true),
            ("INFO", false, true),
            ("STOP.", false, false),
            ("stop please", false, false),
            ("ALTO", false, false),
            ("please stop texting me", false, false),
        ] {
            assert_eq!(
                (reacts(TELNYX, text), reacts(TWILIO, text)),
                (telnyx, twilio),
                "{text}"
            );
        }
    }

    #[test]
    fn verdicts_of_both_providers_are_understood() {
        for (verdict, intent) in [
            ("STOP", Some(Intent::OptOut)),
            ("opt_out", Some(Intent::OptOut)),
            ("START", Some(Intent::OptIn)),
            ("opt-in", Some(Intent::OptIn)),
            ("HELP", Some(Intent::Help)),
            ("info", Some(Intent::Help)),
            ("something", None),
            ("", None),
        ] {
            assert_eq!(
                keyword(verdict).map(|keyword| keyword.intent),
                intent,
                "{verdict}"
            );
        }
    }
}
