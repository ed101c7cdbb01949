//! Facts that decide, together with the profile, whether a guest may get an offer (CONV-35,
//! CONV-36).

use seven_domain::{ConversationId, GuestId};
use sqlx::FromRow;

use crate::{Result, Tx};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromRow)]
pub struct Standing {
    pub conversational_consent: bool,
    pub marketing_consent: bool,
    pub suppressed: bool,
    pub self_excluded: bool,
    /// If true, the guest gets no gaming offer. True if the guest ever wrote a cry for help about
    /// gambling, or any cry for help in this session.
    pub responsible_gaming: bool,
    pub guest_texts: i64,
    /// Texts of three words or more.
    pub substantive_texts: i64,
}

impl Tx {
    pub async fn standing(
        &mut self,
        guest: GuestId,
        conversation: ConversationId,
    ) -> Result<Standing> {
        Ok(sqlx::query_as(include_str!("../sql/standing.sql"))
            .bind(guest.0)
            .bind(conversation.0)
            .fetch_one(self.conn())
            .await?)
    }
}
