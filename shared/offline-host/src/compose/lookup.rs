//! Finds answers by search. A row is used only if its score reaches the pack's threshold.

use std::sync::{Arc, LazyLock};

use seven_knowledge::{Category, Hit, Item, Offline, Query, index::is_stop, item::Details};

use super::{
    super::{fit::Part, host::Host, reading, understand::Understood},
    rows, venue,
};
use crate::compose::{prices, several};

/// Returns the rows whose score reaches the threshold, best first.
fn hits(host: &Host<'_>, query: &str, keep: impl Fn(&Item) -> bool) -> Vec<Hit> {
    let all = host.request.index.search(query, host.request.now, 40);
    all.into_iter()
        .filter(|hit| hit.score >= host.pack.threshold && keep(&hit.item))
        .collect()
}

/// The lowest share of a question's words, by weight, that a row must contain for [`retrieved`] to
/// answer with it.
const RETRIEVED: f32 = 0.7;

/// Answers from the row that the search for hosted models finds. That row must come first both by
/// words and by vectors. This is the last attempt, after nothing else has answered.
pub(crate) fn retrieved(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    static EMBEDDER: LazyLock<Offline> = LazyLock::new(Offline::new);
    let index = &host.request.index;
    let query = Query::offline(u.text, host.request.now, &EMBEDDER).at_most(2);
    let found = index.retrieve(&query);
    let best = found.first()?;
    let first = best.scores.bm25_rank == Some(1) && best.scores.bm25 >= RETRIEVED;
    let agreed = best.scores.cosine_rank.is_none_or(|rank| rank == 1);
    (first && agreed && u.is_question).then(|| venue::info(host, &best.item))
}

/// The share of the best score from which a row whose name has more of the words is preferred.
const NEAR: f32 = 0.5;

/// Answers from the best row of the whole content.
pub(crate) fn anything(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    if u.leftover.is_empty() && u.mentions.is_empty() && u.topics.is_empty() && u.facets.is_empty()
    {
        return None;
    }
    // A longer remark may share a word with a row by chance, without asking about the row.
    if !u.is_question && u.leftover.len() > 3 && u.mentions.is_empty() {
        return None;
    }
    let timed = ["open", "opens", "closes", "hours"]
        .iter()
        .any(|f| u.wants(f))
        && u.mentions.iter().all(|m| !m.whole);
    if timed && let Some(part) = place(host, u) {
        return Some(part);
    }
    // Words already understood as a time or a price would lower the scores of fitting rows.
    // "Is there one" asks for no "One hour" of the sauna.
    let worded = |word: &&str| {
        let counts = word.starts_with(|c: char| c.is_ascii_digit());
        !counts && !["one", "ones", "uno", "una"].contains(word)
    };
    let telling: Vec<&str> = u
        .leftover
        .iter()
        .map(String::as_str)
        .filter(worded)
        .chain(topic_words(u))
        .collect();
    if telling.is_empty() && !u.leftover.is_empty() && u.facets.is_empty() {
        return None;
    }
    let mut found = if u.leftover.is_empty() || u.wants("kids") {
        Vec::new()
    } else {
        hits(host, &telling.join(" "), |_| true)
    };
    if found.is_empty() {
        found = hits(host, u.text, |_| true);
    }
    if found.is_empty() {
        return by_one_word(host, u);
    }
    // A place with the word in its name is preferred to a show that mentions it: the pool before a
    // party at the pool.
    let named = |h: &Hit| u.leftover.iter().any(|word| in_name(&h.item, word));
    let first = found.first()?;
    let place = |h: &&Hit| {
        h.item.category != Category::Entertainment && named(h) && h.score >= first.score * 0.6
    };
    let best = if first.item.category == Category::Entertainment {
        found.iter().find(place).unwrap_or(first)
    } else {
        first
    };
    // If the text names a time and shares only a word of the row's description, the row is no
    // answer: "Weather tomorrow?" does not ask about the pool that closes in bad weather.
    let filed = u.leftover.is_empty() || u.leftover.iter().any(|word| names_it(&best.item, word));
    if u.when.is_said() && u.facets.is_empty() && !filed {
        return None;
    }
    let alike = |h: &&Hit| h.item.category == best.item.category;
    if u.wants("price") {
        let priced: Vec<Arc<Item>> = found
            .iter()
            .filter(alike)
            .filter(|h| named(h))
            .map(|h| Arc::clone(&h.item))
            .collect();
        if priced.len() > 1
            && u.mentions.iter().all(|m| !m.telling)
            && let Some(part) = prices::prices(host, &priced, "venue_info")
        {
            return Some(part);
        }
    }
    let rest: Vec<Arc<Item>> = found
        .iter()
        .filter(alike)
        .filter(|h| h.score >= best.score * 0.8)
        .map(|h| Arc::clone(&h.item))
        .collect();
    if best.item.category == Category::Dining && rest.len() > 1 {
        return Some(several::names(
            host,
            "fitting",
            "cuisine",
            &rest[..rest.len().min(5)],
            Some("ask_dining"),
        ));
    }
    let facts = venue::answer(host, u, std::slice::from_ref(&best.item));
    Some(
        if facts.grounded
            && !matches!(
                best.item.category,
                Category::Regulations | Category::GeneralInfo
            )
        {
            facts
        } else {
            venue::info(host, &best.item)
        },
    )
}

