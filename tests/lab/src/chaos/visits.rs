//! Visits of guests, drawn from the seed. Each visit is a new phone at one casino with a short
//! script of texts. Pure.

use std::time::Duration;

use rand::{Rng, SeedableRng, rngs::StdRng};

use super::size::{CASINOS, SLOW};

/// One text of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScriptLine {
    /// Time from the beginning of the visit.
    pub(crate) after: Duration,
    pub(crate) text: &'static str,
    /// Time between the writing of the text and its webhook.
    pub(crate) written: Duration,
    /// Time after which the webhook is called once more; `None` if it is not.
    pub(crate) again: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visit {
    /// Time from the start of the load.
    pub(crate) at: Duration,
    pub(crate) phone: String,
    pub(crate) casino: usize,
    pub(crate) script: Vec<ScriptLine>,
    pub(crate) odd: Option<Odd>,
}

/// Behaviour of some guests in addition to their script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Odd {
    /// A machine that answers every text with this text, for [`MACHINE`].
    Machine(&'static str),
    /// A guest who sends many HELPs at once.
    Flood,
    /// A guest who sends a cry for help in the middle of a flood of texts.
    Cry,
    /// A guest whose deletion an operator requests. The guest cancels the deletion with KEEP before
    /// it is due.
    Deleted,
    /// A guest who asks a question before the casino's number is reassigned, and sends STOP to the
    /// number afterwards.
    HandedOn,
    /// One of a crowd of guests who text HELP to the slow casino at the same time.
    Crowd,
    /// A guest who sends a cry for help while the answers to a crowd still wait to be sent.
    CryInCrowd,
    /// A guest whose texts reach the gates long after ingress received them.
    Stale,
    /// A guest whose conversation a person takes over.
    TakenOver(Takeover),
}

/// A takeover: a member of the casino's staff takes a conversation over, writes, and gives it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Takeover {
    /// Time from the start of the conversation until the person takes it over.
    pub(crate) after: Duration,
    /// Time from the takeover until the person gives the conversation back.
    pub(crate) span: Duration,
}

/// The text of a person who took a conversation over.
pub(crate) const PERSONS_TEXT: &str = "Dana here, a table by the window is yours at seven.";

/// Draws a takeover. It often begins while the host's answer is on its way.
pub(crate) fn takeover(rng: &mut StdRng) -> Takeover {
    Takeover {
        after: Duration::from_millis(rng.random_range(0..250)),
        span: Duration::from_millis(rng.random_range(500..3_000)),
    }
}

/// How long an [`Odd::Machine`] guest (an auto-responder) keeps answering.
pub(crate) const MACHINE: Duration = Duration::from_secs(8);
/// Time from the arrival of an [`Odd::Deleted`] guest to the operator's request for deletion.
pub(crate) const ASKED: Duration = Duration::from_millis(2_500);
/// Time from the operator's request for deletion to the deletion.
pub(crate) const DELETION: Duration = Duration::from_secs(4);
/// The gates freeze `FROZEN_FROM` after an [`Odd::Deleted`] guest arrives, and stay frozen for
/// `FROZEN`. The guest's KEEP then still waits on the bus when the deletion is due.
pub(crate) const FROZEN_FROM: Duration = Duration::from_millis(4_800);
pub(crate) const FROZEN: Duration = Duration::from_secs(3);
/// Number of kinds of odd guests in [`odd_moments`]; `DELETED` is the index of [`Odd::Deleted`]
/// among them.
const KINDS: usize = 3;
pub(crate) const DELETED: usize = 2;

/// Returns the times at which odd guests arrive, each with the guest's kind.
pub(crate) fn odd_moments(span: Duration) -> impl Iterator<Item = (Duration, usize)> {
    (0..span.as_secs() / 7).map(|n| (Duration::from_secs(3 + 7 * n), n as usize % KINDS))
}
/// `CROWD`: number of guests in a crowd. `CROWD_EVERY_SECONDS`: time from one crowd to the next.
/// The slow casino's number needs half of this time to answer a whole crowd.
const CROWD: u64 = 60;
const CROWD_EVERY_SECONDS: u64 = 60;
/// Age of the texts of an [`Odd::Stale`] guest, well over the pack's `usefulness_minutes`.
pub(crate) const STALE_HOURS: i64 = 2;
const STALE_EVERY_SECONDS: u64 = 10;

