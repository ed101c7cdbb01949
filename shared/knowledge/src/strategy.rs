//! Second wordings by kind of question: they add words that guests leave out because the situation
//! makes them obvious.

use crate::Category;

/// How a question's second wording is made; the rankings of both wordings are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Keeps only the words that name something.
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

    /// Returns the second wording.
    pub fn augment(self, text: &str) -> String {
        match self {
            Self::General => {
                let telling = |word: &String| !crate::index::is_common(word);
                seven_text::words(text)
                    .into_iter()
                    .filter(telling)
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            Self::Hours => format!("{text} hours open close"),
            Self::Dining => format!("{text} restaurant menu food"),
            Self::Entertainment => format!("{text} show event tickets"),
        }
    }
}
