//! The legal sender of texts, and how far a revocation of consent reaches (47 CFR
//! 64.1200(a)(10)-(12), D7).

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CasinoConfig;
use crate::Invalid;

/// The texts that one STOP ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All texts of the casino the guest wrote to.
    #[default]
    Casino,
    /// All texts of every casino with the same legal sender.
    Sender,
}

/// The scope of the revocations that guests make on or after a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    /// The first day on which the scope applies, in the property's time zone.
    pub from: NaiveDate,
    pub scope: Scope,
}

/// The company that legally sends the texts. Casinos with the same `id` have the same sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LegalSender {
    /// The sender's id, identical in the documents of all its casinos.
    pub id: String,
    /// The company's registered name.
    pub name: String,
    /// The company's message programmes, as named in its terms of service.
    #[serde(default)]
    pub programmes: Vec<String>,
    /// The scopes of revocations, each with the day from which the scope applies. A revocation
    /// before the first of these days ends only the casino's own texts.
    #[serde(default)]
    pub revocations: Vec<Revocation>,
}

impl Scope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Casino => "casino",
            Self::Sender => "sender",
        }
    }
}

impl LegalSender {
    /// Returns the scope of a revocation made on this day. The latest entry that has begun by then
    /// decides; without one, the scope is `Casino`.
    pub fn scope_on(&self, day: NaiveDate) -> Scope {
        let begun = self
            .revocations
            .iter()
            .filter(|revocation| revocation.from <= day);
        begun
            .max_by_key(|revocation| revocation.from)
            .map_or(Scope::Casino, |revocation| revocation.scope)
    }

    pub(crate) fn problems(&self) -> Vec<Invalid> {
        let mut problems = Vec::new();
        let slug = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if self.id.is_empty() || !self.id.bytes().all(slug) {
            let expected = "lower-case letters, digits and underscores, such as harbor_holdings";
            problems.push(Invalid::new(
                "regulations.legal_sender.id",
                format!("`{}`", self.id),
                expected,
            ));
        }
        if self.name.trim().is_empty() {
            let expected = "the company's name as it is registered";
            problems.push(Invalid::new(
                "regulations.legal_sender.name",
                "empty".to_owned(),
                expected,
            ));
        }
        let mut days: Vec<NaiveDate> = self
            .revocations
            .iter()
            .map(|revocation| revocation.from)
            .collect();
        days.sort_unstable();
        if let Some(twice) = days.windows(2).find(|pair| pair[0] == pair[1]) {
            let problem = format!("two entries from {}", twice[0]);
            problems.push(Invalid::new(
                "regulations.legal_sender.revocations",
                problem,
                "one entry for each day",
            ));
        }
        problems
    }
}

impl CasinoConfig {
    /// Returns which texts a STOP at this time ends (D7).
    pub fn revocation_scope(&self, at: DateTime<Utc>) -> Scope {
        let day = at.with_timezone(&self.operational.timezone).date_naive();
        self.regulations
            .legal_sender
            .as_ref()
            .map_or(Scope::Casino, |sender| sender.scope_on(day))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn sender(revocations: &[(&str, Scope)]) -> LegalSender {
        let revocations = revocations.iter().map(|(from, scope)| Revocation {
            from: day(from),
            scope: *scope,
        });
        LegalSender {
            id: "harbor_holdings".into(),
            name: "Harbor Holdings LLC".into(),
            programmes: Vec::new(),
            revocations: revocations.collect(),
        }
    }

    #[test] // spec 05, 2.4
    fn the_entry_that_began_last_says_how_far_a_stop_reaches() {
        let none = sender(&[]);
        let due = sender(&[("2027-01-31", Scope::Sender)]);
        let taken_back = sender(&[("2027-06-01", Scope::Casino), ("2027-01-31", Scope::Sender)]);
        for (sender, on, scope) in [
            (&none, "2030-01-01", Scope::Casino),
            (&due, "2027-01-30", Scope::Casino),
            (&due, "2027-01-31", Scope::Sender),
            (&taken_back, "2027-05-31", Scope::Sender),
            (&taken_back, "2027-06-01", Scope::Casino),
        ] {
            assert_eq!(sender.scope_on(day(on)), scope, "{on}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let problems = |change: fn(&mut LegalSender)| {
            let mut sender = sender(&[("2027-01-31", Scope::Sender)]);
            change(&mut sender);
            sender
                .problems()
                .iter()
                .map(|problem| problem.what)
                .collect::<Vec<_>>()
        };
        assert!(problems(|_| {}).is_empty());
        assert_eq!(
            problems(|s| s.id = "Harbor Holdings".into()),
            ["regulations.legal_sender.id"]
        );
        assert_eq!(
            problems(|s| s.name = " ".into()),
            ["regulations.legal_sender.name"]
        );
        let twice = |s: &mut LegalSender| s.revocations.push(s.revocations[0]);
        assert_eq!(problems(twice), ["regulations.legal_sender.revocations"]);
    }
}
