//! The registration of a sending number with provider and carriers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a sending number; it determines the number's sending rate.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NumberKind {
    /// 20 segments per second.
    TollFree,
    /// 1 000 segments per second.
    ShortCode,
    /// A 10DLC long code. The casino's document states its rate as `campaign_segments_per_second`.
    LongCode,
    /// A number for demonstrations and tests: 1 000 segments per second.
    Demo,
}

/// AT&T's class of a 10DLC campaign.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[expect(missing_docs, reason = "the registry's letters")]
pub enum CampaignClass {
    A,
    B,
    C,
    D,
    E,
    F,
    T,
    W,
    K,
    X,
    P,
    S,
    G,
    N,
}

impl CampaignClass {
    pub const ALL: [Self; 14] = {
        use CampaignClass::{A, B, C, D, E, F, G, K, N, P, S, T, W, X};
        [A, B, C, D, E, F, T, W, K, X, P, S, G, N]
    };
}

/// The tier that T-Mobile gives a brand by the brand's vetting score.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BrandTier {
    Top,
    High,
    Middle,
    /// The lowest tier, which also applies to a brand that nobody has vetted.
    Low,
    SoleProprietor,
}

impl BrandTier {
    pub const ALL: [Self; 5] = [
        Self::Top,
        Self::High,
        Self::Middle,
        Self::Low,
        Self::SoleProprietor,
    ];
}

/// The state of a number's registration with the carriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    #[default]
    Missing,
    Pending,
    Approved,
    Rejected,
    Suspended,
}

/// The brand and the campaign of a long code, as a person submitted them to the carriers' registry.
/// They are kept for renewals and for answers to a rejection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Registered {
    pub brand: Brand,
    pub campaign: Campaign,
}

/// The company or person responsible for the texts, as the registry knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Brand {
    /// The legal name, as on the brand's tax papers.
    pub legal_name: String,
    pub entity: Entity,
    /// The tax id; in the United States the EIN.
    pub tax_id: String,
    pub website: String,
    /// The registry's term for the brand's trade.
    pub vertical: String,
    /// The stock symbol; only for publicly listed companies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stock_symbol: Option<String>,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Entity {
    Private,
    /// A company listed on a stock exchange.
    Public,
    NonProfit,
    Government,
    SoleProprietor,
}

/// The purpose of the texts, as submitted to the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    pub use_case: String,
    /// The combined use cases, if `use_case` is a mixed one.
    #[serde(default)]
    pub sub_use_cases: Vec<String>,
    /// A description of how guests agree to texts.
    pub opt_in: String,
    /// A description of who writes to whom, and when.
    pub message_flow: String,
    /// Sample texts as guests receive them; the registry requires three.
    #[serde(default)]
    pub samples: Vec<String>,
}

/// The number of samples that the registry requires.
const SAMPLES: usize = 3;

impl Registered {
    /// Returns the paths of the required fields that are empty, such as `brand.legal_name`.
    pub fn missing(&self) -> Vec<&'static str> {
        let Self { brand, campaign } = self;
        let symbol = brand.stock_symbol.as_deref().unwrap_or_default();
        let said = [
            ("brand.legal_name", brand.legal_name.as_str()),
            ("brand.tax_id", &brand.tax_id),
            ("brand.website", &brand.website),
            ("brand.vertical", &brand.vertical),
            (
                "brand.stock_symbol",
                if brand.entity == Entity::Public {
                    symbol
                } else {
                    "not listed"
                },
            ),
            ("campaign.use_case", &campaign.use_case),
            ("campaign.opt_in", &campaign.opt_in),
            ("campaign.message_flow", &campaign.message_flow),
        ];
        let blank = said
            .into_iter()
            .filter(|(_, said)| said.trim().is_empty())
            .map(|(field, _)| field);
        let samples = campaign
            .samples
            .iter()
            .filter(|sample| !sample.trim().is_empty())
            .count();
        blank
            .chain((samples < SAMPLES).then_some("campaign.samples (three)"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told() -> serde_json::Value {
        json!({
            "brand": {
                "legal_name": "Silver Birch Holdings",
                "entity": "private",
                "tax_id": "00-0000000",
                "website": "https://silver-birch.example",
                "vertical": "hospitality",
            },
            "campaign": { "use_case": "mixed", "sub_use_cases": ["customer_care", "marketing"],
                "opt_in": "loyalty enrolment", "message_flow": "guests text in",
                "samples": [
                    "The pool is open.",
                    "Dinner is served until ten.",
                    "Your table is ready.",
                ] }
        })
    }

    #[test] // SMS-57
    fn what_a_submission_needs_is_named_where_it_is_missing() {
        let whole: Registered = serde_json::from_value(told()).unwrap();
        assert_eq!(whole.missing(), Vec::<&str>::new());
        let cases = [
            ("/brand/legal_name", json!(""), "brand.legal_name"),
            ("/brand/tax_id", json!("  "), "brand.tax_id"),
            ("/brand/website", json!(""), "brand.website"),
            ("/brand/vertical", json!(""), "brand.vertical"),
            ("/brand/entity", json!("public"), "brand.stock_symbol"),
            ("/campaign/use_case", json!(""), "campaign.use_case"),
            ("/campaign/opt_in", json!(""), "campaign.opt_in"),
            ("/campaign/message_flow", json!(""), "campaign.message_flow"),
            (
                "/campaign/samples",
                json!(["one", " ", "two"]),
                "campaign.samples (three)",
            ),
        ];
        for (field, value, missing) in cases {
            let mut document = told();
            *document.pointer_mut(field).unwrap() = value;
            let registered: Registered = serde_json::from_value(document).unwrap();
            assert_eq!(registered.missing(), [missing]);
        }
        let listed = Brand {
            entity: Entity::Public,
            stock_symbol: Some("SLVR".into()),
            ..whole.brand.clone()
        };
        assert_eq!(
            Registered {
                brand: listed,
                ..whole
            }
            .missing(),
            Vec::<&str>::new()
        );
        let mut unknown = told();
        unknown["brand"]["ein"] = json!("1");
        assert!(
            serde_json::from_value::<Registered>(unknown)
                .is_err_and(|error| error.to_string().contains("`ein`"))
        );
    }
}
