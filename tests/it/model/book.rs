//! The model. It records the facts about each guest that a careful person would write down, and
//! rejects the requests that this person would forbid. It was written from D6, D7 and the answers
//! to C-6, C-9, C-10, C-12 and C-16, not from the code.
//!
//! A STOP takes effect when ingress has answered 2xx. A START, a YES, and a new text after a
//! deletion take effect only when the gate has handled them. Times are milliseconds on the test's
//! own clock.

use std::collections::HashMap;

use seven_domain::MessageClass;
use uuid::Uuid;

use super::steps::{Said, Who};

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// Milliseconds after ingress last accepted a text in which an opted-out guest may still get a
/// safety answer: five minutes, plus three seconds for the test's own delays.
const ANSWER: i64 = 5 * MINUTE + 3_000;

/// A guest's text. The text's key in the book is also part of its message id.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) who: Who,
    pub(crate) said: Said,
    pub(crate) at: i64,
    /// `first_taken` is when ingress first accepted the text. `last_taken` is when ingress accepted
    /// Telnyx's last retry.
    pub(crate) first_taken: i64,
    pub(crate) last_taken: i64,
    /// How often the guest had opted in again after a STOP when ingress accepted this text.
    season: u32,
}

/// A request about to leave for the provider.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) who: Who,
    pub(crate) class: MessageClass,
    pub(crate) kind: String,
    pub(crate) outbound: Uuid,
    /// Number of the guest's text that this request answers; `None` if it answers none.
    pub(crate) answers: Option<usize>,
    pub(crate) now: i64,
    pub(crate) local_hour: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Stop,
    Start {
        known: bool,
    },
    /// The provider answered 40300 (opted out); this word's time is that of the request.
    Blocked,
}

/// Whether the guest may be texted, according to the newest STOP, START or answer 40300.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The guest is opted in. `by_our_word` is true if the provider does not know the word with
    /// which the guest opted in. A refusal by the provider is then no new opt-out.
    With {
        by_our_word: bool,
        provider_blocks: bool,
    },
    Left,
}

#[derive(Debug, Default)]
struct Guest {
    words: Vec<(i64, Word)>,
    /// Times of STOPs that the gate handled too late: the guest had written another word after the
    /// STOP.
    late: Vec<i64>,
    consents: Vec<i64>,
    /// Times at which the provider accepted our opt-in question.
    asked: Vec<i64>,
    forgotten: Option<i64>,
    known: bool,
    /// Number of times that the guest opted in again after a STOP.
    season: u32,
    /// For each season: the id of the opt-out confirmation, the number of requests to send it, and
    /// whether the provider accepted one of the requests.
    confirmed: HashMap<u32, (Uuid, u32, bool)>,
}

#[derive(Debug, Default)]
pub(crate) struct Book {
    guests: HashMap<Who, Guest>,
    texts: HashMap<usize, Text>,
}

// === impl Guest ===

impl Guest {
    fn standing(&self) -> Standing {
        let mut words = self.words.clone();
        // If words have the same time, a STOP counts as the newest.
        words.sort_by_key(|(at, word)| (*at, !matches!(word, Word::Start { .. })));
        let new = Standing::With {
            by_our_word: false,
            provider_blocks: false,
        };
        words
            .into_iter()
            .fold(new, |before, (_, word)| before.after(word))
    }

    fn newest_stop(&self) -> Option<i64> {
        let words = self
            .words
            .iter()
            .filter(|(_, word)| !matches!(word, Word::Start { .. }))
            .map(|(at, _)| *at);
        words.chain(self.late.iter().copied()).max()
    }

    fn may_be_sold_to(&self) -> bool {
        self.consents
            .iter()
            .max()
            .is_some_and(|consent| self.newest_stop().is_none_or(|stop| stop < *consent))
    }
}

// === impl Standing ===

