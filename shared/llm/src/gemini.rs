//! Gemini over `generateContent` (v1beta, REST). Function calls are sent back with their
//! `thoughtSignature`. Models before version 3 refuse a JSON schema together with tools; the
//! instructions then contain the schema.

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

/// Settings of one Gemini model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The base URL without the version: `https://generativelanguage.googleapis.com/`.
    #[serde(default = "google")]
    pub base_url: Url,
    /// Model name, such as "gemini-2.5-flash".
    pub model: String,
    pub api_key: SecretString,
    /// Maximum number of tokens for thinking; 0 turns thinking off if the model allows that. `None`
    /// uses the model's default.
    #[serde(default)]
    pub thinking_budget: Option<i32>,
    /// Whether one request may have both tools and a JSON schema; true for Gemini 3 and later.
    #[serde(default)]
    pub schema_beside_tools: bool,
}

/// One Gemini model.
#[derive(Debug, Clone)]
pub struct Gemini {
    endpoint: Endpoint,
    dialect: Dialect,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Dialect {
    thinking_budget: Option<i32>,
    schema_beside_tools: bool,
}

pub(crate) fn google() -> Url {
    Url::parse("https://generativelanguage.googleapis.com/").expect("a constant URL")
}

impl Gemini {
    /// Creates the model without opening a connection. The process must have installed its TLS
    /// provider (rustls with ring) first.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let name = format!("gemini/{}", settings.model);
        let path = [
            "v1beta",
            "models",
            &format!("{}:generateContent", settings.model),
        ];
        let endpoint = Endpoint::new(
            name,
            &settings.base_url,
            &path,
            Some(("x-goog-api-key", "", &settings.api_key)),
        )?;
        let dialect = Dialect {
            thinking_budget: settings.thinking_budget,
            schema_beside_tools: settings.schema_beside_tools,
        };
        Ok(Self { endpoint, dialect })
    }

    async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, Error> {
        let body = write::body(request, self.dialect);
        let answer = self
            .endpoint
            .post(&body, request.deadline, read::problem)
            .await?;
        read::reply(&self.endpoint.name, request, &answer)
    }
}

impl ChatModel for Gemini {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Chatting<'a> {
        Box::pin(self.ask(request))
    }
}
