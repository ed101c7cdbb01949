//! The language model as the host sees it: one request, one grounded reply (D11).
//!
//! [`Model`] is implemented over HTTP by hosted models, and without a network by the offline host (`seven-offline-host`). Never sends, never stores, never reads the clock: time and seed arrive in the [`Request`].

pub mod chat;
pub mod embedding;
mod error;
mod fixed;
pub mod gemini;
pub mod guarded;
mod http;
pub mod openai;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use seven_domain::Language;
use seven_guest::{Topic, profile::Context};
use seven_knowledge::Index;

pub use error::{Error, Retry};
pub use fixed::FixedModel;

/// A boxed future, so that models can be kept as `Arc<dyn Model>`.
pub type Responding<'a> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send + 'a>>;

pub trait Model: Send + Sync {
    /// Provider and model, for telemetry: "offline", "gemini-2.5-flash".
    fn name(&self) -> &str;

    /// The language to answer these texts in: what they say, else the stored one (SMS-24, C-28).
    fn language(&self, texts: &[String], stored: Option<Language>) -> Language {
        let _ = texts;
        stored.unwrap_or_default()
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a>;
}

/// Everything a model may know for one turn of one guest.
#[derive(Debug, Clone)]
pub struct Request {
    pub casino_name: String,
    /// How a guest reaches people, as printed in texts.
    pub contact_phone: String,
    pub persona: String,
    pub zone: Tz,
    pub now: DateTime<Utc>,
    /// The language stored in the guest's profile.
    pub language: Option<Language>,
    /// Text the envelope will put before the reply, such as the disclosure; the reply must fit behind it and not repeat it.
    pub lead: Option<String>,
    /// Every open text of the guest, oldest first.
    pub texts: Vec<String>,
    /// Earlier turns, newest last.
    pub history: Vec<Exchange>,
    pub index: Arc<Index>,
    /// Chooses between wordings; the same request with the same seed gives the same reply.
    pub seed: u64,
    pub deadline: Duration,
    /// Facts about the guest that may be taken for granted, including those in the open texts.
    pub profile: Context,
    /// Account of the subjects before the history, or of the last session: names of rows and known
    /// facts (SMS-26).
    pub summary: Option<String>,
    /// Topic of a question that may end the reply, unless the answer asks one itself (CONV-25).
    pub ask: Option<Topic>,
}

/// One earlier turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    pub guest: String,
    pub host: String,
}

/// A tool the model may call; `parameters` is a JSON Schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub parameters: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    pub language: Language,
    /// Ids of the content items the reply was made from.
    pub sources: Vec<String>,
    pub intent: String,
    /// False when something was asked that the content does not answer.
    pub grounded: bool,
    /// The topic of the request that the reply ends with asking about.
    #[serde(default)]
    pub asked: Option<Topic>,
    pub usage: Usage,
}

/// Tokens billed for a call; none offline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}
