//! When figures of delivery are bad, and when a carrier blocks us. Pure; shares count messages, never segments (C-48).

use serde::{Deserialize, Serialize};
use seven_domain::Severity;

/// The delivery figures of one casino's texts over one hour or another span. Texts too young for a
/// receipt are in `sent`, not in `counted`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    pub sent: i64,
    /// Of `sent`, those of one segment.
    pub single_segment: i64,
    /// Old enough that a receipt should have come.
    pub counted: i64,
    /// Of `counted`.
    pub delivered: i64,
    /// Of `counted`: the carrier refused them after the provider had taken them.
    pub bounced: i64,
    /// Guests who left.
    pub opt_outs: i64,
    /// Texts with a last word, and how long it took on average.
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

/// One line of the table of figures.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    pub figure: Figure,
    /// The alert's name.
    pub alert: String,
    least: i64,
    #[serde(default)]
    events: i64,
    /// True where a low figure is the bad one.
    pub below: bool,
    pub warning: f64,
    pub critical: f64,
    /// Critical: the casino's proactive texts are paused at once.
    #[serde(default)]
    pub pauses: bool,
    /// Instructions for whoever receives the alert.
    pub action: String,
}

/// How a figure stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Says nothing.
    TooFew,
    Good,
    /// Warning or critical.
    Beyond(Severity),
}

/// When a carrier blocks us (SMS-52).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    pub alert: String,
    least: i64,
    delivered_below: f64,
    in_a_row: i64,
    /// `provider/code` of a carrier's refusal.
    pub codes: Vec<String>,
    pub action: String,
}

/// Refusals of one carrier since it last took a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streak {
    pub provider: String,
    /// Empty where the provider does not say.
    pub carrier: String,
    pub refused: i64,
}

/// Why we think that a carrier blocks us.
#[derive(Debug, Clone, PartialEq)]
pub enum Blocked {
    /// The share that arrived, of so many.
    Share(f64, i64),
    Streak(Streak),
}

// === impl Figures ===

impl Figures {
    /// The figure, with the size of its sample and the texts behind it; none where nothing was counted.
    fn of(&self, figure: Figure) -> Option<(f64, i64, i64)> {
        let share = |part: i64, whole: i64| (whole > 0).then(|| (ratio(part, whole), whole, part));
        match figure {
            Figure::DeliveredShare => share(self.delivered, self.counted),
            Figure::BouncedShare => share(self.bounced, self.counted),
            Figure::OptOutShare => share(self.opt_outs, self.counted),
            Figure::SingleSegmentShare => share(self.single_segment, self.sent),
            Figure::ReceiptSeconds => self.receipt_seconds.map(|seconds| (seconds, self.reported, self.reported)),
        }
    }

    /// The figure as a share of 1, or in seconds.
    pub fn value(&self, figure: Figure) -> Option<f64> {
        self.of(figure).map(|(value, ..)| value)
    }
}

#[expect(clippy::cast_precision_loss, reason = "an hour's texts are far below 2^52")]
fn ratio(part: i64, whole: i64) -> f64 {
    part as f64 / whole as f64
}

// === impl Threshold ===

impl Threshold {
    /// How this figure stands.
    pub fn judge(&self, figures: &Figures) -> Standing {
        let Some((value, sample, behind)) = figures.of(self.figure) else { return Standing::TooFew };
        if sample < self.least {
            return Standing::TooFew;
        }
        let beyond = |limit: f64| if self.below { value < limit } else { value > limit };
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

    /// The alert's sentence.
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
    pub const ALL: [Self; 5] =
        [Self::DeliveredShare, Self::BouncedShare, Self::OptOutShare, Self::ReceiptSeconds, Self::SingleSegmentShare];

    /// As a person reads it.
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
    /// The provider behind which the carrier is; empty where it may be any.
    pub fn provider(&self) -> &str {
        match self {
            Self::Share(..) => "",
            Self::Streak(streak) => &streak.provider,
        }
    }
}

// === impl Block ===

impl Block {
    /// Whether a carrier blocks us, by what the last minutes came to.
    pub fn judge(&self, recent: &Figures, streaks: &[Streak]) -> Option<Blocked> {
        let worst = streaks.iter().max_by_key(|streak| streak.refused).filter(|worst| worst.refused > self.in_a_row);
        if let Some(streak) = worst {
            return Some(Blocked::Streak(streak.clone()));
        }
        let share = recent.value(Figure::DeliveredShare)?;
        (recent.counted >= self.least && share < self.delivered_below).then_some(Blocked::Share(share, recent.counted))
    }

    /// The alert's sentence.
    pub fn told(&self, why: &Blocked) -> String {
        let what = match why {
            Blocked::Share(share, of) => {
                format!("only {:.1} % of {of} texts of the last minutes arrived", share * 100.0)
            }
            Blocked::Streak(Streak { provider, carrier, refused }) => {
                let carrier = if carrier.is_empty() { "carriers" } else { carrier };
                format!("{carrier} behind {provider} refused {refused} texts in a row")
            }
        };
        format!("{what}: {}", self.action)
    }
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
