//! The sending limits of providers and carriers, as data.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use seven_domain::config::{BrandTier, CampaignClass};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    account: BTreeMap<String, u32>,
    campaign_per_minute: BTreeMap<CampaignClass, u32>,
    brand_per_day: BTreeMap<BrandTier, u32>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/pace.toml"))
        .expect("the table is part of the crate and tested")
});

/// Returns the limit of an account, in segments per second over all its numbers. `None` if the
/// table has no limit for the provider.
pub fn account(provider: &str) -> Option<u32> {
    TABLE.account.get(provider).copied()
}

/// Returns AT&T's limit for one campaign, in segments per minute.
pub fn campaign_per_minute(class: CampaignClass) -> u32 {
    TABLE.campaign_per_minute.get(&class).copied().unwrap_or(15)
}

/// Returns T-Mobile's limit for one brand, in segments per day.
pub fn brand_per_day(tier: BrandTier) -> u32 {
    TABLE.brand_per_day.get(&tier).copied().unwrap_or(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // spec 05 section 1.6
    fn the_table_is_whole() {
        assert_eq!(account("telnyx"), Some(50));
        assert!(
            CampaignClass::ALL
                .iter()
                .all(|class| TABLE.campaign_per_minute.contains_key(class))
        );
        assert!(
            BrandTier::ALL
                .iter()
                .all(|tier| TABLE.brand_per_day.contains_key(tier))
        );
        assert_eq!(campaign_per_minute(CampaignClass::T), 75);
        assert_eq!(brand_per_day(BrandTier::Low), 2_000);
    }
}
