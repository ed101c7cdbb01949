//! The record of a finished turn, from which any reply can be explained later. It is stored with
//! the turn as JSON.

use serde::{Deserialize, Serialize};

use crate::{Ending, Finding, Plan, Route, Turn};

/// Everything that led to a reply, except the texts, which have their own rows. Findings may quote
/// words of the reply, so the record is deleted and masked together with the reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    pub route: Option<Route>,
    /// The nodes (router, planner, agents, ...) in the order in which the turn entered them.
    pub path: Vec<String>,
    pub plan: Option<Plan>,
    pub ending: Option<Ending>,
    pub handoffs: u32,
    pub retries: u32,
    /// Content rows that the reply was made from, best first.
    pub context: Vec<Context>,
    pub tools: Vec<ToolCall>,
    /// Paths of the profile fields that this turn's texts changed. The new values are only in the
    /// profile.
    pub learnt: Vec<String>,
    /// Findings of the checks in code about the last reply. If another reply was sent in place of a
    /// refused draft, these are the findings about that draft.
    pub findings: Vec<Finding>,
    /// How the hosted model's part of the turn ended; `None` if no hosted model took part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosted: Option<Ending>,
    /// The judge's confidence in the reply, from 0 to 1. It is 0 if the judge's verdict contained
    /// no confidence, and `None` if there was no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// True if the hosted model failed and the offline model answered instead.
    pub degraded: bool,
    /// The reason why the offline model answered although a hosted model is set up. It is one word,
    /// such as `timeout` or `refused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stood_in: Option<String>,
    /// True if the hosted model got the casino's second prompt (`prompts.system_prompt_variant`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompt_variant: bool,
    pub usage: Usage,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    pub id: String,
    pub name: String,
    /// The row's score in the retrieval; `None` if the row was found in another way.
    #[serde(default)]
    pub score: Option<f32>,
}

/// One call of a tool, with the fields that the audit needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub name: String,
    pub arguments: serde_json::Value,
    pub result: serde_json::Value,
    pub millis: u64,
}

/// Tokens and cost of all model calls of the turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Billionths of a US dollar.
    pub nano_dollars: u64,
}

impl std::ops::Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            nano_dollars: self.nano_dollars.saturating_add(other.nano_dollars),
        }
    }
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), std::ops::Add::add)
    }
}

/// One call of a model, or the offline model's whole answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub name: String,
    pub micros: u64,
    /// Tokens and cost of this step; `None` if it costs nothing. A failed call states tokens but no
    /// cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The kind of error that the step ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// True if an earlier attempt of the turn made this call and stored its answer; the step then
    /// took no time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

impl Record {
    /// Returns how a turn with a hosted model was answered: `model`, `fallback_text`, or the reason
    /// why the offline host answered instead. `None` if no hosted model is set up. The database's
    /// function `fleet_hosted_turns` uses the same words.
    pub fn answered_by(&self) -> Option<&str> {
        let by_ending = self.hosted.map(|ending| match ending {
            Ending::Reply | Ending::OffTopic => "model",
            Ending::Greeting | Ending::Fallback(_) => "fallback_text",
        });
        self.stood_in.as_deref().or(by_ending)
    }

    /// Builds the record from the turn's state machine.
    pub fn of(turn: &Turn<'_>, ending: Ending) -> Self {
        Self {
            route: turn.route().cloned(),
            path: turn.path().to_vec(),
            plan: turn.plan().cloned(),
            ending: Some(ending),
            handoffs: turn.handoffs(),
            retries: turn.retries(),
            ..Self::default()
        }
    }
}
