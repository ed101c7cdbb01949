//! Profiles of guests (DATA-14..19): one document per guest. If a turn learnt something about the
//! guest, the turn's commit writes the profile (`turns`).

use serde_json::Value;
use seven_domain::{ConversationId, GuestId};

use crate::{Result, Tx};

impl Tx {
    /// Returns the guest's profile; `None` if nothing was learnt about the guest yet.
    pub async fn profile(&mut self, guest: GuestId) -> Result<Option<Value>> {
        Ok(
            sqlx::query_scalar("select document from profiles where guest_id = $1")
                .bind(guest.0)
                .fetch_optional(self.conn())
                .await?,
        )
    }

    /// Writes the guest's profile. The caller holds the conversation's lock, as a turn does.
    pub async fn put_profile(&mut self, guest: GuestId, document: &Value) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into profiles (casino_id, guest_id, document) values ($1, $2, $3)
             on conflict (casino_id, guest_id) do update set document = excluded.document, updated_at = now()",
        )
        .bind(casino)
        .bind(guest.0)
        .bind(document)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Removes what the conversation's sessions remember of the guest's party, diets and needs.
    /// Keeps `children` and `young`, because the host must still not send minors to places for
    /// adults.
    pub async fn forget_told(&mut self, conversation: ConversationId) -> Result<()> {
        sqlx::query(
            "update sessions set dialogue = (dialogue - '{party,ages,diets,dislikes,step_free,budget}'::text[])
               #- '{request,party}' where conversation_id = $1 and jsonb_typeof(dialogue) = 'object'",
        )
        .bind(conversation.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
