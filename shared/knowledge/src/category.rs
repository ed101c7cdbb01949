//! Content categories: eight that the code knows, and any other word that a casino uses.

use std::{convert::Infallible, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A content category. Parsing also accepts aliases of the known categories.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Category {
    Dining,
    Entertainment,
    Spa,
    Gaming,
    Promotions,
    Regulations,
    Hours,
    GeneralInfo,
    /// Any other category, such as rooms, parking or golf.
    Other(String),
}

impl Category {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Dining => "dining",
            Self::Entertainment => "entertainment",
            Self::Spa => "spa",
            Self::Gaming => "gaming",
            Self::Promotions => "promotions",
            Self::Regulations => "regulations",
            Self::Hours => "hours",
            Self::GeneralInfo => "general_info",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for Category {
    fn from(text: String) -> Self {
        let name = text.trim().to_lowercase().replace([' ', '-'], "_");
        match name.as_str() {
            "dining" | "restaurants" | "restaurant" => Self::Dining,
            "entertainment" | "shows" | "events" => Self::Entertainment,
            "spa" => Self::Spa,
            "gaming" => Self::Gaming,
            "promotions" | "promotion" => Self::Promotions,
            "regulations" | "regulation" => Self::Regulations,
            "hours" => Self::Hours,
            "general_info" | "general" => Self::GeneralInfo,
            _ => Self::Other(name),
        }
    }
}

impl From<&str> for Category {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl FromStr for Category {
    type Err = Infallible;
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.into())
    }
}

impl From<Category> for String {
    fn from(category: Category) -> Self {
        category.as_str().to_owned()
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
