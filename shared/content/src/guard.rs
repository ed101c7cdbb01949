//! The guards check each change of content. They let it pass, warn its editor, hold it for a second
//! person, or refuse it (D31). This module does no I/O: the caller supplies the published content.

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Value, json};
use seven_domain::ContentFinding;
use seven_knowledge::{Category, Item, Problem, WeeklyHours, item::Details};
use seven_packs::ContentRules;

/// The effect of a finding on the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The change is saved, and its editor gets a warning.
    Warn,
    /// The change waits until a person other than its editor approves it.
    Review,
    /// The change is refused.
    Block,
}

/// One problem that a guard or a check found in a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub kind: ContentFinding,
    pub problem: Problem,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem {
            field,
            problem,
            fix,
        } = &self.problem;
        write!(f, "{field}: {problem}; {fix}")
    }
}

/// A change of one item. `before` is the item's published version; `None` for a new item.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    pub before: Option<&'a Item>,
    pub after: &'a Item,
}

/// The present state of a category. The guards compare changes with this state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Number of active items that guests get now.
    pub active: usize,
    /// Number of items that were switched off within the last hour. They count towards the pack's
    /// `off_percent`, so that many small changes are limited like one large change.
    pub off_lately: usize,
    /// The names of the active items in lower case, each with the item's id.
    pub names: Vec<(String, String)>,
}

/// Returns the findings of the guards for each change, in the order of `changes`.
pub fn guard(
    changes: &[Change<'_>],
    standing: &BTreeMap<Category, Standing>,
    rules: &ContentRules,
) -> Vec<Vec<Finding>> {
    let nothing = Standing::default();
    let of = |category: &Category| standing.get(category).unwrap_or(&nothing);
    let found = |change: &Change<'_>| {
        let mut found = Vec::new();
        found.extend(reviewed(change, rules));
        found.extend(price(change, rules));
        found.extend(hours(change, rules));
        found.extend(facts_gone(change));
        found.extend(name_taken(change, of(&change.after.category)));
        found
    };
    let mut all: Vec<Vec<Finding>> = changes.iter().map(found).collect();
    let off: Vec<usize> = (0..changes.len())
        .filter(|n| leaves(&changes[*n]).is_some())
        .collect();
    for n in off.iter().copied() {
        let Some(category) = leaves(&changes[n]) else {
            continue;
        };
        let same = |other: &&usize| leaves(&changes[**other]) == Some(category);
        let offs = off.iter().filter(same).count();
        // A new item that waits for a person does not count as active yet.
        let comes = |(change, found): &(&Change<'_>, &Vec<Finding>)| {
            is_on(change)
                && change.after.category == *category
                && weight(found) < Some(Weight::Review)
        };
        let ons = changes.iter().zip(&all).filter(comes).count();
        let found = switched_off(of(category), offs, ons, rules);
        all[n].extend(found);
    }
    all
}

/// Returns the most severe effect of the findings; `None` if there are none.
pub fn weight(findings: &[Finding]) -> Option<Weight> {
    findings.iter().map(|finding| weight_of(finding.kind)).max()
}

pub fn weight_of(kind: ContentFinding) -> Weight {
    match kind {
        ContentFinding::NameTaken => Weight::Warn,
        ContentFinding::Category
        | ContentFinding::LargePromotion
        | ContentFinding::PriceJump
        | ContentFinding::HoursJump
        | ContentFinding::FactsGone => Weight::Review,
        ContentFinding::LastActive | ContentFinding::ManyOff | ContentFinding::Invalid => {
            Weight::Block
        }
    }
}

/// Returns the findings as JSON for storage and for reports: kind, field, problem and fix.
pub fn as_json(findings: &[Finding]) -> Value {
    let one = |finding: &Finding| {
        let Problem {
            field,
            problem,
            fix,
        } = &finding.problem;
        json!({ "kind": finding.kind, "field": field, "problem": problem, "fix": fix })
    };
    findings.iter().map(one).collect()
}

fn is_off(change: &Change<'_>) -> bool {
    !change.after.active && change.before.is_some_and(|before| before.active)
}

fn is_on(change: &Change<'_>) -> bool {
    change.after.active && !change.before.is_some_and(|before| before.active)
}

