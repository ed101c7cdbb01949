//! Checks the wording of an unsolicited text. The text must name the casino, say that an AI writes,
//! and say how to stop the texts. It must ask the guest for something, with at most one question.
//! `seven_sms` checks the text's length and risk.

use std::fmt;

use seven_domain::Language;

use crate::{Intent, classify};

/// A required part that is missing, or a part that occurs more often than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    NoCasino,
    NoDisclosure,
    NoStop,
    NoCallToAction,
    TwoQuestions,
}

// === impl Fault ===

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCasino => "it does not name the casino; {casino} stands for the name",
            Self::NoDisclosure => {
                "it does not say that an AI writes (AI or artificial intelligence; IA or inteligencia artificial)"
            }
            Self::NoStop => {
                "it does not say how to stop: a word such as STOP, in Spanish PARAR, in capitals"
            }
            Self::NoCallToAction => {
                "it asks for nothing: a question, or reply, text, call, ask, book, join, visit"
            }
            Self::TwoQuestions => "it asks more than one question",
        })
    }
}

const ARTIFICIAL: [&str; 2] = ["artificial intelligence", "inteligencia artificial"];

const ENGLISH: [&str; 9] = [
    "reply", "text", "call", "ask", "book", "join", "visit", "write", "tell",
];
const SPANISH: [&str; 12] = [
    "responda", "escriba", "envie", "envíe", "llame", "pregunte", "reserve", "visite", "venga",
    "pida", "diga", "conteste",
];

/// Returns all faults of the wording; `casino` is the name by which guests know the casino.
pub fn faults(text: &str, language: Language, casino: &str) -> Vec<Fault> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let lower = text.to_lowercase();
    let discloses = words.iter().any(|word| match language {
        Language::En => *word == "AI",
        Language::Es => matches!(*word, "AI" | "IA"),
    }) || ARTIFICIAL.iter().any(|words| lower.contains(words));
    let questions = text.chars().filter(|c| *c == '?').count();
    [
        (!lower.contains(&casino.to_lowercase()), Fault::NoCasino),
        (!discloses, Fault::NoDisclosure),
        (
            !words.iter().any(|word| stops(word, language)),
            Fault::NoStop,
        ),
        (
            questions == 0 && !calls(&words, language),
            Fault::NoCallToAction,
        ),
        (questions > 1, Fault::TwoQuestions),
    ]
    .into_iter()
    .filter_map(|(bad, fault)| bad.then_some(fault))
    .collect()
}

/// Returns whether the word is an opt-out keyword of the text's language or of all languages. The
/// word must be in capitals, so that guests notice it.
fn stops(word: &str, language: Language) -> bool {
    word.chars().all(|c| !c.is_lowercase())
        && classify(word).is_some_and(|keyword| {
            keyword.intent == Intent::OptOut && keyword.language.is_none_or(|of| of == language)
        })
}

/// Returns whether a verb asks the guest to do something other than opt out; "Reply STOP" alone
/// does not count.
fn calls(words: &[&str], language: Language) -> bool {
    let verbs: &[&str] = match language {
        Language::En => &ENGLISH,
        Language::Es => &SPANISH,
    };
    words.iter().enumerate().any(|(n, word)| {
        let way_out = words.get(n + 1).is_some_and(|next| stops(next, language));
        verbs.contains(&word.to_lowercase().as_str()) && !way_out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASINO: &str = "Silver Birch";

    fn said(text: &str, language: Language) -> Vec<Fault> {
        faults(text, language, CASINO)
    }

    #[test] // SMS-33, C-40
    fn a_whole_text_has_no_faults() {
        for (text, language) in [
            (
                "Hi, Seven here, the AI host of Silver Birch. A table for Friday? Reply YES, or STOP to opt out.",
                Language::En,
            ),
            (
                "Silver Birch: our AI host has Friday tables. Reply YES to book, HELP for info or STOP to opt out.",
                Language::En,
            ),
            (
                "Seven, anfitrion IA de Silver Birch. Responda SI para reservar el viernes o PARAR para salir.",
                Language::Es,
            ),
            (
                "Silver Birch, inteligencia artificial: quiere una mesa el viernes? Envie STOP para salir.",
                Language::Es,
            ),
        ] {
            assert_eq!(said(text, language), [], "{text}");
        }
    }

    #[test] // SMS-33, C-40
    fn each_fault_is_named() {
        use Fault::{NoCallToAction, NoCasino, NoDisclosure, NoStop, TwoQuestions};
        for (text, language, faults) in [
            (
                "Our AI host has Friday tables. Reply YES or STOP to opt out.",
                Language::En,
                vec![NoCasino],
            ),
            (
                "Silver Birch: Friday tables. Reply YES or STOP to opt out.",
                Language::En,
                vec![NoDisclosure],
            ),
            // A word that merely contains the letters "ai", such as SAID, discloses nothing.
            (
                "Silver Birch SAID: Friday tables. Reply YES or STOP to opt out.",
                Language::En,
                vec![NoDisclosure],
            ),
            (
                "Silver Birch: our AI host has Friday tables. Reply YES.",
                Language::En,
                vec![NoStop],
            ),
            (
                "Silver Birch: our AI host will not stop. Reply YES.",
                Language::En,
                vec![NoStop],
            ),
            (
                "Silver Birch: our AI host has Friday tables. Reply STOP to opt out.",
                Language::En,
                vec![NoCallToAction],
            ),
            (
                "Silver Birch: AI host here. Friday? Saturday? STOP to opt out.",
                Language::En,
                vec![TwoQuestions],
            ),
            // A word for stopping in a language other than the text's does not count.
            (
                "Silver Birch: AI host here. Friday? PARAR to opt out.",
                Language::En,
                vec![NoStop],
            ),
            (
                "Silver Birch: anfitrion IA. Le reservo el viernes? Responda PARAR para salir.",
                Language::Es,
                vec![],
            ),
            (
                "",
                Language::En,
                vec![NoCasino, NoDisclosure, NoStop, NoCallToAction],
            ),
        ] {
            assert_eq!(said(text, language), faults, "{text}");
        }
    }
}
