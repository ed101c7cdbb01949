//! Lists the words around a command that do not change its meaning.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filler {
    /// Courtesy words: "please", "thank you", "now".
    Courtesy,
    /// Words with which an impatient guest begins: "hey stop", "just stop".
    LeadIn,
    /// Words that follow a yes: "yes sounds good".
    Agreement,
}

const COURTESY: &[&str] = &[
    "please and thank you",
    "please",
    "pls",
    "plz",
    "plse",
    "thanks so much",
    "thanks",
    "thank you so much",
    "thank you very much",
    "thank you",
    "thankyou",
    "thx",
    "tks",
    "ty",
    "por favor",
    "porfavor",
    "porfa",
    "xfa",
    "favor",
    "muchas gracias",
    "gracias",
    "right now",
    "now",
    "immediately",
    "asap",
    "already",
    "ya",
    "sir",
    "maam",
];

const LEAD_IN: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "hola",
    "no",
    "nope",
    "just",
    "so",
    "then",
    "seriously",
    "and",
    "pues",
    "everything",
];

const AGREEMENT: &[&str] = &[
    "sounds good",
    "sounds great",
    "that sounds good",
    "that sounds great",
    "of course",
    "please do",
    "im in",
    "count me in",
    "sign me up",
    "thats fine",
    "lets do it",
    "i do",
    "i agree",
    "i would",
    "id love to",
    "id like that",
    "absolutely",
    "definitely",
    "great",
    "perfect",
    "claro que si",
    "claro",
    "por supuesto",
    "perfecto",
    "acepto",
    "quiero",
    "me gustaria",
    "suena bien",
    "esta bien",
];

pub(super) const FILLERS: [(&[&str], Filler); 3] = [
    (COURTESY, Filler::Courtesy),
    (LEAD_IN, Filler::LeadIn),
    (AGREEMENT, Filler::Agreement),
];

/// Returns the words that may come before or after an opt-out in plain language, as alternatives
/// for a pattern.
pub(crate) fn courtesy() -> String {
    [COURTESY, LEAD_IN].concat().join("|")
}
