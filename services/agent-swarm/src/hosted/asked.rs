//! Checks whether a hosted model's draft asks about the topic that the model was given.

use seven_guest::Topic;
use seven_text::words;

/// Returns beginnings of words by which an English or Spanish question about the topic is
/// recognised.
fn beginnings(topic: Topic) -> &'static [&'static str] {
    match topic {
        Topic::Name => &["name", "nombre", "llama"],
        Topic::VisitDate => &["when", "date", "day", "cuando", "fecha", "dia"],
        Topic::PartySize => &["many", "party", "group", "cuant", "grupo", "personas"],
        Topic::Dining => &[
            "food", "eat", "cuisine", "dining", "comida", "comer", "cocina",
        ],
        Topic::Entertainment => &["show", "music", "see", "musica", "espectaculo", "ver"],
        Topic::Gaming => &["game", "play", "slots", "tables", "juego", "jugar", "mesas"],
        Topic::Occasions => &["occasion", "celebrat", "ocasion", "celebr", "festej"],
        Topic::Companions => &["who", "with", "join", "quien", "acompan"],
    }
}

/// Returns whether the draft ends with a question about the topic. If so, the guest's next text is
/// read as the answer to this question. After any other question, an "8" is not a party size.
pub(super) fn asks_about(topic: Topic, draft: &str) -> bool {
    let draft = draft.trim_end();
    let Some(question) = draft.strip_suffix('?') else {
        return false;
    };
    let last = question.rfind(['.', '!', '?', '¿']).map_or(0, |at| at + 1);
    let last = question.get(last..).unwrap_or(question);
    words(last).iter().any(|word| {
        beginnings(topic)
            .iter()
            .any(|known| word.starts_with(known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // CONV-25, CONV-46
    fn only_a_last_question_about_the_topic_asks_about_it() {
        for (topic, draft, asks) in [
            (
                Topic::PartySize,
                "We have room. How many of you will come?",
                true,
            ),
            (Topic::PartySize, "¿Cuántas personas vienen?", true),
            (
                Topic::PartySize,
                "Shows are at 7 and 8 PM, which do you prefer?",
                false,
            ),
            (Topic::PartySize, "How many? The pool is open.", false),
            (Topic::Name, "May I ask your name?", true),
            (Topic::VisitDate, "Claro. ¿Qué día piensa venir?", true),
            (Topic::VisitDate, "It is open every day.", false),
            (Topic::Dining, "", false),
        ] {
            assert_eq!(asks_about(topic, draft), asks, "{draft}");
        }
    }
}
