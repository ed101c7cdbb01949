//! Finds the children who come along: their number and ages.

use super::{
    Extracted, Slot,
    number::{any_number, number},
    said::{Gap, Utterance},
    terms::{Hit, List, term},
};

/// The age from which a companion does not count as a child.
const GROWN: u32 = 18;
/// The largest plausible number of children; a larger number means a school class or a typing
/// error.
const MOST: u32 = 12;
const AND: &[&str] = &["and", "y", "e"];
const YEARS: &[&str] = &["years", "year", "yrs", "anos", "ano"];
const OURS: &[&str] = &["my", "our", "mis", "mi", "nuestros", "nuestras"];
const BRINGING: &[&str] = &[
    "with", "bringing", "bring", "con", "traigo", "have", "got", "tengo", "plus", "traer", "llevo",
    "tenemos", "traemos", "llevamos", "has",
];

/// Reads children with their ages or number: "my 8 year old son", "kids 5 and 8", "mi hija tiene
/// 6", "with our two kids".
pub(super) fn of(said: &Utterance<'_>, hit: &Hit) -> Vec<Extracted> {
    let kin = if hit.is == "grandchild" {
        "grandchild"
    } else {
        "child"
    };
    let counted = count(said, hit);
    let ages = ages(said, hit, counted.map(|(count, _)| count));
    if !ages.is_empty() {
        return ages
            .into_iter()
            .map(|(age, from, to)| aged(said, kin, age, 88, from, to))
            .collect();
    }
    let (n, end) = (hit.words.start, hit.words.end);
    let lead = counted.map_or(n, |(_, from)| from);
    let lead =
        lead - usize::from(said.is(lead.wrapping_sub(1), OURS) || said.before(lead, 1) == "the");
    let parents = [
        "adults", "adultos", "wife", "husband", "adult", "esposa", "esposo", "me", "yo", "i", "us",
    ];
    let beside = lead > 1 && said.is(lead - 1, AND) && said.is(lead - 2, &parents)
        || lead > 0 && said.is(lead - 1, &parents[..2]) && said.gap(lead) == Gap::Comma;
    let after = &[
        "are coming",
        "is coming",
        "vienen",
        "viene",
        "love",
        "will be",
        "in tow",
        "with us",
        "with me",
        "con nosotros",
        "conmigo",
        "and i",
        "and me",
        "y yo",
    ];
    let along = said.is(lead.wrapping_sub(1), BRINGING)
        || beside
        || said.one_of(end, after).is_some() && lead < n;
    if !along {
        return Vec::new();
    }
    let slot = match counted {
        Some((number, _)) if number > 1 => Slot::Group {
            kin: kin.to_owned(),
            number,
        },
        _ => Slot::Companion {
            kin: kin.to_owned(),
            name: None,
            age: None,
        },
    };
    vec![Extracted::new(slot, 75, said.span(n, end))]
}

fn aged(
    said: &Utterance<'_>,
    kin: &str,
    age: u32,
    percent: u8,
    from: usize,
    to: usize,
) -> Extracted {
    let slot = Slot::Companion {
        kin: kin.to_owned(),
        name: None,
        age: Some(age),
    };
    Extracted::new(slot, percent, said.span(from, to))
}

/// Returns the number of children, and the index of the word at which the number begins: "two
/// kids", "tres de mis hijos", "twins".
fn count(said: &Utterance<'_>, hit: &Hit) -> Option<(u32, usize)> {
    let n = hit.words.start;
    if said.is(n, &["twins", "gemelos", "gemelas", "mellizos", "mellizas"]) {
        return Some((2, n));
    }
    let small = said.is(
        n.wrapping_sub(1),
        &[
            "little", "small", "young", "younger", "teenage", "grown", "other",
        ],
    );
    let at = n.checked_sub(1 + usize::from(small))?;
    if said.is(at, &["both", "ambos"]) {
        return Some((2, at));
    }
    any_number(said, at)?;
    // A range, as in "2 or 3 kids", or an implausible number is read as one child.
    Some((
        number(said, at)
            .filter(|count| (1..=MOST).contains(count))
            .unwrap_or(1),
        at,
    ))
}

