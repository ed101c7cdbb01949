//! Judges a text by the conversation around it. The text may answer our question, copy an earlier
//! text, or be part of an ordinary dialogue.

use crate::{Likely, echo};

/// Returns the words of a text in lower case, separated by single blanks. Copies of a text then
/// compare equal.
pub fn folded(text: &str) -> String {
    let words: Vec<String> = words(text).collect();
    words.join(" ")
}

/// Returns whether the two texts share at least four fifths of their distinct words.
pub fn near_identical(one: &str, other: &str) -> bool {
    let (mut one, mut other): (Vec<String>, Vec<String>) =
        (words(one).collect(), words(other).collect());
    for list in [&mut one, &mut other] {
        list.sort();
        list.dedup();
    }
    let common = one
        .iter()
        .filter(|word| other.binary_search(word).is_ok())
        .count();
    let all = one.len() + other.len() - common;
    all > 0 && common * 5 >= all * 4
}

/// Returns whether the text asks a question or requests something; auto-responders do neither.
pub fn asks(text: &str) -> bool {
    const OPENERS: &[&str] = &[
        "what", "whats", "when", "where", "wheres", "who", "how", "hows", "which", "why", "is",
        "are", "do", "does", "did", "can", "could", "will", "would", "should", "any", "may",
        "have", "has", "i'd", "id", "need", "want", "book", "que", "qué", "cuando", "cuándo",
        "donde", "dónde", "como", "cómo", "cual", "cuál", "cuanto", "cuánto", "hay", "puedo",
        "pueden", "tienen", "tiene", "quiero", "necesito", "a",
    ];
    text.contains(['?', '¿'])
        || words(text)
            .next()
            .is_some_and(|first| OPENERS.contains(&first.as_str()))
}

/// Margin that a likely opt-out or cry for help must exceed if it may be explained by the dialogue:
/// it is a short answer to our question, or is about a room or a meal. In hundredths of log odds.
const MORE_IN_DIALOGUE: i16 = 100;
const SHORT_WORDS: usize = 8;

/// Returns whether the evidence for a likely opt-out or cry for help suffices in its dialogue.
/// Short answers to our questions and complaints about rooms or meals need more evidence.
pub fn holds(likely: Likely, text: &str, asked: bool) -> bool {
    const MATTERS: &[&str] = &[
        "room",
        "noise",
        "noisy",
        "towels",
        "bed",
        "ac",
        "shower",
        "wifi",
        "food",
        "table",
        "dinner",
        "lunch",
        "breakfast",
        "menu",
        "onion",
        "onions",
        "steak",
        "buffet",
        "pool",
        "spa",
        "line",
        "elevator",
        "parking",
        "valet",
        "checkout",
        "reservation",
        "habitación",
        "habitacion",
        "cuarto",
        "ruido",
        "toallas",
        "cama",
        "comida",
        "mesa",
        "cena",
        "desayuno",
        "menú",
        "cebolla",
        "alberca",
        "piscina",
        "fila",
        "reserva",
        "reservación",
        "reservacion",
    ];
    let mut count = 0;
    let about_the_stay = words(text)
        .inspect(|_| count += 1)
        .filter(|word| MATTERS.contains(&word.as_str()))
        .count()
        > 0;
    let answers = asked && count <= SHORT_WORDS;
    likely.margin
        > if answers || about_the_stay {
            MORE_IN_DIALOGUE
        } else {
            0
        }
}

/// Returns whether the guest answered our question with yes or with no; `None` if the text says
/// more than that.
pub fn yes_or_no(text: &str) -> Option<bool> {
    const YES: &[&str] = &[
        "yes",
        "y",
        "yeah",
        "yep",
        "yup",
        "sure",
        "please do",
        "yes please",
        "correct",
        "right",
        "exactly",
        "ok",
        "okay",
        "si",
        "sí",
        "claro",
        "correcto",
        "exacto",
        "si por favor",
        "sí por favor",
        "por favor",
        "yes stop",
        "i do",
        "please",
        "yes i do",
        "yes thanks",
        "yes thank you",
        "si gracias",
        "sí gracias",
    ];
    const NO: &[&str] = &[
        "no",
        "n",
        "nope",
        "nah",
        "no no",
        "no thanks",
        "no thank you",
        "keep",
        "keep them",
        "keep texting",
        "no keep them",
        "no its fine",
        "no it's fine",
        "its fine",
        "it's fine",
        "no im good",
        "no i'm good",
        "dont",
        "don't",
        "of course not",
        "no gracias",
        "para nada",
        "no esta bien",
        "no está bien",
        "sigan",
        "no sigan",
        "claro que no",
        "no thats ok",
        "no that's ok",
        "not at all",
        "conservar",
    ];
    let text = folded(text);
    if YES.contains(&text.as_str()) {
        Some(true)
    } else if NO.contains(&text.as_str()) {
        Some(false)
    } else {
        None
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    echo::words(text).map(|(_, word)| word)
}

/// Returns whether the text asks to keep the guest's data, which cancels a pending deletion: the
/// whole message is KEEP or CONSERVAR.
pub fn keeps_data(text: &str) -> bool {
    let word = text
        .trim()
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    matches!(word.as_str(), "keep" | "conservar")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_whole_texts() {
        for (text, answer) in [
            ("Yes", Some(true)),
            ("yes please!", Some(true)),
            ("Sí.", Some(true)),
            ("No", Some(false)),
            ("no thanks 🙂", Some(false)),
            ("no, it’s fine", Some(false)),
            ("yes the pool", None),
            ("is the pool open?", None),
            ("", None),
        ] {
            assert_eq!(yes_or_no(text), answer, "{text}");
        }
    }

    #[test]
    fn copies_and_near_copies() {
        assert_eq!(folded("Is  the pool OPEN?"), folded("is the pool open"));
        assert!(near_identical(
            "I'm busy right now and will get back to you.",
            "I’m busy right now and will get back to you"
        ));
        assert!(near_identical(
            "I am out until 5pm and will call you then",
            "I am out until 6pm and will call you then"
        ));
        assert!(!near_identical(
            "is the pool open today",
            "is the spa open tomorrow"
        ));
        assert!(!near_identical("", ""));
    }

    #[test] // D20: a short answer needs more evidence
    fn dialogue_explains_weak_likeness() {
        let likely = |margin| Likely {
            kind: crate::LikelyKind::OptOut,
            margin,
        };
        for (margin, text, asked, stands) in [
            (50, "not that one please", false, true),
            (50, "not that one please", true, false),
            (150, "not that one please", true, true),
            (50, "no more onions in my food", false, false),
            (150, "no more onions in my food", false, true),
            (
                50,
                "not that one and nothing else of the kind ever again",
                true,
                true,
            ),
        ] {
            assert_eq!(
                holds(likely(margin), text, asked),
                stands,
                "{text} {margin} {asked}"
            );
        }
    }

    #[test]
    fn who_asks_is_no_machine() {
        assert!(
            asks("is there a steakhouse in the hotel")
                && asks("hay un bar?")
                && asks("Need a table for six tonight")
        );
        assert!(!asks("I'm busy right now and will get back to you."));
    }

    #[test] // C-18
    fn keep_is_a_whole_message() {
        for (text, keep) in [
            ("KEEP", true),
            (" keep! ", true),
            ("Conservar.", true),
            ("keep my table", false),
            ("", false),
        ] {
            assert_eq!(keeps_data(text), keep, "{text:?}");
        }
    }
}
