//! The record of a finished turn, by which any reply can be explained afterwards (AGENT-7,
//! AGENT-75). It is stored with the turn as JSON.

use serde::{Deserialize, Serialize};

use crate::{Ending, Finding, Plan, Route, Turn};

/// Everything that led to a reply, but the texts themselves, which stand in their own rows. A finding may quote a word of the reply: the record
/// goes with the turn when a guest is deleted, and is masked where the reply is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    pub route: Option<Route>,
    /// Nodes in the order of their visit.
    pub path: Vec<String>,
    pub plan: Option<Plan>,
    pub ending: Option<Ending>,
    pub handoffs: u32,
    pub retries: u32,
    /// Content rows the reply was made from, best first.
    pub context: Vec<Context>,
    pub tools: Vec<ToolCall>,
    /// Paths of the guest's profile that the texts changed; the values stand in the profile.
    pub learnt: Vec<String>,
    /// The findings of the checks in code, in the last reply.
    pub findings: Vec<Finding>,
    /// How the hosted model's part of the turn ended, where it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosted: Option<Ending>,
    /// The model that should have answered did not; the offline one did.
    pub degraded: bool,
    pub usage: Usage,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    pub id: String,
    pub name: String,
    /// Of the retrieval, where the row was retrieved by one.
    #[serde(default)]
    pub score: Option<f32>,
}

/// One call of a tool, as the audit needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub name: String,
    pub arguments: serde_json::Value,
    pub result: serde_json::Value,
    pub millis: u64,
}

/// Billed for all calls of the turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Billionths of a dollar.
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
    /// Its part of the turn's bill; none where nobody bills. The cost of a failed call is not
    /// known, only its tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The kind of error it ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// An earlier try of the turn had asked and its answer was kept: it took no time now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

impl Record {
    /// Builds the record from what the machine knows of the turn.
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
