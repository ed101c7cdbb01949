//! The weekly report as plain text, for mail and chat. It contains no data about individual guests.

use std::sync::LazyLock;

use serde::Deserialize;
use seven_domain::Language;
use url::Url;

use crate::{Figure, Report};

static WORDS: LazyLock<Languages> = LazyLock::new(|| {
    toml::from_str(include_str!("../words/letter.toml")).expect("the words are read, says a test")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Languages {
    en: Words,
    es: Words,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// The sentence that states the week, with placeholders `{from}` and `{to}`.
    week: String,
    was: String,
    more: String,
}

/// Figures that the letter shows, in this order.
const SHOWN: [Figure; 13] = [
    Figure::TextsIn,
    Figure::Guests,
    Figure::NewGuests,
    Figure::AnsweredShare,
    Figure::FirstAnswerMedian,
    Figure::GroundedShare,
    Figure::TextsOut,
    Figure::DeliveredShare,
    Figure::Offers,
    Figure::Redeemed,
    Figure::CaseMinutes,
    Figure::CasesLate,
    Figure::Cost,
];
/// Figures that are divided into parts, such as topics; the letter shows the largest parts of each.
const PARTED: [Figure; 3] = [Figure::Topics, Figure::Cases, Figure::OptOuts];
const MOST_PARTS: usize = 5;

/// Returns subject and text of the report. `before` is the report of the week before, and `page`
/// the console's page with the same figures.
pub fn letter(
    language: Language,
    casino: &str,
    report: &Report,
    before: &Report,
    page: &Url,
) -> (String, String) {
    let (from, to) = (report.period.from, report.period.to);
    let words = match language {
        Language::En => &WORDS.en,
        Language::Es => &WORDS.es,
    };
    let Words { was, more, .. } = words;
    let (first, last) = (from.to_string(), to.to_string());
    let week = words.week.replace("{from}", &first).replace("{to}", &last);
    let subject = format!("{casino}: {week}");
    let mut text = format!("{subject}\n\n");
    for figure in SHOWN {
        let shown = |of: &Report| of.value(figure).map(|value| figure.unit().shown(value));
        let Some(value) = shown(report) else { continue };
        let name = figure.name(language);
        let past = shown(before).unwrap_or_else(|| "–".to_owned());
        text.push_str(&format!("{name}: {value} ({was}: {past})\n"));
    }
    for figure in PARTED {
        let parts: Vec<String> = report
            .parts(figure)
            .take(MOST_PARTS)
            .map(|part| {
                let name = part.part.replace('_', " ");
                format!("{name} {}", figure.unit().shown(part.value))
            })
            .collect();
        if !parts.is_empty() {
            text.push_str(&format!(
                "{}: {}\n",
                figure.name(language),
                parts.join(", ")
            ));
        }
    }
    text.push_str(&format!("\n{more}: {page}\n"));
    (subject, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_read() {
        for words in [&WORDS.en, &WORDS.es] {
            assert!(words.week.contains("{from}") && words.week.contains("{to}"));
        }
    }
}
