//! Visitors of the casinos' websites, drawn from the seed. Pure.

use std::time::Duration;

use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{
    size::CASINOS,
    visits::{QUESTIONS, Takeover, takeover},
};

/// A visitor of a website. The web gateways are killed while visitors read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visitor {
    /// Time from the start of the load.
    pub(crate) at: Duration,
    pub(crate) casino: usize,
    pub(crate) questions: Vec<Question>,
    pub(crate) takeover: Option<Takeover>,
}

/// One message of a visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question {
    /// Time from the beginning of the visit. The message is sent later if the visitor is still busy
    /// with the previous message.
    pub(crate) after: Duration,
    pub(crate) text: &'static str,
    /// Whether the visitor reads the answer at once; if not, the visitor reads it at the end of the
    /// run.
    pub(crate) reads: bool,
    /// Number of calls that send this message. All have the same id and are made at the same time,
    /// to the gateways in turn.
    pub(crate) calls: usize,
    /// Number of frames of the first stream after which the visitor's connection breaks; `None` if
    /// it does not break.
    pub(crate) breaks_after: Option<usize>,
}

/// Visitors per second. A casino's visitors and its guests who text must together stay below the
/// casino's message limit.
const RATE: f64 = 1.0;

/// Returns all visitors of a run in the order of their arrival.
pub(crate) fn visitors(seed: u64, span: Duration) -> Vec<Visitor> {
    let mut rng = StdRng::seed_from_u64(seed ^ 0x0077_6562);
    // Lets the last visitors arrive early enough to be served under load.
    let count = (span.as_secs_f64() * 0.9 * RATE) as usize;
    (0..count)
        .map(|n| Visitor {
            at: Duration::from_secs_f64(n as f64 / RATE),
            casino: n % CASINOS,
            questions: questions(&mut rng),
            takeover: rng.random_bool(0.4).then(|| takeover(&mut rng)),
        })
        .collect()
}

fn questions(rng: &mut StdRng) -> Vec<Question> {
    let mut after = Duration::ZERO;
    let count = rng.random_range(1..=3);
    let one = |_| {
        let question = Question {
            after,
            text: QUESTIONS[rng.random_range(0..QUESTIONS.len())],
            reads: rng.random_bool(0.7),
            calls: if rng.random_bool(0.3) { 4 } else { 1 },
            breaks_after: rng.random_bool(0.5).then(|| rng.random_range(0..8)),
        };
        after += Duration::from_millis(rng.random_range(100..2_500));
        question
    };
    (0..count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_gives_the_visitors() {
        let span = Duration::from_secs(60);
        let all = visitors(3, span);
        assert_eq!(all, visitors(3, span));
        assert_ne!(all, visitors(4, span));
        let taken_over = all.iter().filter(|visitor| visitor.takeover.is_some());
        assert!(taken_over.count() > 10);
    }
}
