//! The costs of a casino: recorded usage times the prices of the settings `[cost]`. Only the cost
//! of model calls is recorded with each call. Amounts are integers in billionths of a dollar.

pub mod projection;

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, NaiveDate, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_store::{
    Result, Tx,
    cost::{Used, UsedByStep},
};

const NANO: u64 = 1_000_000_000;

/// Billionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Usd(pub u64);

/// Prices and the monthly budget; the settings give them in dollars as decimal text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Price of an outbound segment that a provider accepted.
    pub segment_out: Usd,
    /// Price of a segment that a guest sent.
    pub segment_in: Usd,
    /// The carriers' surcharge on each segment, in both directions.
    pub surcharge: Usd,
    /// Price of a phone number per month.
    pub number: Usd,
    /// Price of a 10DLC campaign per month.
    pub campaign: Usd,
    /// A casino's share of machines and services per month.
    pub infrastructure: Usd,
    /// Maximum cost of a casino per month; 0 means no budget.
    pub budget: Usd,
    /// Maximum cost of computing a casino's vectors once; a run that costs more raises an alert.
    pub reindex: Usd,
    /// Maximum cost of hosted models in 24 hours for one guest of a website. `web_casino` is the
    /// limit for all guests of a casino's website together. 0 means no limit. Beyond either limit
    /// the offline host answers.
    pub web_visitor: Usd,
    pub web_casino: Usd,
}

/// The cost of one casino in one month.
#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    pub casino: String,
    pub month: String,
    #[serde(flatten)]
    pub used: Used,
    pub model: Usd,
    pub sms: Usd,
    pub fixed: Usd,
    pub total: Usd,
    /// `None` if there was no conversation.
    pub per_conversation: Option<Usd>,
    pub per_turn: Option<Usd>,
}

/// A calendar month, written as `2026-11`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    first: NaiveDate,
}

// === impl Usd ===

impl Usd {
    pub fn dollars(self) -> f64 {
        self.0 as f64 / NANO as f64
    }

    fn times(self, n: i64) -> Self {
        Self(self.0.saturating_mul(u64::try_from(n).unwrap_or_default()))
    }
}

