//! The double's script: the answers it was told to give, and the requests it received.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use super::{openai, play::Play};

/// The wire format of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `POST /v1beta/models/{model}:generateContent`, `:embedContent`, `:batchEmbedContents`
    Gemini,
    /// `POST /v1/chat/completions`, `/v1/embeddings`
    OpenAi,
}

/// A received request, with the parts that matchers look at.
#[derive(Debug, Clone)]
pub struct Received {
    /// The wire format.
    pub format: Format,
    /// The name of the requested model.
    pub model: String,
    /// Path and query.
    pub path: String,
    /// The API key, without the word `Bearer`; `None` if the request has no key.
    pub key: Option<String>,
    /// The body as JSON.
    pub body: Value,
    /// The newest text of the user.
    pub last_text: String,
    /// The results of the newest tool calls, as text; empty unless the conversation ends with tool
    /// results.
    pub tool_results: Vec<String>,
    /// Names of the offered tools.
    pub tools: Vec<String>,
    /// The texts to embed; empty when the request is not an embedding call.
    pub embedded: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Script {
    pub(crate) state: Mutex<State>,
}

impl Script {
    /// Records a request. Returns its number, counted from 1, and the answer to play.
    pub(crate) fn next(&self, request: &Received) -> (usize, Play) {
        let mut state = self.lock();
        state.requests.push(request.clone());
        let nth = state.requests.len();
        let matched = state
            .matchers
            .iter()
            .find(|(matches, _)| matches(request))
            .map(|(_, play)| play.clone());
        let play = matched
            .or_else(|| state.queue.pop_front())
            .or_else(|| state.otherwise.clone());
        (nth, play.unwrap_or_else(|| Play::status(500)))
    }

    /// Records the request and returns the refusal's status if [`State::takes`] excludes the
    /// request's form. Otherwise returns `None` and records nothing.
    pub(crate) fn refuses(&self, request: &Received) -> Option<u16> {
        let form = openai::form(request)?;
        let mut state = self.lock();
        let (takes, status) = state.takes.clone()?;
        if takes.contains(&form) {
            return None;
        }
        state.requests.push(request.clone());
        Some(status)
    }

    pub(crate) fn takes_all(&self) -> bool {
        self.lock().takes.is_none()
    }

    pub(crate) fn opened(&self) {
        let mut state = self.lock();
        state.open += 1;
        state.most_open = state.most_open.max(state.open);
    }

    pub(crate) fn closed(&self) {
        self.lock().open -= 1;
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("requests", &self.lock().requests.len())
            .finish_non_exhaustive()
    }
}

pub(crate) type Matcher = Box<dyn Fn(&Received) -> bool + Send + Sync>;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) matchers: Vec<(Matcher, Play)>,
    pub(crate) queue: VecDeque<Play>,
    pub(crate) otherwise: Option<Play>,
    /// The accepted forms of a request for an answer that fits a JSON Schema, and the HTTP status
    /// with which other forms are refused. `None` accepts the forms that OpenAI accepts.
    pub(crate) takes: Option<(Vec<&'static str>, u16)>,
    pub(crate) requests: Vec<Received>,
    pub(crate) open: usize,
    pub(crate) most_open: usize,
}
