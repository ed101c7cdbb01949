//! Finds single sentences of a casino's rows, so that a question about one thing gets one sentence
//! and not the whole row.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use seven_domain::Language;

use super::{Index, is_common, vocabulary::SYNONYMS};
use crate::{
    Item,
    embedding::lexicon::{LEXICON, Lexicon},
    formatter,
    item::Details,
};
use seven_text::{sentences, stem, words};

/// Weight of a synonym, relative to the word itself.
const SYNONYM: f32 = 0.85;
const CONCEPT: f32 = 0.8;
/// Weight of a word that differs from the term only in its ending: "rent", "rental".
const ENDING: f32 = 0.75;
const ENDED: usize = 4;
/// Factor for a word that helps to choose among sentences but need not be found.
const SOFT: f32 = 0.15;
/// The lowest score at which a row's name or keywords count as containing a term.
const NAMED: f32 = 0.82;
/// Factor for a common word, such as "room" or "friday".
const COMMON: f32 = 0.5;
/// `TITLE`: weight of a word that is found only in the row's name or keywords. `BESIDE`: weight of
/// a word that is found only in another sentence of the row.
const TITLE: f32 = 0.9;
const BESIDE: f32 = 0.5;
/// Fields of which no sentence is made, because other fields of the row say the same.
const TOLD_ELSEWHERE: [&str; 6] = ["price", "cost", "fee", "location", "phone", "hours"];

/// A meaningful word or phrase of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Index of the term's first word in the text; `to` is the index after its last word.
    pub from: usize,
    pub to: usize,
    /// Whether a row or the lexicon knows the term.
    pub known: bool,
    /// Whether the term only helps to choose among sentences and need not be found.
    pub soft: bool,
    stems: Vec<String>,
    meanings: Vec<(usize, f32)>,
    weight: f32,
}

/// A sentence, with the share of the question's words that it contains.
#[derive(Debug, Clone)]
pub struct Passed {
    pub item: Arc<Item>,
    pub text: String,
    /// The share of the question's words that the row contains, 0 to 1. Words count by their
    /// weight; a word outside this sentence counts less.
    pub score: f32,
    /// The share of the question's words that the sentence itself contains, 0 to 1.
    pub own: f32,
    /// Like `own`, but without soft terms and without words that the row's name or keywords
    /// contain; 0 if no word is left.
    pub rest: f32,
}

/// The stems and meanings of a text, both sorted and without duplicates. A casino has a thousand of
/// these, so each stem is stored once.
#[derive(Debug, Clone, Default)]
struct Sense {
    stems: Box<[Arc<str>]>,
    meanings: Box<[(usize, f32)]>,
}

/// Builds senses that share their stems in memory.
#[derive(Debug, Default)]
struct Senses {
    words: HashSet<Arc<str>>,
}

#[derive(Debug, Clone)]
struct Passage {
    item: usize,
    /// The sentence's language; `None` if it is used for both languages.
    language: Option<Language>,
    text: String,
    sense: Sense,
}

/// The sentences of all rows, built at the first question and kept with the index.
#[derive(Debug, Clone, Default)]
pub(super) struct Passages {
    titles: Vec<Sense>,
    bodies: Vec<Sense>,
    passages: Vec<Passage>,
    /// For each stem, the number of rows that contain it.
    uses: HashMap<Arc<str>, usize>,
}

// === impl Term ===

impl Term {
    /// Returns the term as one that only helps to choose among sentences.
    #[must_use]
    pub fn softened(self) -> Self {
        Self {
            soft: true,
            weight: self.weight * SOFT,
            ..self
        }
    }

    /// Returns whether the text contains the term's own words, with any ending.
    pub fn is_literally_in(&self, text: &str) -> bool {
        let stems: Vec<String> = words(text).iter().map(|word| stem(word)).collect();
        self.stems.iter().all(|own| stems.contains(own))
    }

    /// Returns how surely a text mentions the term, 0 to 1.
    pub fn is_in(&self, text: &str) -> f32 {
        self.held(&Sense::of(text))
    }

    /// Returns how surely a text with this sense mentions the term, 0 to 1.
    fn held(&self, sense: &Sense) -> f32 {
        if self.stems.iter().all(|stem| sense.has(stem)) {
            return 1.0;
        }
        let synonyms = self
            .stems
            .first()
            .filter(|_| self.stems.len() == 1)
            .and_then(|stem| SYNONYMS.get(stem));
        if synonyms.is_some_and(|all| all.iter().any(|stem| sense.has(stem))) {
            return SYNONYM;
        }
        if let [own] = self.stems.as_slice()
            && own.len() >= ENDED
            && sense
                .stems
                .iter()
                .any(|s| s.len() >= ENDED && (s.starts_with(own.as_str()) || own.starts_with(&**s)))
        {
            return ENDING;
        }
        let shared = self
            .meanings
            .iter()
            .filter_map(|(concept, s)| Some(s.min(sense.strength(*concept)?)));
        shared.fold(0.0, f32::max).min(1.0) * CONCEPT
    }
}

// === impl Sense ===

