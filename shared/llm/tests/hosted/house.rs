//! Setup for these tests: a double of the providers, a private Redis, and a guarded model with
//! short waits.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use seven_cache::{Cache, Transition};
use seven_llm::{
    chat::{ChatModel, ChatRequest, Error, Message},
    gemini::{self, Gemini},
    guarded::{Finished, Guarded, NanoUsd, Observer, Settings},
    openai::{self, OpenAi, TokenLimit},
};
use seven_testkit::{
    Redis, Scratch,
    models::{Format, Models},
};

pub(crate) const BOTH: [Format; 2] = [Format::Gemini, Format::OpenAi];
pub(crate) const KEY: &str = "key-that-nobody-may-see";

pub(crate) struct House {
    pub(crate) models: Models,
    pub(crate) redis: Redis,
    _dir: Scratch,
}

/// The events an observer received.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) retries: Mutex<u32>,
    pub(crate) moves: Mutex<Vec<Transition>>,
    pub(crate) costs: Mutex<Vec<NanoUsd>>,
    pub(crate) attempts: Mutex<Vec<u32>>,
}

impl Observer for Heard {
    fn finished(&self, call: &Finished<'_>) {
        self.costs.lock().unwrap().push(call.cost);
        self.attempts.lock().unwrap().push(call.attempts);
    }

    fn retried(&self, _model: &str, _error: &Error) {
        *self.retries.lock().unwrap() += 1;
    }

    fn breaker(&self, name: &str, moved: Transition) {
        assert!(
            name.starts_with("llm/") || name.starts_with("embedding/"),
            "{name}"
        );
        self.moves.lock().unwrap().push(moved);
    }
}

impl House {
    pub(crate) async fn open(name: &str) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let dir = Scratch::new(name).unwrap();
        Self {
            models: Models::start().await.unwrap(),
            redis: Redis::start(dir.path()).await.unwrap(),
            _dir: dir,
        }
    }

    pub(crate) fn bare(&self, format: Format) -> Arc<dyn ChatModel> {
        match format {
            Format::Gemini => Arc::new(self.gemini("gemini-2.5-flash")),
            Format::OpenAi => Arc::new(self.openai()),
        }
    }

    pub(crate) fn gemini(&self, model: &str) -> Gemini {
        Gemini::new(&gemini::Settings {
            base_url: self.models.url().parse().unwrap(),
            model: model.into(),
            api_key: KEY.into(),
            thinking_budget: None,
            schema_beside_tools: model.starts_with("gemini-3"),
        })
        .unwrap()
    }

    pub(crate) fn openai(&self) -> OpenAi {
        OpenAi::new(&openai::Settings {
            base_url: self.models.openai_url().parse().unwrap(),
            model: "gpt-5-mini".into(),
            api_key: Some(KEY.into()),
            provider: "openai".into(),
            token_limit: TokenLimit::default(),
        })
        .unwrap()
    }

    /// Builds the model as one process of the fleet would.
    pub(crate) fn guarded(&self, format: Format, settings: Settings) -> (Guarded, Arc<Heard>) {
        let cache = seven_cache::Settings {
            url: self.redis.url(),
            prefix: "t:".into(),
            senders: 1,
        };
        let cache = Cache::new(&cache, seven_domain::Clock::default()).unwrap();
        let heard = Arc::<Heard>::default();
        (
            Guarded::new(self.bare(format), &cache, settings, heard.clone()),
            heard,
        )
    }
}

/// Returns the default settings, but with waits short enough for tests.
pub(crate) fn quick() -> Settings {
    let text = "retry = { initial_ms = 4, max_ms = 20, jitter_ms = 2 }\nbreaker_cooldown_ms = 90\n\
                price = { input = \"0.30\", output = \"2.50\" }";
    toml::from_str(text).unwrap()
}

pub(crate) fn ask(text: &str) -> ChatRequest {
    ChatRequest {
        system: "You are Seven.".into(),
        messages: vec![Message::User(text.into())],
        tools: vec![],
        output_schema: None,
        temperature: Some(0.3),
        max_output_tokens: Some(300),
        deadline: Duration::from_secs(5),
    }
}
