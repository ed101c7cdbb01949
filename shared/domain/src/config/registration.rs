//! How a sending number stands with provider and carriers (SMS-56).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a sending number is registered; decides its pace (SMS-56, spec 05 section 1.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NumberKind {
    /// 20 segments per second.
    TollFree,
    /// 1 000 segments per second.
    ShortCode,
    /// 10DLC long code: the campaign's own figure, `campaign_segments_per_second`.
    LongCode,
    /// Demonstration and tests: 1 000 segments per second.
    Demo,
}

/// AT&T's class of a 10DLC campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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

/// T-Mobile's tier of a brand, by its vetting score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BrandTier {
    Top,
    High,
    Middle,
    /// Also a brand nobody has vetted.
    Low,
    SoleProprietor,
}

impl BrandTier {
    pub const ALL: [Self; 5] = [Self::Top, Self::High, Self::Middle, Self::Low, Self::SoleProprietor];
}

/// Where a number's registration with the carriers stands.
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
