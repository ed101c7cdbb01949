//! Reads one text: its intents, the facts it asks for, category, cuisine, time, and the venues it
//! names.

use std::collections::BTreeSet;

use seven_knowledge::{Category, Mention, index::is_stop};

use seven_text::words;

mod asks;
mod wish;

use asks::{asks, is_refused, points_there, refers};
pub(super) use wish::Wish;

use crate::{calendar::is_calendar, compose::rows::has_word};

use super::{
    pack::{Field, HostPack, Kind},
    phrases::{Phrases, Tokens},
    when::When,
};
use seven_llm::Request;

#[derive(Debug, Clone)]
pub(crate) struct Understood<'a> {
    pub(crate) text: &'a str,
    pub(crate) said: Tokens,
    pub(crate) intents: BTreeSet<&'a str>,
    pub(crate) facets: BTreeSet<&'a str>,
    pub(crate) topics: Vec<Category>,
    pub(crate) kinds: Vec<&'a Kind>,
    /// Kinds that the guest does not want, as in "no seafood".
    pub(crate) refused: Vec<&'a Kind>,
    /// Other words of things that the guest does not want, as in "she hates mushrooms".
    pub(crate) denied: Vec<String>,
    pub(crate) when: When,
    pub(crate) mentions: Vec<Mention>,
    /// Meaningful words that no other field covers.
    pub(crate) leftover: Vec<String>,
    /// Wishes that a row must fit, such as "korean food" or "live music"; if none does, the reply
    /// says so.
    pub(crate) wishes: Vec<Wish>,
    /// The ranges of words that name kinds.
    pub(crate) kind_places: Vec<(usize, usize)>,
    /// Those of `kind_places` that state a budget.
    pub(crate) filter_places: Vec<(usize, usize)>,
    /// The ranges of words that name a topic.
    pub(crate) topic_places: Vec<(usize, usize)>,
    pub(crate) is_question: bool,
    /// Whether the text refers to something said before: "it", "there", "ese".
    pub(crate) points_back: bool,
}

const POINTERS: [&str; 24] = [
    "it", "its", "there", "they", "their", "theirs", "that", "this", "one", "place", "ese", "esa",
    "eso", "este", "esta", "ahi", "alli", "alla", "lugar", "sitio", "ellos", "mismo", "aquel",
    "them",
];
/// Returns whether rows of the category are found by search and not by their name.
pub(crate) fn is_rule(category: &Category) -> bool {
    matches!(
        category,
        Category::Regulations | Category::GeneralInfo | Category::Promotions
    )
}