/// If the whole question found nothing, answers with a service that one of its words names: "how
/// often does the shuttle run?"
fn by_one_word(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let service = |item: &Item| {
        matches!(
            item.category.as_str(),
            "amenities" | "general_info" | "loyalty"
        )
    };
    let named = |item: &Item, word: &str| service(item) && in_name(item, word);
    let word = |word: &String| {
        let found = hits(host, word, |item| {
            named(item, word) || (service(item) && !word_is_named(host, word))
        });
        found.into_iter().find(|hit| hit.score >= 0.7)
    };
    let found = u
        .leftover
        .iter()
        .filter(|w| w.chars().count() >= 4)
        .find_map(word)?;
    Some(venue::info(host, &found.item))
}

/// Returns whether any row's name contains exactly this word.
fn word_is_named(host: &Host<'_>, word: &str) -> bool {
    host.request
        .index
        .current(host.request.now)
        .any(|item| in_name(item, word))
}

/// Answers with the row of a rule, service or offer whose whole name is in the text: "lost and
/// found".
pub(crate) fn by_name(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let service = |item: &Item| {
        let category = item.category.as_str();
        matches!(
            category,
            "general_info" | "amenities" | "promotions" | "loyalty"
        )
    };
    let longest = u
        .mentions
        .iter()
        .filter(|m| m.whole && m.to - m.from > 1 && service(&m.item))
        .max_by_key(|m| m.to - m.from)?;
    (!u.wants("price") && !u.intends("booking")).then(|| venue::info(host, &longest.item))
}

/// Describes the row that best matches the text, whatever fact the text asks for.
pub(crate) fn told(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let telling: Vec<&str> = u.leftover.iter().map(String::as_str).collect();
    hits(host, &telling.join(" "), |item| {
        item.category != Category::Hours
    })
    .first()
    .map(|hit| venue::info(host, &hit.item))
}

/// Returns the offer or reward that the text asks for, if the content has one.
pub(crate) fn offer(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let mut words = u.said.words.clone();
    words.retain(|word| !is_stop(word) && !host.pack.ignore.contains(word));
    let rows =
        |item: &Item| item.category == Category::Promotions || item.category.as_str() == "loyalty";
    let told = |hit: &&Hit| {
        let left = u.leftover.iter().any(|word| rows::tells(&hit.item, word));
        left || words
            .iter()
            .any(|word| word.len() > 4 && names_it(&hit.item, word))
    };
    hits(host, &words.join(" "), rows)
        .iter()
        .find(told)
        .map(|hit| venue::info(host, &hit.item))
}

/// Returns the casino's rule about cancelling a booking, if the content has one.
pub(crate) fn cancellation(host: &Host<'_>) -> Option<Part> {
    let rules = |item: &Item| {
        matches!(item.category, Category::Regulations | Category::GeneralInfo)
            && rows::tells(item, "cancellation")
    };
    let found = hits(host, "cancellation", rules);
    found.first().map(|hit| venue::info(host, &hit.item))
}

/// Answers a question about help with gambling from the casino's rules.
pub(crate) fn limits(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let rules = |item: &Item| item.category == Category::Regulations;
    let queries = [u.text, "responsible gaming", "juego responsable"];
    queries.iter().find_map(|query| {
        hits(host, query, rules)
            .first()
            .map(|hit| venue::info(host, &hit.item))
    })
}

/// Answers "Can I bring ..." from the casino's rules and services. Restaurants, shows, offers and
/// rows of opening hours are not searched.
pub(crate) fn rule(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let rules = |item: &Item| {
        !matches!(
            item.category,
            Category::Dining | Category::Entertainment | Category::Promotions | Category::Hours
        )
    };
    let query = if u.leftover.is_empty() {
        u.text.to_owned()
    } else {
        u.leftover.join(" ")
    };
    let sure =
        |hit: &&Hit| hit.score >= 0.6 || u.leftover.iter().any(|word| rows::tells(&hit.item, word));
    hits(host, &query, rules)
        .iter()
        .find(sure)
        .map(|hit| venue::info(host, &hit.item))
}