/// Returns the category that loses an active item through this change. Either the item is switched
/// off, or it moves to another category.
fn leaves<'a>(change: &Change<'a>) -> Option<&'a Category> {
    let before = change.before.filter(|before| before.active)?;
    let goes = !change.after.active || change.after.category != before.category;
    goes.then_some(&before.category)
}

fn finding(
    kind: ContentFinding,
    field: &str,
    problem: impl Into<String>,
    fix: impl Into<String>,
) -> Finding {
    Finding {
        kind,
        problem: Problem {
            field: field.to_owned(),
            problem: problem.into(),
            fix: fix.into(),
        },
    }
}

/// Finds changes that need a second person: moves to another category, changes in the pack's
/// `review` categories, and promotions of a high value. One person can switch a promotion off,
/// because guests must not be told an offer that has ended.
fn reviewed(change: &Change<'_>, rules: &ContentRules) -> Option<Finding> {
    let (after, before) = (
        &change.after.category,
        change.before.map(|item| &item.category),
    );
    if let Some(before) = before
        && before != after
    {
        return Some(finding(
            ContentFinding::Category,
            "category",
            format!("changes from {before} to {after}"),
            "ask an approver to publish it, or make a new item",
        ));
    }
    if rules.review.iter().any(|one| one == after.as_str()) {
        return Some(finding(
            ContentFinding::Category,
            "category",
            format!("is {after}, whose changes a second person approves"),
            "ask an approver to publish it",
        ));
    }
    let Details::Promotion(promotion) = &change.after.details else {
        return None;
    };
    let most = f64::from(rules.promotion_dollars);
    (promotion.value >= most && !is_off(change)).then(|| {
        finding(
            ContentFinding::LargePromotion,
            "details.value",
            format!(
                "is ${}, and ${most} or more needs a second person",
                promotion.value
            ),
            "ask an approver to publish it",
        )
    })
}

/// Finds prices that change by more than the pack's `price_change_percent`. Such a large change is
/// often a typing error.
fn price(change: &Change<'_>, rules: &ContentRules) -> Vec<Finding> {
    let Some(before) = change.before else {
        return Vec::new();
    };
    let (old, new) = (details(before), details(change.after));
    let jumped = |name: &&String| {
        let (Some(old), Some(new)) = (amounts(&old[*name]), new.get(*name).and_then(amounts))
        else {
            return false;
        };
        let limit = f64::from(rules.price_change_percent) / 100.0;
        let far = |a: f64, b: f64| (a - b).abs() > limit * a.max(f64::MIN_POSITIVE);
        far(old.0, new.0) || far(old.1, new.1)
    };
    let names = old.keys().filter(|name| is_price(name));
    names
        .filter(jumped)
        .map(|name| {
            finding(
                ContentFinding::PriceJump,
                &format!("details.{name}"),
                format!(
                    "changes from {} to {}, by more than {} %",
                    shown(&old[name]),
                    shown(&new[name]),
                    rules.price_change_percent
                ),
                "check it, and ask an approver to publish it",
            )
        })
        .collect()
}

/// Returns whether a detail is an amount of money, judged by its name.
fn is_price(name: &str) -> bool {
    const WORDS: [&str; 8] = [
        "price", "value", "bet", "fee", "cost", "rate", "deposit", "toll",
    ];
    let mut parts = name.split('_');
    parts.any(|part| WORDS.contains(&part)) && name != "price_range"
}

/// Returns the lowest and the highest number in a price, which is a number or a text. `None` if it
/// contains no number.
fn amounts(value: &Value) -> Option<(f64, f64)> {
    let numbers: Vec<f64> = match value {
        Value::Number(number) => number.as_f64().into_iter().collect(),
        Value::String(text) => text
            .split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')
            .filter_map(|word| word.replace(',', "").trim_matches('.').parse().ok())
            .collect(),
        _ => Vec::new(),
    };
    let least = numbers.iter().copied().reduce(f64::min)?;
    let most = numbers.iter().copied().reduce(f64::max)?;
    Some((least, most))
}

fn shown(value: &Value) -> String {
    match (value.as_str(), value.as_f64()) {
        (Some(text), _) => text.to_owned(),
        // Writes whole dollars without a fraction.
        (None, Some(number)) => number.to_string(),
        (None, None) => value.to_string(),
    }
}