impl<'a> Understood<'a> {
    pub(crate) fn read(pack: &'a HostPack, request: &Request, text: &'a str) -> Self {
        let (index, now) = (&request.index, request.now);
        let house = words(&request.casino_name);
        let said = Tokens::new(text);
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let mut keys =
            |table: &'a std::collections::BTreeMap<String, Phrases>| -> BTreeSet<&'a str> {
                let mut found = BTreeSet::new();
                for (key, phrases) in table {
                    let places = phrases.places(&said);
                    if !places.is_empty() {
                        found.insert(key.as_str());
                    }
                    taken.extend(places);
                }
                found
            };
        // A word inside a row's name asks for no fact: "Open Mic" does not ask whether something is
        // open.
        let names: Vec<(usize, usize)> = index
            .mentions(text, now)
            .iter()
            .filter(|m| m.telling && m.to - m.from > 1)
            .map(|m| (m.from, m.to))
            .collect();
        let outside = |place: &(usize, usize)| {
            !names
                .iter()
                .any(|name| name.0 <= place.0 && place.1 <= name.1)
        };
        let mut facets = keys(&pack.facets);
        facets.retain(|facet| pack.facets[*facet].places(&said).iter().any(outside));
        if said.words.len() <= 2 && said.words.iter().any(|w| w == "where" || w == "donde") {
            facets.insert("where");
        }
        // If a text asks for a duration, it asks for a price only if it has a word for a price;
        // "cuánto dura" has none.
        let of_price = [
            "cuesta", "cuestan", "precio", "precios", "vale", "much", "price", "cost",
        ];
        if facets.contains("duration") && !said.words.iter().any(|w| of_price.contains(&w.as_str()))
        {
            facets.remove("price");
        }
        let intents = keys(&pack.intents);
        let (when, places) = When::read(
            pack,
            text,
            &said,
            now.with_timezone(&request.zone).date_naive(),
        );
        taken.extend(places);
        let mut topics: Vec<(usize, Category)> = Vec::new();
        let mut topic_places: Vec<(usize, usize)> = Vec::new();
        let mut own_places: Vec<((usize, usize), Category)> = Vec::new();
        let mut also_places: Vec<((usize, usize), Category)> = Vec::new();
        for topic in &pack.topics {
            // Words inside a longer phrase are read only as that phrase: "Show me" does not ask for
            // a show.
            let own = |place: &(usize, usize)| {
                !taken
                    .iter()
                    .any(|t| t.0 <= place.0 && place.1 <= t.1 && t.1 - t.0 > place.1 - place.0)
            };
            // A show after "after" or "before" names a time: "After the show" does not ask for a
            // show.
            let beside = |place: &(usize, usize)| {
                let before = said.words[place.0.saturating_sub(2)..place.0].iter();
                let when = ["after", "before", "antes", "despues"];
                topic.category == Category::Entertainment
                    && before.into_iter().any(|word| when.contains(&word.as_str()))
            };
            let places: Vec<_> = topic
                .phrases
                .places(&said)
                .into_iter()
                .filter(|place| own(place) && !beside(place))
                .collect();
            let also: Vec<_> = topic.also.places(&said).into_iter().filter(own).collect();
            topics.extend(
                places
                    .iter()
                    .chain(&also)
                    .map(|p| p.0)
                    .min()
                    .map(|at| (at, topic.category.clone())),
            );
            own_places.extend(places.iter().map(|place| (*place, topic.category.clone())));
            topic_places.extend(places);
            also_places.extend(
                also.into_iter()
                    .map(|place| (place, topic.category.clone())),
            );
        }
        topics.sort_by_key(|(at, _)| *at);
        let (mut kinds, mut refused) = (Vec::new(), Vec::new());
        let (mut kind_places, mut filter_places) = (Vec::new(), Vec::new());
        let mut refused_places: Vec<(usize, usize)> = Vec::new();
        // A cuisine is ignored if the text names categories but not dining: "Thai massage" does not
        // ask for a Thai restaurant.
        let eats = topics.is_empty() || topics.iter().any(|(_, of)| *of == Category::Dining);
        let kinds_here = pack
            .kinds
            .iter()
            .filter(|kind| eats || kind.field != Field::Cuisine);
        for kind in kinds_here {
            // "Bars and restaurants" asks for both kinds. Words inside a longer phrase are read
            // only as that phrase.
            let own = |place: &(usize, usize)| {
                !topic_places
                    .iter()
                    .any(|t| t.0 <= place.0 && place.1 <= t.1 && t.1 - t.0 > place.1 - place.0)
            };
            // If a kind of place follows "with", the guest does not look for that kind: "Under 120
            // with a drink" does not ask for a bar.
            let aside = |place: &(usize, usize)| {
                let before = said.words[place.0.saturating_sub(2)..place.0].iter();
                kind.field == Field::Subcategory
                    && before
                        .into_iter()
                        .any(|word| ["with", "con"].contains(&word.as_str()))
            };
            let places: Vec<_> = kind
                .phrases
                .places(&said)
                .into_iter()
                .filter(|place| own(place) && !aside(place))
                .collect();
            // A diet after a negation is not wanted: "He's not vegan" does not ask for vegan food.
            let denied = |place: &(usize, usize)| {
                let before = place.0.checked_sub(1).map(|at| said.words[at].as_str());
                matches!(before, Some("not" | "isnt" | "aint" | "no"))
            };
            if kind.field == Field::Dietary && !places.is_empty() && places.iter().all(denied) {
                taken.extend(places);
                continue;
            }
            if matches!(
                kind.field,
                Field::Cuisine | Field::Subcategory | Field::Serves
            ) && places.iter().any(|place| is_refused(&said, place.0))
            {
                refused.push(kind);
                taken.extend(places.iter().copied());
                refused_places.extend(places);
                continue;
            }
            if !places.is_empty() {
                kinds.push(kind);
            }
            kind_places.extend(places.iter().copied());
            if kind.field == Field::Price {
                filter_places.extend(places.iter().copied());
            }
            taken.extend(places);
        }
        // A part of a room's name is ignored in a question about restaurants: "restaurants with a
        // view".
        let listed = |c: &Category| {
            matches!(
                c.as_str(),
                "dining" | "entertainment" | "spa" | "gaming" | "rooms"
            )
        };
        let apart = |m: &Mention| {
            // A part of a row's name is ignored if a longer phrase covers that part, or if the part
            // has only calendar words or ignored words. "Cuánto sale" does not name a row with
            // "salt". "On sundays" does not name a show with "sunday" in its name.
            let spent = !m.whole && {
                // A misspelt word inside a phrase of the pack names no row: "Cobran cover" does not
                // name "Clover".
                let misspelt = |at: usize| !has_word(&m.item.name, &said.words[at]);
                let facet = |t: &(usize, usize)| t.0 <= m.from && m.to <= t.1;
                let slip = (m.from..m.to).any(misspelt) && taken.iter().any(facet);
                let phrase = slip
                    || taken
                        .iter()
                        .any(|t| t.0 <= m.from && m.to <= t.1 && t.1 - t.0 > 1);
                // Words that the pack ignores name no row: "Que sea a las 8" does not name "Sea
                // Salt".
                let idle = said.words[m.from..m.to]
                    .iter()
                    .all(|word| pack.ignore.contains(word));
                let calendar = said.words[m.from..m.to]
                    .iter()
                    .all(|word| is_calendar(word));
                phrase || calendar || idle
            };
            let category = &m.item.category;
            let over = topic_places
                .iter()
                .any(|(from, to)| *from < m.to && m.from < *to);
            let inside = topic_places
                .iter()
                .any(|(from, to)| *from <= m.from && m.to <= *to && to - from > m.to - m.from);
            let other = !topics.is_empty() && !topics.iter().any(|(_, topic)| topic == category);
            spent || !m.whole && (inside || (!over && other && listed(category)))
        };
        let mentions: Vec<Mention> = index
            .mentions(text, now)
            .into_iter()
            .filter(|m| !apart(m))
            .collect();
        // A single word of an offer's or a rule's name, such as "gratis", does not name the offer
        // or rule.
        let names = |m: &&Mention| m.telling && (m.whole || !is_rule(&m.item.category));
        taken.extend(mentions.iter().filter(names).map(|m| (m.from, m.to)));
        let inside = |n: usize, places: &[(usize, usize)]| {
            places.iter().any(|(from, to)| (*from..*to).contains(&n))
        };
        let free: Vec<usize> = (0..said.words.len())
            .filter(|n| {
                !inside(*n, &taken)
                    && !inside(*n, &topic_places)
                    && !is_stop(&said.words[*n])
                    && !pack.ignore.contains(&said.words[*n])
                    && !house.contains(&said.words[*n])
            })
            .collect();
        let word = |n: &usize| said.words[*n].clone();
        let named: Vec<_> = mentions
            .iter()
            .filter(|m| m.whole && names(m))
            .map(|m| (m.from, m.to))
            .collect();
        let mut wishes = wish::all(
            pack,
            &said,
            &wish::Heard {
                own: &own_places,
                also: &also_places,
                free: &free,
                named: &named,
            },
        );
        wishes.retain(|wish| {
            !refused_places
                .iter()
                .any(|place| place.0 < wish.at.1 && wish.at.0 < place.1)
        });
        let denied = free
            .iter()
            .filter(|n| is_refused(&said, **n))
            .map(word)
            .collect();
        Self {
            text,
            refused,
            denied,
            wishes,
            kind_places,
            filter_places,
            leftover: free.iter().map(word).collect(),
            is_question: asks(text, &said),
            points_back: said.words.iter().any(|w| POINTERS.contains(&w.as_str())),
            intents,
            facets,
            topics: topics.into_iter().map(|(_, category)| category).collect(),
            topic_places,
            kinds,
            when,
            mentions,
            said,
        }
    }

