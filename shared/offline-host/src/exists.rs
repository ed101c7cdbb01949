//! Says yes before the description of a thing if the guest asked whether there is such a thing.

use seven_knowledge::Category;

use crate::{compose::rows, fit::Part, host::Host, understand::Understood};

/// Puts a yes before the answer if the guest asked whether something exists, and the answer
/// describes one row that has every word of the guest's for it. Otherwise returns the answer as it
/// is: a wrong yes would promise what the casino does not have. Shows are on some days only, so that
/// they get no yes.
pub(crate) fn affirmed(host: &Host<'_>, u: &Understood<'_>, part: Part) -> Part {
    let asks = u.is_question && host.pack.exists.found(&u.said) && u.facets.is_empty();
    let describes = part.is_whole && part.grounded && !part.is_denial;
    let [id] = part.sources.as_slice() else {
        return part;
    };
    let row = host.request.index.get(id).filter(|_| asks && describes);
    let Some(row) = row.filter(|row| row.category != Category::Entertainment) else {
        return part;
    };
    let mut words = u.said.words.iter();
    let named = words.any(|word| !host.pack.ignore.contains(word) && rows::tells(row, word));
    let all_told = u.leftover.iter().all(|word| rows::tells(row, word));
    let body = host.say("yes_there_is", &[("value", &part.body)]);
    if named && all_told && host.room.two(&body) {
        Part { body, ..part }
    } else {
        part
    }
}