/// Answers with the row of the category that best matches the words in `Understood::leftover`.
pub(crate) fn within(
    host: &Host<'_>,
    u: &Understood<'_>,
    items: &[Arc<Item>],
    category: &Category,
) -> Option<Part> {
    if u.is_all_said() {
        return None;
    }
    let mut found = hits(host, &u.leftover.join(" "), |item| {
        items.iter().any(|i| i.id == item.id)
    });
    // A row that contains the word itself is preferred to a row found by a synonym. A question
    // about a suite is then not answered with a plain room.
    let literal = |hit: &Hit| u.leftover.iter().any(|word| rows::tells(&hit.item, word));
    if found.iter().any(literal) {
        found.retain(literal);
    }
    // "Pay with Leaf points" means "Using Leaf points" and not each row that mentions points.
    let in_its_name = |hit: &Hit| {
        let said = u.leftover.iter().filter(|word| in_name(&hit.item, word));
        said.count()
    };
    let near = found.first().map_or(0.0, |best| best.score * NEAR);
    found.sort_by_key(|hit| {
        let named = if hit.score >= near {
            in_its_name(hit)
        } else {
            0
        };
        std::cmp::Reverse(named)
    });
    let best = found.first()?;
    // No price field has the value of points, so a sentence of the row gives it.
    if u.wants("price") && category.as_str() == "loyalty" {
        let worth = |hit: &&Hit| {
            ["worth", "value"]
                .iter()
                .any(|word| rows::tells(&hit.item, word))
        };
        return Some(venue::info(
            host,
            &found.iter().find(worth).unwrap_or(best).item,
        ));
    }
    let share = if u.wants("price") { 0.7 } else { 0.9 };
    let close: Vec<Arc<Item>> = found
        .iter()
        .filter(|h| h.score >= best.score * share)
        .map(|h| Arc::clone(&h.item))
        .collect();
    if close.len() > 1
        && u.wants("price")
        && let Some(part) = prices::prices(host, &close, category.as_str())
    {
        return Some(part);
    }
    let leads = found
        .get(1)
        .is_none_or(|next| in_its_name(best) > in_its_name(next));
    if close.len() > 2 && u.facets.is_empty() && !leads {
        return Some(several::names(
            host,
            "fitting",
            category.as_str(),
            &close,
            Some("ask_topic"),
        ));
    }
    let facts = venue::answer(host, u, std::slice::from_ref(&best.item));
    Some(Part {
        intent: category.as_str().into(),
        ..if facts.grounded {
            facts
        } else {
            venue::info(host, &best.item)
        }
    })
}

/// Answers with a row of another category whose name or keywords contain one of the words.
pub(crate) fn filed_under(host: &Host<'_>, words: &[String], category: &Category) -> Option<Part> {
    let query = words.join(" ");
    let named = |item: &Item| words.iter().any(|word| names_it(item, word));
    let found = hits(host, &query, |item| {
        item.category != *category && item.category != Category::Hours && named(item)
    });
    found.first().map(|hit| venue::info(host, &hit.item))
}

/// Finds the place whose hours the text asks for by a common word: "the pool", "valet".
pub(crate) fn place(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let named: Vec<&str> = u
        .leftover
        .iter()
        .map(String::as_str)
        .chain(topic_words(u))
        .collect();
    if named.is_empty() {
        return None;
    }
    let kids = |item: &Item| {
        ["kids", "children", "ninos"]
            .iter()
            .any(|word| rows::tells(item, word))
    };
    let found = hits(host, &named.join(" "), |item| {
        item.hours().is_some() && (!u.wants("kids") || kids(item))
    });
    // The row's name must contain the word: a restaurant "by the pool" is not the pool.
    let telling: Vec<&&str> = if u.leftover.is_empty() {
        named.iter().collect()
    } else {
        named.iter().take(u.leftover.len()).collect()
    };
    let best = found
        .iter()
        .find(|h| telling.iter().any(|w| names_it(&h.item, w)))
        .map(|hit| Arc::clone(&hit.item));
    let row = best.or_else(|| reading::only_place(host, u))?;
    Some(venue::answer(host, u, std::slice::from_ref(&row)))
}

