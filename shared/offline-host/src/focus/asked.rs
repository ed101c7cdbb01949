//! Reads a text that names no venue: what it asks for, and whether it refers to something said
//! before.

use seven_knowledge::{Item, Term};

use crate::{
    calendar::is_calendar,
    host::Host,
    sentences,
    understand::{Understood, is_rule},
};

/// Intents that are never about one venue, or that concern all venues.
const APART: [&str; 8] = [
    "identity",
    "complaint",
    "human",
    "allergy",
    "limits",
    "recommend",
    "cheapest",
    "goodbye",
];
const THAT: [&str; 6] = ["that", "this", "ese", "esa", "este", "aquel"];
const TOO: [&str; 4] = ["too", "also", "tambien", "either"];
/// Words that name a language, or that mean nothing in this context.
const IDLE: [&str; 20] = [
    "early",
    "temprano",
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
/// Facts, each with a short phrase that asks for it; the phrases are clear only if the subject is
/// known.
const FACTS: [(&str, &str); 43] = [
    ("age", "certain age"),
    ("age", "an adult with"),
    ("closes", "till when"),
    ("closes", "till"),
    ("closes", "til when"),
    ("closes", "until when"),
    ("closes", "until what time"),
    ("closes", "how late"),
    ("starts", "what day"),
    ("starts", "which day"),
    ("starts", "que dia"),
    ("starts", "que dias"),
    ("starts", "que fecha"),
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
/// Words that ask for everything that the content says about the subject.
pub(super) const WHOLE: [&str; 19] = [
    "cobro", "cobrar", "canjeo", "canjear", "canjea", "claim", "incluye", "incluido", "include",
    "includes", "included", "use", "usa", "usamos", "redeem", "work", "works", "funciona", "uso",
];
/// Words that fit any show or event as the subject.
const TICKETS: [&str; 8] = [
    "tickets", "ticket", "boletos", "boleto", "entradas", "entrada", "funcion", "seats",
];

/// Returns the understood text, plus the facts that its short phrases ask for (see `FACTS`).
pub(super) fn asked<'a>(u: &Understood<'a>) -> Understood<'a> {
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
    // "Do we have to dress elegantly" does not ask for an elegant place.
    if again.wants("dress") {
        again.kinds.clear();
    }
    // A weekday or a word such as "till" alone does not name a row.
    again
        .mentions
        .retain(|m| m.whole || !u.said.words[m.from..m.to].iter().all(|word| is_idle(word)));
    again
}

fn is_idle(word: &str) -> bool {
    IDLE.contains(&word) || is_calendar(word)
}

pub(super) fn hard_terms(host: &Host<'_>, u: &Understood<'_>) -> Vec<Term> {
    let joined: Vec<&str> = u.said.words.iter().map(String::as_str).collect();
    let short = |t: &Term| {
        FACTS.iter().any(|(_, phrase)| {
            let words: Vec<&str> = phrase.split(' ').collect();
            let at = joined
                .windows(words.len())
                .position(|window| window == words);
            at.is_some_and(|at| at <= t.from && t.to <= at + words.len())
        })
    };
    let spent =
        |n: usize| is_idle(joined[n]) || TICKETS.contains(&joined[n]) || TOO.contains(&joined[n]);
    let terms = sentences::terms(host, u).into_iter();
    let facts = |t: &Term| {
        let facets = ["dress", "kids", "dietary", "reservations", "couples"];
        let wanted = facets
            .iter()
            .filter(|facet| u.wants(facet))
            .filter_map(|facet| host.pack.facets.get(*facet));
        wanted
            .flat_map(|phrases| phrases.places(&u.said))
            .any(|(from, to)| from <= t.from && t.to <= to)
    };
    terms
        .filter(|t| !t.soft && !short(t) && !facts(t) && !(t.from..t.to).all(spent))
        .collect()
}

/// Returns whether the text names no venue and asks a question that may be about one venue.
pub(super) fn is_open(u: &Understood<'_>) -> bool {
    let named = u
        .mentions
        .iter()
        .any(|m| m.telling && (m.whole || !is_rule(&m.item.category)));
    let apart =
        APART.iter().any(|intent| u.intends(intent)) || (u.intends("rules") && !u.wants("kids"));
    let words: Vec<&str> = u.said.words.iter().map(String::as_str).collect();
    let which = [
        "whats",
        "anything",
        "something",
        "anywhere",
        "somewhere",
        "places",
        "algo",
        "alguno",
        "which",
        "cuales",
    ];
    let asks_which =
        words.iter().any(|word| which.contains(word)) && (u.wants("open") || u.intends("listing"));
    let asks_which = asks_which && !u.wants("where");
    let open = matches!(
        words.as_slice(),
        ["what", "is", "open", ..] | ["que", "esta" | "hay" | "abre", ..]
    );
    let any = matches!(
        words.as_slice(),
        ["any" | "got", ..] | ["where", "can" | "should", "we" | "i", "eat" | "get", ..]
    );
    let asks = u.is_question || u.asks_fact() || u.facets.contains("kids") || u.refers();
    asks && !named
        && !apart
        && !asks_which
        && !open
        && !any
        && !u.asks_us()
        && !u.is_praise()
        && !u.is_statement()
}

/// Returns whether the text may be about the row. If the text has a topic, the row must belong to
/// it, and the text must refer to something said before: "how much are tickets", "that massage".
pub(super) fn is_of(u: &Understood<'_>, row: &Item) -> bool {
    let words = &u.said.words;
    let refers = |place: &(usize, usize)| {
        let that = place
            .0
            .checked_sub(1)
            .is_some_and(|before| THAT.contains(&words[before].as_str()));
        that || words[place.0..place.1]
            .iter()
            .all(|word| TICKETS.contains(&word.as_str()))
    };
    u.topics.is_empty()
        || (u.topics.contains(&row.category)
            && !u.topic_places.is_empty()
            && u.topic_places.iter().all(refers))
        || (u.topics.contains(&row.category)
            && u.topic_places.is_empty()
            && u.wishes.iter().all(|wish| refers(&wish.at)))
}

/// Returns whether the text asks for one thing more, as in "Oat milk too?"
pub(super) fn is_added(u: &Understood<'_>) -> bool {
    u.said
        .words
        .last()
        .is_some_and(|word| TOO.contains(&word.as_str()))
}

pub(super) fn is_whole(u: &Understood<'_>, term: &Term) -> bool {
    (term.from..term.to).all(|n| WHOLE.contains(&u.said.words[n].as_str()))
}
