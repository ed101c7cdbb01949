//! Finds the ids that begin with a prefix, so that operators need not type whole ids. The caller
//! gives the lowest and the highest id with that prefix. Only the bound casino's ids are found.

use uuid::Uuid;

use crate::{Result, Tx};

/// The kind of row that is searched for an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Inbound,
    Outbound,
    Turn,
    /// A guest's text, a turn, or an outbound text.
    Text,
    /// A conversation, found by its own id, by the guest's id, or by the id of a text of the guest.
    Conversation,
    Escalation,
    DeadLetter,
    Campaign,
    Contact,
    Incident,
}

impl Named {
    /// Returns the kind's name in the plural, for use in messages to operators.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Inbound => "texts of guests",
            Self::Outbound => "outbound texts",
            Self::Turn => "turns",
            Self::Text => "texts or turns",
            Self::Conversation => "conversations",
            Self::Escalation => "escalations",
            Self::DeadLetter => "dead letters",
            Self::Campaign => "campaigns",
            Self::Contact => "contacts",
            Self::Incident => "incidents",
        }
    }

    fn query(self) -> &'static str {
        match self {
            Self::Inbound => {
                "select inbound_id from inbound_messages
                 where inbound_id between $1 and $2 order by 1 limit $3"
            }
            Self::Outbound => {
                "select outbound_id from outbound_messages
                 where outbound_id between $1 and $2 order by 1 limit $3"
            }
            Self::Turn => {
                "select turn_id from turns
                 where turn_id between $1 and $2 order by 1 limit $3"
            }
            Self::Text => {
                "select inbound_id from inbound_messages where inbound_id between $1 and $2
                 union select turn_id from turns where turn_id between $1 and $2
                 union select outbound_id from outbound_messages where outbound_id between $1 and $2
                 order by 1 limit $3"
            }
            Self::Conversation => {
                "select conversation_id from conversations where conversation_id between $1 and $2
                 union select conversation_id from conversations where guest_id between $1 and $2
                 union select conversation_id from inbound_messages where inbound_id between $1 and $2
                 order by 1 limit $3"
            }
            Self::Escalation => {
                "select escalation_id from escalations
                 where escalation_id between $1 and $2 order by 1 limit $3"
            }
            Self::DeadLetter => {
                "select dead_id from dead_letters
                 where dead_id between $1 and $2 order by 1 limit $3"
            }
            Self::Campaign => {
                "select campaign_id from campaigns
                 where campaign_id between $1 and $2 order by 1 limit $3"
            }
            Self::Contact => {
                "select contact_id from contacts
                 where contact_id between $1 and $2 and ended_at is null order by 1 limit $3"
            }
            Self::Incident => {
                "select incident_id from incidents
                 where incident_id between $1 and $2 order by 1 limit $3"
            }
        }
    }
}

impl Tx {
    /// Returns at most `most` ids from `low` to `high`, both included, in order.
    pub async fn ids_between(
        &mut self,
        named: Named,
        low: Uuid,
        high: Uuid,
        most: i64,
    ) -> Result<Vec<Uuid>> {
        let ids = sqlx::query_scalar(named.query())
            .bind(low)
            .bind(high)
            .bind(most);
        Ok(ids.fetch_all(self.conn()).await?)
    }
}
