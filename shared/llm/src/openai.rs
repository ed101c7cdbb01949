//! OpenAI's `chat/completions`, spoken by OpenAI, gateways, and local servers (llama.cpp, vLLM,
//! Ollama).

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

/// OpenAI's newer models refuse `max_tokens`; local servers ignore `max_completion_tokens`.
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
            format: Settled::default(),
        })
    }

    /// Makes the call. For an answer with a schema it goes through the formats until the server
    /// takes one and fits the schema; from then on a call makes one request.
    async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, Error> {
        if request.output_schema.is_none() {
            return self.ask_in(Format::Text, request).await;
        }
        if let Some(format) = self.format.get() {
            let outcome = self.ask_in(format, request).await;
            // The server may have been replaced by one that does not take this format.
            if matches!(outcome, Err(Error::Refused { .. })) {
                self.format.forget();
            }
            return outcome;
        }
        self.find_format(request).await
    }

    async fn find_format(&self, request: &ChatRequest) -> Result<ChatReply, Error> {
        let until = Instant::now() + request.deadline;
        let mut failed: Option<(Format, Error)> = None;
        let mut billed = Usage::default();
        for format in Format::ALL {
            let request = ChatRequest {
                deadline: until.saturating_duration_since(Instant::now()),
                ..request.clone()
            };
            match self.ask_in(format, &request).await {
                Ok(mut reply) => {
                    self.format.set(format);
                    reply.usage += billed;
                    return Ok(reply);
                }
                Err(error) if !Format::may_be_at_fault(&error) => {
                    return Err(failed.map_or(error, |(_, first)| first));
                }
                Err(error) => {
                    billed += error.usage();
                    failed = Some(match failed {
                        // An answer says more about the model than a refusal of its server.
                        Some(first) if is_answer(&first.1) || !is_answer(&error) => first,
                        _ => (format, error),
                    });
                }
            }
        }
        let Some((format, error)) = failed else {
            return Err(self.endpoint.unreadable("no format is left to try"));
        };
        if is_answer(&error) {
            // No format makes this model answer well; later calls try this one only.
            self.format.set(format);
        }
        Err(error)
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

fn is_answer(error: &Error) -> bool {
    matches!(error, Error::Answer { .. })
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