impl std::ops::Add for Usd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::str::FromStr for Usd {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{text}` is no price; expected dollars as text with at most nine places, such as \
                 \"0.004\""
            )
        };
        let (whole, places) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(places) || places.len() > 9 {
            return Err(bad());
        }
        let whole = whole
            .parse::<u64>()
            .ok()
            .and_then(|whole| whole.checked_mul(NANO))
            .ok_or_else(bad)?;
        let places = format!("{places:0<9}").parse::<u64>().map_err(|_| bad())?;
        whole.checked_add(places).map(Self).ok_or_else(bad)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl std::fmt::Display for Usd {
    /// Formats the amount in dollars, rounded to a hundredth of a cent.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "${:.4}", self.dollars())
    }
}

// === impl Month ===

impl std::str::FromStr for Month {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let first = NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d");
        first.map(|first| Self { first }).map_err(|_| {
            format!("`{text}` is no month; expected a year and a month, such as 2026-11")
        })
    }
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.first.format("%Y-%m"))
    }
}

impl Month {
    pub fn of(now: DateTime<Utc>) -> Self {
        Self::with(now.date_naive())
    }

    /// Returns the month that contains the day.
    pub fn with(day: NaiveDate) -> Self {
        Self {
            first: day.with_day(1).unwrap_or(day),
        }
    }

    pub fn before(self) -> Self {
        let first = self.first.checked_sub_months(chrono::Months::new(1));
        Self {
            first: first.unwrap_or(NaiveDate::MIN),
        }
    }

    pub fn next(self) -> Self {
        let first = self.first.checked_add_months(chrono::Months::new(1));
        Self {
            first: first.unwrap_or(NaiveDate::MAX),
        }
    }

    /// Returns the start of this month and the start of the next one, in UTC.
    pub fn span(self) -> (DateTime<Utc>, DateTime<Utc>) {
        let next = self.next().first;
        let at = |day: NaiveDate| day.and_time(chrono::NaiveTime::MIN).and_utc();
        (at(self.first), at(next))
    }
}

// === impl Cost ===

impl Prices {
    /// Returns the cost of these outbound and inbound segments.
    pub fn sms(&self, segments_out: i64, segments_in: i64) -> Usd {
        self.segment_out.times(segments_out)
            + self.segment_in.times(segments_in)
            + self.surcharge.times(segments_out + segments_in)
    }

    /// Returns the cost of a casino's usage in a month.
    pub fn cost(&self, casino: &str, month: Month, used: Used) -> Cost {
        let sms = self.sms(used.segments_out, used.segments_in);
        let model = Usd(u64::try_from(used.model_nano_usd).unwrap_or_default());
        let fixed = self.number + self.campaign + self.infrastructure;
        let total = model + sms + fixed;
        let per = |n: i64| {
            u64::try_from(n)
                .ok()
                .filter(|n| *n > 0)
                .map(|n| Usd(total.0 / n))
        };
        let (per_conversation, per_turn) = (per(used.conversations), per(used.turns));
        Cost {
            casino: casino.to_owned(),
            month: month.to_string(),
            used,
            model,
            sms,
            fixed,
            total,
            per_conversation,
            per_turn,
        }
    }
}

/// Returns the month's cost of each casino, or of the casino `only` alone.
pub async fn month(
    fleet: &Fleet,
    prices: &Prices,
    month: Month,
    only: Option<&str>,
) -> Result<Vec<Cost>> {
    let mut costs = Vec::new();
    for casino in casinos(fleet, only).await? {
        let mut tx = fleet.store.bind(&casino).await?;
        costs.push(month_here(&mut tx, prices, month).await?);
        tx.commit().await?;
    }
    Ok(costs)
}

/// Returns the month's cost of the casino to which `tx` is bound.
pub async fn month_here(tx: &mut Tx, prices: &Prices, month: Month) -> Result<Cost> {
    let (from, to) = month.span();
    let used = tx.used(from, to).await?;
    Ok(prices.cost(tx.casino().as_str(), month, used))
}

async fn casinos(fleet: &Fleet, only: Option<&str>) -> Result<impl Iterator<Item = CasinoId>> {
    let roster = fleet
        .store
        .roster()
        .await?
        .into_iter()
        .map(|entry| entry.casino);
    Ok(roster.filter(move |casino| only.is_none_or(|only| only == casino.as_str())))
}

/// Returns a month's usage of hosted models, for one casino or for all together. The usage is
/// summed per step of a turn. The most expensive step comes first.
pub async fn by_step(fleet: &Fleet, month: Month, only: Option<&str>) -> Result<Vec<UsedByStep>> {
    let (from, to) = month.span();
    let mut steps: BTreeMap<String, UsedByStep> = BTreeMap::new();
    for casino in casinos(fleet, only).await? {
        let mut tx = fleet.store.bind(&casino).await?;
        let used = tx.used_by_step(from, to).await?;
        tx.commit().await?;
        for more in used {
            steps
                .entry(more.step.clone())
                .and_modify(|known| add(known, &more))
                .or_insert(more);
        }
    }
    let mut steps: Vec<_> = steps.into_values().collect();
    steps.sort_by(|a, b| {
        b.nano_usd
            .cmp(&a.nano_usd)
            .then_with(|| a.step.cmp(&b.step))
    });
    Ok(steps)
}

fn add(to: &mut UsedByStep, more: &UsedByStep) {
    to.calls += more.calls;
    to.input_tokens += more.input_tokens;
    to.output_tokens += more.output_tokens;
    to.nano_usd += more.nano_usd;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(text: &str) -> Usd {
        text.parse().unwrap()
    }

    fn prices() -> Prices {
        Prices {
            segment_out: usd("0.004"),
            segment_in: usd("0.004"),
            surcharge: usd("0.003"),
            number: usd("1"),
            campaign: usd("15"),
            infrastructure: usd("0"),
            budget: usd("0"),
            reindex: usd("5"),
            web_visitor: usd("0.5"),
            web_casino: usd("50"),
        }
    }

    #[test] // SMS-60: 5,000 guests with 4 exchanges a month
    fn the_specifications_month_costs_what_it_says() {
        let used = Used {
            turns: 20_000,
            conversations: 5_000,
            segments_out: 20_000,
            segments_in: 20_000,
            model_nano_usd: 18_700_000_000,
            ..Used::default()
        };
        let cost = prices().cost("silver_birch", "2026-11".parse().unwrap(), used);
        assert_eq!(
            (cost.sms, cost.fixed, cost.model),
            (usd("280"), usd("16"), usd("18.7"))
        );
        assert_eq!(cost.total, usd("314.7"));
        assert_eq!(cost.per_turn, Some(usd("0.015735")));
        assert_eq!(
            prices()
                .cost("quiet", "2026-11".parse().unwrap(), Used::default())
                .per_turn,
            None
        );
    }

    #[test]
    fn prices_and_months_say_what_is_wrong() {
        assert_eq!(usd("0.000000001"), Usd(1));
        for bad in ["", "1,5", "-1", "1.0000000001", ".5", "1.", "18446744074"] {
            assert!(bad.parse::<Usd>().is_err(), "{bad}");
        }
        assert!("2026-13".parse::<Month>().unwrap_err().contains("2026-11"));
        let (from, to) = "2026-12".parse::<Month>().unwrap().span();
        assert_eq!(
            (from.to_rfc3339(), to.to_rfc3339()),
            (
                "2026-12-01T00:00:00+00:00".into(),
                "2027-01-01T00:00:00+00:00".into()
            )
        );
        assert_eq!(
            Month::of("2026-11-23T10:00:00Z".parse().unwrap()).to_string(),
            "2026-11"
        );
    }
}
