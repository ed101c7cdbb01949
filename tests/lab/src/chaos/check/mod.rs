//! The invariants, each a pure function from the facts to a finding. Violations name rows by id: a report is a log.

mod answers;
mod odd;
mod order;
mod secrets;
mod sends;
mod stops;

use super::facts::Facts;

pub(crate) use secrets::{Searched, Secrets};
pub(crate) use stops::in_flight;

/// One line of the report.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) promise: &'static str,
    /// How many things were looked at, and what they are.
    pub(crate) examined: usize,
    pub(crate) what: &'static str,
    pub(crate) violations: Vec<String>,
}

impl Finding {
    pub(crate) fn new(promise: &'static str, what: &'static str) -> Self {
        Self { promise, examined: 0, what, violations: Vec::new() }
    }

    pub(crate) fn look(&mut self, violation: Option<String>) {
        self.examined += 1;
        self.violations.extend(violation);
    }
}

/// All that rows and ledger can tell.
pub(crate) fn all(facts: &Facts) -> Vec<Finding> {
    vec![
        answers::disposed(facts),
        answers::answered(facts),
        answers::read_by_its_turn(facts),
        sends::once(facts),
        sends::same_words_once(facts),
        stops::silence(facts),
        sends::windows(facts),
        order::kept(facts),
        sends::settled(facts),
        sends::sweeps_back_off(facts),
        odd::no_loops(facts),
        odd::cries_heard(facts),
        odd::kept(facts),
        odd::stops_reach_the_former(facts),
    ]
}
