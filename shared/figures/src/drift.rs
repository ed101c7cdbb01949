//! Compares the answers of a week with those of the weeks before (OBS-48, OBS-49). All functions
//! are pure.

use std::fmt;

use chrono::{Days, NaiveDate};
use serde::Serialize;
use seven_store::facts::Week;

/// A week's figure is compared only if at least this many turns of the week have it.
pub const LEAST_TURNS: i64 = 400;
/// A change of a figure by fewer standard errors than this is treated as chance. With three, chance
/// alone causes a false report only once in hundreds of weeks.
const LEAST_ERRORS: f64 = 3.0;
/// Number of weeks before the compared one that make up the baseline.
const BASELINE_WEEKS: u64 = 3;
/// A figure is `Worse` if it fell by at least this many per cent from its baseline.
/// `MUCH_WORSE_PERCENT` is the limit for `MuchWorse`.
const WORSE_PERCENT: f64 = -5.0;
const MUCH_WORSE_PERCENT: f64 = -10.0;

/// A figure that is computed per week. For all of them, higher is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// Share of answers that use at least one content row.
    FromRows,
    /// Share of grounded answers.
    Grounded,
    /// Share of answers in which the offline host did not stand in for the hosted model.
    WithoutStandIn,
    /// Share of answers whose first draft passed the checks.
    FirstDraft,
    /// Mean over all searches of a search's best score.
    Score,
    /// Mean of the judge's confidence.
    Confidence,
}

/// The change of a figure against its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    pub measured: Measured,
    /// The week's value, from 0 to 1; `before` is the mean of the weeks of the baseline.
    pub now: f64,
    pub before: f64,
    /// The change from `before` to `now`, in per cent of `before`.
    pub percent: f64,
    pub state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    MuchWorse,
    Worse,
    Stable,
    Better,
}

/// Returns the drift of each figure in the week that begins on `monday`. Leaves out a figure with
/// too few turns in that week, or in all of the three weeks before. `weeks` may be in any order.
pub fn drifts(weeks: &[Week], monday: NaiveDate) -> Vec<Drift> {
    let from = monday - Days::new(7 * BASELINE_WEEKS);
    let measured = |measured: Measured| {
        let now = weeks.iter().find(|week| week.week == monday);
        let now = measured.of(now?)?;
        let before = weeks
            .iter()
            .filter(|week| (from..monday).contains(&week.week))
            .filter_map(|week| measured.of(week))
            .collect::<Vec<_>>();
        let sum: f64 = before.iter().map(|sample| sample.value).sum();
        let before = Sample {
            value: sum / before.len().max(1) as f64,
            turns: before.iter().map(|sample| sample.turns).sum(),
        };
        // Without a baseline there is nothing to compare with, and a baseline of 0 cannot be a
        // divisor.
        (before.value > 0.0).then(|| Drift::of(measured, now, before))
    };
    Measured::ALL.into_iter().filter_map(measured).collect()
}

/// A figure, and the number of turns that have it.
#[derive(Debug, Clone, Copy)]
struct Sample {
    value: f64,
    turns: i64,
}

impl Sample {
    /// Returns the variance of the figure due to chance, by the formula for a share. If the figure
    /// is a mean of values between 0 and 1, the result is an upper limit.
    fn variance(self) -> f64 {
        self.value * (1.0 - self.value) / self.turns.max(1) as f64
    }
}

impl Measured {
    pub const ALL: [Self; 6] = [
        Self::FromRows,
        Self::Grounded,
        Self::WithoutStandIn,
        Self::FirstDraft,
        Self::Score,
        Self::Confidence,
    ];

    /// Returns the figure's name for commands and alerts.
    pub fn name(self) -> &'static str {
        match self {
            Self::FromRows => "answered from content",
            Self::Grounded => "grounded",
            Self::WithoutStandIn => "without a stand-in",
            Self::FirstDraft => "first draft passed",
            Self::Score => "best score of searches",
            Self::Confidence => "judge's confidence",
        }
    }

    /// Returns the figure of a week, 0 to 1; `None` if too few turns have it.
    fn of(self, week: &Week) -> Option<Sample> {
        let share = |of: i64| of as f64 / week.turns.max(1) as f64;
        let (turns, value) = match self {
            Self::FromRows => (week.turns, share(week.with_rows)),
            Self::Grounded => (week.turns, 1.0 - share(week.not_grounded)),
            Self::WithoutStandIn => (week.turns, 1.0 - share(week.degraded)),
            Self::FirstDraft => (week.turns, 1.0 - share(week.retried)),
            Self::Score => (week.scored, week.top_score?),
            Self::Confidence => (week.judged, week.confidence?),
        };
        (turns >= LEAST_TURNS).then_some(Sample { value, turns })
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, percent) = (self.measured.name(), self.percent);
        let (now, before) = (self.now * 100.0, self.before * 100.0);
        write!(
            f,
            "{name} {now:.1} % (before: {before:.1} %, {percent:+.1} %)"
        )
    }
}

