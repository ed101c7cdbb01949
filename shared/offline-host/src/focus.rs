//! Finds the subject of a text that names nothing: the venue mentioned last stays the subject.

mod subject;

use std::sync::Arc;

use seven_knowledge::{Category, Item, Term};
use subject::subjects;

use super::{compose::venue, fit::Part, host::Host, pack::Field, reading, understand::Understood};
use crate::{about, sentences};

/// Lowest score at which a row counts as mentioning a term.
const SAID: f32 = 0.5;
const CALLED: f32 = 0.82;

/// Intents that are never about one venue, or that are answered for all venues.
const APART: [&str; 8] = ["identity", "complaint", "human", "allergy", "limits", "recommend", "cheapest", "goodbye"];
const POINTERS: [&str; 19] = [
    "it", "its", "they", "theyre", "their", "them", "those", "ese", "esa", "eso", "esos", "esas", "ahi", "alli",
    "alla", "ellos", "aquel", "las", "los",
];
const THAT: [&str; 6] = ["that", "this", "ese", "esa", "este", "aquel"];
const TOO: [&str; 4] = ["too", "also", "tambien", "either"];
/// Words about the language of a text, or without any meaning of their own.
const IDLE: [&str; 18] = [
    "english",
    "ingles",
    "spanish",
    "espanol",
    "back",
    "please",
    "ahead",
    "advance",
    "anticipacion",
    "reservar",
    "book",
    "booking",
    "till",
    "til",
    "often",
    "frequently",
    "seguido",
    "certain",
];
/// Short ways to ask for a fact that are clear only if the subject is known.
const FACTS: [(&str, &str); 38] = [
    ("age", "certain age"),
    ("age", "an adult with"),
    ("closes", "till when"),
    ("closes", "till"),
    ("closes", "til when"),
    ("closes", "until when"),
    ("closes", "until what time"),
    ("closes", "how late"),
    ("where", "which building"),
    ("where", "what building"),
    ("where", "wheres that"),
    ("where", "en que edificio"),
    ("where", "en que parte"),
    ("where", "donde las compro"),
    ("where", "donde los compro"),
    ("where", "donde compro"),
    ("where", "donde se compran"),
    ("where", "where do we buy"),
    ("where", "where do i buy"),
    ("where", "where can i buy"),
    ("dress", "ir elegante"),
    ("dress", "ir vestido"),
    ("dress", "ir vestida"),
    ("dress", "do i wear"),
    ("kids", "kidz"),
    ("reservations", "need a booking"),
    ("reservations", "have to book"),
    ("reservations", "need to book"),
    ("reservations", "book ahead"),
    ("reservations", "book in advance"),
    ("reservations", "walk ins"),
    ("reservations", "hay que reservar"),
    ("reservations", "reservar antes"),
    ("sleeps", "how many people"),
    ("sleeps", "how many of us"),
    ("sleeps", "cuantas personas"),
    ("sleeps", "cuantos caben"),
    ("sleeps", "how many does it"),
];
/// Words that ask for everything known about the subject.
const WHOLE: [&str; 13] = [
    "incluye", "incluido", "include", "includes", "included", "use", "usa", "usamos", "redeem", "work", "works",
    "funciona", "uso",
];
/// Words that refer to something of the subject's kind.
const TICKETS: [&str; 8] = ["tickets", "ticket", "boletos", "boleto", "entradas", "entrada", "funcion", "seats"];

