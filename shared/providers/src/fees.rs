//! The fees for phone numbers and their registration, for estimates. Actual costs are computed from
//! the settings (`[cost]`) instead.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono::NaiveDate;
use serde::Deserialize;

/// Amounts are US dollars as decimal text. `verified_at` is the day on which a person checked the
/// amounts; `None` if nobody has checked them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fees {
    pub number: Number,
    pub campaign: Campaign,
    pub brand: Brand,
    /// The sending rates of each tier. A brand gets its tier by its vetting.
    pub tiers: BTreeMap<String, Tier>,
}

/// The monthly fee of one number, as a range.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    pub least: String,
    pub most: String,
    pub verified_at: Option<NaiveDate>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    pub month: String,
    pub verified_at: Option<NaiveDate>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Brand {
    pub once: String,
    pub verified_at: Option<NaiveDate>,
}

/// The sending rate of a brand's tier.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Segments that may be sent per second.
    pub per_second: u32,
    /// Segments that may be sent per day; `None` if there is no cap.
    pub per_day: Option<u32>,
    /// Fee for the vetting, paid once in addition to the brand's own fee.
    pub vetting: String,
    pub verified_at: Option<NaiveDate>,
}

static FEES: LazyLock<Fees> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/fees.toml"))
        .expect("the table is part of the crate and tested")
});

pub fn fees() -> &'static Fees {
    &FEES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SMS-56
    fn the_table_is_whole_and_says_that_nobody_has_verified_it() {
        let fees = fees();
        assert_eq!(
            (fees.campaign.month.as_str(), fees.brand.once.as_str()),
            ("15", "4.50")
        );
        assert_eq!(fees.tiers["low_volume"].per_day, Some(2_000));
        assert_eq!(fees.tiers["standard"].per_second, 75);
        assert_eq!(fees.tiers["enhanced"].per_day, None);
        let tiers = fees.tiers.values().map(|tier| tier.verified_at);
        let verified = [
            fees.number.verified_at,
            fees.campaign.verified_at,
            fees.brand.verified_at,
        ];
        assert_eq!(
            tiers.chain(verified).flatten().count(),
            0,
            "a date in the table is somebody's word"
        );
        for amount in [
            &fees.number.least,
            &fees.number.most,
            &fees.campaign.month,
            &fees.brand.once,
        ] {
            assert!(
                amount.parse::<f64>().is_ok_and(|dollars| dollars > 0.0),
                "{amount}"
            );
        }
    }
}
