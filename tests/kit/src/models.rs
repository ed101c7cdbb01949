//! A stand-in for hosted models over real HTTP, in Gemini's and OpenAI's wire formats. It plays
//! scripted answers and faults, records requests, and refuses what the providers refuse.
//!
//! ```no_run
//! # async fn demo() -> anyhow::Result<()> {
//! use std::time::Duration;
//! use seven_testkit::models::{Models, Play};
//!
//! let models = Models::start().await?;
//! models.then(Play::text("We have three steakhouses.").after(Duration::from_millis(50)));
//! models.then(Play::status(429).retry_after("1"));
//! let search = Play::call("search_spa", serde_json::json!({}));
//! models.when(|request| request.last_text.contains("spa"), search);
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

/// A running double of hosted models; dropping it stops it.
#[derive(Debug)]
pub struct Models {
    address: SocketAddr,
    script: Arc<Script>,
    serving: JoinHandle<()>,
}

impl Models {
    /// Starts listening on a free port of 127.0.0.1.
    pub async fn start() -> Result<Self> {
        let script = Arc::<Script>::default();
        let (address, serving) = server::start(Arc::clone(&script)).await?;
        Ok(Self {
            address,
            script,
            serving,
        })
    }

    /// Returns the base URL for Gemini; OpenAI's is [`Models::openai_url`].
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Returns the base URL for OpenAI, including the API's version.
    #[must_use]
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1/", self.address)
    }

    /// Plays this answer once, after the answers already queued.
    pub fn then(&self, play: Play) {
        self.script.lock().queue.push_back(play);
    }

    /// Plays this answer for every request that `matcher` accepts, instead of a queued answer. If
    /// several matchers accept a request, the one added first decides.
    pub fn when(&self, matcher: impl Fn(&Received) -> bool + Send + Sync + 'static, play: Play) {
        self.script.lock().matchers.push((Box::new(matcher), play));
    }

    /// Plays this answer for each request that no matcher and no queued answer serves. Without it,
    /// such requests get a 500. If the answer is a [`Play::call`], the tool calls form an endless
    /// loop.
    pub fn otherwise(&self, play: Play) {
        self.script.lock().otherwise = Some(play);
    }

    /// Accepts only these forms of a request for an answer that fits a JSON Schema: `json_schema`,
    /// `json_object` or `tool`. Local servers accept only some forms, too. OpenAI requests in
    /// another form are recorded and refused with the HTTP status `status`. They use up no scripted
    /// answer.
    pub fn takes_only(&self, forms: &[&'static str], status: u16) {
        self.script.lock().takes = Some((forms.to_vec(), status));
    }

    /// Deletes all scripted answers and keeps the recorded requests.
    pub fn clear(&self) {
        let mut state = self.script.lock();
        state.matchers.clear();
        state.queue.clear();
        state.otherwise = None;
    }

    /// Returns every request so far, including refused ones.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.script.lock().requests.clone()
    }

    /// Returns the number of requests so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.script.lock().requests.len()
    }

    /// Returns the largest number of requests that were being answered at the same time.
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
