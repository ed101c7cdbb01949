//! Finds special occasions, and the things that the guest likes.

use super::{
    Extracted, Slot,
    said::{Gap, Utterance},
    terms::{List, term, terms},
};

pub(super) fn read(said: &Utterance<'_>) -> Vec<Extracted> {
    let mut found = occasions(said);
    found.extend(liked(said));
    found
}

/// Reads occasions: "my wife's birthday", "celebrating our anniversary", "es nuestro aniversario".
fn occasions(said: &Utterance<'_>) -> Vec<Extracted> {
    let mine = &[
        "my",
        "our",
        "mi",
        "nuestro",
        "nuestra",
        "im having",
        "celebrating",
        "celebrate",
        "celebrando",
        "celebrar",
        "celebramos",
        "for a",
        "for his",
        "for her",
        "his",
        "her",
        "moms",
        "turning",
        "planning a",
        "planning our",
        "on a",
        "having a",
        "throwing a",
        "es el",
        "es mi",
        "de luna",
        "un",
        "una",
        "its a",
        "for the",
        "festejar",
        "festejando",
    ];
    let hits = terms(List::Occasion, said);
    let found = hits.into_iter().filter_map(|hit| {
        let n = hit.words.start;
        let from = said.clause(n).max(n.saturating_sub(6));
        let owned = (from..n).any(|at| {
            said.one_of(at, mine).is_some_and(|end| end <= n) || said.words[at].possessive
        });
        let thing = said.is(
            hit.words.end,
            &[
                "sale", "cake", "card", "venue", "venues", "chapel", "crashers", "packages",
                "package", "deals", "deal", "specials", "offer", "offers", "capacity", "special",
            ],
        );
        let past = said.has(&[
            "last year",
            "was my birthday",
            "was our anniversary",
            "last month",
            "el ano pasado",
            "fue mi",
            "fue nuestro",
            "last week",
        ]);
        let greeting = n > 0 && said.is(n - 1, &["happy", "feliz"]);
        let theirs = (from..n).any(|at| {
            said.is(at, &["your", "casinos", "casino", "their", "su", "date"])
                && !said.words[at].possessive
                && !said.is(at, &["date"])
        });
        let date_of = said.one_of(hit.words.end, &["is on", "is in"]).is_some()
            && hit.is == "birthday"
            && said.is(n.wrapping_sub(1), &["my"]);
        let shy = !owned && (said.is_question(n) || thing);
        if past || greeting || theirs || date_of || shy || said.negated(n) || (thing && !owned) {
            return None;
        }
        Some(Extracted::new(
            Slot::Occasion(hit.is.to_owned()),
            if owned { 90 } else { 70 },
            said.span(n, hit.words.end),
        ))
    });
    let mut found: Vec<Extracted> = found.collect();
    // If the text names two different occasions, both are doubtful, so neither is returned.
    found.dedup_by(|a, b| a.slot == b.slot);
    if found.len() > 1 {
        found.clear();
    }
    found
}

const LIKE: &[&str] = &[
    "i love",
    "we love",
    "i like",
    "we like",
    "i enjoy",
    "we enjoy",
    "i really like",
    "i really love",
    "we really like",
    "interested in",
    "into",
    "a fan of",
    "fan of",
    "fans of",
    "big fan of",
    "i prefer",
    "we prefer",
    "prefer",
    "looking for",
    "id love",
    "we both love",
    "we both like",
    "would love",
    "love to play",
    "like to play",
    "i play",
    "we play",
    "in the mood for",
    "craving",
    "i usually play",
    "me gusta",
    "nos gusta",
    "me gustan",
    "nos gustan",
    "me encanta",
    "nos encanta",
    "me encantan",
    "nos encantan",
    "me interesa",
    "me interesan",
    "nos interesa",
    "prefiero",
    "preferimos",
    "busco",
    "buscamos",
    "juego",
    "jugamos",
    "fanatico de",
    "fanatica de",
    "se me antoja",
    "tengo ganas de",
    "love",
    "want to see",
    "quiero ver",
    "queremos ver",
    "queremos",
];
const BETWEEN: &[&str] = &[
    "a",
    "an",
    "the",
    "some",
    "good",
    "great",
    "live",
    "to",
    "see",
    "go",
    "for",
    "of",
    "el",
    "la",
    "los",
    "las",
    "un",
    "una",
    "ir",
    "al",
    "a",
    "comer",
    "eat",
    "eating",
    "playing",
    "play",
    "jugar",
    "jugar",
    "really",
    "mucho",
    "muchos",
    "do",
    "have",
    "get",
    "any",
    "buena",
    "buen",
    "de",
    "comida",
    "watching",
    "listening",
    "try",
    "both",
    "anything",
    "going",
];

/// Reads likes: "I love comedy and jazz", "nos gusta la comida italiana".
fn liked(said: &Utterance<'_>) -> Vec<Extracted> {
    let mut found: Vec<Extracted> = Vec::new();
    for n in 0..said.len() {
        let Some(mut at) = said
            .one_of(n, LIKE)
            .filter(|_| !said.negated(n) && !subject_is_other(said, n))
        else {
            continue;
        };
        let mut fillers = 0;
        while at < said.len() && said.gap(at) <= Gap::Comma && fillers < 5 {
            if let Some((slot, to)) = taste(said, at) {
                let span = said.span(at, to);
                if !found
                    .iter()
                    .any(|f| f.span.start < span.end && span.start < f.span.end)
                {
                    found.push(Extracted::new(slot, 78, span));
                }
                (at, fillers) = (to, 2);
            } else if said.is(at, BETWEEN) || said.is(at, &["and", "or", "y", "o", "e"]) {
                (at, fillers) = (at + 1, fillers + 1);
            } else {
                break;
            }
        }
    }
    found
}

/// Returns whether somebody other than the guest likes the thing: "they love", "my boss likes",
/// "tell me if you like", "you would love".
fn subject_is_other(said: &Utterance<'_>, n: usize) -> bool {
    let from = said.clause(n).max(n.saturating_sub(3));
    (from..n).any(|at| {
        said.is(
            at,
            &[
                "they", "he", "she", "you", "boss", "who", "people", "usted", "le", "les", "ellos",
                "if", "si", "everyone", "my", "mi", "her", "his", "used",
            ],
        )
    })
}

fn taste(said: &Utterance<'_>, n: usize) -> Option<(Slot, usize)> {
    type Make = fn(String) -> Slot;
    let lists: [(List, Make); 4] = [
        (List::Cuisine, Slot::Cuisine),
        (List::Interest, Slot::Interest),
        (List::Treatment, Slot::Treatment),
        (List::Game, Slot::Game),
    ];
    let hits = lists.iter().filter_map(|(list, make)| {
        term(*list, said, n).map(|hit| (make(hit.is.to_owned()), hit.words.end))
    });
    hits.max_by_key(|(_, end)| *end)
}
