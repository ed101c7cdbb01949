//! Decides whether delivery figures are bad and whether a carrier blocks us. All functions are
//! pure. Shares count messages, never segments.

use serde::{Deserialize, Serialize};
use seven_domain::Severity;

/// The delivery figures of one casino's texts over an hour or another period. A text whose receipt
/// may still arrive is in `sent`, but not in `counted`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    pub sent: i64,
    /// Texts among `sent` that have one segment.
    pub single_segment: i64,
    /// Texts old enough that their receipt should have arrived.
    pub counted: i64,
    /// Texts among `counted` that were delivered.
    pub delivered: i64,
    /// Texts among `counted` that the carrier refused after the provider had accepted them.
    pub bounced: i64,
    /// Guests who opted out.
    pub opt_outs: i64,
    /// Texts with a final receipt; `receipt_seconds` is the average time until it arrived.
    pub reported: i64,
    pub receipt_seconds: Option<f64>,
}

/// A delivery figure that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    DeliveredShare,
    BouncedShare,
    OptOutShare,
    ReceiptSeconds,
    SingleSegmentShare,
}

/// The thresholds of one figure, and the alert that they raise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    pub figure: Figure,
    /// The alert's name.
    pub alert: String,
    least: i64,
    #[serde(default)]
    events: i64,
    /// True if low values are bad.
    pub below: bool,
    pub warning: f64,
    pub critical: f64,
    /// Whether a critical value pauses the casino's proactive texts at once.
    #[serde(default)]
    pub pauses: bool,
    /// Instructions for the person who receives the alert.
    pub action: String,
}

/// The judgement on a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// There are too few texts to judge.
    TooFew,
    Good,
    /// The figure is beyond the limit for this severity.
    Beyond(Severity),
}

/// The conditions under which we assume that a carrier blocks us.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    pub alert: String,
    least: i64,
    delivered_below: f64,
    in_a_row: i64,
    /// Codes of a carrier's refusal, as `provider/code`.
    pub codes: Vec<String>,
    pub action: String,
}

/// The number of texts that one carrier has refused since it last accepted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streak {
    pub provider: String,
    /// Empty if the provider does not name the carrier.
    pub carrier: String,
    pub refused: i64,
}

/// The reason why we assume that a carrier blocks us.
#[derive(Debug, Clone, PartialEq)]
pub enum Blocked {
    /// Too small a share of texts was delivered: the share, and the number of texts it was computed
    /// from.
    Share(f64, i64),
    Streak(Streak),
}

// === impl Figures ===

impl Figures {
    /// Returns the figure's value, the size of its sample, and the number of events in the sample
    /// (for a share, the numerator). `None` if the sample is empty.
    fn of(&self, figure: Figure) -> Option<(f64, i64, i64)> {
        let share = |part: i64, whole: i64| (whole > 0).then(|| (ratio(part, whole), whole, part));
        match figure {
            Figure::DeliveredShare => share(self.delivered, self.counted),
            Figure::BouncedShare => share(self.bounced, self.counted),
            Figure::OptOutShare => share(self.opt_outs, self.counted),
            Figure::SingleSegmentShare => share(self.single_segment, self.sent),
            Figure::ReceiptSeconds => self
                .receipt_seconds
                .map(|seconds| (seconds, self.reported, self.reported)),
        }
    }

    /// Returns the figure's value, as a share from 0 to 1 or in seconds; `None` without a sample.
    pub fn value(&self, figure: Figure) -> Option<f64> {
        self.of(figure).map(|(value, ..)| value)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an hour's texts are far below 2^52"
)]
fn ratio(part: i64, whole: i64) -> f64 {
    part as f64 / whole as f64
}

// === impl Threshold ===

impl Threshold {
    /// Compares the figure with its limits.
    pub fn judge(&self, figures: &Figures) -> Standing {
        let Some((value, sample, behind)) = figures.of(self.figure) else {
            return Standing::TooFew;
        };
        if sample < self.least {
            return Standing::TooFew;
        }
        let beyond = |limit: f64| {
            if self.below {
                value < limit
            } else {
                value > limit
            }
        };
        if behind < self.events {
            Standing::Good
        } else if beyond(self.critical) {
            Standing::Beyond(Severity::Critical)
        } else if beyond(self.warning) {
            Standing::Beyond(Severity::Warning)
        } else {
            Standing::Good
        }
    }

    /// Returns the sentence that the alert shows.
    pub fn told(&self, figures: &Figures) -> String {
        let (value, sample, _) = figures.of(self.figure).unwrap_or_default();
        let shown = |value: f64| match self.figure {
            Figure::ReceiptSeconds => format!("{value:.0} s"),
            _ => format!("{:.1} %", value * 100.0),
        };
        let side = if self.below { "below" } else { "above" };
        format!(
            "{} is {} of {sample} texts this hour (warning {side} {}, critical {side} {}): {}",
            self.figure.told(),
            shown(value),
            shown(self.warning),
            shown(self.critical),
            self.action
        )
    }
}

impl Figure {
    pub const ALL: [Self; 5] = [
        Self::DeliveredShare,
        Self::BouncedShare,
        Self::OptOutShare,
        Self::ReceiptSeconds,
        Self::SingleSegmentShare,
    ];

    /// Returns the figure's name in an alert.
    pub fn told(self) -> &'static str {
        match self {
            Self::DeliveredShare => "the share of texts delivered",
            Self::BouncedShare => "the share of texts that carriers refused",
            Self::OptOutShare => "the share of guests who left",
            Self::ReceiptSeconds => "the average wait for a receipt",
            Self::SingleSegmentShare => "the share of texts in one segment",
        }
    }
}

// === impl Blocked ===

impl Blocked {
    /// Returns the provider whose texts the carrier blocks; empty if it is unknown.
    pub fn provider(&self) -> &str {
        match self {
            Self::Share(..) => "",
            Self::Streak(streak) => &streak.provider,
        }
    }
}

// === impl Block ===

impl Block {
    /// Decides from the figures of the last minutes whether a carrier blocks us.
    pub fn judge(&self, recent: &Figures, streaks: &[Streak]) -> Option<Blocked> {
        let worst = streaks
            .iter()
            .max_by_key(|streak| streak.refused)
            .filter(|worst| worst.refused > self.in_a_row);
        if let Some(streak) = worst {
            return Some(Blocked::Streak(streak.clone()));
        }
        let share = recent.value(Figure::DeliveredShare)?;
        (recent.counted >= self.least && share < self.delivered_below)
            .then_some(Blocked::Share(share, recent.counted))
    }

    /// Returns the sentence that the alert shows.
    pub fn told(&self, why: &Blocked) -> String {
        let what = match why {
            Blocked::Share(share, of) => {
                format!(
                    "only {:.1} % of {of} texts of the last minutes arrived",
                    share * 100.0
                )
            }
            Blocked::Streak(Streak {
                provider,
                carrier,
                refused,
            }) => {
                let carrier = if carrier.is_empty() {
                    "carriers"
                } else {
                    carrier
                };
                format!("{carrier} behind {provider} refused {refused} texts in a row")
            }
        };
        format!("{what}: {}", self.action)
    }
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