/// `MOVES`: index of the casino whose number changes. `MOVED_AT`: share of the load's duration
/// after which the number changes. `HANDED_ON_AT`: share after which another casino gets the old
/// number.
pub(crate) const MOVES: usize = CASINOS - 1;
pub(crate) const MOVED_AT: f64 = 0.4;
pub(crate) const HANDED_ON_AT: f64 = 0.7;

/// Questions for the host. None of them leads to a human takeover, which would stop the host's
/// answers.
pub(crate) const QUESTIONS: [&str; 9] = [
    "any italian place?",
    "what restaurants are open tonight?",
    "is there a swedish massage?",
    "where is the lakeside pool?",
    "tell me about the grove king room",
    "do you have a poker room?",
    "is there valet parking?",
    "what shows are on tonight?",
    "my name is Quillon, when does the pool open?",
];

/// The name that a guest gives in one of the questions.
pub(crate) const NAME: &str = "Quillon";

/// Visits per second. Each visit has about two texts, and a casino must stay below its limit of 200
/// texts a minute.
const RATE: f64 = 2.0;

const AREA_CODES: [u32; 45] = [
    201, 202, 203, 205, 206, 207, 208, 209, 210, 212, 213, 214, 215, 216, 217, 218, 219, 224, 225,
    228, 229, 231, 234, 239, 240, 248, 251, 252, 253, 254, 256, 260, 262, 267, 269, 270, 401, 412,
    413, 414, 415, 475, 503, 504, 959,
];

/// Returns all visits of a run in the order of their start; no phone visits twice.
pub(crate) fn visits(seed: u64, span: Duration) -> Vec<Visit> {
    let mut rng = StdRng::seed_from_u64(seed ^ 0x6775_6573_7473);
    let count = ((span.as_secs_f64() * RATE) as usize).min(AREA_CODES.len() * 100);
    let ordinary = (0..count)
        .map(|n| Visit {
            at: Duration::from_secs_f64(n as f64 / RATE),
            phone: format!("+1{}55501{:02}", AREA_CODES[n / 100], n % 100),
            casino: n % CASINOS,
            script: script(&mut rng),
            odd: None,
        })
        .collect::<Vec<_>>();
    let mut all: Vec<Visit> = ordinary.into_iter().chain(odd(&mut rng, span)).collect();
    all.sort_by_key(|visit| visit.at);
    all
}

/// Returns the odd guests:
/// - every seven seconds one of the kinds of [`odd_moments`],
/// - every four seconds a guest whose conversation a person takes over,
/// - crowds, and in each of them a guest who cries for help,
/// - guests whose texts come hours late,
/// - guests who write to a number shortly before and after its reassignment.
fn odd(rng: &mut StdRng, span: Duration) -> Vec<Visit> {
    let phone = |n: usize| format!("+1{}55502{:02}", AREA_CODES[n / 100], n % 100);
    let say = |after: u64, text| ScriptLine {
        after: Duration::from_millis(after),
        text,
        written: Duration::ZERO,
        again: None,
    };
    let mut visits: Vec<Visit> = Vec::new();
    let mut add = |at: Duration, casino, script, odd| {
        visits.push(Visit {
            at,
            phone: phone(visits.len()),
            casino,
            script,
            odd: Some(odd),
        });
    };
    for (n, (at, kind)) in odd_moments(span).enumerate() {
        let casino = n % MOVES;
        match kind {
            0 => add(
                at,
                casino,
                vec![say(0, QUESTIONS[n % 8])],
                Odd::Machine("Our office is closed. If this is an emergency, call 911."),
            ),
            1 => {
                add(
                    at,
                    casino,
                    (0..30).map(|n| say(n * 50, "HELP")).collect(),
                    Odd::Flood,
                );
                add(
                    at + Duration::from_millis(700),
                    casino,
                    vec![say(0, "i want to kill myself")],
                    Odd::Cry,
                );
            }
            _ => {
                let keep = rng.random_range(5_000..6_000);
                add(
                    at,
                    casino,
                    vec![say(0, QUESTIONS[n % 8]), say(keep, "KEEP")],
                    Odd::Deleted,
                );
            }
        }
    }
    for n in 0..span.as_secs() / 4 {
        let (casino, taken) = (n as usize % MOVES, takeover(rng));
        let script = vec![
            say(0, QUESTIONS[n as usize % QUESTIONS.len()]),
            say(rng.random_range(100..1_500), QUESTIONS[0]),
        ];
        add(
            Duration::from_secs(1 + 4 * n),
            casino,
            script,
            Odd::TakenOver(taken),
        );
    }
    for n in 0..span.as_secs() / CROWD_EVERY_SECONDS {
        let at = Duration::from_secs(4 + n * CROWD_EVERY_SECONDS);
        for guest in 0..CROWD {
            let at = at + Duration::from_millis(guest * 15);
            add(at, SLOW, vec![say(0, "HELP")], Odd::Crowd);
        }
        let cry = vec![say(0, "i want to kill myself")];
        add(at + Duration::from_secs(2), SLOW, cry, Odd::CryInCrowd);
    }
    for n in 0..span.as_secs() / STALE_EVERY_SECONDS {
        let script = vec![
            say(0, QUESTIONS[n as usize % QUESTIONS.len()]),
            say(100, "HELP"),
        ];
        let at = Duration::from_secs(5 + n * STALE_EVERY_SECONDS);
        add(at, n as usize % MOVES, script, Odd::Stale);
    }
    for n in 0..6 {
        let at = span
            .mul_f64(HANDED_ON_AT)
            .saturating_sub(Duration::from_millis(4_000));
        let script = vec![say(0, QUESTIONS[0]), say(7_000, "STOP")];
        add(
            at + Duration::from_millis(n * 200),
            MOVES,
            script,
            Odd::HandedOn,
        );
    }
    visits
}

