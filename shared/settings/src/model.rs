//! `[model]`: the model that answers, and the limits on its calls.

use std::collections::{BTreeMap, BTreeSet};

use secrecy::SecretString;
use serde::Deserialize;
use seven_llm::{
    guarded::{self, Price},
    openai::TokenLimit,
};
use url::Url;

use crate::{address::is_here, error::Faults};

/// Minimum of the token limit: with fewer tokens, an answer cannot hold a plan or a verdict.
const LEAST_OUTPUT_TOKENS: u32 = 100;
const MOST_OUTPUT_TOKENS: u32 = 8_192;

/// The kind of model that answers. The offline model needs no network and stands in whenever a
/// hosted one cannot answer (D11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    Offline,
    /// Gives everyone the same reply at no cost, for measuring everything except the model.
    Fixed,
    /// Answers each guest with the guest's own text, for trying a deployment.
    Echo,
    Gemini,
    /// Any server that offers `chat/completions`.
    Openai,
}

impl Provider {
    /// Returns true for a hosted service; only such a service uses `Settings::api_key`.
    pub fn has_key(self) -> bool {
        matches!(self, Self::Gemini | Self::Openai)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub provider: Provider,
    /// The model that writes to guests.
    pub name: String,
    /// The model that routes and plans; if not set, `name`.
    pub quick: Option<String>,
    /// The model that judges replies; if not set, `name`.
    pub judge: Option<String>,
    pub base_url: Option<Url>,
    pub api_key: Option<SecretString>,
    /// Sampling temperature of the model that writes; all other calls use 0.
    pub temperature: f32,
    /// Maximum number of tokens in one answer, for every model.
    pub max_output_tokens: u32,
    pub route_seconds: u64,
    pub plan_seconds: u64,
    pub speak_seconds: u64,
    pub judge_seconds: u64,
    /// Whether the judging model is first tested on drafts whose correct verdict is known. If so,
    /// its verdicts are used only after it has passed.
    pub judge_trial: bool,
    /// Whether the offline host also answers from facts that a language model in the swarm's own
    /// process finds (D48).
    pub find_facts: bool,
    /// The field in which a server of `chat/completions` expects the token limit.
    pub token_limit: TokenLimit,
    /// Maximum number of tokens that Gemini may spend on thinking; `None` uses the model's default.
    pub thinking_budget: Option<i32>,
    #[serde(default)]
    pub guard: guarded::Settings,
    /// Prices of single models, by name; for other models the price in `guard` applies.
    #[serde(default)]
    pub prices: BTreeMap<String, Price>,
}

impl Settings {
    pub(crate) fn check(&self, faults: &mut Faults) {
        let good = (0.0..=2.0).contains(&self.temperature);
        faults.need(
            good,
            "model.temperature",
            self.temperature.to_string(),
            "0 to 2",
        );
        faults.need(
            (LEAST_OUTPUT_TOKENS..=MOST_OUTPUT_TOKENS).contains(&self.max_output_tokens),
            "model.max_output_tokens",
            self.max_output_tokens.to_string(),
            "100 to 8192",
        );
    }

    /// Returns true if a model is called over the network.
    pub fn is_hosted(&self) -> bool {
        matches!(self.provider, Provider::Gemini | Provider::Openai)
    }

    /// Returns the price of a model's calls: the one in `prices`, or else the one in `guard`.
    pub fn price(&self, name: &str) -> Price {
        self.prices.get(name).copied().unwrap_or(self.guard.price)
    }

    /// Returns the hosted models in use that have no price, so that their calls would be recorded
    /// as free. Empty if the model's server is on this machine, because such calls are free.
    pub fn unpriced(&self) -> BTreeSet<&str> {
        if !self.is_hosted() || self.base_url.as_ref().is_some_and(is_here) {
            return BTreeSet::new();
        }
        let used = [Some(&self.name), self.quick.as_ref(), self.judge.as_ref()];
        used.into_iter()
            .flatten()
            .map(String::as_str)
            .filter(|name| self.price(name) == Price::default())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(more: &str) -> Settings {
        let defaults = crate::Settings::parse(more).unwrap();
        defaults.model
    }

    #[test] // OBS-40
    fn a_hosted_model_without_a_price_is_named_and_a_priced_or_local_one_is_not() {
        assert!(
            settings("").unpriced().is_empty(),
            "the offline model is free"
        );
        let both = "model.provider = \"gemini\"\nmodel.name = \"large\"\nmodel.quick = \"small\"\n";
        assert_eq!(
            settings(both).unpriced().into_iter().collect::<Vec<_>>(),
            ["large", "small"]
        );
        let one = format!("{both}model.prices.large = {{ input = \"1.25\", output = \"5\" }}");
        let one = settings(&one);
        assert_eq!(one.unpriced().into_iter().collect::<Vec<_>>(), ["small"]);
        assert_eq!(
            one.price("large")
                .of(seven_llm::Usage {
                    input_tokens: 1_000_000,
                    output_tokens: 0
                })
                .0,
            1_250_000_000
        );
        let all = format!("{both}model.guard.price = {{ input = \"0.075\", output = \"0.30\" }}");
        assert!(settings(&all).unpriced().is_empty());
        let local = "model.provider = \"openai\"\nmodel.base_url = \"http://127.0.0.1:8080/v1/\"";
        assert!(
            settings(local).unpriced().is_empty(),
            "a server on this machine"
        );
    }
}
