//! Finds the row that a short text means: "the second one", "it", "there".

use std::sync::Arc;

use seven_knowledge::{Category, Item};

use crate::{adults::is_allowed, host::Host, understand::Understood};

const ORDER: [&[&str]; 3] = [
    &["first", "1st", "primero", "primera", "former"],
    &["second", "2nd", "segundo", "segunda", "latter"],
    &["third", "3rd", "tercero", "tercera"],
];

/// Returns the row that the text picks from a list by its position: "the second one".
pub(crate) fn nth(u: &Understood<'_>, listed: &[Arc<Item>]) -> Option<Arc<Item>> {
    let said = |names: &&&[&str]| {
        let words = &u.said.words;
        words.iter().any(|word| names.contains(&word.as_str()))
    };
    let nth = ORDER.iter().position(|names| said(&names))?;
    listed.get(nth).cloned()
}

/// Returns the rows that the last reply named, in the order of that reply.
pub(crate) fn listed(host: &Host<'_>) -> Vec<Arc<Item>> {
    let index = &host.request.index;
    host.state
        .listed
        .iter()
        .filter_map(|id| index.get(id).cloned())
        .collect()
}

/// Returns the ids of the rows that the next text may be about: the rows of the answer. If the
/// answer is only a house rule, such as the rule on dogs, adds the row that was named before.
pub(crate) fn subjects(host: &Host<'_>, sources: &[String]) -> Vec<String> {
    let rule = |id: &String| {
        host.request
            .index
            .get(id)
            .is_some_and(|row| is_house_rule(row))
    };
    let mut subjects = sources.to_vec();
    if subjects.len() == 1 && subjects.iter().all(rule) && host.state.listed.len() == 1 {
        let earlier = host
            .state
            .listed
            .iter()
            .filter(|id| !rule(id) && !sources.contains(id));
        subjects.extend(earlier.cloned());
    }
    subjects
}

/// Returns whether the row is a rule or a general answer, and not a place.
pub(crate) fn is_house_rule(row: &Item) -> bool {
    matches!(row.category, Category::Regulations | Category::GeneralInfo)
}

/// Returns the rows of the last reply to which the host may send the guest's party.
pub(crate) fn listed_for(host: &Host<'_>, u: &Understood<'_>) -> Vec<Arc<Item>> {
    let mut rows = listed(host);
    rows.retain(|row| is_allowed(host, u, row));
    rows
}

/// Returns the rows to compare: the rows that the text names. If the text names fewer than two,
/// adds rows of the last reply.
pub(crate) fn compared(host: &Host<'_>, u: &Understood<'_>) -> Vec<Arc<Item>> {
    let mut named: Vec<Arc<Item>> = Vec::new();
    for mention in u.venues().into_iter().filter(|mention| mention.telling) {
        if !named.iter().any(|row| row.id == mention.item.id) {
            named.push(Arc::clone(&mention.item));
        }
    }
    if named.len() > 1 {
        return named;
    }
    let mut rows = listed_for(host, u);
    if let Some(category) = rows.last().map(|row| row.category.clone()) {
        rows.retain(|row| row.category == category);
    }
    if let Some(one) = named.pop()
        && !rows.iter().any(|row| row.id == one.id)
    {
        rows.insert(0, one);
    }
    with_earlier(host, u, rows)
}

/// If there is only one row, adds the newest earlier row of the same category: the guest asked
/// about one after the other.
fn with_earlier(host: &Host<'_>, u: &Understood<'_>, mut rows: Vec<Arc<Item>>) -> Vec<Arc<Item>> {
    if let [one] = rows.as_slice() {
        let index = &host.request.index;
        let earlier = host.state.recent.iter().rev();
        let earlier = earlier.filter_map(|id| index.get(id)).find(|row| {
            row.id != one.id && row.category == one.category && is_allowed(host, u, row)
        });
        rows.splice(0..0, earlier.cloned());
    }
    rows
}
