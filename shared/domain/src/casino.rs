//! The tenant: one casino.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Invalid, text_enum};

/// The owner of fleet-wide rows. It is not a casino, and cannot be parsed as a casino's id.
pub const FLEET: &str = "_fleet";
/// The pseudo tenant that owns authentic events for numbers that we do not know (D2).
pub const UNKNOWN_CASINO: &str = "_unknown";

text_enum! {
    /// Whether a casino is served.
    CasinoStatus {
        Active => "active",
        /// Nothing but safety texts is sent.
        Suspended => "suspended",
        Removed => "removed",
    }
}

/// Snake-case tenant id: a lower-case letter, then 1 to 39 of `a-z 0-9 _` (D9). Safe in subjects,
/// keys and labels. Cloning is cheap.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CasinoId(Arc<str>);

impl CasinoId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the pseudo tenant that owns authentic events for unknown numbers.
    pub fn unknown() -> Self {
        Self(UNKNOWN_CASINO.into())
    }

    /// Parses an id from our own tables and subjects, which also contain the pseudo tenants.
    pub fn trusted(text: &str) -> Result<Self, Invalid> {
        if text == UNKNOWN_CASINO {
            Ok(Self::unknown())
        } else {
            text.parse()
        }
    }

    pub fn is_unknown(&self) -> bool {
        &*self.0 == UNKNOWN_CASINO
    }

    /// Returns the id with hyphens instead of underscores, for DNS and Kubernetes names.
    pub fn slug(&self) -> String {
        self.0.replace('_', "-")
    }
}

impl FromStr for CasinoId {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let good = (2..=40).contains(&text.len())
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if good {
            Ok(Self(text.into()))
        } else {
            Err(Invalid::new(
                "casino id",
                format!("`{text}`"),
                "2 to 40 of a-z, 0-9 and _, starting with a letter, such as silver_birch",
            ))
        }
    }
}

impl TryFrom<String> for CasinoId {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<CasinoId> for String {
    fn from(id: CasinoId) -> Self {
        id.as_str().to_owned()
    }
}

impl fmt::Display for CasinoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CasinoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CasinoId({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_subject_tokens() {
        assert!("silver_birch2".parse::<CasinoId>().is_ok());
        for bad in [
            "",
            "a",
            "A_b",
            "2a",
            "_fleet",
            "a-b",
            "a.b",
            "a b",
            "a*",
            &"a".repeat(41),
        ] {
            assert!(bad.parse::<CasinoId>().is_err(), "{bad}");
        }
        assert!(CasinoId::trusted("_unknown").unwrap().is_unknown());
    }
}
