//! The checks of the invariants. Each is a pure function that takes the facts and returns a
//! finding. Violations name rows by id, because a report is a log and may hold no texts or phones.

mod answers;
mod finding;
mod odd;
mod order;
mod secrets;
mod sends;
mod stops;
mod takeovers;
mod web;

pub(crate) use self::finding::Finding;
use super::facts::Facts;

pub(crate) use secrets::{Searched, Secrets};
pub(crate) use stops::in_flight;

/// Runs every check on the facts from the rows and the ledger.
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
        odd::gravest_first(facts),
        odd::stale_closed(facts),
        odd::kept(facts),
        odd::stops_reach_the_former(facts),
        takeovers::silent(facts),
        takeovers::heard(facts),
        web::stored_once(facts),
        web::read_once(facts),
    ]
}
