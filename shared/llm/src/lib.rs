//! Language models: [`Model`], which the host uses (one request gives one grounded reply, D11), and
//! [`chat::ChatModel`] for hosted models.
//!
//! This crate never sends a text, stores a row or reads the clock: time and seed arrive in the
//! [`Request`].

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
use seven_domain::{Language, ReplyLength};
use seven_guest::{DialogueState, Topic, dialogue::OpenRequest, profile::Context};
use seven_knowledge::Index;

pub use error::{Error, Retry};
pub use fixed::{EchoModel, FixedModel};

/// A boxed future, so that models can be kept as `Arc<dyn Model>`.
pub type Responding<'a> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send + 'a>>;

pub trait Model: Send + Sync {
    /// Returns the name for telemetry, such as "offline" or "gemini-2.5-flash".
    fn name(&self) -> &str;

    /// Returns the language in which to answer these texts. The default is the stored language; a
    /// model may detect the language of the texts instead.
    fn language(&self, texts: &[String], stored: Option<Language>) -> Language {
        let _ = texts;
        stored.unwrap_or_default()
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a>;
}

/// All information that a model gets for one turn of one guest.
#[derive(Debug, Clone)]
pub struct Request {
    pub casino_name: String,
    /// The phone number at which guests reach people, in the form in which texts show it.
    pub contact_phone: String,
    pub persona: String,
    pub zone: Tz,
    pub now: DateTime<Utc>,
    /// The language stored in the guest's profile.
    pub language: Option<Language>,
    /// Text that persona-envelope puts before the reply, such as the disclosure; the reply must
    /// leave room for it and not repeat it.
    pub lead: Option<String>,
    /// The maximum length of the reply together with `lead`.
    pub length: ReplyLength,
    /// Every unanswered text of the guest, oldest first.
    pub texts: Vec<String>,
    /// Earlier turns, newest last.
    pub history: Vec<Exchange>,
    pub index: Arc<Index>,
    /// Selects between wordings; the same request with the same seed gives the same reply.
    pub seed: u64,
    pub deadline: Duration,
    /// Known facts about the guest, including those in the unanswered texts.
    pub profile: Context,
    /// Summary of the conversation before `history`, or of the last session: names of content rows
    /// and known facts.
    pub summary: Option<String>,
    /// Topic about which the reply may end with a question, unless the answer already asks one.
    pub ask: Option<Topic>,
    /// The state of the dialogue before the unanswered texts.
    pub state: DialogueState,
}

/// One earlier turn: the guest's text and the host's reply.
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
    /// Ids of the content items that the reply was made from.
    pub sources: Vec<String>,
    pub intent: String,
    /// False if the guest asked something that the content does not answer.
    pub grounded: bool,
    /// The topic of the question at the end of the reply; `None` if the reply asks nothing.
    #[serde(default)]
    pub asked: Option<Topic>,
    /// The state of the dialogue after this reply.
    #[serde(default)]
    pub state: DialogueState,
    /// Requests that the reply passes on to a person.
    #[serde(default)]
    pub staff: Vec<StaffRequest>,
    pub usage: Usage,
}

/// Something that a reply promises and a person has to do. It becomes a case; per conversation
/// there is one case for each kind and subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaffRequest {
    pub kind: StaffKind,
    /// The id of the content row that the request is about, or a content category; empty if neither
    /// is known.
    pub subject: String,
    /// The fields of a booking or change.
    #[serde(default)]
    pub request: Option<OpenRequest>,
}

/// A request that a person has to handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StaffKind {
    /// Answer a question that the content does not answer.
    Question,
    /// Confirm a booking.
    Booking,
    /// Change or cancel a booking.
    Change,
    /// Decide about a favour, such as a free night.
    Comp,
    /// Put right what the guest complained about.
    Complaint,
}

impl StaffKind {
    /// Returns the reason that is stored with the case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Question => "open_question",
            Self::Booking => "booking_request",
            Self::Change => "change_request",
            Self::Comp => "comp_request",
            Self::Complaint => "guest_complaint",
        }
    }
}

/// Tokens billed for a call; zero for the offline model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}
