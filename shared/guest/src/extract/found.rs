//! The facts that extraction finds. `Debug` shows their kind, never the guest's words.

use std::{fmt, ops::Range};

use chrono::NaiveDate;
use serde::Serialize;

use crate::Confidence;

/// How precise a date is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grain {
    Day,
    /// Several days, from a first to a last one.
    Days,
    Weekend,
    Week,
    Month,
}

/// The first and the last day of the guest's visit.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stay {
    pub from: NaiveDate,
    pub to: NaiveDate,
    pub grain: Grain,
}

/// The amount the guest wants to spend, in whole dollars.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Budget {
    pub least: Option<u32>,
    pub most: u32,
    pub per_person: bool,
}

/// One stated fact.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// The name to call the guest by.
    Name(String),
    FullName(String),
    Email(String),
    PartySize(u32),
    Visit(Stay),
    Diet(String),
    /// The thing that the guest is allergic to; the profile stores it as "allergy: peanuts".
    Allergy(String),
    Occasion(String),
    Budget(Budget),
    Interest(String),
    Treatment(String),
    Cuisine(String),
    Game(String),
    Accessibility(String),
    /// A person who comes along; the name and the age are often unknown.
    Companion {
        kin: String,
        name: Option<String>,
        age: Option<u32>,
    },
    /// Several companions of one kind without further details: "3 kids".
    Group {
        kin: String,
        number: u32,
    },
}

/// A fact with its confidence and the part of the text that states it.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Extracted {
    pub slot: Slot,
    pub confidence: Confidence,
    /// The byte range of the words that state the fact.
    pub span: Range<usize>,
    /// Whether the fact corrects an earlier statement of the guest.
    pub correction: bool,
}

// === impl Extracted ===

impl Extracted {
    pub(super) fn new(slot: Slot, percent: u8, span: Range<usize>) -> Self {
        Self {
            slot,
            confidence: Confidence::percent(percent),
            span,
            correction: false,
        }
    }
}

impl Slot {
    /// Returns the name of the kind of fact, for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Name(_) => "name",
            Self::FullName(_) => "full_name",
            Self::Email(_) => "email",
            Self::PartySize(_) => "party_size",
            Self::Visit(_) => "visit",
            Self::Diet(_) => "diet",
            Self::Allergy(_) => "allergy",
            Self::Occasion(_) => "occasion",
            Self::Budget(_) => "budget",
            Self::Interest(_) => "interest",
            Self::Treatment(_) => "treatment",
            Self::Cuisine(_) => "cuisine",
            Self::Game(_) => "game",
            Self::Accessibility(_) => "accessibility",
            Self::Companion { .. } => "companion",
            Self::Group { .. } => "group",
        }
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot({})", self.kind())
    }
}

impl fmt::Debug for Extracted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Found({} {} at {:?})",
            self.slot.kind(),
            self.confidence.get(),
            self.span
        )
    }
}

impl fmt::Debug for Stay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stay({:?})", self.grain)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Budget(..)")
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.least {
            Some(least) => write!(f, "${least}-${}", self.most)?,
            None => write!(f, "up to ${}", self.most)?,
        }
        f.write_str(if self.per_person { " per person" } else { "" })
    }
}
