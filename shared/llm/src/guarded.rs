//! Guards calls to a hosted model with a deadline, the fleet's breaker, retries, our own rate limit
//! and a record of costs.
//!
//! The layers are breaker(retries(limiter(call))). The breaker counts a call with all its retries
//! as one failure at most. While the breaker is open, no request is sent.

mod guard;
mod observer;
mod prices;
mod retry;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use seven_cache::{Breaker, Cache};

pub(crate) use self::guard::{Guard, Trying};
pub use self::{
    observer::{Finished, Observer},
    prices::{NanoUsd, Price, UsdPerMillion},
    retry::RetryPolicy,
    settings::{Limit, Settings},
};
use crate::chat::{ChatModel, ChatReply, ChatRequest, Chatting, Error, Usage};

/// A [`ChatModel`] behind a guard.
pub struct Guarded {
    model: Arc<dyn ChatModel>,
    guard: Guard,
}

impl std::fmt::Debug for Guarded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guarded")
            .field("guard", &self.guard)
            .finish_non_exhaustive()
    }
}

impl Guarded {
    /// Wraps `model` in a guard. `observer` receives every call, retry and transition of the
    /// breaker; `()` ignores them.
    pub fn new(
        model: Arc<dyn ChatModel>,
        cache: &Cache,
        settings: Settings,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let guard = Guard::new("llm", model.name(), cache, settings, observer);
        Self { model, guard }
    }

    /// Returns the breaker of this provider and model, for reading its state.
    pub fn breaker(&self) -> &Breaker {
        self.guard.breaker()
    }

    async fn guard(&self, request: &ChatRequest) -> Result<ChatReply, Error> {
        let call = |deadline| -> Trying<'_, ChatReply> {
            let request = ChatRequest {
                deadline,
                ..request.clone()
            };
            Box::pin(async move {
                let reply = self.model.chat(&request).await?;
                let usage = reply.usage;
                Ok((reply, usage))
            })
        };
        let (reply, usage, cost) = self.guard.run(request.deadline, call).await?;
        Ok(ChatReply {
            usage,
            cost,
            ..reply
        })
    }
}

impl ChatModel for Guarded {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Chatting<'a> {
        Box::pin(self.guard(request))
    }

    fn format(&self) -> Option<&'static str> {
        self.model.format()
    }

    fn cost(&self, usage: Usage) -> NanoUsd {
        self.guard.cost(usage)
    }
}
