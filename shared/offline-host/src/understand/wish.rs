//! Reads particular wishes inside a category. A row must fit such a wish before it may be the
//! answer.

use seven_knowledge::{Category, Item};

use super::{
    super::{compose::rows, pack::HostPack, phrases::Tokens},
    Understood,
};

/// A wish such as "live music", "thai" or "military discount". A row fits if it contains all words
/// of one of the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) at: (usize, usize),
    pub(crate) category: Category,
    values: Vec<String>,
    /// Whether the pack knows the word; only then may the reply repeat it.
    pub(crate) known: bool,
}

/// The things found in the text so far, as ranges of words.
pub(crate) struct Heard<'a> {
    /// Words that only name a category.
    pub(crate) own: &'a [((usize, usize), Category)],
    /// Words that name a category and also narrow it.
    pub(crate) also: &'a [((usize, usize), Category)],
    pub(crate) free: &'a [usize],
    /// Names of rows; the words inside them are not wishes.
    pub(crate) named: &'a [(usize, usize)],
}

/// Spanish nouns that come before the word for the kind wanted: "comida" in "comida coreana".
const NOUNS: [&str; 22] = [
    "comida",
    "restaurante",
    "restaurantes",
    "habitacion",
    "habitaciones",
    "cuarto",
    "cuartos",
    "masaje",
    "masajes",
    "espectaculo",
    "espectaculos",
    "evento",
    "eventos",
    "musica",
    "descuento",
    "descuentos",
    "oferta",
    "ofertas",
    "promocion",
    "promociones",
    "tratamiento",
    "tratamientos",
];
const LINKS: [&str; 18] = [
    "with",
    "have",
    "has",
    "serve",
    "sirvan",
    "for",
    "serving",
    "featuring",
    "that",
    "a",
    "an",
    "con",
    "para",
    "de",
    "que",
    "un",
    "una",
    "los",
];

/// Words that the name of a thing may follow.
const LEADS: [&str; 34] = [
    "a", "an", "any", "the", "some", "your", "is", "are", "there", "have", "got", "offer",
    "offers", "serve", "serves", "sell", "with", "for", "of", "and", "or", "no", "hay", "tienen",
    "tiene", "un", "una", "unos", "algun", "alguna", "algunos", "de", "las", "los",
];

// === impl Wish ===

impl Wish {
    pub(crate) fn fits(&self, item: &Item) -> bool {
        self.values.iter().any(|value| rows::tells(item, value))
    }

    /// Returns whether a text of the row other than its description contains the wish, such as its
    /// name.
    pub(crate) fn files(&self, item: &Item) -> bool {
        let filed =
            |text: &String| *text != item.description && Some(text) != item.description_es.as_ref();
        let fields: Vec<String> = rows::fields(item).into_iter().filter(filed).collect();
        self.values
            .iter()
            .any(|value| fields.iter().any(|text| rows::has_word(text, value)))
    }

    pub(crate) fn words(&self, u: &Understood<'_>) -> Vec<String> {
        u.said.words[self.at.0..self.at.1].to_vec()
    }
}

pub(crate) fn all(pack: &HostPack, said: &Tokens, heard: &Heard<'_>) -> Vec<Wish> {
    let within = |a: (usize, usize), b: (usize, usize)| b.0 <= a.0 && a.1 <= b.1;
    let mut wishes: Vec<Wish> = Vec::new();
    let named = pack
        .particulars
        .iter()
        .flat_map(|p| p.phrases.places(said).into_iter().map(move |at| (at, p)));
    wishes.extend(named.map(|(at, p)| Wish {
        at,
        category: p.category.clone(),
        values: p.values.clone(),
        known: true,
    }));
    // The word for the category is left out of the wish: "military discount" asks for "military".
    let words = |at: (usize, usize)| {
        let own = |n: &usize| {
            !heard
                .own
                .iter()
                .any(|(place, _)| (place.0..place.1).contains(n))
        };
        let told: Vec<&str> = (at.0..at.1)
            .filter(own)
            .map(|n| said.words[n].as_str())
            .collect();
        if told.is_empty() {
            said.words[at.0..at.1].join(" ")
        } else {
            told.join(" ")
        }
    };
    wishes.extend(heard.also.iter().map(|(at, category)| Wish {
        at: *at,
        category: category.clone(),
        values: vec![words(*at)],
        known: true,
    }));
    // Keeps only the longest phrase, and the first of several wishes for the same words.
    let all = wishes.clone();
    let beaten = |wish: &Wish| {
        let longer = |other: &Wish| {
            other.category == wish.category && within(wish.at, other.at) && other.at != wish.at
        };
        all.iter().any(longer) || heard.named.iter().any(|name| within(wish.at, *name))
    };
    wishes.retain(|wish| !beaten(wish));
    let mut kept: Vec<Wish> = Vec::new();
    for wish in wishes {
        if !kept
            .iter()
            .any(|k| k.at == wish.at && k.category == wish.category)
        {
            kept.push(wish);
        }
    }
    let mut wishes = kept;
    let figure = |n: usize| said.words[n].starts_with(|c: char| c.is_ascii_digit());
    let free = |n: usize| {
        heard.free.contains(&n)
            && !figure(n)
            && !wishes.iter().any(|w| (w.at.0..w.at.1).contains(&n))
    };
    let mut more = Vec::new();
    let known: Vec<_> = wishes.iter().map(|w| (w.at, w.category.clone())).collect();
    for (at, category) in heard.own.iter().cloned().chain(known) {
        // The word before a category is a wish if it begins the text or follows a word such as
        // "any": "any outdoor dining". In "where do I buy tickets", "buy" is not a wish.
        let leads = |n: usize| n == 0 || LEADS.contains(&said.words[n - 1].as_str());
        let before = at.0.checked_sub(1).filter(|n| free(*n) && leads(*n));
        let linked = (at.1..said.words.len())
            .take_while(|n| LINKS.contains(&said.words[*n].as_str()))
            .count();
        let noun = NOUNS.contains(&said.words[at.1 - 1].as_str());
        let after = (noun || linked > 0)
            .then_some(at.1 + linked)
            .filter(|n| free(*n));
        more.extend([before, after].into_iter().flatten().map(|n| Wish {
            at: (n, n + 1),
            category: category.clone(),
            values: vec![said.words[n].clone()],
            known: false,
        }));
    }
    wishes.extend(more);
    wishes.sort_by_key(|w| w.at);
    wishes.dedup_by(|a, b| a.at == b.at && a.category == b.category);
    wishes
}