/// Answers about the subject, if the text does not say what it is about.
pub(crate) fn answer(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Option<Part> {
    let again = asked(u);
    let hard = hard_terms(host, &again);
    if !is_open(&again) {
        return None;
    }
    let subjects = subjects(host, &again, &hard, said_now);
    let rows = subjects.first()?;
    let main = rows.first()?;
    if !is_of(&again, main) {
        return None;
    }
    // A word of the subject's name ("that massage", "the coffee place") does not ask for anything
    // further.
    let index = &host.request.index;
    let hard: Vec<Term> = hard.into_iter().filter(|term| index.is_called(main, term) < CALLED).collect();
    let points = points(&again);
    let kinds = again.kinds.iter().any(|kind| !matches!(kind.field, Field::Kids | Field::Dietary));
    if (kinds || again.kinds.iter().any(|k| k.field == Field::Dietary) && main.category != Category::Dining) && !points
    {
        return None;
    }
    let again = Understood { topics: Vec::new(), wishes: Vec::new(), ..again };
    if hard.is_empty() && again.facets.is_empty() && again.when.is_said() && again.intents.is_empty() && !kinds {
        return at_time(host, &again, rows);
    }
    if again.said.words.iter().any(|word| WHOLE.contains(&word.as_str())) && hard.iter().all(|t| is_whole(&again, t)) {
        return Some(venue::info(host, main));
    }
    if again.wants("sleeps") {
        let of =
            |row: &Arc<Item>| row.details.extra().and_then(|e| e.get("sleeps")).map(|n| (Arc::clone(row), n.clone()));
        let (row, count) = rows.iter().find_map(of)?;
        let count = seven_knowledge::formatter::plain(&count);
        let body = host.say("sleeps", &[("name", &host.name(&row)), ("value", &count)]);
        return Some(host.part("venue_info", body, &[row]));
    }
    let told = (!kinds).then(|| of_fields(host, &again, &hard, &subjects)).flatten();
    let only = || (points || is_added(&again)).then(|| reading::only_sentence(host, &again, main)).flatten();
    told.or_else(|| sentence(host, &again, &hard, rows)).or_else(only).or_else(|| {
        let unknown = !hard.is_empty() && !hard.iter().all(|term| says(host, rows, term));
        let about = points
            || is_added(&again)
            || (again.continues() && hard.is_empty())
            || (!hard.is_empty() && !unknown && !again.facets.is_empty());
        let asks = again.is_question || again.asks_fact();
        (about && asks && (!hard.is_empty() || again.asks_fact())).then(|| missing(host, main))
    })
}

/// Returns `part`, found for a text that names nothing. If it is from a row other than the subject
/// and does not say the thing asked for, returns instead that the detail is missing for the
/// subject.
pub(crate) fn honest(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str], part: Part) -> Part {
    let again = asked(u);
    let hard = hard_terms(host, &again);
    let index = &host.request.index;
    let found: Vec<_> = part.sources.iter().filter_map(|id| index.get(id)).cloned().collect();
    let plain =
        again.topics.is_empty() && again.kinds.is_empty() && again.wishes.is_empty() && part.intent != "booking";
    let stray = found.len() == 1 && !hard.is_empty() && !part.chat && u.is_question && plain && is_open(&again);
    let literal =
        |term: &Term| term.is_literally_in(&part.body) || found.iter().any(|row| index.is_called(row, term) >= CALLED);
    if !stray || hard.iter().all(literal) {
        return part;
    }
    let subjects = subjects(host, &again, &hard, said_now);
    match subjects.first().and_then(|rows| rows.first()) {
        Some(row) if row.id != found[0].id => missing(host, row),
        _ => part,
    }
}

/// Returns the text as understood, with the facts that its short words ask for.
fn asked<'a>(u: &Understood<'a>) -> Understood<'a> {
    let mut again = u.clone();
    let joined = format!(" {} ", u.said.words.join(" "));
    for (facet, phrase) in FACTS {
        if joined.contains(&format!(" {phrase} ")) {
            again.facets.insert(facet);
        }
    }
    if again.wants("sleeps") {
        again.facets.remove("price");
    }
    if again.wants("reservations") {
        again.intents.remove("booking");
    }
    // A weekday or "till" is not part of a name.
    again.mentions.retain(|m| m.whole || !u.said.words[m.from..m.to].iter().all(|word| is_idle(word)));
    again
}

fn is_idle(word: &str) -> bool {
    IDLE.contains(&word) || reading::is_calendar(word)
}

fn hard_terms(host: &Host<'_>, u: &Understood<'_>) -> Vec<Term> {
    let joined: Vec<&str> = u.said.words.iter().map(String::as_str).collect();
    let short = |t: &Term| {
        FACTS.iter().any(|(_, phrase)| {
            let words: Vec<&str> = phrase.split(' ').collect();
            let at = joined.windows(words.len()).position(|window| window == words);
            at.is_some_and(|at| at <= t.from && t.to <= at + words.len())
        })
    };
    let spent = |n: usize| is_idle(joined[n]) || TICKETS.contains(&joined[n]) || TOO.contains(&joined[n]);
    let terms = sentences::terms(host, u).into_iter();
    let facts = |t: &Term| {
        let facets = ["dress", "kids", "dietary", "reservations", "couples"];
        let wanted = facets.iter().filter(|facet| u.wants(facet)).filter_map(|facet| host.pack.facets.get(*facet));
        wanted.flat_map(|phrases| phrases.places(&u.said)).any(|(from, to)| from <= t.from && t.to <= to)
    };
    terms.filter(|t| !t.soft && !short(t) && !facts(t) && !(t.from..t.to).all(spent)).collect()
}

/// Returns whether the text names nothing and is not a question of another kind.
fn is_open(u: &Understood<'_>) -> bool {
    let rule = |c: &Category| matches!(c, Category::Regulations | Category::GeneralInfo | Category::Promotions);
    let named = u.mentions.iter().any(|m| m.telling && (m.whole || !rule(&m.item.category)));
    let apart = APART.iter().any(|intent| u.intends(intent)) || (u.intends("rules") && !u.wants("kids"));
    let words: Vec<&str> = u.said.words.iter().map(String::as_str).collect();
    let which =
        ["whats", "anything", "something", "anywhere", "somewhere", "places", "algo", "alguno", "which", "cuales"];
    let asks_which = words.iter().any(|word| which.contains(word)) && (u.wants("open") || u.intends("listing"));
    let open = matches!(words.as_slice(), ["what", "is", "open", ..] | ["que", "esta" | "hay" | "abre", ..]);
    let any =
        matches!(words.as_slice(), ["any" | "got", ..] | ["where", "can" | "should", "we" | "i", "eat" | "get", ..]);
    let asks = u.is_question || u.asks_fact() || u.facets.contains("kids") || points(u);
    asks && !named && !apart && !asks_which && !open && !any && !u.asks_us() && !u.is_praise() && !u.is_statement()
}

