//! A stand-in for hosted models that speaks both wire formats over real HTTP: Gemini's `generateContent` and OpenAI's
//! `chat/completions`, and the embedding calls beside them. It plays what it is told, breaks as it is told, records every request, and refuses what the real
//! ones are known to refuse.
//!
//! ```no_run
//! # async fn demo() -> anyhow::Result<()> {
//! use std::time::Duration;
//! use seven_testkit::models::{Models, Play};
//!
//! let models = Models::start().await?;
//! models.then(Play::text("We have three steakhouses.").after(Duration::from_millis(50)));
//! models.then(Play::status(429).retry_after("1"));
//! models.when(|request| request.last_text.contains("spa"), Play::call("search_spa", serde_json::json!({})));
//! models.otherwise(Play::status(500));
//! // ... point a client at models.url(), ask ...
//! assert_eq!(models.count(), 3);
//! # Ok(())
//! # }
//! ```

mod answered;
mod embeddings;
mod gemini;
mod openai;
mod play;
mod script;
mod server;
mod wire;

use std::{net::SocketAddr, sync::Arc};

use anyhow::Result;
use tokio::task::JoinHandle;

use self::script::Script;

pub use self::{
    play::Play,
    script::{Format, Received},
};

/// A running double; dropping it ends it.
#[derive(Debug)]
pub struct Models {
    address: SocketAddr,
    script: Arc<Script>,
    serving: JoinHandle<()>,
}

/// Scripted answers and recorded requests.
impl Models {
    /// Listens on a free port of 127.0.0.1.
    pub async fn start() -> Result<Self> {
        let script = Arc::<Script>::default();
        let (address, serving) = server::start(Arc::clone(&script)).await?;
        Ok(Self { address, script, serving })
    }

    /// The base URL for Gemini; OpenAI's is [`Models::openai_url`].
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The base URL for OpenAI, with its version.
    #[must_use]
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1/", self.address)
    }

    /// Plays this next, once, after what is already waiting.
    pub fn then(&self, play: Play) {
        self.script.lock().queue.push_back(play);
    }

    /// Plays this for every request that matches, before anything else; the first matcher that fits wins.
    pub fn when(&self, matcher: impl Fn(&Received) -> bool + Send + Sync + 'static, play: Play) {
        self.script.lock().matchers.push((Box::new(matcher), play));
    }

    /// Plays this whenever nothing else is left, for ever: with [`Play::call`] an endless loop of tool calls.
    /// Without it such requests get a 500.
    pub fn otherwise(&self, play: Play) {
        self.script.lock().otherwise = Some(play);
    }

    /// Forgets what is still to be played, not what was asked.
    pub fn clear(&self) {
        let mut state = self.script.lock();
        state.matchers.clear();
        state.queue.clear();
        state.otherwise = None;
    }

    /// Every request so far, refused ones included.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.script.lock().requests.clone()
    }

    /// How many requests came.
    #[must_use]
    pub fn count(&self) -> usize {
        self.script.lock().requests.len()
    }

    /// How many were being answered at the same time, at most.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.script.lock().most_open
    }
}

impl Drop for Models {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