/// Finds a day on which opening or closing moves by more than the pack's limit. Also finds a day
/// that changes between open and closed.
fn hours(change: &Change<'_>, rules: &ContentRules) -> Option<Finding> {
    let before = change.before?.hours()?;
    let after = change.after.hours()?;
    let moved = DAYS
        .iter()
        .find(|day| match (edges(before, **day), edges(after, **day)) {
            (None, None) => false,
            (None, Some(_)) | (Some(_), None) => true,
            (Some(old), Some(new)) => {
                let far = |a: u16, b: u16| u32::from(a.abs_diff(b)) > rules.hours_change_minutes;
                far(old.0, new.0) || far(old.1, new.1)
            }
        })?;
    Some(finding(
        ContentFinding::HoursJump,
        "details.hours",
        format!(
            "change on {moved} by more than {} minutes",
            rules.hours_change_minutes
        ),
        "check them, and ask an approver to publish them",
    ))
}

const DAYS: [chrono::Weekday; 7] = [
    chrono::Weekday::Mon,
    chrono::Weekday::Tue,
    chrono::Weekday::Wed,
    chrono::Weekday::Thu,
    chrono::Weekday::Fri,
    chrono::Weekday::Sat,
    chrono::Weekday::Sun,
];

/// Returns a day's first opening and last closing, in minutes from midnight.
fn edges(hours: &WeeklyHours, day: chrono::Weekday) -> Option<(u16, u16)> {
    let spans = hours.spans(day);
    let opens = spans.iter().map(|span| span.opens).min()?;
    let closes = spans.iter().map(|span| span.closes).max()?;
    Some((opens, closes))
}

/// Finds prices and opening hours that the change removes. A price that loses its number counts as
/// removed, and so do hours that can no longer be parsed.
fn facts_gone(change: &Change<'_>) -> Vec<Finding> {
    let Some(before) = change.before else {
        return Vec::new();
    };
    let (old, new) = (details(before), details(change.after));
    let lost = |name: &&String| {
        let lost_price = is_price(name)
            && (!new.contains_key(*name)
                || amounts(&old[*name]).is_some() && new.get(*name).and_then(amounts).is_none());
        let lost_hours = *name == "hours"
            && (!new.contains_key(*name)
                || before.hours().is_some() && change.after.hours().is_none());
        lost_price || lost_hours
    };
    old.keys()
        .filter(lost)
        .map(|name| {
            finding(
                ContentFinding::FactsGone,
                &format!("details.{name}"),
                format!("was {} and is none now", shown(&old[name])),
                "write it, or ask an approver to publish the item without it",
            )
        })
        .collect()
}

fn details(item: &Item) -> Map<String, Value> {
    let mut value = item.to_json();
    match value.get_mut("details").map(Value::take) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn name_taken(change: &Change<'_>, standing: &Standing) -> Option<Finding> {
    let name = change.after.name.to_lowercase();
    let mut taken = standing.names.iter();
    let (_, id) = taken.find(|(taken, id)| *taken == name && *id != change.after.id)?;
    Some(finding(
        ContentFinding::NameTaken,
        "name",
        format!("is also the name of {id} in {}", change.after.category),
        "guests cannot tell them apart; add the place or the kind",
    ))
}

/// Refuses to switch off a category's last active item, or more than `off_percent` of its items.
/// `ons` is the number of the category's items that the same changes switch on.
fn switched_off(
    standing: &Standing,
    offs: usize,
    ons: usize,
    rules: &ContentRules,
) -> Option<Finding> {
    if offs >= standing.active + ons {
        return Some(finding(
            ContentFinding::LastActive,
            "active",
            "would leave the category without an active item",
            "add or switch on another item of the category first",
        ));
    }
    let gone = offs + standing.off_lately;
    let before = standing.active + standing.off_lately;
    (gone * 100 > before * usize::from(rules.off_percent)).then(|| {
        finding(
            ContentFinding::ManyOff,
            "active",
            format!("would switch off {gone} of {before} items of the category at once"),
            format!("switch off at most {} % within an hour", rules.off_percent),
        )
    })
}

#[cfg(test)]
mod tests;
