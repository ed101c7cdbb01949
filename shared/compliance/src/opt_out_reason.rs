//! Finds the reason for an opt-out in its words, for the casino's figures (CONV-52). The result is
//! one of a few names and contains no word of the guest. The list (`data/opt_out_reasons.toml`) is
//! compiled in, like the list of opt-outs.

use std::sync::LazyLock;

use serde::Deserialize;
use seven_domain::OptOutReason;

use crate::normal::Folded;

static LIST: LazyLock<List> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/opt_out_reasons.toml"))
        .expect("the list can be read, says a test")
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    reasons: Vec<Reason>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    reason: OptOutReason,
    phrases: Vec<String>,
}

/// Returns the reason that an opt-out gives; `NotGiven` if the text contains no phrase of the list.
pub fn opt_out_reason(text: &str) -> OptOutReason {
    let mut folded = Folded::default();
    folded.read(text);
    let found = LIST.reasons.iter().find(|known| {
        known
            .phrases
            .iter()
            .any(|phrase| has(folded.line(), phrase))
    });
    found.map_or(OptOutReason::NotGiven, |known| known.reason)
}

/// Returns whether the folded line contains the phrase as whole words; a phrase that ends in `*`
/// may match the beginning of a word.
fn has(line: &str, phrase: &str) -> bool {
    match phrase.strip_suffix('*') {
        Some(stem) => line.contains(&format!(" {stem}")),
        None => line.contains(&format!(" {phrase} ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // CONV-52
    fn an_opt_out_may_say_why() {
        for (text, reason) in [
            ("STOP", OptOutReason::NotGiven),
            ("please stop texting me", OptOutReason::NotGiven),
            ("too many texts, take me off", OptOutReason::TooMany),
            (
                "Tres mensajes al día. ¡Ya no quiero más!",
                OptOutReason::TooMany,
            ),
            (
                "lol not interested stop sending me stuff",
                OptOutReason::NotInterested,
            ),
            (
                "basta de textos, no me interesan sus ofertas",
                OptOutReason::NotInterested,
            ),
            (
                "I never signed up for this, stop messaging me",
                OptOutReason::Privacy,
            ),
            ("¿Quién les dio mi número? Quítenlo", OptOutReason::Privacy),
            (
                "wrong person, this isn't Kayla. stop texting here",
                OptOutReason::WrongNumber,
            ),
            (
                "número equivocado, ya no me manden mensajes",
                OptOutReason::WrongNumber,
            ),
            ("you woke up my baby, stop texting", OptOutReason::BadTime),
        ] {
            assert_eq!(opt_out_reason(text), reason, "{text}");
        }
    }

    #[test]
    fn the_list_is_folded_and_names_every_reason_but_none_twice() {
        let mut named = Vec::new();
        let mut all: Vec<&str> = Vec::new();
        for known in &LIST.reasons {
            named.push(known.reason);
            for phrase in &known.phrases {
                let words = phrase.trim_end_matches('*');
                assert_eq!(Folded::new(words).line().trim(), words, "{phrase}");
                assert!(!all.contains(&phrase.as_str()), "{phrase} is listed twice");
                all.push(phrase);
            }
        }
        let given = OptOutReason::ALL
            .iter()
            .filter(|reason| **reason != OptOutReason::NotGiven);
        assert_eq!(named, given.copied().collect::<Vec<_>>());
    }
}
