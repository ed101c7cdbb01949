//! The models that `[model]` names, and the metrics of their calls and costs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use seven_agent_swarm::{Deadlines, Hosted, Models, trial::Trial};
use seven_cache::{Cache, Transition};
use seven_llm::{
    EchoModel, FixedModel, Model,
    chat::{ChatModel, Error},
    gemini::{self, Gemini},
    guarded::{self, Finished, Guarded, Observer},
    openai::{self, OpenAi},
};
use seven_offline_host::Facts;
use seven_packs::Packs;
use seven_settings::model::{Provider, Settings};
use seven_telemetry::metrics;
use url::Url;

/// Records metrics of every model call. The field is the kind of call, `chat` or `embedding`,
/// because the two fail differently. Without chat the offline host answers; without embedding
/// content is searched by words.
#[derive(Debug)]
pub(crate) struct Meter(pub(crate) &'static str);

pub(crate) const CHAT: Meter = Meter("chat");
pub(crate) const EMBEDDING: Meter = Meter("embedding");

/// Records the calls of an embedding as [`Meter`] does, and sums their cost in billionths of a
/// dollar.
#[derive(Debug, Default)]
pub(crate) struct Tally(AtomicU64);

impl Observer for Meter {
    fn finished(&self, call: &Finished<'_>) {
        let outcome = call.error.map_or("ok", Error::kind);
        let m = metrics();
        m.model_calls
            .with_label_values(&[call.model, self.0, outcome])
            .inc();
        m.model_seconds
            .with_label_values(&[call.model])
            .observe(call.took.as_secs_f64());
        m.model_tokens
            .with_label_values(&[call.model, "input"])
            .inc_by(call.usage.input_tokens);
        m.model_tokens
            .with_label_values(&[call.model, "output"])
            .inc_by(call.usage.output_tokens);
        m.model_cost
            .with_label_values(&[call.model])
            .inc_by(call.cost.0);
    }

    fn retried(&self, model: &str, error: &Error) {
        metrics()
            .model_retries
            .with_label_values(&[model, error.kind()])
            .inc();
    }

    fn breaker(&self, name: &str, moved: Transition) {
        metrics()
            .breakers
            .with_label_values(&[name, moved.as_str()])
            .inc();
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

/// Builds the models that answer in this process, without calling a server.
pub fn models(settings: &Settings, packs: &Packs) -> Result<Models> {
    Ok(match settings.provider {
        Provider::Fixed => Models::same(packs, &(Arc::new(FixedModel) as Arc<dyn Model>)),
        Provider::Echo => Models::same(packs, &(Arc::new(EchoModel) as Arc<dyn Model>)),
        Provider::Offline | Provider::Gemini | Provider::Openai => {
            let facts = settings.find_facts.then(Facts::new).transpose()?;
            Models::offline(packs, facts.map(Facts::in_background).as_ref())?
        }
    })
}

/// Builds the hosted models; None if the settings use none.
pub fn hosted(settings: &Settings, cache: &Cache) -> Result<Option<Hosted>> {
    for model in settings.unpriced() {
        tracing::warn!(
            model,
            "this model has no price, so its calls are recorded as free; set it in [model.prices] or [model.guard]"
        );
    }
    build(settings, |name, model| {
        let guard = guarded::Settings {
            price: settings.price(name),
            ..settings.guard
        };
        Arc::new(Guarded::new(model, cache, guard, Arc::new(CHAT)))
    })
}

/// Builds the hosted models without breaker, limit and retries. An operator then sees the outcome
/// of each call.
pub(crate) fn unguarded(settings: &Settings) -> Result<Option<Hosted>> {
    build(settings, |_, model| model)
}

fn build(
    settings: &Settings,
    guard: impl Fn(&str, Arc<dyn ChatModel>) -> Arc<dyn ChatModel>,
) -> Result<Option<Hosted>> {
    if !settings.is_hosted() {
        return Ok(None);
    }
    let seconds = Duration::from_secs;
    let model = |name: &str| Ok::<_, anyhow::Error>(guard(name, bare(settings, name)?));
    let speaker = model(&settings.name)?;
    // A role that names the speaker's model, or no model, shares the speaker's client. The model
    // then has one rate limit, and its form of structured answers is found out only once.
    let of = |name: Option<&String>| match name {
        Some(name) if *name != settings.name => model(name),
        _ => Ok(Arc::clone(&speaker)),
    };
    Ok(Some(Hosted {
        quick: of(settings.quick.as_ref())?,
        judge: of(settings.judge.as_ref())?,
        speaker,
        deadlines: Deadlines {
            route: seconds(settings.route_seconds),
            plan: seconds(settings.plan_seconds),
            speak: seconds(settings.speak_seconds),
            judge: seconds(settings.judge_seconds),
        },
        temperature: settings.temperature,
        max_output_tokens: settings.max_output_tokens,
        trial: if settings.judge_trial {
            Trial::default()
        } else {
            Trial::trusted()
        },
    }))
}

fn bare(settings: &Settings, name: &str) -> Result<Arc<dyn ChatModel>> {
    Ok(match settings.provider {
        Provider::Gemini => {
            Arc::new(Gemini::new(&gemini(settings, name)?).context("setting up Gemini")?)
        }
        Provider::Openai | Provider::Offline | Provider::Fixed | Provider::Echo => {
            Arc::new(OpenAi::new(&openai(settings, name)?).context("setting up the model")?)
        }
    })
}

fn gemini(settings: &Settings, name: &str) -> Result<gemini::Settings> {
    let google = || Url::parse("https://generativelanguage.googleapis.com/");
    Ok(gemini::Settings {
        base_url: settings.base_url.clone().map_or_else(google, Ok)?,
        model: name.to_owned(),
        api_key: settings
            .api_key
            .clone()
            .context("setting model.api_key is missing; Gemini needs one")?,
        thinking_budget: settings.thinking_budget,
        schema_beside_tools: false,
    })
}

fn openai(settings: &Settings, name: &str) -> Result<openai::Settings> {
    let base_url = settings.base_url.clone().context(
        "setting model.base_url is missing; such as https://api.openai.com/v1/ or \
         http://127.0.0.1:8080/v1/",
    )?;
    Ok(openai::Settings {
        base_url,
        model: name.to_owned(),
        api_key: settings.api_key.clone(),
        provider: "openai".to_owned(),
        token_limit: settings.token_limit,
    })
}
