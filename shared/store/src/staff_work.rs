//! Work of staff in a conversation: notes for each other, and permissions of operators to read the
//! conversation's words for some minutes.

use chrono::{DateTime, Utc};
use seven_domain::{ConversationId, OperatorId};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// A note among staff; it is never sent.
#[derive(Debug, Clone, FromRow)]
pub struct Note {
    pub author: String,
    pub body: String,
    pub created_at: DateTime<Utc>,
}

impl Tx {
    pub async fn add_note(
        &mut self,
        id: Uuid,
        conversation: ConversationId,
        author: &str,
        body: &str,
    ) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into conversation_notes (casino_id, note_id, conversation_id, author, body) values ($1, $2, $3, $4, $5)",
        )
        .bind(casino)
        .bind(id)
        .bind(conversation.0)
        .bind(author)
        .bind(body)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the newest `most` notes of a conversation, oldest first.
    pub async fn notes(&mut self, conversation: ConversationId, most: i64) -> Result<Vec<Note>> {
        let mut notes: Vec<Note> = sqlx::query_as(
            "select author, body, created_at from conversation_notes where conversation_id = $1 order by created_at desc limit $2",
        )
        .bind(conversation.0)
        .bind(most)
        .fetch_all(self.conn())
        .await?;
        notes.reverse();
        Ok(notes)
    }

    /// Lets the operator read the words of a conversation for this many minutes.
    pub async fn put_reveal(
        &mut self,
        conversation: ConversationId,
        operator: OperatorId,
        minutes: i32,
    ) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into operator_reveals (casino_id, conversation_id, operator_id, ends_at)
             values ($1, $2, $3, now() + make_interval(mins => $4))
             on conflict (casino_id, conversation_id, operator_id) do update set ends_at = excluded.ends_at",
        )
        .bind(casino)
        .bind(conversation.0)
        .bind(operator.0)
        .bind(minutes)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns whether the operator may read the words of the conversation at this moment.
    pub async fn is_revealed(
        &mut self,
        conversation: ConversationId,
        operator: OperatorId,
    ) -> Result<bool> {
        Ok(sqlx::query_scalar(
            "select exists (select 1 from operator_reveals where conversation_id = $1 and operator_id = $2 and ends_at > now())",
        )
        .bind(conversation.0)
        .bind(operator.0)
        .fetch_one(self.conn())
        .await?)
    }
}