/// Returns whether the subject belongs to the topic of the text, if it has one: "how much are
/// tickets", "that massage".
fn is_of(u: &Understood<'_>, row: &Item) -> bool {
    let words = &u.said.words;
    let refers = |place: &(usize, usize)| {
        let that = place.0.checked_sub(1).is_some_and(|before| THAT.contains(&words[before].as_str()));
        that || words[place.0..place.1].iter().all(|word| TICKETS.contains(&word.as_str()))
    };
    u.topics.is_empty()
        || (u.topics.contains(&row.category) && !u.topic_places.is_empty() && u.topic_places.iter().all(refers))
        || (u.topics.contains(&row.category)
            && u.topic_places.is_empty()
            && u.wishes.iter().all(|wish| refers(&wish.at)))
}

/// Returns whether the text says "it", "they" or "there".
fn points(u: &Understood<'_>) -> bool {
    let words: Vec<&str> = u.said.words.iter().map(String::as_str).collect();
    let article = |n: usize| {
        let verb = words.get(n + 1).is_some_and(|w| ["compro", "compramos", "venden", "usamos"].contains(w));
        !["las", "los"].contains(&words[n]) || verb
    };
    let at = |n: usize| {
        let before = n.checked_sub(1).map(|n| words[n]);
        match words[n] {
            "there" => !matches!(before, Some("is" | "are" | "was")),
            "that" => {
                n + 1 == words.len()
                    || matches!(before, Some("is" | "does" | "wheres" | "whats" | "for" | "about" | "with"))
            }
            word => POINTERS.contains(&word) && article(n),
        }
    };
    (0..words.len()).any(at)
}

/// Returns whether the text asks for one more thing: "Oat milk too?"
fn is_added(u: &Understood<'_>) -> bool {
    u.said.words.last().is_some_and(|word| TOO.contains(&word.as_str()))
}

fn is_whole(u: &Understood<'_>, term: &Term) -> bool {
    (term.from..term.to).all(|n| WHOLE.contains(&u.said.words[n].as_str()))
}

fn says(host: &Host<'_>, rows: &[Arc<Item>], term: &Term) -> bool {
    rows.iter().any(|row| host.request.index.says(row, term) >= SAID)
}

fn missing(host: &Host<'_>, row: &Item) -> Part {
    let body = host.say("missing", &[("name", &host.name(row))]);
    Part { grounded: false, ..host.part("unanswered", body, &[]) }
}

/// Answers "And on sundays?" with the subject's hours; for a show, with the calendar of that time.
fn at_time(host: &Host<'_>, u: &Understood<'_>, rows: &[Arc<Item>]) -> Option<Part> {
    if !u.is_question && !u.continues() {
        return None;
    }
    if rows.iter().any(|row| row.category == Category::Entertainment) {
        let night = Understood { topics: vec![Category::Entertainment], is_question: true, ..u.clone() };
        return about::about_topic(host, &night);
    }
    let timed: Vec<Arc<Item>> = rows.iter().filter(|row| row.hours().is_some()).cloned().collect();
    (!timed.is_empty()).then(|| venue::answer(host, u, &timed)).filter(|part| part.grounded)
}

/// Answers the facts asked for from the fields of the subject, or of the previous subject.
fn of_fields(host: &Host<'_>, u: &Understood<'_>, hard: &[Term], subjects: &[Vec<Arc<Item>>]) -> Option<Part> {
    let asks = u.facets.iter().any(|facet| *facet != "about") || u.intends("booking");
    // The price of a dish is not the price of the place.
    let only = hard.is_empty() || (points(u) && !u.wants("price") && !u.intends("booking"));
    if !asks || !only {
        return None;
    }
    let firm = |rows: &Vec<Arc<Item>>| {
        rows.iter().any(|row| matches!(row.category, Category::Dining | Category::Entertainment))
    };
    let older = usize::from(!firm(&subjects[0]) && u.wants("reservations"));
    let parts = subjects.iter().take(1 + older).map(|rows| venue::answer(host, u, rows));
    // The age rules of a pool are in a sentence, not in its general description.
    let of_people = u.wants("kids") || u.wants("age");
    parts.into_iter().find(|part| part.grounded && !(part.is_whole && of_people))
}

/// Answers with the subject's sentence that holds everything asked for.
fn sentence(host: &Host<'_>, u: &Understood<'_>, hard: &[Term], rows: &[Arc<Item>]) -> Option<Part> {
    let index = &host.request.index;
    let terms = sentences::terms(host, u);
    if !hard.iter().all(|term| says(host, rows, term)) {
        return None;
    }
    let keep = |item: &Item, text: &str| rows.iter().any(|row| row.id == item.id) && sentences::meets(u, text);
    let found = index.passages(&terms, host.language, host.request.now, keep);
    let own = |text: &str| hard.is_empty() || hard.iter().any(|term| term.is_in(text) >= SAID);
    let best = found.iter().find(|passed| passed.own > 0.0 && own(&passed.text))?;
    Some(reading::tell(host, best))
}