    /// Returns whether the text refers to something by "it", "they" or "there".
    pub(crate) fn refers(&self) -> bool {
        refers(&self.said)
    }

    /// Returns whether the text points to a place by "there".
    pub(crate) fn points_there(&self) -> bool {
        points_there(&self.said)
    }

    pub(crate) fn intends(&self, intent: &str) -> bool {
        self.intents.contains(intent)
    }

    pub(crate) fn wants(&self, facet: &str) -> bool {
        self.facets.contains(facet)
    }

    /// Returns the wishes that concern a category.
    pub(crate) fn wishes_of(&self, category: &Category) -> Vec<&Wish> {
        self.wishes
            .iter()
            .filter(|w| w.category == *category)
            .collect()
    }

    /// Returns the guest's words at these ranges, with the category's name if it is next to them:
    /// "thai food".
    pub(crate) fn words_at(&self, places: &[(usize, usize)]) -> String {
        let shows = self.about(&Category::Entertainment);
        let beside = |at: &(usize, usize)| {
            let touches = |t: &&(usize, usize)| (t.1 == at.0 || t.0 == at.1) && t.1 - t.0 == 1;
            self.topic_places
                .iter()
                .find(touches)
                .filter(|_| !shows)
                .copied()
        };
        let mut spans: Vec<(usize, usize)> = places
            .iter()
            .copied()
            .chain(places.iter().filter_map(beside))
            .collect();
        spans.sort_unstable();
        let mut words: Vec<String> = Vec::new();
        let mut end = 0;
        for (from, to) in spans {
            let word = self.said.span(from.max(end).min(to), to);
            if to > end && !words.contains(&word) {
                words.push(word);
                end = to;
            }
        }
        words.join(" ").to_lowercase()
    }

