//! The `[model]` settings: which model answers, and the guards around it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use secrecy::SecretString;
use serde::Deserialize;
use seven_agent_swarm::{Deadlines, Hosted, Models};
use seven_cache::{Cache, Transition};
use seven_llm::{
    FixedModel, Model,
    chat::{ChatModel, Error},
    gemini::{self, Gemini},
    guarded::{self, Finished, Guarded, Observer, Price},
    openai::{self, OpenAi},
};
use seven_packs::Packs;
use seven_telemetry::metrics;
use url::Url;

use crate::settings::is_here;

/// Who answers. The offline model needs nothing and stands in whenever a hosted one cannot answer (D11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    Offline,
    /// The same words for everyone, at no cost: measurements of all the rest.
    Fixed,
    Gemini,
    /// Anything that speaks `chat/completions`.
    Openai,
}

impl Provider {
    /// It is somebody's service, which knows us by a key.
    pub fn has_key(self) -> bool {
        matches!(self, Self::Gemini | Self::Openai)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub provider: Provider,
    /// Writes to guests.
    pub name: String,
    /// Routes and plans; the same model when not named (AGENT-30).
    pub quick: Option<String>,
    /// Judges; the same model when not named.
    pub judge: Option<String>,
    pub base_url: Option<Url>,
    pub api_key: Option<SecretString>,
    pub temperature: f32,
    pub route_seconds: u64,
    pub plan_seconds: u64,
    pub speak_seconds: u64,
    pub judge_seconds: u64,
    /// Tokens Gemini may think; absent leaves it to the model.
    pub thinking_budget: Option<i32>,
    #[serde(default)]
    pub guard: guarded::Settings,
    /// Of single models, by name; the others have the guard's.
    #[serde(default)]
    pub prices: BTreeMap<String, Price>,
}

/// Every call of a model as metrics (OBS-6..12, AGENT-70, AGENT-76). Of which kind it is, `chat` or `embedding`, is told: without the one
/// the offline host answers, without the other content is searched by words.
#[derive(Debug)]
pub(crate) struct Meter(pub(crate) &'static str);

pub(crate) const CHAT: Meter = Meter("chat");
pub(crate) const EMBEDDING: Meter = Meter("embedding");

/// The same of an embedding, and what all of its calls cost together, in billionths of a dollar.
#[derive(Debug, Default)]
pub(crate) struct Tally(AtomicU64);

impl Observer for Meter {
    fn finished(&self, call: &Finished<'_>) {
        let outcome = call.error.map_or("ok", Error::kind);
        let m = metrics();
        m.model_calls.with_label_values(&[call.model, self.0, outcome]).inc();
        m.model_seconds.with_label_values(&[call.model]).observe(call.took.as_secs_f64());
        m.model_tokens.with_label_values(&[call.model, "input"]).inc_by(call.usage.input_tokens);
        m.model_tokens.with_label_values(&[call.model, "output"]).inc_by(call.usage.output_tokens);
        m.model_cost.with_label_values(&[call.model]).inc_by(call.cost.0);
    }

    fn retried(&self, model: &str, error: &Error) {
        metrics().model_retries.with_label_values(&[model, error.kind()]).inc();
    }

    fn breaker(&self, name: &str, moved: Transition) {
        metrics().breakers.with_label_values(&[name, moved.as_str()]).inc();
    }
}

impl Tally {
    pub(crate) fn spent(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Observer for Tally {
    fn finished(&self, call: &Finished<'_>) {
        EMBEDDING.finished(call);
        self.0.fetch_add(call.cost.0, Ordering::Relaxed);
    }

    fn retried(&self, model: &str, error: &Error) {
        EMBEDDING.retried(model, error);
    }

    fn breaker(&self, name: &str, moved: Transition) {
        EMBEDDING.breaker(name, moved);
    }
}

impl Settings {
    /// Who answers without a network.
    pub fn models(&self, packs: &Packs) -> Result<Models> {
        Ok(match self.provider {
            Provider::Fixed => Models::same(packs, &(Arc::new(FixedModel) as Arc<dyn Model>)),
            Provider::Offline | Provider::Gemini | Provider::Openai => Models::offline(packs)?,
        })
    }

    /// None when nobody on the network is asked.
    pub fn hosted(&self, cache: &Cache) -> Result<Option<Hosted>> {
        if !self.is_hosted() {
            return Ok(None);
        }
        let seconds = Duration::from_secs;
        let quick = self.quick.as_deref().unwrap_or(&self.name);
        let judge = self.judge.as_deref().unwrap_or(&self.name);
        for model in self.unpriced() {
            tracing::warn!(
                model,
                "this model has no price, so its calls are recorded as free; set it in [model.prices] or [model.guard]"
            );
        }
        Ok(Some(Hosted {
            quick: self.model(quick, cache)?,
            speaker: self.model(&self.name, cache)?,
            judge: self.model(judge, cache)?,
            deadlines: Deadlines {
                route: seconds(self.route_seconds),
                plan: seconds(self.plan_seconds),
                speak: seconds(self.speak_seconds),
                judge: seconds(self.judge_seconds),
            },
            temperature: self.temperature,
        }))
    }

    fn is_hosted(&self) -> bool {
        matches!(self.provider, Provider::Gemini | Provider::Openai)
    }

    fn price(&self, name: &str) -> Price {
        self.prices.get(name).copied().unwrap_or(self.guard.price)
    }

    /// Hosted models in use whose calls would be recorded as free (OBS-40, C-27). A server on this machine asks for no money.
    pub fn unpriced(&self) -> BTreeSet<&str> {
        if !self.is_hosted() || self.base_url.as_ref().is_some_and(is_here) {
            return BTreeSet::new();
        }
        let used = [Some(&self.name), self.quick.as_ref(), self.judge.as_ref()];
        used.into_iter().flatten().map(String::as_str).filter(|name| self.price(name) == Price::default()).collect()
    }

    fn model(&self, name: &str, cache: &Cache) -> Result<Arc<dyn ChatModel>> {
        let guard = guarded::Settings { price: self.price(name), ..self.guard };
        let model: Arc<dyn ChatModel> = match self.provider {
            Provider::Gemini => Arc::new(Gemini::new(&self.gemini(name)?).context("setting up Gemini")?),
            Provider::Openai | Provider::Offline | Provider::Fixed => {
                Arc::new(OpenAi::new(&self.openai(name)?).context("setting up the model")?)
            }
        };
        Ok(Arc::new(Guarded::new(model, cache, guard, Arc::new(CHAT))))
    }

    fn gemini(&self, name: &str) -> Result<gemini::Settings> {
        let google = || Url::parse("https://generativelanguage.googleapis.com/");
        Ok(gemini::Settings {
            base_url: self.base_url.clone().map_or_else(google, Ok)?,
            model: name.to_owned(),
            api_key: self.api_key.clone().context("setting model.api_key is missing; Gemini needs one")?,
            thinking_budget: self.thinking_budget,
            schema_beside_tools: false,
        })
    }

    fn openai(&self, name: &str) -> Result<openai::Settings> {
        let base_url = self.base_url.clone().context(
            "setting model.base_url is missing; such as https://api.openai.com/v1/ or http://127.0.0.1:8080/v1/",
        )?;
        Ok(openai::Settings {
            base_url,
            model: name.to_owned(),
            api_key: self.api_key.clone(),
            provider: "openai".to_owned(),
            token_limit: openai::TokenLimit::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(more: &str) -> Settings {
        let defaults = crate::settings::Settings::parse(more).unwrap();
        defaults.model
    }

    #[test] // OBS-40
    fn a_hosted_model_without_a_price_is_named_and_a_priced_or_local_one_is_not() {
        assert!(settings("").unpriced().is_empty(), "the offline model is free");
        let both = "model.provider = \"gemini\"\nmodel.name = \"large\"\nmodel.quick = \"small\"\n";
        assert_eq!(settings(both).unpriced().into_iter().collect::<Vec<_>>(), ["large", "small"]);
        let one = format!("{both}model.prices.large = {{ input = \"1.25\", output = \"5\" }}");
        let one = settings(&one);
        assert_eq!(one.unpriced().into_iter().collect::<Vec<_>>(), ["small"]);
        assert_eq!(
            one.price("large").of(seven_llm::Usage { input_tokens: 1_000_000, output_tokens: 0 }).0,
            1_250_000_000
        );
        let all = format!("{both}model.guard.price = {{ input = \"0.075\", output = \"0.30\" }}");
        assert!(settings(&all).unpriced().is_empty());
        let local = "model.provider = \"openai\"\nmodel.base_url = \"http://127.0.0.1:8080/v1/\"";
        assert!(settings(local).unpriced().is_empty(), "a server on this machine");
    }
}