/// Returns the children's ages, each with the range of words that state the age.
fn ages(said: &Utterance<'_>, hit: &Hit, count: Option<u32>) -> Vec<(u32, usize, usize)> {
    let (n, end) = (hit.words.start, hit.words.end);
    // Ages before the noun: "8 year old son", "8-year-old daughter", "my 5 and 7 year old kids".
    if n >= 3 && said.is(n - 1, &["old", "olds"]) && said.is(n - 2, &["year", "yr", "years"]) {
        return back(said, n - 3);
    }
    if n >= 2 && said.is(n - 1, &["yo", "yr"]) {
        return back(said, n - 2);
    }
    let cues = &[
        "is",
        "are",
        "aged",
        "ages",
        "age",
        "who is",
        "who are",
        "whos",
        "of",
        "de",
        "tiene",
        "tienen",
        "que tiene",
        "que tienen",
        "are ages",
        "is turning",
        "turning",
        "turns",
        "cumple",
        "they are",
        "theyre",
        "edades",
        "con edades de",
    ];
    let at = said
        .one_of(end, cues)
        .filter(|_| said.gap(end) <= Gap::Comma)
        .or_else(|| {
            // Ages after a bracket or colon: "kids (5, 8)", "kids: 5 and 8".
            (said.between(end).contains(['(', ':']) && any_number(said, end).is_some())
                .then_some(end)
        });
    // Ages after a count, as in "2 kids, 5 and 8"; there must be as many ages as children.
    let Some(at) = at else {
        let ages = if said.gap(end) <= Gap::Comma {
            forward(said, end)
        } else {
            Vec::new()
        };
        return if count.is_some_and(|count| count as usize == ages.len()) && ends(said, &ages) {
            ages
        } else {
            vec![]
        };
    };
    let ages = forward(said, at);
    let next = ages.last().map_or(at, |(_, _, to)| *to);
    let bare = said.is(end, &["is", "are", "of", "who"])
        && !said.is(next, &["year", "years", "yrs", "yr", "and"])
        && said.gap(next) <= Gap::Space;
    if bare || said.is(next, COUNTED) {
        Vec::new()
    } else {
        ages
    }
}

/// A number before one of these words is not an age, because it counts something else.
const COUNTED: &[&str] = &[
    "us", "them", "pm", "am", "minutes", "hours", "people", "st", "nd", "rd", "th", "percent",
    "feet", "times", "hermanos", "adults", "adultos",
];

/// Returns whether the clause ends after the ages. Otherwise the numbers may count something else.
fn ends(said: &Utterance<'_>, ages: &[(u32, usize, usize)]) -> bool {
    let next = ages.last().map_or(0, |(_, _, to)| *to);
    said.gap(next) >= Gap::Comma
        || said.is(
            next,
            &["now", "so", "if", "btw", "respectively", "but", "yo", "yrs"],
        )
}

/// Reads children who are mentioned only by age: "They're 5 and 8", "Tienen 4, 7 y 10 años", "the
/// oldest is 9", "with our 6 year old".
pub(super) fn by_age(said: &Utterance<'_>) -> Vec<Extracted> {
    let mut found = Vec::new();
    for n in 0..said.len() {
        let ages = together(said, n)
            .or_else(|| one_of_them(said, n))
            .or_else(|| year_olds(said, n));
        found.extend(
            ages.unwrap_or_default()
                .into_iter()
                .map(|(age, from, to)| aged(said, "child", age, 70, from, to)),
        );
    }
    found
}

/// Reads the ages of all children from one list, as in "they're 5 and 8". A single number needs the
/// word "years", because a number alone could mean many things.
fn together(said: &Utterance<'_>, n: usize) -> Option<Vec<(u32, usize, usize)>> {
    let subjects = &[
        "theyre",
        "they are",
        "ages",
        "ages are",
        "aged",
        "tienen",
        "son de",
        "edades",
        "edades de",
        "sus edades son",
    ];
    let at = said.one_of(n, subjects).or_else(|| {
        let single = [
            "shes",
            "she is",
            "hes",
            "he is",
            "tiene",
            "ella tiene",
            "el tiene",
        ];
        said.one_of(n, &single)
            .filter(|at| said.gap(n) >= Gap::Comma && says_years(said, *at))
    })?;
    let ages = forward(said, at);
    let next = ages.last()?.2;
    let spanish = said.is(n, &["tienen", "son"]);
    let enough = says_years(said, next.saturating_sub(3).max(at))
        || ages.len() > 1 && !spanish
        || ages.len() > 1 && ends(said, &ages);
    let whole =
        ends(said, &ages) || says_years(said, at) && !said.is(next, &["de", "of", "in", "ago"]);
    (enough && whole && !said.is_question(n) && !said.negated(n)).then_some(ages)
}

