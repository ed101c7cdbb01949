//! Answers about things that the content lacks: says that they are not listed, and names what is.
//! Never claims that the casino does not have them.

use std::sync::Arc;

use seven_knowledge::{Category, Item, item::Details};

use super::{
    super::{
        fit::Part,
        host::Host,
        pack::Field,
        understand::{Understood, Wish},
    },
    rows,
};

/// The rows of a category that fit the guest's wishes, and the wishes that no row fits.
pub(crate) struct Division<'a> {
    /// Rows that fit all wishes; if the guest named alternatives, rows that fit one of them.
    pub(crate) fitting: Vec<Arc<Item>>,
    /// Wishes that no row fits.
    pub(crate) denied: Vec<&'a Wish>,
}

pub(crate) fn divide<'a>(
    u: &Understood<'_>,
    wishes: &[&'a Wish],
    items: &[Arc<Item>],
) -> Division<'a> {
    let held = |w: &&Wish| items.iter().any(|i| w.fits(i));
    // If a row fits a wish that the pack knows, wishes that neither the pack nor a row knows are
    // ignored.
    let sure = wishes.iter().any(|w| w.known && held(w));
    let wishes: Vec<&Wish> = wishes
        .iter()
        .copied()
        .filter(|w| !sure || w.known || held(w))
        .collect();
    let denied: Vec<&Wish> = wishes.iter().copied().filter(|w| !held(w)).collect();
    let either = wishes.len() > 1
        && u.said
            .words
            .iter()
            .any(|w| ["or", "o", "and", "y"].contains(&w.as_str()));
    let fits = |item: &&Arc<Item>| match either {
        true => wishes.iter().any(|w| w.fits(item)),
        false => wishes.iter().all(|w| w.fits(item)),
    };
    Division {
        fitting: items.iter().filter(fits).cloned().collect(),
        denied,
    }
}

/// Returns the guest's words for the missing thing. Returns `None` if the pack does not know them,
/// because the reply must not repeat unknown words.
pub(crate) fn said(u: &Understood<'_>, wishes: &[&Wish]) -> Option<String> {
    if wishes.is_empty() || wishes.iter().any(|w| !w.known) {
        return None;
    }
    Some(u.words_at(&wishes.iter().map(|w| w.at).collect::<Vec<_>>()))
}

/// Says "I see no thai food listed" and how to reach people, and adds `instead` if one text has
/// room for both.
pub(crate) fn answer(host: &Host<'_>, wish: Option<&str>, instead: Option<Part>) -> Part {
    let body = match wish {
        Some(wish) => host.say("unlisted", &[("wish", wish)]),
        None => host.say("unlisted_like", &[]),
    };
    let plain = Part {
        grounded: false,
        is_denial: true,
        ..host.part("unanswered", body, &[])
    };
    match instead {
        Some(instead) => {
            let both = format!("{} {}", plain.body, instead.body);
            if host.room.one_of_its_own(&both) {
                Part {
                    body: both,
                    sources: instead.sources,
                    ..plain
                }
            } else {
                plain
            }
        }
        None => plain,
    }
}

/// Writes "We do have A, B and 4 more.", with as many names as one text has room for after the
/// denial.
pub(crate) fn others(
    host: &Host<'_>,
    key: &str,
    slots: &[(&str, &str)],
    names: &[(String, Arc<Item>)],
    denial: &str,
) -> Option<Part> {
    let all: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    let body = |count: usize| {
        host.say(
            key,
            &[slots, &[("list", &host.first_of(&all, count))]].concat(),
        )
    };
    let fits = |count: &usize| {
        host.room
            .one_of_its_own(&format!("{denial} {}", body(*count)))
    };
    let count = (1..=all.len()).rev().find(fits)?;
    let used: Vec<Arc<Item>> = names
        .iter()
        .take(count)
        .map(|(_, item)| Arc::clone(item))
        .collect();
    Some(host.part("unanswered", body(count), &used))
}

/// Says that no row of the category fits the wish, and names what the category has.
pub(crate) fn in_category(
    host: &Host<'_>,
    category: &Category,
    wish: Option<&str>,
    items: &[Arc<Item>],
) -> Part {
    let denial = answer(host, wish, None).body;
    let names: Vec<(String, Arc<Item>)> = match category {
        Category::Dining => cuisines(host, items),
        _ => items
            .iter()
            .map(|item| (host.name(item), Arc::clone(item)))
            .collect(),
    };
    let key = if *category == Category::Dining {
        "cuisines"
    } else {
        "we_have"
    };
    answer(host, wish, others(host, key, &[], &names, &denial))
}

/// Returns every cuisine once, with a place that serves it; bars, cafes and buffets have none.
fn cuisines(host: &Host<'_>, items: &[Arc<Item>]) -> Vec<(String, Arc<Item>)> {
    let place = |cuisine: &str| {
        let named = |value: &String| value.eq_ignore_ascii_case(cuisine);
        host.pack
            .kinds
            .iter()
            .any(|kind| kind.field == Field::Subcategory && kind.values.iter().any(named))
    };
    let mut found: Vec<(String, Arc<Item>)> = Vec::new();
    for item in items {
        let Details::Dining(d) = &item.details else {
            continue;
        };
        let name = host.pack.value(&d.cuisine_type, host.language);
        if !place(&d.cuisine_type) && !found.iter().any(|(known, _)| *known == name) {
            found.push((name, Arc::clone(item)));
        }
    }
    found
}

/// Returns the question's words that no row of the category contains. Words that only name the
/// category are left out.
pub(crate) fn strangers(host: &Host<'_>, u: &Understood<'_>, items: &[Arc<Item>]) -> Vec<String> {
    let index = &host.request.index;
    // The search also finds words that rows have only in the other language.
    let found = |word: &String| {
        index
            .search(word, host.request.now, 40)
            .iter()
            .any(|hit| items.iter().any(|i| i.id == hit.item.id))
    };
    let answered = |n: usize| {
        u.wishes
            .iter()
            .any(|w| (w.at.0..w.at.1).contains(&n) && items.iter().any(|i| w.fits(i)))
    };
    let told = |word: &String| {
        u.said
            .words
            .iter()
            .position(|w| w == word)
            .is_some_and(answered)
    };
    let holds = |word: &String| {
        let near = |text: &str| {
            text.chars().count() >= 5 && word.starts_with(&text.chars().take(5).collect::<String>())
        };
        let parts = |item: &Arc<Item>| {
            rows::fields(item)
                .iter()
                .any(|f| seven_text::words(f).iter().any(|w| near(w)))
        };
        items
            .iter()
            .any(|item| rows::tells(item, word) || parts(item))
    };
    let figure = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    u.leftover
        .iter()
        .filter(|word| !figure(word) && !told(word) && !holds(word) && !found(word))
        .cloned()
        .collect()
}

/// Returns whether the text names a day that neither the calendar nor any row knows: "on
/// Christmas".
pub(crate) fn unknown_day(host: &Host<'_>, u: &Understood<'_>, items: &[Arc<Item>]) -> bool {
    let on = |word: &String| {
        u.said
            .words
            .windows(2)
            .any(|w| ["on", "en", "para"].contains(&w[0].as_str()) && w[1] == *word)
    };
    !u.when.is_said() && strangers(host, u, items).iter().any(on)
}
