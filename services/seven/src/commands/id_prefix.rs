//! An id as an operator types it: the whole id, or its first digits if no other id begins with
//! them.

use std::str::FromStr;

use anyhow::{Result, bail};
use seven_domain::Invalid;
use seven_store::{Tx, prefix::Named};
use uuid::Uuid;

/// Minimum number of digits in a prefix. An id begins with its time, so fewer digits would match
/// all ids of several years.
const LEAST_DIGITS: usize = 4;
const DIGITS: usize = 32;
/// Maximum number of candidates that an error names when a prefix is ambiguous.
const CANDIDATES: usize = 10;

/// The range of the ids that begin with the typed digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdPrefix {
    text: String,
    low: Uuid,
    high: Uuid,
}

impl FromStr for IdPrefix {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        let all_hex = digits.chars().all(|c| c.is_ascii_hexdigit());
        let fits = (LEAST_DIGITS..=DIGITS).contains(&digits.len());
        let end = |with: char| {
            let rest: String =
                std::iter::repeat_n(with, DIGITS.saturating_sub(digits.len())).collect();
            Uuid::try_parse(&format!("{digits}{rest}")).ok()
        };
        match (end('0'), end('f')) {
            (Some(low), Some(high)) if all_hex && fits => Ok(Self {
                text: text.to_owned(),
                low,
                high,
            }),
            _ => Err(Invalid::new(
                "id",
                text,
                "an id as lists show it, or at least its first four digits",
            )),
        }
    }
}

impl IdPrefix {
    /// Returns the prefix that consists of this whole id.
    pub(super) fn of(id: Uuid) -> Self {
        Self {
            text: id.to_string(),
            low: id,
            high: id,
        }
    }

    /// Returns the id if it was typed whole.
    pub(super) fn whole(&self) -> Option<Uuid> {
        (self.low == self.high).then_some(self.low)
    }

    /// Returns the only id of the bound casino that begins with the prefix. A whole id is returned
    /// without a query.
    ///
    /// # Errors
    /// When no id or several ids begin with the prefix.
    pub(super) async fn find(&self, tx: &mut Tx, named: Named) -> Result<Uuid> {
        if let Some(id) = self.whole() {
            return Ok(id);
        }
        let found = self.candidates(tx, named).await?;
        self.only(&found, named.plural())
    }

    /// Returns ids of the bound casino that begin with the prefix, at most `CANDIDATES + 1`.
    pub(super) async fn candidates(&self, tx: &mut Tx, named: Named) -> Result<Vec<Uuid>> {
        let most = i64::try_from(CANDIDATES + 1)?;
        Ok(tx.ids_between(named, self.low, self.high, most).await?)
    }

    /// Returns the only one of `ids` that begins with the prefix. A whole id is returned even if it
    /// is not in `ids`.
    ///
    /// # Errors
    /// When no id or several ids begin with the prefix.
    pub(super) fn among(&self, ids: impl IntoIterator<Item = Uuid>, plural: &str) -> Result<Uuid> {
        match self.whole() {
            Some(id) => Ok(id),
            None => {
                let fits = |id: &Uuid| (self.low..=self.high).contains(id);
                self.only(&ids.into_iter().filter(fits).collect::<Vec<_>>(), plural)
            }
        }
    }

    fn only(&self, found: &[Uuid], plural: &str) -> Result<Uuid> {
        match found {
            [] => bail!(
                "no {plural} have an id that begins with {}; lists show the ids",
                self.text
            ),
            [id] => Ok(*id),
            many => {
                let more = if many.len() > CANDIDATES {
                    " and more"
                } else {
                    ""
                };
                let named: Vec<String> =
                    many.iter().take(CANDIDATES).map(Uuid::to_string).collect();
                bail!(
                    "several {plural} have an id that begins with {}: {}{more}",
                    self.text,
                    named.join(", ")
                )
            }
        }
    }
}

impl std::fmt::Display for IdPrefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "01a2079d-1bf7-7f6e-8f3a-0caae79d99bc";
    const OTHER: &str = "01a2079d-1bf8-7f6e-8f3a-0caae79d99bc";

    fn among(text: &str) -> Result<Uuid> {
        text.parse::<IdPrefix>()?
            .among([ONE.parse()?, OTHER.parse()?], "turns")
    }

    #[test]
    fn a_prefix_names_one_id_or_its_candidates() {
        assert_eq!(among("01a2079d-1bf7").unwrap().to_string(), ONE);
        assert_eq!(among("01a2079d1bf8").unwrap().to_string(), OTHER);
        let several = among("01A2079D").unwrap_err().to_string();
        assert!(
            several.contains(ONE) && several.contains(OTHER),
            "{several}"
        );
        assert!(among("01a3").unwrap_err().to_string().contains("no turns"));
    }

    #[test]
    fn a_whole_id_needs_no_list() {
        let whole: IdPrefix = ONE.parse().unwrap();
        assert_eq!(
            whole.among([], "turns").unwrap(),
            ONE.parse::<Uuid>().unwrap()
        );
        for bad in ["", "01a", "x123", &format!("{ONE}0"), "ÿÿÿÿ"] {
            assert!(bad.parse::<IdPrefix>().is_err(), "{bad}");
        }
    }
}
