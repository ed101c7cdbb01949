//! Answers of models for turns that are not committed yet. If another worker takes over the turn,
//! it reuses these answers and does not ask the model again (D4).

use serde_json::Value;
use seven_domain::ConversationId;
use uuid::Uuid;

use crate::{Result, Tx};

impl Tx {
    /// Returns all answers stored for a turn: (step, answer). `texts` is the id of the newest
    /// inbound text that the turn answers.
    pub async fn model_results(
        &mut self,
        conversation: ConversationId,
        texts: Uuid,
    ) -> Result<Vec<(String, Value)>> {
        Ok(sqlx::query_as(
            "select step, result from model_results where conversation_id = $1 and texts = $2",
        )
        .bind(conversation.0)
        .bind(texts)
        .fetch_all(self.conn())
        .await?)
    }

    /// Stores the model's answer for a step of the turn. If the step already has an answer, that
    /// answer stays.
    pub async fn keep_model_result(
        &mut self,
        conversation: ConversationId,
        texts: Uuid,
        step: &str,
        result: &Value,
    ) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into model_results (casino_id, conversation_id, texts, step, result) values ($1, $2, $3, $4, $5) on conflict do nothing",
        )
        .bind(casino)
        .bind(conversation.0)
        .bind(texts)
        .bind(step)
        .bind(result)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Deletes all stored answers of models for this conversation, so that a turn in progress
    /// cannot reuse them.
    pub async fn forget_model_results(&mut self, conversation: ConversationId) -> Result<()> {
        sqlx::query("delete from model_results where conversation_id = $1")
            .bind(conversation.0)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}