/// Returns whether the numbers that begin at word `n` come with the word "years".
fn says_years(said: &Utterance<'_>, n: usize) -> bool {
    (n..said.len())
        .take_while(|at| {
            any_number(said, *at).is_some() || said.is(*at, AND) || said.is(*at, YEARS)
        })
        .any(|at| said.is(at, YEARS))
}

/// Reads the age of one child among several: "one is 5, the other is 8", "el mayor tiene 9".
fn one_of_them(said: &Utterance<'_>, n: usize) -> Option<Vec<(u32, usize, usize)>> {
    let subjects = &[
        "one",
        "one of them",
        "the other",
        "the other one",
        "other one",
        "the oldest",
        "the youngest",
        "my oldest",
        "my youngest",
        "our oldest",
        "our youngest",
        "the little one",
        "the older one",
        "the younger one",
        "uno",
        "una",
        "el otro",
        "la otra",
        "el mayor",
        "la mayor",
        "el menor",
        "la menor",
        "el pequeno",
        "la pequena",
        "el grande",
        "la grande",
        "el chiquito",
        "la chiquita",
    ];
    // Takes the longest match, because "the other one" begins with "the other".
    let end = subjects
        .iter()
        .filter_map(|subject| said.one_of(n, &[subject]))
        .max()?;
    let verb = said.is(end, &["is", "tiene", "turned", "cumple", "cumplio"]);
    if !verb && !said.words.get(end - 1)?.possessive {
        return None;
    }
    let at = end
        + usize::from(verb)
        + usize::from(verb && said.is(end + 1, &["just", "only", "almost", "ya", "apenas"]));
    let age = any_number(said, at).filter(|age| *age < GROWN)?;
    let to = at + 1 + usize::from(said.is(at + 1, YEARS)) + usize::from(said.is(at + 2, &["old"]));
    let done = said.gap(to) >= Gap::Comma || said.is(to, AND) || to > at + 1;
    (done && !said.is_question(n) && !said.is(to, COUNTED)).then(|| vec![(age, at, to)])
}

/// Reads "with our 6 year old" and "a 4 year old and a 7 year old", but not "a 12 year old
/// whiskey".
fn year_olds(said: &Utterance<'_>, n: usize) -> Option<Vec<(u32, usize, usize)>> {
    let age = any_number(said, n).filter(|age| *age < GROWN)?;
    let to = said.one_of(
        n + 1,
        &[
            "year old",
            "year olds",
            "yr old",
            "yr olds",
            "years old",
            "yo",
        ],
    )?;
    let follows = &[
        "and", "with", "who", "coming", "too", "so", "is", "are", "eats", "love", "loves", "likes",
        "wants", "would", "can", "along",
    ];
    let named = term(List::Kin, said, to).is_some();
    let ends = said.gap(to) >= Gap::Comma || said.is(to, follows);
    let mine = said.is(n.wrapping_sub(1), &["my", "our"]);
    let brought = said.is(n.wrapping_sub(1), &["a", "an"])
        && (said.is(n.wrapping_sub(2), BRINGING)
            || said.is(n.wrapping_sub(2), AND) && said.before(n, 3) == "old");
    (ends && !named && (mine || brought) && !said.negated(n)).then(|| vec![(age, n, to)])
}

/// Returns the ages from word `n` on, joined by "and" and commas, up to the first adult's age.
fn forward(said: &Utterance<'_>, n: usize) -> Vec<(u32, usize, usize)> {
    let (mut ages, mut at) = (Vec::new(), n);
    while let Some(age) = any_number(said, at).filter(|age| *age < GROWN) {
        if said.between(at).ends_with(['$', ':']) || ages.len() >= 8 {
            break;
        }
        let years = usize::from(said.is(at + 1, YEARS));
        let years = years + usize::from(years > 0 && said.is(at + 2, &["old"]));
        ages.push((age, at, at + 1 + years));
        at += 1 + years;
        at += usize::from(said.is(at, &["and", "y"]) && any_number(said, at + 1).is_some());
        if said.gap(at) > Gap::Comma {
            break;
        }
    }
    ages
}

/// Returns the age at word `n`. If "and" joins another age to it, as in "5 and 7", returns both.
fn back(said: &Utterance<'_>, n: usize) -> Vec<(u32, usize, usize)> {
    let Some(age) = any_number(said, n).filter(|age| *age < GROWN) else {
        return Vec::new();
    };
    let first = (n >= 2 && said.is(n - 1, &["and", "y"]))
        .then(|| number(said, n - 2))
        .flatten()
        .filter(|age| *age < GROWN);
    first
        .map(|age| (age, n - 2, n - 1))
        .into_iter()
        .chain([(age, n, n + 1)])
        .collect()
}
