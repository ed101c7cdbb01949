//! Decides which rows a party may be sent to, because some are not for guests under age.

use seven_guest::dialogue::{ADULT_AGE_YEARS, COMING_OF_AGE_YEARS};
use seven_knowledge::{Category, Item, item::Details};

use crate::{cautions::warns, host::Host, understand::Understood};

/// Returns whether the host may send the guest's party to the row. A party with minors gets no row
/// for adults. Nobody gets a row that warns of a condition that they named. If the guest speaks of
/// adults only, as in "my husband and me", the party counts as one without minors.
pub(crate) fn is_allowed(host: &Host<'_>, u: &Understood<'_>, item: &Item) -> bool {
    let grown = !host.state.young && host.pack.grown.found(&u.said);
    let minors = host.state.has_minors() && !grown;
    let children = minors && host.state.may_have_children();
    let barred = minors && is_for_adults(item) || children && says_from(item, COMING_OF_AGE_YEARS);
    !barred && !warns(host, item)
}

/// Returns whether a row is for adults only. It is if its text says so, if it is a bar or a game,
/// or if it is a restaurant on the gaming floor.
pub fn is_for_adults(item: &Item) -> bool {
    let bar = is_among_games(item) || item.subcategory.as_deref() == Some("bar");
    says_adults_only(item)
        || item.category == Category::Gaming
        || item.category == Category::Dining && bar
}

/// Returns whether the age rule or the description of a row admits adults only.
pub(crate) fn says_adults_only(item: &Item) -> bool {
    let only = |text: &str| text.to_lowercase().contains("adults only");
    says_from(item, ADULT_AGE_YEARS) || only(&item.description) || only(age_rule(item))
}

/// Returns whether the age rule or the description of a row admits only guests of this age or
/// older.
fn says_from(item: &Item, years: u32) -> bool {
    let years = years.to_string();
    let marks = [" and over", "+", " or older"].map(|mark| format!("{years}{mark}"));
    let tells = |text: &str| {
        let text = text.to_lowercase();
        marks.iter().any(|mark| text.contains(mark))
            || text.contains(&format!("mayores de {years}"))
    };
    let rule = age_rule(item);
    tells(&item.description) || tells(rule) || rule.starts_with(&years)
}

fn age_rule(item: &Item) -> &str {
    match &item.details {
        Details::Entertainment(d) => d.age_restriction.as_deref().unwrap_or_default(),
        _ => "",
    }
}

/// Returns whether the place is on the gaming floor. Children may not sit there, even if the place
/// has a menu for them.
pub(crate) fn is_among_games(item: &Item) -> bool {
    item.location().is_some_and(|at| {
        ["casino floor", "gaming floor"]
            .iter()
            .any(|floor| at.to_lowercase().contains(floor))
    })
}
