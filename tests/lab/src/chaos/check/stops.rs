//! Checks that no text follows a STOP (D6). After the STOP's webhook was answered 2xx, no call of a
//! provider may begin. This ends when a START reaches us that was written after the STOP.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::Finding;
use crate::chaos::{
    facts::{Facts, Texted},
    ground::casino_id,
    size::CASINOS,
};

/// A guest's phone. It identifies the guest without the casino, because each guest writes to one
/// number.
type Guest = String;

/// The time during which a guest must not get texts.
#[derive(Debug)]
struct Silence {
    from: DateTime<Utc>,
    /// Time at which the carrier got the START that ends the silence. The fleet cannot know of the
    /// START earlier. `None` if no START followed.
    until: Option<DateTime<Utc>>,
}

fn by_guest(facts: &Facts) -> HashMap<&Guest, Vec<&Texted>> {
    let mut guests: HashMap<&Guest, Vec<&Texted>> = HashMap::new();
    for text in &facts.texts {
        guests.entry(&text.guest.1).or_default().push(text);
    }
    guests
}

fn silences(texts: &[&Texted]) -> Vec<Silence> {
    let starts: Vec<&&Texted> = texts.iter().filter(|t| t.word == "START").collect();
    let stops = texts.iter().filter(|t| t.word == "STOP");
    stops
        .filter_map(|stop| {
            let from = stop.acknowledged_at?;
            // If STOP and START have the same time, STOP wins.
            let until = starts
                .iter()
                .filter(|s| s.occurred_at > stop.occurred_at)
                .map(|s| s.told_at)
                .min();
            Some(Silence { from, until })
        })
        .collect()
}

pub(super) fn silence(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "no text after STOP but its confirmation",
        "sends to guests who said STOP",
    );
    let silences: HashMap<&Guest, Vec<Silence>> = by_guest(facts)
        .into_iter()
        .map(|(guest, texts)| (guest, silences(&texts)))
        .collect();
    for (sent, known) in facts.sends() {
        let Some(silences) = silences.get(&sent.to).filter(|s| !s.is_empty()) else {
            continue;
        };
        let Some((attempt, row)) = known else {
            finding.look(Some(format!(
                "carrier message {} belongs to no attempt",
                sent.id
            )));
            continue;
        };
        // A STOP that was acknowledged before the number was handed on does not silence the casino
        // that got the number.
        let newcomer = row.casino_id == casino_id(CASINOS);
        let hears =
            |s: &&Silence| !newcomer || facts.handed_on.is_some_and(|handed_on| s.from > handed_on);
        let broken = row.lane != "safety"
            && silences.iter().filter(hears).any(|s| {
                attempt.started_at > s.from
                    && s.until.is_none_or(|until| attempt.started_at < until)
            });
        finding.look(broken.then(|| {
            format!(
                "outbound {} was sent at {} after STOP",
                row.outbound_id, attempt.started_at
            )
        }));
    }
    finding
}

/// Counts STOPs that arrived while the guest's question still waited for its answer.
pub(crate) fn in_flight(facts: &Facts) -> usize {
    let mut first_answer: HashMap<Guest, DateTime<Utc>> = HashMap::new();
    for sent in &facts.accepted {
        let at = first_answer
            .entry(sent.to.clone())
            .or_insert(sent.accepted_at);
        *at = sent.accepted_at.min(*at);
    }
    let waits = |guest: &Guest, stop: &Texted| {
        first_answer
            .get(guest)
            .is_none_or(|answer| *answer > stop.told_at)
    };
    by_guest(facts)
        .into_iter()
        .filter(|(guest, texts)| {
            let asked = texts
                .iter()
                .filter(|t| !matches!(t.word.as_str(), "STOP" | "START"))
                .map(|t| t.told_at)
                .min();
            texts.iter().any(|t| {
                t.word == "STOP" && asked.is_some_and(|asked| asked < t.told_at) && waits(guest, t)
            })
        })
        .count()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn text(word: &str, occurred: i64, told: i64) -> Texted {
        let at = |seconds: i64| DateTime::<Utc>::UNIX_EPOCH + TimeDelta::seconds(seconds);
        Texted {
            message_id: format!("{word}-{occurred}-{told}"),
            guest: ("casino".to_owned(), "guest".to_owned()),
            word: word.to_owned(),
            occurred_at: at(occurred),
            told_at: at(told),
            acknowledged_at: Some(at(told + 1)),
            calls: 1,
        }
    }

    #[test]
    fn only_a_start_written_later_ends_the_silence() {
        let (stop, early, tie, late) = (
            text("STOP", 10, 10),
            text("START", 9, 20),
            text("START", 10, 25),
            text("START", 30, 30),
        );
        let seconds = |texts: &[&Texted]| {
            silences(texts)
                .iter()
                .map(|s| (s.from.timestamp(), s.until.map(|u| u.timestamp())))
                .collect::<Vec<_>>()
        };
        assert_eq!(seconds(&[&stop]), [(11, None)]);
        assert_eq!(seconds(&[&stop, &early, &tie]), [(11, None)]);
        assert_eq!(seconds(&[&stop, &early, &late]), [(11, Some(30))]);
    }
}
