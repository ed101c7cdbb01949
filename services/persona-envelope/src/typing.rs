//! Classifies a text for the typing delay. The first kind that matches applies. The kinds are
//! recognised by English and Spanish words.

use seven_packs::TypingKind;

/// Returns the kind of a text; `first` says whether it is the first reply to a guest.
pub(crate) fn kind_of(text: &str, first: bool) -> TypingKind {
    let lower = text.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    match () {
        () if first => TypingKind::Greeting,
        () if text.chars().count() > 160 => TypingKind::MultiSegment,
        () if any(&["sorry", "apologize", "my mistake", "lo siento", "disculpe"]) => {
            TypingKind::Apology
        }
        () if any(&[
            "complimentary",
            "offer",
            "qualify",
            "perk",
            "discount",
            "oferta",
            "descuento",
        ]) =>
        {
            TypingKind::Offer
        }
        () if any(&[
            "let me check",
            "i'll check",
            "looking into",
            "one moment",
            "voy a averiguar",
            "un momento",
        ]) =>
        {
            TypingKind::Lookup
        }
        () if text.chars().count() < 30 => TypingKind::Acknowledgment,
        () => TypingKind::Question,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // CONV-50
    fn the_first_match_wins() {
        for (text, first, kind) in [
            ("Hi there", true, TypingKind::Greeting),
            ("You are welcome.", false, TypingKind::Acknowledgment),
            (
                "I'm sorry, the offer has ended for tonight.",
                false,
                TypingKind::Apology,
            ),
            (
                "I'll check that for you and come back.",
                false,
                TypingKind::Lookup,
            ),
            (
                "Open now: Lantern Diner and Harbor Bar. What are you in the mood for?",
                false,
                TypingKind::Question,
            ),
        ] {
            assert_eq!(kind_of(text, first), kind, "{text}");
        }
        assert_eq!(
            kind_of(&"word ".repeat(40), false),
            TypingKind::MultiSegment
        );
    }
}
