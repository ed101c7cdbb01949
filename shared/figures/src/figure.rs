//! The vocabulary of figures, with a name and a definition in each language.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use seven_domain::{Language, text_enum};

text_enum! {
    /// A figure; `docs/metrics.md` has its definition as a query.
    Figure {
        TextsIn => "texts_in",
        Guests => "guests",
        NewGuests => "new_guests",
        Sessions => "sessions",
        Answered => "answered",
        Unanswered => "unanswered",
        AnsweredShare => "answered_share",
        FirstAnswerMedian => "first_answer_median",
        FirstAnswerP95 => "first_answer_p95",
        Replies => "replies",
        Grounded => "grounded",
        GroundedShare => "grounded_share",
        Learnt => "learnt",
        Told => "told",
        CompletenessShare => "completeness_share",
        Profiles => "profiles",
        Languages => "languages",
        Topics => "topics",
        TextsOut => "texts_out",
        ByPeople => "by_people",
        SegmentsOut => "segments_out",
        Delivered => "delivered",
        DeliveredShare => "delivered_share",
        Undelivered => "undelivered",
        NotConfirmed => "not_confirmed",
        Offers => "offers",
        OfferDollars => "offer_dollars",
        OfferKinds => "offer_kinds",
        Redeemed => "redeemed",
        RedeemedDollars => "redeemed_dollars",
        RedeemedKinds => "redeemed_kinds",
        Cases => "cases",
        CaseMinutes => "case_minutes",
        CasesLate => "cases_late",
        OptOuts => "opt_outs",
        CostModel => "cost_model",
        CostTexts => "cost_texts",
        Cost => "cost",
    }
}

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    /// From 0 to 1; shown as a percentage.
    Share,
    Seconds,
    Minutes,
    Dollars,
}

static ENGLISH: LazyLock<Table> = LazyLock::new(|| read(include_str!("../words/en.toml")));
static SPANISH: LazyLock<Table> = LazyLock::new(|| read(include_str!("../words/es.toml")));

type Table = BTreeMap<String, Named>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    definition: String,
}

fn read(text: &str) -> Table {
    toml::from_str(text).unwrap_or_default()
}

impl Figure {
    /// Returns the figure's display name in this language.
    pub fn name(self, language: Language) -> &'static str {
        self.named(language)
            .map_or(self.as_str(), |named| &named.name)
    }

    /// Returns a definition of the figure in one or two sentences.
    pub fn definition(self, language: Language) -> &'static str {
        self.named(language).map_or("", |named| &named.definition)
    }

    fn named(self, language: Language) -> Option<&'static Named> {
        let table: &'static Table = match language {
            Language::Es => &SPANISH,
            Language::En => &ENGLISH,
        };
        table.get(self.as_str())
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::AnsweredShare
            | Self::GroundedShare
            | Self::DeliveredShare
            | Self::CompletenessShare => Unit::Share,
            Self::FirstAnswerMedian | Self::FirstAnswerP95 => Unit::Seconds,
            Self::CaseMinutes => Unit::Minutes,
            Self::OfferDollars
            | Self::RedeemedDollars
            | Self::CostModel
            | Self::CostTexts
            | Self::Cost => Unit::Dollars,
            _ => Unit::Count,
        }
    }
}

impl Unit {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Share => "share",
            Self::Seconds => "seconds",
            Self::Minutes => "minutes",
            Self::Dollars => "dollars",
        }
    }

    /// Formats a value for people: `1,247`, `82.4 %`, `2.3 s`, `14 min`, `$4.20`.
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::Count => grouped(&format!("{value:.0}")),
            Self::Share => format!("{:.1} %", 100.0 * value),
            Self::Seconds => format!("{value:.1} s"),
            Self::Minutes if value < 10.0 => format!("{value:.1} min"),
            Self::Minutes => format!("{value:.0} min"),
            Self::Dollars => format!("${}", grouped(&format!("{value:.2}"))),
        }
    }

    /// Formats a value for programs, without separators or units.
    pub fn written(self, value: f64) -> String {
        match self {
            Self::Count => format!("{value:.0}"),
            Self::Share => format!("{value:.4}"),
            Self::Seconds | Self::Minutes => format!("{value:.3}"),
            Self::Dollars => format!("{value:.6}"),
        }
    }
}

/// Inserts a comma as thousands separator into the integer part of a number.
fn grouped(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut out = String::new();
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n).is_multiple_of(3) && !out.ends_with('-') {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_name_and_a_definition_in_both_languages() {
        for table in [&*ENGLISH, &*SPANISH] {
            let known: Vec<&str> = table.keys().map(String::as_str).collect();
            let mut figures: Vec<&str> = Figure::ALL.iter().map(|f| f.as_str()).collect();
            figures.sort_unstable();
            assert_eq!(known, figures);
            assert!(
                table
                    .values()
                    .all(|of| of.name.len() > 2 && of.definition.len() > 20)
            );
        }
    }

    #[test]
    fn values_are_written_for_people_and_for_machines() {
        for (unit, value, shown, written) in [
            (Unit::Count, 1_247_000.0, "1,247,000", "1247000"),
            (Unit::Count, 7.0, "7", "7"),
            (Unit::Share, 0.8244, "82.4 %", "0.8244"),
            (Unit::Seconds, 2.25, "2.2 s", "2.250"),
            (Unit::Minutes, 4.0, "4.0 min", "4.000"),
            (Unit::Minutes, 14.4, "14 min", "14.400"),
            (Unit::Dollars, 4_120.0, "$4,120.00", "4120.000000"),
        ] {
            assert_eq!(unit.shown(value), shown);
            assert_eq!(unit.written(value), written);
        }
    }
}