    pub(crate) fn about(&self, category: &Category) -> bool {
        self.topics.contains(category)
    }

    /// Returns the venues, shows and treatments that the text names; rules and general answers are
    /// found by search instead.
    pub(crate) fn venues(&self) -> Vec<&Mention> {
        self.mentions
            .iter()
            .filter(|m| !is_rule(&m.item.category))
            .collect()
    }

    /// Returns whether the text continues what was said before: "and ...", "what about ...".
    pub(crate) fn continues(&self) -> bool {
        let start: Vec<&str> = self.said.words.iter().take(2).map(String::as_str).collect();
        matches!(
            start.as_slice(),
            ["and" | "y" | "also" | "tambien", ..] | ["what" | "how", "about"]
        )
    }

    /// Returns whether the text adds another choice to a question: "or an arcade".
    pub(crate) fn offers_another(&self) -> bool {
        let first = self.said.words.first().map(String::as_str);
        matches!(first, Some("or" | "o"))
    }

    /// Returns whether nothing but figures is left over, as in "a table for 2 at 8".
    pub(crate) fn is_all_said(&self) -> bool {
        self.leftover
            .iter()
            .all(|w| w.starts_with(|c: char| c.is_ascii_digit()))
    }

    pub(crate) fn asks_fact(&self) -> bool {
        self.facets.iter().any(|f| *f != "about" && *f != "kids")
    }

