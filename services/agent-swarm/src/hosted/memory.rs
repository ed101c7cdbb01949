//! Stores the models' answers until the turn is committed (D4). If another worker takes the turn
//! over, it need not pay for the answers again.

use std::collections::BTreeMap;

use seven_domain::{CasinoId, ConversationId};
use seven_faults::failpoint;
use seven_llm::chat::{ChatModel, ChatReply, ChatRequest, Error};
use seven_store::Store;
use uuid::Uuid;

/// The models' answers in one turn, keyed by the number and name of the step. A worker that repeats
/// the turn takes the stored answer of each step.
#[derive(Debug)]
pub(crate) struct Memory<'a> {
    pub(crate) store: &'a Store,
    pub(crate) casino: &'a CasinoId,
    pub(crate) conversation: ConversationId,
    /// Identifies the texts that the turn reads.
    pub(crate) texts: Uuid,
    kept: BTreeMap<String, serde_json::Value>,
    step: u32,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(
        store: &'a Store,
        casino: &'a CasinoId,
        conversation: ConversationId,
        texts: Uuid,
        kept: BTreeMap<String, serde_json::Value>,
    ) -> Self {
        Self {
            store,
            casino,
            conversation,
            texts,
            kept,
            step: 0,
        }
    }

    /// Returns the model's answer, and whether it was a stored one.
    pub(super) async fn chat(
        &mut self,
        node: &str,
        model: &dyn ChatModel,
        request: &ChatRequest,
    ) -> Result<(ChatReply, bool), Error> {
        self.step += 1;
        let step = format!("{:02} {node}", self.step);
        if let Some(reply) = self
            .kept
            .remove(&step)
            .and_then(|kept| serde_json::from_value(kept).ok())
        {
            return Ok((reply, true));
        }
        let reply = model.chat(request).await?;
        // If the answer cannot be stored, the turn goes on; a second try would pay for the answer
        // again.
        if let Err(error) = self.keep(&step, &reply).await {
            tracing::warn!(casino = %self.casino, %error, "a model's answer was not stored");
        }
        failpoint!("swarm.after_model");
        Ok((reply, false))
    }

    async fn keep(&self, step: &str, reply: &ChatReply) -> Result<(), seven_store::Error> {
        let Ok(reply) = serde_json::to_value(reply) else {
            return Ok(());
        };
        let mut tx = self.store.bind(self.casino).await?;
        tx.keep_model_result(self.conversation, self.texts, step, &reply)
            .await?;
        tx.commit().await
    }
}