impl Standing {
    fn after(self, word: Word) -> Self {
        match (self, word) {
            (_, Word::Stop) => Self::Left,
            (
                Self::With {
                    by_our_word: true, ..
                },
                Word::Blocked,
            ) => Self::With {
                by_our_word: true,
                provider_blocks: true,
            },
            (Self::With { .. } | Self::Left, Word::Blocked) => Self::Left,
            (
                Self::With {
                    by_our_word,
                    provider_blocks,
                },
                Word::Start { known },
            ) => Self::With {
                by_our_word: by_our_word && !known,
                provider_blocks: provider_blocks && !known,
            },
            (Self::Left, Word::Start { known }) => Self::With {
                by_our_word: !known,
                provider_blocks: false,
            },
        }
    }

    fn forbids(self) -> Option<&'static str> {
        match self {
            Self::With {
                provider_blocks: false,
                ..
            } => None,
            Self::With {
                provider_blocks: true,
                ..
            } => Some("whom the provider blocks"),
            Self::Left => Some("who is opted out"),
        }
    }
}

// === impl Book ===

impl Book {
    fn guest(&mut self, who: Who) -> &mut Guest {
        self.guests.entry(who).or_default()
    }

    pub(crate) fn text(&self, n: usize) -> &Text {
        &self.texts[&n]
    }

    pub(crate) fn last_of(&self, who: Who) -> Option<i64> {
        self.texts
            .iter()
            .filter(|(_, text)| text.who == who)
            .max_by_key(|(n, _)| **n)
            .map(|(_, text)| text.at)
    }

    /// Records that ingress answered this text with 2xx.
    pub(crate) fn taken(&mut self, n: usize, who: Who, said: Said, at: i64, now: i64) {
        let season = self.guest(who).season;
        let text = self.texts.entry(n).or_insert(Text {
            who,
            said,
            at,
            first_taken: now,
            last_taken: now,
            season,
        });
        text.last_taken = now;
        if said.is_stop() {
            // D7: if a STOP is older than another word, it does not opt the guest out. But once the
            // gate has seen the STOP, marketing needs a consent that is newer than the STOP.
            if !self.guest(who).words.iter().any(|(newer, _)| *newer > at) {
                self.hear(who, at, Word::Stop);
            }
        }
    }

    fn hear(&mut self, who: Who, at: i64, word: Word) {
        let guest = self.guest(who);
        let same = |known: Word| std::mem::discriminant(&known) == std::mem::discriminant(&word);
        if !guest
            .words
            .iter()
            .any(|(before, known)| *before == at && same(*known))
        {
            guest.words.push((at, word));
        }
    }

    /// Records that the gate has handled this text.
    pub(crate) fn handled(&mut self, n: usize) {
        let Text { who, said, at, .. } = self.texts[&n].clone();
        let guest = self.guest(who);
        if guest.forgotten.is_some_and(|forgotten| at < forgotten) {
            return;
        }
        (guest.forgotten, guest.known) = (None, true);
        if said.is_stop() && guest.words.iter().any(|(newer, _)| *newer > at) {
            guest.late.push(at);
        }
        if said.is_start() {
            let left = matches!(guest.standing(), Standing::Left);
            self.hear(
                who,
                at,
                Word::Start {
                    known: said.known_to_provider(),
                },
            );
            let guest = self.guest(who);
            if left && matches!(guest.standing(), Standing::With { .. }) {
                guest.season += 1;
            }
        } else if said == Said::Yes
            && matches!(
                guest.standing(),
                Standing::With {
                    provider_blocks: false,
                    ..
                }
            )
        {
            // A YES gives consent only if it follows an opt-in question within a day. The question
            // must have been asked after the last STOP.
            let stop = guest.newest_stop().unwrap_or(i64::MIN);
            if guest
                .asked
                .iter()
                .any(|asked| (stop.max(at - DAY - MINUTE)..=at).contains(asked))
            {
                guest.consents.push(at);
            }
        }
    }

    /// Records the answer 40300 to a request made at `at`. If the guest had already opted out, this
    /// adds only that the provider knows of the opt-out.
    pub(crate) fn blocked(&mut self, who: Who, at: i64) {
        let guest = self.guest(who);
        let left = matches!(guest.standing(), Standing::Left);
        let at = guest.newest_stop().filter(|_| left).unwrap_or(at);
        self.hear(who, at, Word::Blocked);
    }

