//! Finds diets, allergies and accessibility needs.

use super::{
    Extracted, Slot,
    said::{Gap, Utterance},
    terms::{Hit, List, term, terms},
};

pub(super) fn read(said: &Utterance<'_>) -> Vec<Extracted> {
    let mut found = diet(said);
    found.extend(allergies(said));
    found.extend(avoided(said));
    found.extend(access(said));
    found
}

const OWN: &[&str] = &[
    "im",
    "i am",
    "we are",
    "were",
    "i eat",
    "i follow",
    "i need",
    "we need",
    "i keep",
    "soy",
    "somos",
    "estoy",
    "necesito",
    "necesitamos",
    "como",
    "i have",
    "tengo",
    "ive been",
    "i went",
    "i do",
    "on a",
    "one of us",
    "is",
    "es",
    "are",
    "son",
    "uno de nosotros",
    "una de nosotros",
];

/// Reads a diet: "I'm vegan" is certain, "do you have halal food?" is only a hint.
fn diet(said: &Utterance<'_>) -> Vec<Extracted> {
    let hits = terms(List::Diet, said).into_iter().filter(|hit| {
        let n = hit.words.start;
        let shy = ["kosher", "halal", "keto", "diabetic"].contains(&hit.is);
        let meant =
            !shy || said.is(
                hit.words.end,
                &[
                    "food",
                    "meal",
                    "meals",
                    "menu",
                    "options",
                    "option",
                    "restaurant",
                    "restaurants",
                    "meat",
                    "diet",
                    "friendly",
                    "opciones",
                    "comida",
                ],
            ) || owned(said, n) && hit.is != "kosher"
                || said
                    .one_of(
                        n.saturating_sub(2),
                        &["i keep", "we keep", "eat", "comida", "opciones"],
                    )
                    .is_some()
                || said.is(
                    n.wrapping_sub(1),
                    &["comida", "opciones", "menu", "keep", "eat"],
                );
        let past = said.has(&[
            "used to be",
            "was vegan",
            "not anymore",
            "no longer",
            "stopped being",
            "ya no soy",
            "era vegano",
            "era vegana",
        ]);
        let joke = said.is(hit.words.end, &["leather", "shoes", "purse", "makeup"]);
        meant && !past && !joke && !said.negated(n) && !others(said, n)
    });
    hits.map(|hit| {
        let percent = if owned(said, hit.words.start) { 92 } else { 70 };
        Extracted::new(
            Slot::Diet(hit.is.to_owned()),
            percent,
            said.span(hit.words.start, hit.words.end),
        )
    })
    .collect()
}

fn owned(said: &Utterance<'_>, n: usize) -> bool {
    let from = said.clause(n).max(n.saturating_sub(5));
    (from..n).any(|at| said.one_of(at, OWN).is_some_and(|end| end <= n))
}

/// Returns whether the clause is about people outside the party.
fn others(said: &Utterance<'_>, n: usize) -> bool {
    let from = said.clause(n);
    (from..n).any(|at| {
        said.is(
            at,
            &[
                "boss", "neighbor", "ex", "coworker", "they", "he", "she", "jefe", "vecino",
                "ella", "ellos", "aunt", "everyone",
            ],
        )
    })
}

/// Reads allergies: "allergic to shellfish and peanuts", "nut allergy", "alergia al maní".
fn allergies(said: &Utterance<'_>) -> Vec<Extracted> {
    let mut found = Vec::new();
    for n in 0..said.len() {
        if said.is(
            n,
            &[
                "allergic",
                "alergico",
                "alergica",
                "alergicos",
                "alergicas",
                "allergy",
                "allergies",
                "alergia",
                "alergias",
            ],
        ) && !said.negated(n)
            && !others(said, n)
        {
            let listed = listed(
                List::Allergen,
                said,
                n + 1,
                &["to", "a", "al", "la", "las", "los", "the", "el"],
            );
            let before = if listed.is_empty() && said.is(n, &["allergy", "allergies"]) {
                before(said, n)
            } else {
                Vec::new()
            };
            found.extend(listed.into_iter().chain(before).map(|hit| {
                Extracted::new(
                    Slot::Allergy(hit.is.to_owned()),
                    95,
                    said.span(hit.words.start, hit.words.end),
                )
            }));
        }
    }
    found
}