impl Drift {
    fn of(measured: Measured, week: Sample, earlier: Sample) -> Self {
        let (now, before) = (week.value, earlier.value);
        let percent = (now - before) / before * 100.0;
        let error = (week.variance() + earlier.variance()).sqrt();
        let state = match percent {
            _ if (now - before).abs() < LEAST_ERRORS * error => State::Stable,
            _ if percent <= MUCH_WORSE_PERCENT => State::MuchWorse,
            _ if percent <= WORSE_PERCENT => State::Worse,
            _ if percent < -WORSE_PERCENT => State::Stable,
            _ => State::Better,
        };
        Self {
            measured,
            now,
            before,
            percent,
            state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn monday(ago: u64) -> NaiveDate {
        "2026-11-16".parse::<NaiveDate>().unwrap() - Days::new(7 * ago)
    }

    /// A week in which `good` of 1,000 turns went well in every way.
    fn week(ago: u64, good: i64) -> Week {
        let bad = 1_000 - good;
        Week {
            week: monday(ago),
            part: None,
            turns: 1_000,
            with_rows: good,
            top_score: Some(good as f64 / 1_000.0),
            scored: 1_000,
            confidence: Some(good as f64 / 1_000.0),
            judged: 1_000,
            not_grounded: bad,
            degraded: bad,
            retried: bad,
            handoffs: 0,
            learnt: 0,
        }
    }

    #[test] // OBS-48, OBS-49
    fn a_week_is_compared_with_the_mean_of_the_three_before_it() {
        for (now, state) in [
            (880, State::MuchWorse),
            (899, State::MuchWorse),
            (901, State::Worse),
            (930, State::Worse),
            (949, State::Worse),
            (951, State::Stable),
            (1_000, State::Stable),
        ] {
            // Week 4 is too old to belong to the baseline.
            let weeks = [
                week(0, now),
                week(1, 1_000),
                week(2, 1_000),
                week(3, 1_000),
                week(4, 100),
            ];
            let drifts = drifts(&weeks, monday(0));
            assert_eq!(drifts.len(), Measured::ALL.len());
            for drift in drifts {
                assert_eq!(drift.state, state, "{now}: {drift:?}");
            }
        }
        let better = drifts(&[week(0, 950), week(1, 900), week(3, 900)], monday(0));
        assert!(better.iter().all(|drift| drift.state == State::Better));
        let told = "answered from content 95.0 % (before: 90.0 %, +5.6 %)";
        assert_eq!(better[0].to_string(), told);
    }

    #[test] // OBS-48
    fn a_change_that_chance_explains_is_none() {
        let share = |turns: i64, rows: i64| Week {
            turns,
            with_rows: rows,
            ..week(0, 1_000)
        };
        let before = |week: Week, ago: u64| Week {
            week: monday(ago),
            ..week
        };
        for (turns, state) in [(400, State::Stable), (8_000, State::Worse)] {
            let weeks = [
                share(turns, turns * 46 / 100),
                before(share(turns, turns / 2), 1),
                before(share(turns, turns / 2), 2),
            ];
            let drifts = drifts(&weeks, monday(0));
            assert_eq!(drifts[0].measured, Measured::FromRows);
            assert_eq!(drifts[0].state, state, "{:?}", drifts[0]);
        }
    }

    #[test] // OBS-48
    fn a_week_without_a_baseline_or_with_too_few_turns_says_nothing() {
        assert!(drifts(&[], monday(0)).is_empty());
        assert!(drifts(&[week(0, 500)], monday(0)).is_empty());
        assert!(drifts(&[week(0, 500), week(4, 900)], monday(0)).is_empty());
        assert!(drifts(&[week(1, 900), week(2, 900)], monday(0)).is_empty());
        assert!(
            drifts(&[week(0, 500), week(1, 0)], monday(0)).is_empty(),
            "division by zero"
        );
        let few = Week {
            turns: LEAST_TURNS - 1,
            scored: LEAST_TURNS,
            judged: 0,
            ..week(0, 200)
        };
        let said = drifts(&[few, week(1, 900)], monday(0));
        let measured: Vec<_> = said.iter().map(|drift| drift.measured).collect();
        assert_eq!(measured, [Measured::Score]);
    }
}
