//! Calculates percentiles and rates from the times of a run. Pure.

use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

/// The times of one text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// When the text was due to be sent. If the bench sends it late, a latency measured from here
    /// includes that delay.
    pub(super) intended: Instant,
    /// When ingress answered the text's webhook with 2xx.
    pub(super) accepted: Option<Instant>,
    /// When the carrier got the first part of the answer.
    pub(super) requested: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Run {
    pub(super) began: Instant,
    pub(super) samples: Vec<Sample>,
    /// Number of sends that the carrier accepted. One answer may need two sends.
    pub(super) requests: usize,
}

/// Latency percentiles, in milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Percentiles {
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
    pub(super) p999: f64,
    pub(super) worst: f64,
}

/// Figures of one run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Shown {
    pub(super) texts: usize,
    /// Answers begun per second. The first and the last tenth of the answers are left out.
    pub(super) per_second: f64,
    /// Sends per text.
    pub(super) sends_per_text: f64,
    /// Latency from ingress's 2xx answer to the webhook until the carrier gets the first part of
    /// our answer.
    pub(super) from_accepted: Percentiles,
    /// Latency from the time at which the text was due until the carrier gets the first part of our
    /// answer. Includes ingress.
    pub(super) from_intended: Percentiles,
}

// === impl Run ===

impl Run {
    /// Merges several runs into one; `None` if `runs` is empty. The merged run's rate is
    /// meaningless.
    pub(super) fn together(runs: Vec<Self>) -> Option<Self> {
        runs.into_iter().reduce(|mut one, other| {
            one.samples.extend(other.samples);
            one.requests += other.requests;
            one
        })
    }

    pub(super) fn shown(&self) -> Shown {
        let mut done: Vec<Instant> = self
            .samples
            .iter()
            .filter_map(|sample| sample.requested)
            .collect();
        done.sort_unstable();
        let since = |from: fn(&Sample) -> Option<Instant>| {
            let both =
                |sample: &Sample| Some(sample.requested?.saturating_duration_since(from(sample)?));
            percentiles(self.samples.iter().filter_map(both).collect())
        };
        Shown {
            texts: done.len(),
            per_second: steady_rate(&done),
            sends_per_text: self.requests as f64 / done.len().max(1) as f64,
            from_accepted: since(|sample| sample.accepted),
            from_intended: since(|sample| Some(sample.intended)),
        }
    }

    pub(super) fn took(&self) -> Duration {
        let last = self
            .samples
            .iter()
            .filter_map(|sample| sample.requested)
            .max();
        last.map_or(Duration::ZERO, |last| {
            last.saturating_duration_since(self.began)
        })
    }
}

/// Returns the rate of events per second; the first and the last tenth of the events are left out.
/// `sorted` must be in the order of time.
fn steady_rate(sorted: &[Instant]) -> f64 {
    let edge = sorted.len() / 10;
    let (Some(first), Some(last)) = (
        sorted.get(edge),
        sorted.get((sorted.len() - edge).saturating_sub(1)),
    ) else {
        return 0.0;
    };
    let between = last.saturating_duration_since(*first).as_secs_f64();
    if between == 0.0 {
        0.0
    } else {
        (sorted.len() - 2 * edge - 1) as f64 / between
    }
}

/// Calculates percentiles by nearest rank.
pub(super) fn percentiles(mut took: Vec<Duration>) -> Percentiles {
    took.sort_unstable();
    let at = |share: f64| {
        let rank = (share * took.len() as f64).ceil() as usize;
        took.get(rank.saturating_sub(1))
            .map_or(0.0, |took| took.as_secs_f64() * 1_000.0)
    };
    Percentiles {
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        p999: at(0.999),
        worst: at(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ranks() {
        let found = percentiles((1..=1_000).rev().map(Duration::from_millis).collect());
        assert_eq!(
            (found.p50, found.p95, found.p99, found.p999, found.worst),
            (500.0, 950.0, 990.0, 999.0, 1_000.0)
        );
        assert_eq!(percentiles(vec![Duration::from_millis(7)]).p50, 7.0);
        assert_eq!(percentiles(Vec::new()).worst, 0.0);
    }

    #[test]
    fn the_rate_leaves_out_the_edges() {
        let start = Instant::now();
        // A hundred events per second, with one early outlier at the start and one late at the end.
        let mut at: Vec<Instant> = (0..100u64)
            .map(|n| start + Duration::from_millis(5_000 + n * 10))
            .collect();
        at[0] = start;
        at[99] = start + Duration::from_secs(60);
        assert!(
            (steady_rate(&at) - 100.0).abs() < 0.01,
            "{}",
            steady_rate(&at)
        );
        assert_eq!(steady_rate(&at[..1]), 0.0);
        assert_eq!(steady_rate(&[]), 0.0);
    }

    #[test]
    fn an_answer_that_was_faster_than_the_webhook_took_no_time() {
        let now = Instant::now();
        let later = now + Duration::from_millis(3);
        let sample = Sample {
            intended: now,
            accepted: Some(later),
            requested: Some(now),
        };
        let shown = Run {
            began: now,
            samples: vec![sample],
            requests: 1,
        }
        .shown();
        assert_eq!(
            (
                shown.from_accepted.p50,
                shown.from_intended.p50,
                shown.texts
            ),
            (0.0, 0.0, 1)
        );
    }
}
