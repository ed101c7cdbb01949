//! Checks that a reply says only what the casino's content says: each amount, time, number and name
//! must occur in the evidence.
//!
//! A fact that only the guest stated may be repeated only in a question or a denial. If a fact has
//! no evidence, the reply is rewritten or not sent.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use seven_text::sentences;

mod read;

use read::{Fact, facts};

/// A fact or name that a reply states without evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unfounded {
    Money(String),
    Time(String),
    Number(String),
    Name(String),
}

/// The facts that a reply may state: those of content rows, of the casino itself and of the clock.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    facts: BTreeSet<Fact>,
    /// The folded words of the true texts given to `of`. Names in a reply are checked against these
    /// words.
    words: BTreeSet<String>,
    guests: BTreeSet<Fact>,
    guests_words: BTreeSet<String>,
}

impl Evidence {
    /// Builds the evidence from true texts: formatted rows, the casino's name and phone, the
    /// persona.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut evidence = Self::default();
        for text in texts {
            evidence.facts.extend(facts(text));
            evidence.words.extend(read::words(text));
        }
        evidence
    }

    /// Adds the guest's texts. Their facts and names are evidence only in questions and denials.
    #[must_use]
    pub fn with_guest<'t>(mut self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        for text in texts {
            self.guests.extend(facts(text));
            self.guests_words.extend(read::words(text));
        }
        self
    }

    /// Returns the facts and names in the reply that have no evidence, in the order of the reply.
    pub fn unfounded(&self, reply: &str) -> Vec<Unfounded> {
        sentences(reply)
            .into_iter()
            .flat_map(|sentence| self.unfounded_in(sentence))
            .collect()
    }

    fn unfounded_in(&self, sentence: &str) -> Vec<Unfounded> {
        let echo = sentence.trim_end().ends_with('?') || read::denies(sentence);
        let known =
            |fact: &Fact| self.has(&self.facts, fact) || echo && self.has(&self.guests, fact);
        let facts = facts(sentence)
            .into_iter()
            .filter(|fact| !known(fact))
            .map(Fact::unfounded);
        let said =
            |word: &String| self.words.contains(word) || echo && self.guests_words.contains(word);
        let names = read::names(sentence)
            .into_iter()
            .filter(|name| !read::words(name).iter().all(said));
        facts.chain(names.map(Unfounded::Name)).collect()
    }

    /// Returns whether `known` contains the fact. A time without am or pm matches either half of
    /// the day; a plain number also matches a part of another fact, such as the hour of a time.
    fn has(&self, known: &BTreeSet<Fact>, fact: &Fact) -> bool {
        match fact {
            Fact::Money(_) => known.contains(fact),
            Fact::Time { .. } => known.iter().any(|other| other.same_time(fact)),
            Fact::Number(value) => known.iter().any(|other| other.holds(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROWS: [&str; 3] = [
        "Lakeside Pool. Hours: Daily 9am-8pm. Heated indoor pool, towels provided. Level 2.",
        "Copper Kettle, steakhouse. Sun-Thu 17:00-22:00, Fri-Sat 17:00-23:30. Steak for two $89.50. Call 860-555-0100.",
        "Parking costs $15 a day; 1,200 places. Comedy night on December 4 with doors at 7.",
    ];

    fn unfounded(reply: &str) -> Vec<Unfounded> {
        Evidence::of(ROWS)
            .with_guest([
                "My name is Marta, we are 6 people and I heard the Golden Fork has $5 burgers",
            ])
            .unfounded(reply)
    }

    #[test] // AGENT-60, CONV-24, SEC-41
    fn what_rows_say_may_be_said() {
        for reply in [
            "The Lakeside Pool is open from 9 AM to 8 PM.",
            "Copper Kettle opens at 5 PM, on Fridays until 11:30pm. Shall I tell you more?",
            "Steak for two is $89.50 at Copper Kettle.",
            "Parking is $15 a day.",
            "La alberca Lakeside abre a las 9 a.m.",
            "Horario de Lakeside Pool: Diario 9am-8pm.",
            "There are 1200 places.",
            "Call 860-555-0100 and ask.",
            "Is the table for 6?",
            "I don't know of a Golden Fork here, sorry.",
            "Good evening! What can I look up?",
            "Doors at 7 PM on December 4.",
        ] {
            assert_eq!(unfounded(reply), vec![], "{reply}");
        }
    }

    #[test] // AGENT-60: no invented price, hour, venue
    fn what_no_row_says_is_found() {
        for (reply, missing) in [
            (
                "The pool is open until 10:30 PM.",
                Unfounded::Time("10:30 PM".into()),
            ),
            ("Steak for two is $79.", Unfounded::Money("$79.00".into())),
            (
                "Try Blue Lantern tonight!",
                Unfounded::Name("Blue Lantern".into()),
            ),
            ("We have 14 pools.", Unfounded::Number("14".into())),
            (
                "The Golden Fork has burgers.",
                Unfounded::Name("Golden Fork".into()),
            ),
            ("Burgers are $5.", Unfounded::Money("$5.00".into())),
            ("Call 860-555-0199.", Unfounded::Number("0199".into())),
            ("Parking is $1.50.", Unfounded::Money("$1.50".into())),
            ("Abre a las 6 de la tarde.", Unfounded::Number("6".into())),
        ] {
            assert!(
                unfounded(reply).contains(&missing),
                "{reply}: {:?}",
                unfounded(reply)
            );
        }
    }

    proptest! {
        #[test]
        fn a_row_founds_itself_and_nothing_panics(
            text in any::<String>(),
            reply in "[A-Za-z0-9$:., ?!-]{0,120}",
        ) {
            let _ = Evidence::of([text.as_str()]).unfounded(&reply);
            prop_assert_eq!(Evidence::of([reply.as_str()]).unfounded(&reply), vec![]);
        }
    }
}