/// Reads allergens that come before the word "allergy": "peanut allergy", "nut and egg allergies".
fn before(said: &Utterance<'_>, n: usize) -> Vec<Hit> {
    let from = (n.saturating_sub(2)..n)
        .find(|at| term(List::Allergen, said, *at).is_some_and(|hit| hit.words.end == n));
    from.and_then(|at| term(List::Allergen, said, at))
        .into_iter()
        .collect()
}

/// Returns consecutive terms from word `n` on, joined by "and", "or" and commas.
fn listed(list: List, said: &Utterance<'_>, n: usize, skip: &[&str]) -> Vec<Hit> {
    let (mut hits, mut at) = (Vec::new(), n);
    while at < said.len() && said.gap(at) <= Gap::Comma {
        if let Some(hit) = term(list, said, at) {
            at = hit.words.end;
            hits.push(hit);
        } else if said.is(at, skip)
            || (said.is(at, &["and", "or", "y", "o", "e", "also"]) && !hits.is_empty())
        {
            at += 1;
        } else {
            break;
        }
    }
    hits
}

/// Reads foods the guest avoids: "I don't eat pork", "no como mariscos".
fn avoided(said: &Utterance<'_>) -> Vec<Extracted> {
    let cues = &[
        "i dont eat",
        "we dont eat",
        "i cant eat",
        "we cant eat",
        "i do not eat",
        "i cannot eat",
        "no como",
        "no comemos",
        "no puedo comer",
        "no podemos comer",
    ];
    (0..said.len())
        .filter_map(|n| said.one_of(n, cues))
        .flat_map(|at| listed(List::Avoid, said, at, &["any", "the", "la"]))
        .filter(|hit| {
            !said.is(
                hit.words.end,
                &["often", "much", "every", "on", "mucho", "mucha"],
            )
        })
        .map(|hit| {
            Extracted::new(
                Slot::Diet(hit.is.to_owned()),
                92,
                said.span(hit.words.start, hit.words.end),
            )
        })
        .collect()
}

/// Reads accessibility needs: "I use a wheelchair", but not "blind date" or "small blind".
fn access(said: &Utterance<'_>) -> Vec<Extracted> {
    let mut found: Vec<Extracted> = Vec::new();
    for hit in terms(List::Access, said) {
        let n = hit.words.start;
        let other = hit.is == "vision"
            && said.is(
                hit.words.end,
                &["date", "bet", "raise", "drunk", "luck", "to"],
            )
            || hit.is == "hearing" && said.is(hit.words.end, &["tones", "to"])
            || said.has(&["wheelchair race", "wheelchair basketball"]);
        // "No stairs please" states a need although it has a "no"; "I don't need a wheelchair" does
        // not.
        let need_of_no = hit.is == "limited mobility" && said.is(n, &["no", "cant"]);
        if other
            || (said.negated(n) && !need_of_no)
            || found
                .iter()
                .any(|f| f.slot == Slot::Accessibility(hit.is.to_owned()))
        {
            continue;
        }
        let from = said.clause(n).max(n.saturating_sub(6));
        let own = (from..=n).any(|at| {
            said.is(
                at,
                &[
                    "i",
                    "im",
                    "my",
                    "we",
                    "need",
                    "our",
                    "mi",
                    "soy",
                    "uso",
                    "usa",
                    "necesito",
                    "necesitamos",
                    "tengo",
                    "ive",
                    "in",
                    "uses",
                    "en",
                ],
            )
        });
        found.push(Extracted::new(
            Slot::Accessibility(hit.is.to_owned()),
            if own { 88 } else { 68 },
            said.span(n, hit.words.end),
        ));
    }
    found
}