impl Sense {
    fn of(text: &str) -> Self {
        Senses::default().of(&[text])
    }

    fn has(&self, stem: &str) -> bool {
        self.stems.binary_search_by(|own| (**own).cmp(stem)).is_ok()
    }

    fn strength(&self, concept: usize) -> Option<f32> {
        let at = self
            .meanings
            .binary_search_by_key(&concept, |(own, _)| *own)
            .ok()?;
        Some(self.meanings[at].1)
    }
}

// === impl Senses ===

impl Senses {
    /// Returns the sense of all these texts together.
    fn of(&mut self, texts: &[&str]) -> Sense {
        let (mut stems, mut meanings) = (BTreeSet::new(), BTreeMap::new());
        for text in texts {
            let words = words(text);
            stems.extend(words.iter().map(|word| self.kept(&stem(word))));
            let mut at = 0;
            while at < words.len() {
                let sense = LEXICON.sense(&words[at..]);
                for (concept, strength) in sense.iter().flat_map(|sense| sense.meanings) {
                    let slot: &mut f32 = meanings.entry(*concept).or_default();
                    *slot = slot.max(*strength);
                }
                at += sense.map_or(1, |sense| sense.words);
            }
        }
        Sense {
            stems: stems.into_iter().collect(),
            meanings: meanings.into_iter().collect(),
        }
    }

    fn kept(&mut self, word: &str) -> Arc<str> {
        if let Some(kept) = self.words.get(word) {
            return Arc::clone(kept);
        }
        let kept: Arc<str> = word.into();
        self.words.insert(Arc::clone(&kept));
        kept
    }
}

// === impl Passages ===

impl Passages {
    pub(super) fn build(items: &[Arc<Item>]) -> Self {
        let (mut all, mut senses) = (Self::default(), Senses::default());
        for (n, item) in items.iter().enumerate() {
            let told = told(item);
            let title = senses.of(&[&title(item)]);
            let body = senses.of(&told
                .iter()
                .map(|(_, text)| text.as_str())
                .collect::<Vec<_>>());
            for stem in title
                .stems
                .iter()
                .chain(body.stems.iter().filter(|stem| !title.has(stem)))
            {
                *all.uses.entry(Arc::clone(stem)).or_default() += 1;
            }
            all.passages
                .extend(told.into_iter().map(|(language, text)| {
                    let sense = senses.of(&[&text]);
                    Passage {
                        item: n,
                        language,
                        text,
                        sense,
                    }
                }));
            all.titles.push(title);
            all.bodies.push(body);
        }
        all
    }

    fn terms(&self, text: &str, lexicon: &Lexicon) -> Vec<Term> {
        let said = words(text);
        let casinos = |word: &str| self.uses.contains_key(stem(word).as_str());
        let meant = |word: &String| {
            let mended = if casinos(word) {
                None
            } else {
                lexicon.mend(word)
            };
            mended.map_or_else(|| word.clone(), str::to_owned)
        };
        let meant: Vec<String> = said.iter().map(meant).collect();
        let (mut terms, mut at) = (Vec::new(), 0);
        while at < meant.len() {
            let sense = lexicon.sense(&meant[at..]);
            let taken = sense.as_ref().map_or(1, |sense| sense.words);
            let meanings = sense
                .map(|sense| sense.meanings.to_vec())
                .unwrap_or_default();
            let stems: Vec<String> = meant[at..at + taken]
                .iter()
                .map(|word| stem(word))
                .collect();
            let filler = taken == 1 && lexicon.is_filler(&meant[at]);
            let empty = taken > 1 && meanings.is_empty();
            if !filler && !empty {
                let found = stems
                    .iter()
                    .map(|stem| self.uses.get(stem.as_str()).copied().unwrap_or(0))
                    .min()
                    .unwrap_or(0);
                let all = self.titles.len() as f32;
                let rarity = (1.0 + (all - found as f32 + 0.5) / (found as f32 + 0.5)).ln();
                let common = meant[at..at + taken].iter().all(|word| is_common(word));
                let weight = rarity.max(0.1) * if common { COMMON } else { 1.0 };
                let known = found > 0 || !meanings.is_empty();
                terms.push(Term {
                    from: at,
                    to: at + taken,
                    known,
                    soft: false,
                    stems,
                    meanings,
                    weight,
                });
            }
            at += taken;
        }
        terms
    }
}

// === impl Index ===

impl Index {
    /// Returns the words and phrases of a text that mean something; misspelt ones are corrected.
    pub fn terms(&self, text: &str) -> Vec<Term> {
        self.passages
            .get_or_init(|| Passages::build(&self.items))
            .terms(text, &LEXICON)
    }

