//! A content row that can become an offer.

use std::sync::Arc;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde_json::Value;
use seven_knowledge::{Category, Item, item::Details};

use crate::{Toolbox, when};

/// Number of days after which an offer ends if its row names no last day.
const USUAL_DAYS: i64 = 30;

#[derive(Debug, Clone)]
pub(crate) struct Deal {
    pub(crate) item: Arc<Item>,
    /// Value in whole dollars, rounded up.
    pub(crate) dollars: u32,
    pub(crate) gaming: bool,
    /// How the guest redeems the offer; `None` if the row does not say.
    pub(crate) redeem: Option<String>,
    pub(crate) from: Option<NaiveDate>,
    until: Option<NaiveDate>,
    /// Maximum number of times that the casino gives the offer out; `None` if there is no limit.
    pub(crate) most: Option<u32>,
}

impl Toolbox<'_> {
    /// Returns the deals that may be offered: current rows of the categories promotion and offer.
    pub(crate) fn deals(&self) -> Vec<Deal> {
        let rows = self.given.index.current(self.given.now);
        rows.filter_map(|item| self.deal(item))
            .filter(|deal| deal.until.is_none_or(|day| day >= self.today()))
            .collect()
    }

    fn deal(&self, item: &Arc<Item>) -> Option<Deal> {
        let offer = match &item.category {
            Category::Promotions => true,
            Category::Other(name) => name == "offer" || name == "offers",
            _ => false,
        };
        if !offer {
            return None;
        }
        let deal = |kind: &str, value: f64| Deal {
            item: Arc::clone(item),
            // A cast from float to integer saturates, so it cannot wrap around.
            dollars: value.ceil() as u32,
            gaming: self
                .given
                .policy
                .is_gaming(&format!("{kind} . {} . {}", item.name, item.description)),
            redeem: None,
            from: None,
            until: None,
            most: None,
        };
        if let Details::Promotion(p) = &item.details {
            return Some(Deal {
                redeem: p.redemption_method.clone(),
                from: Some(p.valid_from),
                until: Some(p.valid_until),
                most: p.max_redemptions,
                ..deal(&p.promo_type, p.value)
            });
        }
        let extra = item.details.extra()?;
        let text = |key: &str| extra.get(key).and_then(Value::as_str);
        // A row without a value is not offered, because the caps on value cannot be checked for it.
        let value = extra
            .get("value")
            .and_then(Value::as_f64)
            .filter(|value| *value >= 0.0)?;
        Some(Deal {
            redeem: text("redemption_method").map(str::to_owned),
            from: text("valid_from").and_then(|day| day.parse().ok()),
            until: text("valid_until").and_then(|day| day.parse().ok()),
            most: extra
                .get("max_redemptions")
                .and_then(Value::as_u64)
                .map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
            ..deal(text("promo_type").unwrap_or_default(), value)
        })
    }

    /// Returns the end of the deal's last day in the property's time zone. If the deal has no last
    /// day, returns the time `USUAL_DAYS` from now.
    pub(crate) fn ends(&self, deal: &Deal) -> DateTime<Utc> {
        let after = deal
            .until
            .and_then(|day| day.checked_add_days(Days::new(1)));
        after.map_or(self.given.now + TimeDelta::days(USUAL_DAYS), |day| {
            when::instant(day.and_time(NaiveTime::MIN), self.zone())
        })
    }
}