    pub(crate) fn consented(&mut self, who: Who, now: i64) {
        self.guest(who).consents.push(now);
    }

    pub(crate) fn known(&self) -> Vec<Who> {
        self.guests
            .iter()
            .filter(|(_, guest)| guest.known)
            .map(|(who, _)| *who)
            .collect()
    }

    /// Records that the guest's deletion is complete.
    pub(crate) fn forgot(&mut self, who: Who, now: i64) {
        let guest = self.guest(who);
        (guest.forgotten, guest.known) = (Some(now), false);
        guest.consents.clear();
        guest.asked.clear();
    }

    /// Returns an error with the complaint if the request is forbidden.
    pub(crate) fn judge(&mut self, call: &Call) -> Result<(), String> {
        let Call {
            who, class, now, ..
        } = *call;
        let answered = call.answers.map(|n| self.texts[&n].clone());
        let guest = self.guest(who);
        if guest.forgotten.is_some() {
            return Err(format!(
                "a text of class {class} to {who}, who was forgotten and has not written since"
            ));
        }
        if let Some(why) = guest.standing().forbids() {
            let just_received = answered
                .as_ref()
                .is_some_and(|text| now - text.last_taken <= ANSWER);
            let blocked_only = matches!(guest.standing(), Standing::With { .. });
            if !class.is_safety() {
                return Err(format!("a text of class {class} to {who}, {why}"));
            } else if !just_received && !blocked_only {
                return Err(format!(
                    "a text of class {class} to {who}, {why}, that answers nothing just received"
                ));
            }
        }
        if class == MessageClass::Marketing && !guest.may_be_sold_to() {
            return Err(format!(
                "marketing to {who} without consent newer than the last opt-out"
            ));
        }
        if matches!(class, MessageClass::Marketing | MessageClass::Informational)
            && !(8..21).contains(&call.local_hour)
        {
            return Err(format!(
                "a text of class {class} to {who} in the hour from {}:00",
                call.local_hour
            ));
        }
        match (class, answered) {
            (MessageClass::OptOutConfirmation, Some(stop)) => guest.confirm(&stop, call),
            (MessageClass::OptOutConfirmation, None) => {
                Err(format!("a confirmation to {who} of no STOP at all"))
            }
            _ => Ok(()),
        }
    }

    /// Records a request that the provider may have accepted. The guest may then have read the
    /// text.
    pub(crate) fn may_have_taken(&mut self, call: &Call) {
        if call.kind == "consent_prompt" {
            self.guest(call.who).asked.push(call.now);
        }
    }

    /// Records that the provider accepted the request.
    pub(crate) fn took(&mut self, call: &Call) {
        self.may_have_taken(call);
        let guest = self.guest(call.who);
        for (outbound, _, taken) in guest.confirmed.values_mut() {
            *taken |= *outbound == call.outbound;
        }
    }

    /// Records that the request certainly did not reach the provider.
    pub(crate) fn not_reached(&mut self, call: &Call) {
        let guest = self.guest(call.who);
        for (outbound, requests, _) in guest.confirmed.values_mut() {
            *requests -= u32::from(*outbound == call.outbound);
        }
    }
}

impl Guest {
    /// Checks that each new STOP gets one confirmation. The confirmation may be repeated once, and
    /// only while it is unknown whether it arrived (D5).
    fn confirm(&mut self, stop: &Text, call: &Call) -> Result<(), String> {
        let (outbound, requests, taken) =
            self.confirmed
                .entry(stop.season)
                .or_insert((call.outbound, 0, false));
        *requests += 1;
        if *outbound != call.outbound {
            return Err(format!("a second confirmation of one STOP to {}", call.who));
        }
        if *taken || *requests > 2 {
            return Err(format!(
                "the confirmation of a STOP once more to {}: request {requests}",
                call.who
            ));
        }
        Ok(())
    }
}
