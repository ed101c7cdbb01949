//! Second wordings by kind of question (RAG-2): what guests leave out because the situation says it.

use crate::Category;

/// How a question is asked a second time; both rankings are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The words that name something, without the rest.
    #[default]
    General,
    Hours,
    Dining,
    Entertainment,
}

// === impl Strategy ===

impl Strategy {
    pub fn of(category: Option<&Category>) -> Self {
        match category {
            Some(Category::Hours) => Self::Hours,
            Some(Category::Dining) => Self::Dining,
            Some(Category::Entertainment) => Self::Entertainment,
            _ => Self::General,
        }
    }

    /// The second wording.
    pub fn augment(self, text: &str) -> String {
        match self {
            Self::General => {
                let telling = |word: &String| !crate::index::is_common(word);
                crate::text::words(text).into_iter().filter(telling).collect::<Vec<_>>().join(" ")
            }
            Self::Hours => format!("{text} hours open close"),
            Self::Dining => format!("{text} restaurant menu food"),
            Self::Entertainment => format!("{text} show event tickets"),
        }
    }
}
