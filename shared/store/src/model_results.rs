//! Answers of models in turns that are not committed yet: a worker that takes a turn over finds them and does not ask again (D4).

use serde_json::Value;
use seven_domain::ConversationId;
use uuid::Uuid;

use crate::{Result, Tx};

impl Tx {
    /// All answers kept for a turn over these texts: (step, answer).
    pub async fn model_results(&mut self, conversation: ConversationId, texts: Uuid) -> Result<Vec<(String, Value)>> {
        Ok(sqlx::query_as("select step, result from model_results where conversation_id = $1 and texts = $2")
            .bind(conversation.0)
            .bind(texts)
            .fetch_all(self.conn())
            .await?)
    }

    /// The first answer of a step stays.
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
}