fn script(rng: &mut StdRng) -> Vec<ScriptLine> {
    let question = |rng: &mut StdRng| QUESTIONS[rng.random_range(0..QUESTIONS.len())];
    let say = |after: u64, text| ScriptLine {
        after: Duration::from_millis(after),
        text,
        written: Duration::ZERO,
        again: None,
    };
    let first = question(rng);
    // The second text follows while the answer to the first question is still on its way, or just
    // after it.
    let soon = rng.random_range(20..700);
    match rng.random_range(0..100) {
        0..25 => vec![say(0, first)],
        25..35 => vec![say(0, first), say(soon, question(rng))],
        35..52 => vec![
            say(0, first),
            say(soon, "STOP"),
            say(soon + 1_500, question(rng)),
        ],
        52..64 => vec![
            say(0, first),
            say(soon, "STOP"),
            say(soon + rng.random_range(50..1_500), "START"),
            say(soon + 2_500, question(rng)),
        ],
        // A START that was written before the STOP but arrives after it has no effect.
        64..74 => vec![
            say(0, first),
            say(soon, "STOP"),
            ScriptLine {
                written: Duration::from_millis(soon + 2_000),
                ..say(soon + 1_000, "START")
            },
            say(soon + 2_500, question(rng)),
        ],
        74..82 => vec![say(0, "HELP"), say(soon, first)],
        82..92 => {
            let again = Some(Duration::from_millis(rng.random_range(1..5_000)));
            vec![ScriptLine {
                again,
                ..say(0, first)
            }]
        }
        // The second webhook carries the text that was written first.
        _ => vec![
            say(0, first),
            ScriptLine {
                written: Duration::from_secs(1),
                ..say(soon / 4, question(rng))
            },
        ],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_phone_visits_once_and_the_seed_decides() {
        let span = Duration::from_secs(600);
        let all = visits(3, span);
        assert_eq!(all, visits(3, span));
        assert_eq!(
            all.iter().map(|v| &v.phone).collect::<HashSet<_>>().len(),
            all.len()
        );
    }

    #[test]
    fn no_casino_passes_its_rate() {
        let span = Duration::from_secs(600);
        let mut per_minute = std::collections::HashMap::new();
        // Leaves out floods and crowds: they send HELP, to which no rate limit applies.
        for visit in visits(4, span)
            .into_iter()
            .filter(|visit| !matches!(visit.odd, Some(Odd::Flood | Odd::Crowd)))
        {
            for said in &visit.script {
                *per_minute
                    .entry((visit.casino, (visit.at + said.after).as_secs() / 60))
                    .or_insert(0) += 1;
            }
        }
        assert!(
            per_minute.values().all(|n| *n < 100),
            "{:?}",
            per_minute.values().max()
        );
    }
}
