//! Histograms of durations. Each bucket keeps an exemplar: the last observation that was made in an
//! exported trace, with the trace's id.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::SystemTime,
};

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, Result,
    core::{Collector, Desc},
    proto::{LabelPair, MetricFamily},
};

use super::define::{Definition, Instrument};
use crate::trace;

/// The exemplar stores of all metrics, by name.
static STORES: RwLock<Vec<(&'static str, Arc<Store>)>> = RwLock::new(Vec::new());

/// One histogram for each combination of label values, with exemplars. While no spans are exported,
/// no exemplars are kept.
#[derive(Debug, Clone)]
pub struct TimedVec {
    histograms: HistogramVec,
    store: Arc<Store>,
}

/// One histogram of a [`TimedVec`], with its label values.
#[derive(Debug)]
pub struct Timed<'a> {
    histogram: Histogram,
    store: &'a Store,
    values: &'a [&'a str],
}

/// An exemplar: an observation and the trace in which it was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Exemplar {
    pub(super) trace_id: [u8; 16],
    pub(super) seconds: f64,
    pub(super) at: SystemTime,
}

#[derive(Debug)]
pub(super) struct Store {
    labels: &'static [&'static str],
    buckets: &'static [f64],
    /// One entry per histogram. The key is the histogram's label values; the value has one exemplar
    /// per bucket. The last bucket has no upper limit.
    kept: Mutex<HashMap<Vec<String>, Vec<Option<Exemplar>>>>,
}

/// Returns the exemplar of each bucket of this histogram.
pub(super) fn exemplars_of(name: &str, labels: &[LabelPair]) -> Vec<Option<Exemplar>> {
    let stores = STORES.read().unwrap_or_else(PoisonError::into_inner);
    let store = stores
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, store)| store);
    store.map_or_else(Vec::new, |store| store.of(labels))
}

// === impl TimedVec ===

impl TimedVec {
    /// Returns the histogram of these label values, as [`HistogramVec::with_label_values`] does.
    ///
    /// # Panics
    /// Panics if the number of values differs from the number of labels.
    pub fn with_label_values<'a>(&'a self, values: &'a [&'a str]) -> Timed<'a> {
        Timed {
            histogram: self.histograms.with_label_values(values),
            store: &self.store,
            values,
        }
    }
}

impl Instrument for TimedVec {
    fn make(of: &Definition) -> Result<Self> {
        let options = HistogramOpts::new(of.name, of.help).buckets(of.buckets.to_vec());
        let store = Arc::new(Store {
            labels: of.labels,
            buckets: of.buckets,
            kept: Mutex::default(),
        });
        STORES
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push((of.name, Arc::clone(&store)));
        Ok(Self {
            histograms: HistogramVec::new(options, of.labels)?,
            store,
        })
    }
}

impl Collector for TimedVec {
    fn desc(&self) -> Vec<&Desc> {
        self.histograms.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.histograms.collect()
    }
}

// === impl Timed ===

impl Timed<'_> {
    pub fn observe(&self, seconds: f64) {
        self.histogram.observe(seconds);
        if let Some(context) = trace::exported() {
            let exemplar = Exemplar {
                trace_id: context.trace_id,
                seconds,
                at: SystemTime::now(),
            };
            self.store.keep(self.values, exemplar);
        }
    }

    pub fn get_sample_count(&self) -> u64 {
        self.histogram.get_sample_count()
    }
}

// === impl Store ===

impl Store {
    fn keep(&self, values: &[&str], exemplar: Exemplar) {
        let bucket = self
            .buckets
            .partition_point(|limit| *limit < exemplar.seconds);
        let key = values.iter().map(|value| (*value).to_owned()).collect();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let exemplars = kept
            .entry(key)
            .or_insert_with(|| vec![None; self.buckets.len() + 1]);
        exemplars[bucket] = Some(exemplar);
    }

    /// Returns the exemplars of one histogram. `labels` may be in any order, because the encoder
    /// sorts them by name.
    fn of(&self, labels: &[LabelPair]) -> Vec<Option<Exemplar>> {
        let value = |name: &&str| {
            labels
                .iter()
                .find(|label| label.name() == *name)
                .map(|label| label.value().to_owned())
        };
        let Some(values) = self.labels.iter().map(value).collect::<Option<Vec<_>>>() else {
            return Vec::new();
        };
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&values)
            .cloned()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_keeps_its_last_trace_apart_by_labels() {
        let store = Store {
            labels: &["stage", "casino"],
            buckets: &[0.1, 1.0],
            kept: Mutex::default(),
        };
        let seen = |id: u8, seconds| Exemplar {
            trace_id: [id; 16],
            seconds,
            at: SystemTime::UNIX_EPOCH,
        };
        for (values, exemplar) in [
            (["gate", "a"], seen(1, 0.05)),
            (["gate", "a"], seen(2, 0.1)),
            (["gate", "a"], seen(3, 7.0)),
            (["swarm", "a"], seen(4, 0.5)),
        ] {
            store.keep(&values, exemplar);
        }
        let pair = |name: &str, value: &str| {
            let mut pair = LabelPair::default();
            pair.set_name(name.to_owned());
            pair.set_value(value.to_owned());
            pair
        };
        // The encoder sorts labels by name.
        let found = store.of(&[pair("casino", "a"), pair("stage", "gate")]);
        assert_eq!(found, [Some(seen(2, 0.1)), None, Some(seen(3, 7.0))]);
        assert_eq!(
            store.of(&[pair("casino", "a"), pair("stage", "swarm")])[1],
            Some(seen(4, 0.5))
        );
        assert!(
            store
                .of(&[pair("casino", "b"), pair("stage", "gate")])
                .is_empty()
        );
        assert!(store.of(&[pair("casino", "a")]).is_empty());
    }
}
