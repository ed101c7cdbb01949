//! The body of a text and of earlier texts to the guest. From these, the sender estimates how
//! likely carriers are to filter the text (SMS-34).

use seven_domain::OutboundId;

use crate::{Result, Tx};

/// The body of a text. `earlier` has the bodies of our last texts to the guest, newest first; only
/// texts that were or may have been sent.
#[derive(Debug, Clone, Default)]
pub struct Wording {
    pub body: String,
    pub earlier: Vec<String>,
}

impl Tx {
    /// Returns the body of the text and of at most `most` other texts to the guest; `None` if there
    /// is no such text.
    pub async fn wording(&mut self, outbound: OutboundId, most: i64) -> Result<Option<Wording>> {
        let row: Option<(String, Vec<String>)> = sqlx::query_as(
            "select o.body, array(
               select e.body from outbound_messages e where e.casino_id = o.casino_id and e.guest_id = o.guest_id and e.outbound_id <> o.outbound_id
                 and e.state in ('sending', 'sent', 'delivered', 'undelivered', 'unknown')
               order by coalesce(e.sent_at, e.created_at) desc limit $2)
             from outbound_messages o where o.outbound_id = $1",
        )
        .bind(outbound.0)
        .bind(most)
        .fetch_optional(self.conn())
        .await?;
        Ok(row.map(|(body, earlier)| Wording { body, earlier }))
    }
}