    /// Returns whether the text asks which things there are: "what restaurants", "que shows".
    pub(crate) fn asks_which(&self) -> bool {
        let which = |place: &(usize, usize)| {
            let before = place
                .0
                .checked_sub(1)
                .map(|at| self.said.words[at].as_str());
            matches!(before, Some("what" | "which" | "que" | "cuales"))
        };
        let wishes = self.wishes.iter().map(|wish| &wish.at);
        let things = self.topic_places.iter().chain(&self.kind_places);
        things.chain(wishes).any(which)
    }

    /// Returns whether the text refuses its topic as a whole: "skip the spa".
    pub(crate) fn drops_topic(&self) -> bool {
        const DROPPING: [&str; 6] = ["skip", "forget", "drop", "olvide", "olvida", "cancela"];
        let dropped = |place: &(usize, usize)| {
            let before = &self.said.words[place.0.saturating_sub(2)..place.0];
            before.iter().any(|word| DROPPING.contains(&word.as_str()))
        };
        !self.is_question && self.topic_places.iter().any(dropped)
    }

    /// Returns whether the text only praises: "You are the best!"
    pub(crate) fn is_praise(&self) -> bool {
        let wishes = !self.topics.is_empty() || !self.kinds.is_empty() || !self.venues().is_empty();
        self.intends("thanks")
            && !self.intends("goodbye")
            && !self.is_question
            && !wishes
            && self.facets.is_empty()
    }

    /// Returns whether the text asks about the casino itself: "are you open?", "what is your
    /// address?"
    pub(crate) fn asks_us(&self) -> bool {
        let start: Vec<&str> = self.said.words.iter().take(2).map(String::as_str).collect();
        let you = |pair: &[String]| {
            let pair = [pair[0].as_str(), pair[1].as_str()];
            ["uds", "ustedes", "yall", "guys", "you"].contains(&pair[0])
                && ["open", "close", "abren", "cierran"].contains(&pair[1])
        };
        start == ["are", "you"]
            || self.said.words.windows(2).any(you)
            || (self.said.words.iter().any(|w| w == "your" || w == "casino") && !self.points_back)
    }

    /// Returns whether the text says enough to be a question without an earlier text.
    pub(crate) fn is_particular(&self) -> bool {
        let kinds = self.kinds.iter().any(|kind| kind.field != Field::Kids);
        !self.topics.is_empty() || kinds || !self.is_all_said() || !self.venues().is_empty()
    }

    /// Returns whether the text asks for facts and names no place: "and is there a dress code?"
    pub(crate) fn is_bare_fact(&self) -> bool {
        // "What is open at 3am" asks which places are open, and not about one place.
        let which = [
            "whats",
            "anything",
            "something",
            "anywhere",
            "somewhere",
            "places",
            "algo",
            "algun",
            "alguno",
            "quien",
        ];
        let start: Vec<&str> = self.said.words.iter().take(2).map(String::as_str).collect();
        let asks_which = self.wants("open")
            && (self.said.words.iter().any(|w| which.contains(&w.as_str()))
                || matches!(
                    start.as_slice(),
                    ["what", "is"] | ["que", "esta" | "hay" | "abre"]
                ));
        // In a text that continues the conversation, "kids menu" and "vegan options" ask about one
        // place.
        let continues = self.points_back || self.continues();
        let facts = |kind: &&Kind| continues && kind.is_condition();
        !asks_which
            && !self.asks_us()
            && self.mentions.iter().all(|m| !m.telling)
            && !self.facets.is_empty()
            && self.topics.is_empty()
            && self.kinds.iter().all(facts)
            && self.leftover.is_empty()
    }

    /// Returns whether the text only tells something about the guest: "we are coming Saturday with
    /// two kids".
    pub(crate) fn is_statement(&self) -> bool {
        let wishes = self.kinds.iter().any(|k| k.field != Field::Kids)
            || !self.topics.is_empty()
            || self.venues().iter().any(|m| m.whole);
        self.intends("statement") && !self.is_question && !wishes && !self.intends("booking")
    }
}
