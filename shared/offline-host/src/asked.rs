//! A sentence of the guest that the finder of facts may read (D48).

use std::{cell::OnceCell, sync::Arc};

use seven_finder::Question;
use seven_guest::DialogueState;
use seven_knowledge::Item;
use seven_llm::Request;

use crate::finding::{Facts, Findings, Observer};

/// Maximum number of names of rows that the finder reads beside a text.
const MOST_NAMES: usize = 5;

/// A sentence in the course of the dialogue. The finder reads it once, when an answer first needs
/// it, because that takes tens of milliseconds.
pub(crate) struct Asked<'a> {
    facts: &'a Facts,
    request: &'a Request,
    state: &'a DialogueState,
    text: &'a str,
    findings: OnceCell<Option<Findings>>,
}

// === impl Asked ===

impl<'a> Asked<'a> {
    /// Takes the sentence `text`. `state` has the rows that the host named last.
    pub(crate) fn new(
        facts: &'a Facts,
        request: &'a Request,
        state: &'a DialogueState,
        text: &'a str,
    ) -> Self {
        Self {
            facts,
            request,
            state,
            text,
            findings: OnceCell::new(),
        }
    }

    /// Returns what the finder finds; `None` while the casino's facts are not prepared.
    pub(crate) fn findings(&self) -> Option<&Findings> {
        self.findings.get_or_init(|| self.read()).as_ref()
    }

    /// Returns the tool that sees every sentence that is weighed.
    pub(crate) fn observer(&self) -> Option<&Observer> {
        self.facts.observer()
    }

    fn read(&self) -> Option<Findings> {
        let index = &self.request.index;
        let mut names: Vec<&str> = Vec::new();
        for row in self.state.talked() {
            let name = index.get(row).map(|row| row.name.as_str());
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names.truncate(MOST_NAMES);
        let before = self.request.history.last();
        let question = Question {
            text: self.text,
            names: &names,
            before: before.map_or("", |before| before.guest.as_str()),
        };
        let rows: Vec<Arc<Item>> = index.current(self.request.now).cloned().collect();
        self.facts.find(index, &rows, &question)
    }
}
