//! Finds the party size: "party of 6", "mesa para cuatro", "just the two of us".

use super::{
    Extracted, Setting, Slot,
    number::{any_number, in_figures, number},
    said::{Gap, Utterance},
};
use crate::Topic;

/// The largest plausible party; a larger number means a typing error or a convention.
const MOST: u32 = 60;
const PEOPLE: &[&str] = &[
    "people",
    "persons",
    "person",
    "ppl",
    "guests",
    "pax",
    "personas",
    "persona",
    "comensales",
    "huespedes",
];
const ADULTS: &[&str] = &["adults", "adult", "adultos", "adulto", "grownups", "grown"];
const CHILDREN: &[&str] = &[
    "kids", "kid", "children", "child", "ninos", "nino", "ninas", "hijos", "nenes",
];

pub(super) fn read(said: &Utterance<'_>, setting: &Setting) -> Option<Extracted> {
    let ways: [fn(&Utterance<'_>) -> Option<Extracted>; 5] =
        [adults_and_children, counted, of_us, booked, pair];
    let found = ways.iter().find_map(|way| way(said));
    found.or_else(|| {
        (setting.asked == Some(Topic::PartySize))
            .then(|| answer(said))
            .flatten()
    })
}

fn party(
    said: &Utterance<'_>,
    size: u32,
    percent: u8,
    from: usize,
    to: usize,
) -> Option<Extracted> {
    (1..=MOST)
        .contains(&size)
        .then(|| Extracted::new(Slot::PartySize(size), percent, said.span(from, to)))
}

/// Adds adults and children: "2 adults and 3 kids", "2 adultos y un niño".
fn adults_and_children(said: &Utterance<'_>) -> Option<Extracted> {
    (0..said.len()).find_map(|n| {
        let adults = number(said, n).filter(|_| said.is(n + 1, ADULTS) && !said.negated(n))?;
        let link = n + 2 + usize::from(said.is(n + 2, &["and", "y", "plus", "mas"]));
        let link = link + usize::from(said.is(link, &["the", "our", "los", "mis"]));
        let one = said.is(link, &["a", "un", "una"]).then_some(1);
        let children = number(said, link)
            .or(one)
            .filter(|_| said.is(link + 1, CHILDREN));
        let to = if children.is_some() { link + 2 } else { n + 2 };
        party(said, adults + children.unwrap_or(0), 92, n, to)
    })
}

/// Reads "6 people" and "para 4 personas", but not people outside the party, as in "20 people in
/// line" or "2 people told me".
fn counted(said: &Utterance<'_>) -> Option<Extracted> {
    (0..said.len()).find_map(|n| {
        let size =
            number(said, n).filter(|_| said.is(n + 1, PEOPLE) && said.gap(n + 1) <= Gap::Space)?;
        let ours = said.is(
            n.wrapping_sub(1),
            &[
                "for", "of", "were", "are", "be", "para", "de", "somos", "seremos", "seriamos",
                "have", "with", "about", "around", "us", "just", "only", "its", "bring",
                "bringing", "actually", "like", "unas", "como", "that", "solo",
            ],
        ) || (n == 0 || said.gap(n) >= Gap::Comma);
        let others = said.is(
            n + 2,
            &[
                "in", "ahead", "waiting", "told", "said", "who", "work", "working", "were", "fit",
                "died", "there", "max", "at", "que", "en", "trabajan", "delante", "can", "could",
                "standing",
            ],
        ) || said.is(n.wrapping_sub(1), &["are", "were"])
            && said.is(n.wrapping_sub(2), &["there", "these", "those", "how"])
            && said.is_question(n)
            || said.has(&[
                "how many",
                "cuantas personas caben",
                "seats",
                "capacity",
                "capacidad",
            ]) && said.is_question(n);
        if !ours || others || said.negated(n) {
            return None;
        }
        party(said, size, 92, n, n + 2)
    })
}

/// Reads "the 4 of us", "there will be six of us" and "somos 5", but not "one of us is vegan".
fn of_us(said: &Utterance<'_>) -> Option<Extracted> {
    (0..said.len()).find_map(|n| {
        if let Some(at) = said.one_of(
            n,
            &[
                "somos",
                "seremos",
                "vamos a ser",
                "seriamos",
                "iremos",
                "vamos",
            ],
        ) {
            let size =
                number(said, at).filter(|_| !said.negated(n) && stands_alone(said, at + 1))?;
            return party(said, size, 90, n, at + 1);
        }
        if let Some(at) = said.one_of(
            n,
            &[
                "we are",
                "were",
                "we re",
                "we will be",
                "well be",
                "therell be",
                "there will be",
                "theres",
            ],
        ) {
            let size = number(said, at).filter(|_| !said.negated(n))?;
            if said.phrase(at + 1, &["of", "us"]).is_some() {
                return party(said, size, 92, n, at + 3);
            }
            let ours = !said.is(n, &["therell", "there", "theres"]);
            return (ours && stands_alone(said, at + 1))
                .then(|| party(said, size, 85, n, at + 1))
                .flatten();
        }
        let size = number(said, n).filter(|_| said.phrase(n + 1, &["of", "us"]).is_some())?;
        let all = said.is(
            n.wrapping_sub(1),
            &[
                "the", "all", "just", "only", "about", "be", "are", "for", "feed", "seat", "fit",
                "take", "sleep",
            ],
        );
        let whole = (n == 0 || said.gap(n) >= Gap::Comma)
            && (said.gap(n + 3) >= Gap::Comma
                || said.is(
                    n + 3,
                    &[
                        "for", "coming", "this", "next", "on", "arriving", "total", "tonight",
                        "tomorrow", "will",
                    ],
                ));
        if size < 2 || said.negated(n) || !(all || whole) {
            return None;
        }
        party(said, size, 92, n, n + 3)
    })
}

/// Returns whether the number before word `n` has no unit, such as hours, years or miles.
fn stands_alone(said: &Utterance<'_>, n: usize) -> bool {
    said.gap(n) >= Gap::Comma
        || said.is(
            n,
            &[
                "and",
                "y",
                "for",
                "para",
                "this",
                "next",
                "on",
                "tonight",
                "total",
                "in",
                "de",
                "en",
                "coming",
                "el",
                "este",
                "now",
                "altogether",
                "arriving",
                "mas",
                "con",
                "adultos",
                "adults",
                "nada",
            ],
        ) && !said.is(n + 1, &["horas", "minutos", "pm", "am"])
}

/// Reads the size from a booking: "table for 4", "party of six", "mesa para dos", "cena para dos".
fn booked(said: &Utterance<'_>) -> Option<Extracted> {
    (0..said.len()).find_map(|n| {
        let sure = said.one_of(
            n,
            &[
                "party of",
                "group of",
                "table for",
                "grupo de",
                "mesa para",
                "booth for",
                "seats for",
                "room for",
                "tickets for",
                "boletos para",
                "entradas para",
            ],
        );
        let meal = || {
            said.one_of(
                n,
                &[
                    "dinner for",
                    "lunch for",
                    "brunch for",
                    "breakfast for",
                    "reservation for",
                    "massage for",
                    "cena para",
                    "almuerzo para",
                    "reservacion para",
                    "reserva para",
                    "desayuno para",
                ],
            )
        };
        let (at, meal) = sure
            .map(|at| (at, false))
            .or_else(|| meal().map(|at| (at, true)))?;
        let at = at + usize::from(said.is(at, &["about", "around", "unas", "like"]));
        let one = said.is(at, &["one", "uno", "una"]).then_some(1);
        let size = number(said, at).or(one)?;
        // "Dinner for 7" may mean seven o'clock, and "room for 2 nights" is not a party.
        let time = said.is(
            at + 1,
            &[
                "pm", "am", "p", "a", "oclock", "nights", "night", "noches", "days", "dias",
                "hours", "horas", "minutes", "year", "years", "anos", "th", "st", "nd", "rd", "de",
            ],
        ) && said.phrase(at + 1, &["a", "las"]).is_none();
        let unsure = meal && in_figures(said, at) && size > 4;
        if time || unsure || said.negated(n) {
            return None;
        }
        party(said, size, 93, n, at + 1)
    })
}

/// Reads one or two people: "just me", "my wife and I", "los dos", "mi esposa y yo".
fn pair(said: &Utterance<'_>) -> Option<Extracted> {
    const KIN: &[&str] = &[
        "wife",
        "husband",
        "girlfriend",
        "boyfriend",
        "partner",
        "fiance",
        "fiancee",
        "esposa",
        "esposo",
        "novia",
        "novio",
        "pareja",
        "mom",
        "dad",
        "sister",
        "brother",
        "friend",
        "mama",
        "hermana",
        "hermano",
        "amiga",
        "amigo",
    ];
    (0..said.len()).find_map(|n| {
        let alone = |at: usize| {
            said.gap(at) >= Gap::Comma
                || said.is(
                    at,
                    &[
                        "this", "tonight", "for", "on", "tomorrow", "esta", "este", "el",
                    ],
                )
        };
        if let Some(at) = said
            .one_of(
                n,
                &[
                    "just me",
                    "only me",
                    "just myself",
                    "by myself",
                    "solo yo",
                    "voy solo",
                    "voy sola",
                    "nada mas yo",
                ],
            )
            .filter(|at| alone(*at))
        {
            return (!said.negated(n))
                .then(|| party(said, 1, 80, n, at))
                .flatten();
        }
        if let Some(at) = said.one_of(
            n,
            &[
                "just us two",
                "both of us",
                "solo nosotros dos",
                "nosotros dos",
                "solo los dos",
            ],
        ) {
            return party(said, 2, 85, n, at);
        }
        let kin = said.is(n + 1, KIN) && !said.words[n + 1].possessive;
        let and_i = kin
            && said.is(n, &["my", "mi"])
            && (said.phrase(n + 2, &["and", "i"]).is_some()
                || said.phrase(n + 2, &["y", "yo"]).is_some()
                || said.phrase(n + 2, &["and", "me"]).is_some());
        let me_and = said.is(n, &["me"])
            && said.is(n + 1, &["and"])
            && said.is(n + 2, &["my"])
            && said.is(n + 3, KIN)
            && !said.words[n + 3].possessive;
        // Children or friends who come along make the party larger.
        let more = said.has(&[
            "kids", "children", "son", "daughter", "and our", "and my", "friends", "hijos",
            "ninos", "family", "familia",
        ]) && !me_and
            || said.negated(n);
        match (and_i && !more, me_and && !said.is(n + 4, &["and"])) {
            (true, _) => party(said, 2, 70, n, n + 4),
            (_, true) => party(said, 2, 70, n, n + 4),
            _ => None,
        }
    })
}

/// Reads the answer to "how many are you?", which is a number and little else.
fn answer(said: &Utterance<'_>) -> Option<Extracted> {
    let numbers: Vec<usize> = (0..said.len())
        .filter(|n| any_number(said, *n).is_some())
        .collect();
    let [n] = numbers[..] else { return None };
    let other = said.is(
        n + 1,
        &[
            "pm", "am", "th", "st", "nd", "rd", "nights", "noches", "days", "dias", "hours",
            "horas", "kids", "ninos", "years", "anos", "of",
        ],
    );
    let size = number(said, n).filter(|_| said.len() <= 5 && !other && !said.negated(n))?;
    party(said, size, 92, n, n + 1)
}
