//! OpenAI's `chat/completions` interface, which OpenAI, gateways and local servers (llama.cpp,
//! vLLM, Ollama) offer.

mod format;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use read::problem;
use secrecy::SecretString;
use serde::Deserialize;
use tokio::time::Instant;
use url::Url;

use self::format::{Format, Settled};
use crate::{
    Usage,
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

/// The name of the field with the token limit. OpenAI's newer models refuse `max_tokens`; local
/// servers ignore `max_completion_tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenLimit {
    #[default]
    MaxCompletionTokens,
    MaxTokens,
}

/// One model behind `chat/completions`.
#[derive(Debug)]
pub struct OpenAi {
    endpoint: Endpoint,
    model: String,
    token_limit: TokenLimit,
    format: Settled,
}

fn openai() -> String {
    "openai".into()
}

impl OpenAi {
    /// Creates the model without opening a connection. The process must have installed its TLS
    /// provider (rustls with ring) first.
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
            format: Settled::default(),
        })
    }

    /// Makes the call. If the answer must fit a schema, tries the formats until the server accepts
    /// one and the model's answer fits. Later calls make one request in that format, until the
    /// server refuses it.
    async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, Error> {
        if request.output_schema.is_none() {
            return self.ask_in(Format::Text, request).await;
        }
        let Some(format) = self.format.get() else {
            return self.find_format(request).await;
        };
        let outcome = self.ask_in(format, request).await;
        // The server may have been replaced by one that does not take this format.
        let refused = |error: &Error| matches!(error, Error::Refused { .. });
        if let Err(error) = &outcome
            && refused(error)
            && Format::may_be_at_fault(error)
        {
            self.format.forget();
        }
        outcome
    }

    /// Tries the formats in order. If all fail, returns the first unreadable answer, because it
    /// says more about the model than a refusal does. The error contains the tokens of all
    /// attempts.
    async fn find_format(&self, request: &ChatRequest) -> Result<ChatReply, Error> {
        let until = Instant::now() + request.deadline;
        let (mut refused, mut unreadable) = (None, None);
        let mut billed = Usage::default();
        for format in self.format.candidates() {
            let request = ChatRequest {
                deadline: until.saturating_duration_since(Instant::now()),
                ..request.clone()
            };
            match self.ask_in(*format, &request).await {
                Ok(mut reply) => {
                    self.format.taken(*format);
                    self.format.set(*format);
                    reply.usage += billed;
                    return Ok(reply);
                }
                Err(error @ Error::Answer { .. }) if Format::may_be_at_fault(&error) => {
                    billed += error.usage();
                    unreadable.get_or_insert((*format, error));
                }
                Err(error) if Format::may_be_at_fault(&error) => {
                    refused.get_or_insert(error);
                }
                Err(error) => {
                    if matches!(error, Error::Timeout { .. }) {
                        self.format.taken(*format);
                    }
                    return Err(unreadable.map_or(error, |(_, first)| first.billed(billed)));
                }
            }
        }
        match (unreadable, refused) {
            (Some((format, error)), _) => {
                // No format gave a usable answer. Later calls use only this format, so that each of
                // them makes one request.
                self.format.set(format);
                Err(error.billed(billed))
            }
            (None, Some(error)) => Err(error),
            (None, None) => Err(self.endpoint.unreadable("no format is left to try")),
        }
    }

    async fn ask_in(&self, format: Format, request: &ChatRequest) -> Result<ChatReply, Error> {
        let body = write::body(request, &self.model, self.token_limit, format);
        let answer = self
            .endpoint
            .post(&body, request.deadline, read::problem)
            .await?;
        read::reply(&self.endpoint.name, request, format, &answer)
    }
}

impl ChatModel for OpenAi {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Chatting<'a> {
        Box::pin(self.ask(request))
    }

    fn format(&self) -> Option<&'static str> {
        self.format.get().map(Format::as_str)
    }
}