    /// Returns the sentences of rows that contain some of the terms, best first. Leaves out
    /// sentences in another language, rows that are not valid at `now`, and sentences that `keep`
    /// refuses.
    pub fn passages(
        &self,
        terms: &[Term],
        language: Language,
        now: DateTime<Utc>,
        keep: impl Fn(&Item, &str) -> bool,
    ) -> Vec<Passed> {
        let all = self.passages.get_or_init(|| Passages::build(&self.items));
        let whole: f32 = terms.iter().map(|term| term.weight).sum();
        let today = self.today(now);
        let mut found = Vec::new();
        for passage in &all.passages {
            let item = &self.items[passage.item];
            if whole <= 0.0 || passage.language.is_some_and(|own| own != language) {
                continue;
            }
            let (mut own, mut score, mut rest, mut rests) = (0.0, 0.0, 0.0, 0.0);
            for term in terms {
                let here = term.held(&passage.sense);
                let named = term.held(&all.titles[passage.item]);
                let title = TITLE * named;
                if named < NAMED && !term.soft {
                    rest += term.weight * here;
                    rests += term.weight;
                }
                let beside = BESIDE * term.held(&all.bodies[passage.item]);
                own += term.weight * here;
                score += term.weight * here.max(title).max(beside);
            }
            if score > 0.0 && item.is_current_on(now, today) && keep(item, &passage.text) {
                let rest = if rests > 0.0 { rest / rests } else { 0.0 };
                let (score, own) = (score / whole, own / whole);
                found.push(Passed {
                    item: Arc::clone(item),
                    text: passage.text.clone(),
                    score,
                    own,
                    rest,
                });
            }
        }
        found.sort_by(|a, b| (b.score + b.own).total_cmp(&(a.score + a.own)));
        found
    }

    /// Returns all sentences of a row in a language, in the order of the row.
    pub fn sentences(&self, item: &Item, language: Language) -> impl Iterator<Item = &str> {
        let all = self.passages.get_or_init(|| Passages::build(&self.items));
        let at = self.items.iter().position(|other| other.id == item.id);
        let of_row = all
            .passages
            .iter()
            .filter(move |passage| Some(passage.item) == at);
        of_row
            .filter(move |p| p.language.is_none_or(|own| own == language))
            .map(|passage| passage.text.as_str())
    }

    /// Returns how surely any part of a row mentions a term, 0 to 1.
    pub fn says(&self, item: &Item, term: &Term) -> f32 {
        let all = self.passages.get_or_init(|| Passages::build(&self.items));
        let at = self.items.iter().position(|other| other.id == item.id);
        at.map_or(0.0, |n| {
            term.held(&all.titles[n]).max(term.held(&all.bodies[n]))
        })
    }

    /// Returns how surely a row's name or keywords mention a term, 0 to 1.
    pub fn is_called(&self, item: &Item, term: &Term) -> f32 {
        let all = self.passages.get_or_init(|| Passages::build(&self.items));
        self.items
            .iter()
            .position(|other| other.id == item.id)
            .map_or(0.0, |n| term.held(&all.titles[n]))
    }
}

/// Returns the words of a row's names, category and keywords, and of its kind, such as the cuisine.
fn title(item: &Item) -> String {
    let mut parts = vec![item.name.clone(), item.category.as_str().replace('_', " ")];
    parts.extend(item.name_es.clone());
    parts.extend(item.subcategory.as_ref().map(|sub| sub.replace('_', " ")));
    parts.extend(item.keywords.iter().cloned());
    match &item.details {
        Details::Dining(d) => {
            parts.push(d.cuisine_type.clone());
            parts.extend(d.dietary_options.iter().cloned());
        }
        Details::Entertainment(d) => parts.push(d.event_type.clone()),
        Details::Spa(d) => parts.push(d.treatment_type.clone()),
        Details::Gaming(d) => parts.extend(d.game_type.clone()),
        Details::Promotion(d) => parts.push(d.promo_type.clone()),
        Details::Regulation(d) => parts.push(d.regulation_type.clone()),
        Details::Hours(_) | Details::Free(_) => {}
    }
    parts.join("; ")
}

/// Returns the sentences of a row, each with its language.
fn told(item: &Item) -> Vec<(Option<Language>, String)> {
    let english = item.description_es.is_some().then_some(Language::En);
    let spoken = |text: &str, language| {
        let sentences = sentences(text).into_iter().map(str::to_owned);
        sentences
            .map(|sentence| (language, sentence))
            .collect::<Vec<_>>()
    };
    let mut told = spoken(&item.description, english);
    told.extend(
        item.description_es
            .iter()
            .flat_map(|text| spoken(text, Some(Language::Es))),
    );
    told.extend(
        item.tip
            .iter()
            .flat_map(|text| spoken(text, Some(Language::En))),
    );
    if let Details::Hours(d) = &item.details {
        told.extend(d.seasonal_notes.iter().map(|text| {
            (
                Some(Language::En),
                format!("{}.", text.trim_end_matches('.')),
            )
        }));
    }
    for (key, value) in item.details.extra().into_iter().flatten() {
        let value = formatter::plain(value);
        if !TOLD_ELSEWHERE.contains(&key.as_str()) && !value.is_empty() {
            let mut label = key.replace('_', " ");
            if let Some(first) = label.get_mut(0..1) {
                first.make_ascii_uppercase();
            }
            told.push((None, format!("{label}: {value}.")));
        }
    }
    told
}