/// If the rows of the category have no hours, answers with the hours of their venue: for a
/// manicure, the hours of the spa.
pub(crate) fn house_of(host: &Host<'_>, u: &Understood<'_>, category: &Category) -> Option<Part> {
    let timed = host
        .items(category)
        .iter()
        .any(|item| item.hours().is_some());
    let named = |item: &Item| {
        item.category == Category::Hours && rows::has_word(&item.name, category.as_str())
    };
    let found = if timed {
        Vec::new()
    } else {
        hits(host, category.as_str(), named)
    };
    found
        .first()
        .map(|hit| venue::answer(host, u, std::slice::from_ref(&hit.item)))
}

/// Answers with the casino's rule about age, or about children.
pub(crate) fn age(host: &Host<'_>, children: bool) -> Option<Part> {
    let of_age = |item: &&Arc<Item>| {
        matches!(
            &item.details,
            Details::Regulation(d) if d.regulation_type == "Age restriction"
        )
    };
    if let Some(rule) = host.request.index.current(host.request.now).find(of_age) {
        return Some(venue::info(host, rule));
    }
    let rules =
        |item: &Item| matches!(item.category, Category::Regulations | Category::GeneralInfo);
    let queries = if children {
        ["children", "age"]
    } else {
        ["age", "edad"]
    };
    queries.iter().find_map(|query| {
        hits(host, query, rules)
            .first()
            .map(|hit| venue::info(host, &hit.item))
    })
}

/// Answers with the casino's own hours, from a row named after the casino or "casino".
pub(crate) fn house(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let names = [host.request.casino_name.as_str(), "casino"];
    let item = names.iter().find_map(|name| {
        host.request
            .index
            .current(host.request.now)
            .find(|i| i.hours().is_some() && rows::has_word(&i.name, name))
    });
    // Without such a row, the game that is open longest gives the hours of the casino.
    let games = host.items(&Category::Gaming);
    let open = |item: &&Arc<Item>| {
        item.hours()
            .map_or(0, seven_knowledge::WeeklyHours::minutes)
    };
    let item = item.or_else(|| {
        games
            .iter()
            .filter(|game| game.hours().is_some())
            .max_by_key(open)
    })?;
    Some(venue::answer(host, u, std::slice::from_ref(item)))
}

/// Answers with the casino's address.
pub(crate) fn house_address(host: &Host<'_>) -> Option<Part> {
    let house = |item: &Item| item.category == Category::GeneralInfo;
    let query = |word: &&str| {
        hits(host, word, house)
            .into_iter()
            .find(|hit| names_it(&hit.item, word))
    };
    let found = [
        "address",
        "directions",
        "direccion",
        "location",
        "ubicacion",
    ]
    .iter()
    .find_map(query);
    found.map(|hit| venue::info(host, &hit.item))
}

pub(crate) fn in_name(item: &Item, word: &str) -> bool {
    rows::has_word(&item.name, word)
        || item
            .name_es
            .as_ref()
            .is_some_and(|name| rows::has_word(name, word))
}

pub(crate) fn names_it(item: &Item, word: &str) -> bool {
    in_name(item, word)
        || item
            .keywords
            .iter()
            .any(|keyword| rows::has_word(keyword, word) && !keyword.contains(' '))
}

fn topic_words<'a>(u: &'a Understood<'_>) -> impl Iterator<Item = &'a str> {
    u.topics.iter().map(Category::as_str)
}

/// Tells how to book with a person: as the content says, or else by phone.
pub(crate) fn booking(host: &Host<'_>, u: &Understood<'_>) -> Part {
    if let Some(place) = several::only_of_kind(host, u) {
        return venue::answer(host, u, std::slice::from_ref(&place));
    }
    let found = hits(host, u.text, |item| {
        matches!(item.category, Category::GeneralInfo)
    });
    match found.first().filter(|h| h.score >= 0.5) {
        Some(best) => Part {
            intent: "booking".into(),
            ..venue::info(host, &best.item)
        },
        None => {
            // If the text names a topic, as in "a facial", gives the phone number of a row of that
            // topic. If no such row has a number, uses a fixed wording.
            let of_topic = |item: &Arc<Item>| u.topics.contains(&item.category);
            let phone = |item: &&Arc<Item>| {
                item.details
                    .extra()
                    .is_some_and(|extra| extra.contains_key("phone"))
            };
            let named = |item: &&Arc<Item>| {
                of_topic(item)
                    || u.topics
                        .iter()
                        .any(|topic| rows::has_word(&item.name, topic.as_str()))
            };
            match host
                .request
                .index
                .current(host.request.now)
                .filter(named)
                .find(phone)
            {
                Some(row) => Part {
                    intent: "booking".into(),
                    ..venue::with_phone(host, row)
                },
                None => host.part("booking", host.say("book", &[]), &[]),
            }
        }
    }
}
