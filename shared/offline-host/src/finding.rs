//! The finder with the vectors of all facts, and what it finds for a text (D48).

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use chrono::{DateTime, Utc};
use seven_finder::{Error, Finder, Kinds, Question, Vector};
use seven_knowledge::{Index, Item};

use crate::{
    choice::Weighed,
    facts::{self, Fact},
};

/// Maximum number of kept vectors: the facts of some sixty casinos of the demo's size, 60 MB.
const MOST_VECTORS: usize = 40_000;

/// A tool that sees every sentence whose answers are weighed.
#[derive(Clone)]
pub(crate) struct Observer(Arc<dyn Fn(Weighed) + Send + Sync>);

/// The finder and the vectors of facts. Clones share both.
#[derive(Debug, Clone)]
pub struct Facts {
    observer: Option<Observer>,
    finder: &'static Finder,
    vectors: Arc<Mutex<HashMap<u64, Arc<Vector>>>>,
    /// Whether a thread of its own computes missing vectors, while turns are answered by words.
    in_background: bool,
    /// Whether such a thread runs now.
    busy: Arc<AtomicBool>,
    /// Held while vectors are computed, so that turns at the same time do not all compute them.
    computing: Arc<Mutex<()>>,
}

/// A row, the facts of it that answer a text, best first, and the probability that one does.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) row: Arc<Item>,
    pub(crate) facts: Vec<(Fact, f32)>,
    pub(crate) odds: f32,
}

/// Everything that the finder says about a text.
#[derive(Debug, Clone)]
pub(crate) struct Findings {
    /// The rows, best first.
    pub(crate) rows: Vec<Found>,
    /// The probability that the content does not answer.
    pub(crate) nothing: f32,
    pub(crate) kinds: Kinds,
}

// === impl Observer ===

impl Observer {
    pub(crate) fn see(&self, weighed: Weighed) {
        (self.0)(weighed);
    }
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

// === impl Facts ===

impl Facts {
    /// Loads the finder of this build. A casino's first question waits until the vectors of its
    /// facts are computed, which takes about 15 ms of a core for each fact.
    ///
    /// # Errors
    /// Fails if the weights of this build do not have the expected form.
    pub fn new() -> Result<Self, Error> {
        Ok(Self {
            observer: None,
            finder: Finder::bundled()?,
            vectors: Arc::default(),
            in_background: false,
            busy: Arc::default(),
            computing: Arc::default(),
        })
    }

    /// Computes missing vectors on a thread of its own. Until they are there, questions are
    /// answered by words alone.
    #[must_use]
    pub fn in_background(self) -> Self {
        Self {
            in_background: true,
            ..self
        }
    }

    /// Lets `observe` see every sentence whose answers are weighed.
    #[must_use]
    pub fn observed(self, observe: impl Fn(Weighed) + Send + Sync + 'static) -> Self {
        Self {
            observer: Some(Observer(Arc::new(observe))),
            ..self
        }
    }

    pub(crate) fn observer(&self) -> Option<&Observer> {
        self.observer.as_ref()
    }

    /// Computes the vectors of a casino's facts that are missing, before its first question.
    ///
    /// # Errors
    /// Fails if the computation fails, which no content can cause.
    pub fn prepare(&self, index: &Index, now: DateTime<Utc>) -> Result<(), Error> {
        let rows: Vec<Arc<Item>> = index.current(now).cloned().collect();
        let (facts, _) = listed(index, &rows);
        self.place(&facts)
    }

    /// Returns the vectors of facts; `None` while they are being computed.
    fn prepared(&self, facts: &[(String, Fact)]) -> Option<Vec<Arc<Vector>>> {
        let kept = |(gist, fact): &(String, Fact)| self.kept(key(gist, &fact.text));
        if let Some(all) = facts.iter().map(kept).collect() {
            return Some(all);
        }
        if !self.in_background {
            self.place(facts).ok()?;
            return facts.iter().map(kept).collect();
        }
        if !self.busy.swap(true, Ordering::AcqRel) {
            let (own, facts) = (self.clone(), facts.to_vec());
            std::thread::spawn(move || {
                // A failure leaves a gap, and the next question tries again.
                let _ = own.place(&facts);
                own.busy.store(false, Ordering::Release);
            });
        }
        None
    }

    /// Computes the vectors of facts that are not kept yet.
    fn place(&self, facts: &[(String, Fact)]) -> Result<(), Error> {
        let _computing = self
            .computing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let missing = |(gist, fact): &&(String, Fact)| self.kept(key(gist, &fact.text)).is_none();
        let missing: Vec<(&str, &str)> = facts
            .iter()
            .filter(missing)
            .map(|(gist, fact)| (gist.as_str(), fact.text.as_str()))
            .collect();
        let places = self.finder.places(&missing)?;
        let mut vectors = self.vectors();
        if vectors.len() >= MOST_VECTORS {
            vectors.clear();
        }
        let keys = missing.iter().map(|(gist, fact)| key(gist, fact));
        vectors.extend(keys.zip(places.into_iter().map(Arc::new)));
        Ok(())
    }

    fn vectors(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Vector>>> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self, key: u64) -> Option<Arc<Vector>> {
        self.vectors().get(&key).cloned()
    }

    /// Finds the facts that answer a text; `None` while the casino's facts are not prepared.
    pub(crate) fn find(
        &self,
        index: &Index,
        rows: &[Arc<Item>],
        asked: &Question<'_>,
    ) -> Option<Findings> {
        let (all, of_row) = listed(index, rows);
        let vectors = self.prepared(&all)?;
        let heard = self.finder.hear(asked).ok()?;
        let odds = self.finder.odds(&heard, vectors.iter().map(AsRef::as_ref));
        let mut found: Vec<Found> = rows
            .iter()
            .map(|row| Found {
                row: Arc::clone(row),
                facts: Vec::new(),
                odds: 0.0,
            })
            .collect();
        for ((at, (_, fact)), odds) in of_row.into_iter().zip(all).zip(odds.facts) {
            found[at].odds += odds;
            found[at].facts.push((fact, odds));
        }
        found.sort_by(|a, b| b.odds.total_cmp(&a.odds));
        for row in &mut found {
            row.facts.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
        Some(Findings {
            rows: found,
            nothing: odds.nothing,
            kinds: heard.kinds,
        })
    }
}

/// Returns the facts of rows, each with the gist of its row, and beside them the number of the row.
fn listed(index: &Index, rows: &[Arc<Item>]) -> (Vec<(String, Fact)>, Vec<usize>) {
    let of_row = |(at, row): (usize, &Arc<Item>)| {
        let gist = facts::gist(index, row);
        let facts = facts::of(index, row).into_iter();
        facts.map(move |fact| ((gist.clone(), fact), at))
    };
    rows.iter().enumerate().flat_map(of_row).unzip()
}

fn key(gist: &str, fact: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (gist, fact).hash(&mut hasher);
    hasher.finish()
}
