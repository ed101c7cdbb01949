//! The 50 states, the District of Columbia and the territories that have area codes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use seven_domain::Invalid;

/// A state, DC or a territory, identified by its two capital letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct State(u8);

/// The two-letter codes; the territories come last.
const CODES: [&str; 56] = [
    "AK", "AL", "AR", "AZ", "CA", "CO", "CT", "DC", "DE", "FL", "GA", "HI", "IA", "ID", "IL", "IN",
    "KS", "KY", "LA", "MA", "MD", "ME", "MI", "MN", "MO", "MS", "MT", "NC", "ND", "NE", "NH", "NJ",
    "NM", "NV", "NY", "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VA", "VT", "WA",
    "WI", "WV", "WY", "AS", "GU", "MP", "PR", "VI",
];
const STATES_AND_DC: u8 = 51;

impl State {
    pub fn as_str(self) -> &'static str {
        CODES[usize::from(self.0)]
    }

    /// Returns the 50 states and DC.
    pub fn states_and_dc() -> impl Iterator<Item = Self> {
        (0..STATES_AND_DC).map(Self)
    }

    /// Returns the 50 states, DC and the territories.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).zip(CODES).map(|(index, _)| Self(index))
    }
}

impl FromStr for State {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::all()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| {
                Invalid::new(
                    "state",
                    format!("`{text}`"),
                    "a US state, DC or territory, such as CT",
                )
            })
    }
}

impl TryFrom<String> for State {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<State> for String {
    fn from(state: State) -> Self {
        state.as_str().to_owned()
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
