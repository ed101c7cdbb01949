//! Letters to a casino's contacts about an outage: one when guests have to wait, one when the
//! outage is over.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use seven_domain::{Language, OutageKind};

use crate::words::Words;

/// The facts of an outage that its letters state.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
pub struct Outage {
    pub kind: OutageKind,
    pub since: DateTime<Utc>,
    /// The end of the outage; `None` while it goes on.
    #[serde(default)]
    pub until: Option<DateTime<Utc>>,
}

/// Returns the letter's subject and body. Times are in the casino's time zone.
pub fn letter(language: Language, casino: &str, zone: Tz, outage: &Outage) -> (String, String) {
    let words = Words(language);
    let clock = |at: DateTime<Utc>| at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string();
    let text = |key: &str| {
        let until = outage.until.map(clock).unwrap_or_default();
        let text = words.t(key).replace("{casino}", casino);
        text.replace("{since}", &clock(outage.since))
            .replace("{until}", &until)
    };
    let kind = outage.kind.as_str();
    let (subject, paragraphs) = if outage.until.is_some() {
        (
            text("outage_over"),
            vec![text(&format!("outage_{kind}_was"))],
        )
    } else {
        let impact = text(&format!("outage_{kind}_impact"));
        let paragraphs = vec![impact, text("outage_meanwhile"), text("outage_team")];
        (text(&format!("outage_{kind}")), paragraphs)
    };
    // A chat shows only the body, so the body repeats the subject.
    let body = format!("{subject}\n\n{}\n", paragraphs.join("\n\n"));
    (subject, body)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test] // PROD-40
    fn letters_tell_severity_impact_and_what_becomes_of_messages() {
        let since = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        for kind in OutageKind::ALL {
            for language in Language::ALL {
                let mut outage = Outage {
                    kind: *kind,
                    since,
                    until: None,
                };
                let zone = chrono_tz::America::Denver;
                let letter = |outage: Outage| letter(language, "Silver Birch", zone, &outage);
                let (subject, body) = letter(outage);
                assert!(subject.starts_with("Hey Seven Alert: SEV1"), "{subject}");
                assert!(subject.contains("Silver Birch"), "{subject}");
                assert!(body.contains("2027-01-15 01:00"), "{body}");
                outage.until = Some(since + TimeDelta::minutes(9));
                let (over, was) = letter(outage);
                assert!(was.contains("01:00") && was.contains("01:09"), "{was}");
                for text in [subject, body, over, was] {
                    assert!(!text.contains(['{', '_']), "{text}");
                }
            }
        }
    }
}
