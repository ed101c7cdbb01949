//! OpenAI's `chat/completions`, spoken by OpenAI, gateways, and local servers (llama.cpp, vLLM,
//! Ollama).

mod read;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use read::problem;
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use crate::{
    chat::{ChatModel, ChatReply, ChatRequest, Chatting, Error},
    http::Endpoint,
};

/// Settings of one model behind this interface.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The base URL with the version: `https://api.openai.com/v1/`, `http://127.0.0.1:8080/v1/`.
    pub base_url: Url,
    pub model: String,
    /// `None` for local servers that need no key.
    #[serde(default)]
    pub api_key: Option<SecretString>,
    /// The provider's name in telemetry and in the breaker's name.
    #[serde(default = "openai")]
    pub provider: String,
    /// The field in which this server expects the token limit.
    #[serde(default)]
    pub token_limit: TokenLimit,
}

/// OpenAI's newer models refuse `max_tokens`; local servers ignore `max_completion_tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenLimit {
    #[default]
    MaxCompletionTokens,
    MaxTokens,
}

/// One model behind `chat/completions`.
#[derive(Debug, Clone)]
pub struct OpenAi {
    endpoint: Endpoint,
    model: String,
    token_limit: TokenLimit,
}

fn openai() -> String {
    "openai".into()
}

impl OpenAi {
    /// Opens no connection. The process must have installed its TLS provider (rustls with ring)
    /// first.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let name = format!("{}/{}", settings.provider, settings.model);
        let key = settings
            .api_key
            .as_ref()
            .map(|key| ("authorization", "Bearer ", key));
        let endpoint = Endpoint::new(name, &settings.base_url, &["chat", "completions"], key)?;
        Ok(Self {
            endpoint,
            model: settings.model.clone(),
            token_limit: settings.token_limit,
        })
    }

    async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, Error> {
        let body = write::body(request, &self.model, self.token_limit);
        let answer = self
            .endpoint
            .post(&body, request.deadline, read::problem)
            .await?;
        read::reply(&self.endpoint.name, request, &answer)
    }
}

impl ChatModel for OpenAi {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Chatting<'a> {
        Box::pin(self.ask(request))
    }
}
