//! The subjects that a pack knows: how their answers are recognised and found.

use serde::Deserialize;
use seven_knowledge::{Category, Item};

use crate::phrases::{Phrases, Tokens};

/// The subjects in the order of the learnt table, by their keys in the pack.
pub(crate) const KEYS: [&str; 62] = [
    "food",
    "diet",
    "kids_food",
    "buffet",
    "drinks",
    "room_service",
    "dress",
    "reserve",
    "shows",
    "nightlife",
    "watch_sports",
    "kids",
    "minors",
    "pool",
    "spa",
    "salon",
    "gym",
    "rooms",
    "room_items",
    "check_in",
    "check_out",
    "pets",
    "smoking",
    "fees",
    "slots",
    "tables",
    "poker",
    "sportsbook",
    "bingo",
    "tournament",
    "gaming",
    "club",
    "points",
    "account",
    "offers",
    "comp",
    "parking",
    "transport",
    "directions",
    "wifi",
    "access",
    "lost",
    "id",
    "money",
    "gift_card",
    "shops",
    "groups",
    "outdoors",
    "luggage",
    "holiday",
    "weather",
    "medical",
    "rules",
    "gift_wish",
    "quality",
    "complaint",
    "change",
    "human",
    "robot",
    "help_wish",
    "chat",
    "refers",
];

/// A question in both languages.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    pub(crate) en: String,
    pub(crate) es: String,
}

/// How the answer to a subject is recognised and found, as the pack writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubjectFile {
    /// A plain question about the subject. If the rows do not answer the guest's own words, they
    /// are searched with this question.
    #[serde(default)]
    question: Option<Question>,
    /// Words that occur in the names, keywords and kinds of rows about the subject.
    #[serde(default)]
    rows: Vec<String>,
    /// Categories of which every row is about the subject.
    #[serde(default)]
    categories: Vec<String>,
    /// Whether the plain question is answered with suggestions: "where shall we eat".
    #[serde(default)]
    suggests: bool,
    /// Whether the subject is an aspect of another subject, such as noise or a view. The next most
    /// probable subject is then used instead.
    #[serde(default)]
    is_aspect: bool,
    /// The act by which the subject is answered; `None` if rows answer it.
    #[serde(default)]
    act: Option<SubjectAct>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SubjectAct {
    Account,
    Change,
    Chat,
    Comp,
    Complaint,
    Human,
    Identity,
}

#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) question: Option<Question>,
    pub(crate) rows: Phrases,
    pub(crate) categories: Vec<Category>,
    pub(crate) suggests: bool,
    pub(crate) is_aspect: bool,
    pub(crate) act: Option<SubjectAct>,
}

// === impl Subject ===

impl Subject {
    pub(crate) fn new(file: SubjectFile) -> Self {
        Self {
            question: file.question,
            rows: Phrases::new(&file.rows),
            categories: file.categories.into_iter().map(Category::from).collect(),
            suggests: file.suggests,
            is_aspect: file.is_aspect,
            act: file.act,
        }
    }

    /// Returns whether a row is about the subject; `called` are the row's [`names`].
    pub(crate) fn covers(&self, item: &Item, called: &Tokens) -> bool {
        self.categories.contains(&item.category) || self.rows.found(called)
    }
}

/// Returns what a row is called: its name, kind and keywords.
pub(crate) fn names(item: &Item) -> Tokens {
    let kind = item.subcategory.as_deref().unwrap_or_default();
    let told = [item.name.as_str(), kind].join(" . ") + " . " + &item.keywords.join(" . ");
    Tokens::new(&told)
}
