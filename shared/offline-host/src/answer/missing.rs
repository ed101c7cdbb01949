//! Names the row that lacks the answer.

use std::sync::Arc;

use crate::{fit::Part, host::Host, resolve, understand::Understood};

/// If a question about "it" or "the second one" gets no answer, says which row lacks the answer.
pub(super) fn named(host: &Host<'_>, u: &Understood<'_>, part: Part) -> Part {
    let open = part.intent == "unanswered" && part.sources.is_empty() && !part.grounded;
    let is_it = |word: &String| ["it", "its"].contains(&word.as_str());
    let listed = resolve::listed(host);
    let row = match listed.as_slice() {
        [one] if u.said.words.iter().any(is_it) => Some(Arc::clone(one)),
        several => resolve::nth(u, several),
    };
    match row.filter(|row| open && !resolve::is_house_rule(row)) {
        Some(row) => host.missing(&row),
        None => part,
    }
}
