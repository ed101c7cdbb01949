//! Facts beside the profile that decide whether a guest may get an offer (CONV-35, CONV-36).

use seven_domain::{ConversationId, GuestId};
use sqlx::FromRow;

use crate::{Result, Tx};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromRow)]
pub struct Standing {
    pub conversational_consent: bool,
    pub marketing_consent: bool,
    pub suppressed: bool,
    pub self_excluded: bool,
    /// Whether the guest ever wrote a cry for help about gambling, or any cry for help in this
    /// session: no gaming offer.
    pub responsible_gaming: bool,
    pub guest_texts: i64,
    /// Texts of three words or more.
    pub substantive_texts: i64,
}

impl Tx {
    pub async fn standing(&mut self, guest: GuestId, conversation: ConversationId) -> Result<Standing> {
        Ok(sqlx::query_as(
            "select g.consent_tier <> 'none' as conversational_consent, g.consent_tier = 'marketing' as marketing_consent,
               coalesce(s.state = 'stopped', true) as suppressed,
               exists (select 1 from exclusions e where e.key_id = g.key_id and e.phone_hash = g.phone_hash and (e.until is null or e.until > now())) as self_excluded,
               (g.responsible_gaming_at is not null or exists (
                 select 1 from conversations c where c.conversation_id = $2 and c.cried_at >= c.session_started_at)) as responsible_gaming,
               (select count(*) from inbound_messages i where i.conversation_id = $2) as guest_texts,
               (select count(*) from inbound_messages i where i.conversation_id = $2 and i.body ~ '\\S+\\s+\\S+\\s+\\S') as substantive_texts
             from guests g left join suppressions s on s.key_id = g.key_id and s.phone_hash = g.phone_hash
             where g.guest_id = $1",
        )
        .bind(guest.0)
        .bind(conversation.0)
        .fetch_one(self.conn())
        .await?)
    }
}
