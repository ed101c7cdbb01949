//! The value of a profile field. `Debug` shows its kind and size, never the value.

use std::fmt;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

/// A field's value. In JSON it is the bare value; a string in the format of a date is read as a
/// date.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Date(NaiveDate),
    Text(String),
    List(Vec<String>),
}

impl Value {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub fn list<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(number) = self {
            Some(*number)
        } else {
            None
        }
    }

    pub fn as_date(&self) -> Option<NaiveDate> {
        if let Self::Date(date) = self {
            Some(*date)
        } else {
            None
        }
    }

    pub fn as_list(&self) -> Option<&[String]> {
        if let Self::List(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// Returns whether the value is blank text or a list without items.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::List(items) => items.iter().all(|item| item.trim().is_empty()),
            Self::Bool(_) | Self::Int(_) | Self::Date(_) => false,
        }
    }

    /// Returns whether a person would call both values the same: case and outer spaces are ignored.
    pub fn agrees(&self, other: &Self) -> bool {
        let plain = |text: &str| text.trim().to_lowercase();
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => plain(a) == plain(b),
            (Self::List(a), Self::List(b)) => {
                let set = |items: &[String]| {
                    items
                        .iter()
                        .map(|i| plain(i))
                        .collect::<std::collections::BTreeSet<_>>()
                };
                set(a) == set(b)
            }
            _ => self == other,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(_) => f.write_str("Bool(..)"),
            Self::Int(_) => f.write_str("Int(..)"),
            Self::Date(_) => f.write_str("Date(..)"),
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::List(items) => write!(f, "List({} items)", items.len()),
        }
    }
}
