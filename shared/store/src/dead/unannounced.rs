//! Rows that ended as dead without a dead letter: their process crashed between its commit and the
//! announcement (D17).

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{GuestHash, Stage};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// A dead row without a dead letter.
#[derive(Debug, Clone, FromRow)]
pub struct Unannounced {
    /// Id of the inbound text, turn or outbound text; it is the key of the dead letter.
    pub row_id: Uuid,
    pub conversation_id: Uuid,
    /// Class of an outbound text; empty otherwise.
    pub class: String,
    pub error: String,
    pub attempts: i32,
    pub trace: String,
    /// When the row ended.
    pub at: DateTime<Utc>,
    pub key_id: i16,
    pub phone_hash: Vec<u8>,
}

impl Unannounced {
    pub fn guest(&self) -> Option<GuestHash> {
        Some(GuestHash { key_id: self.key_id, bytes: self.phone_hash.as_slice().try_into().ok()? })
    }
}

/// Condition that the row has no dead letter. One that was replayed before the row failed again
/// does not count.
macro_rules! unlettered {
    ($stage:literal, $key:literal, $died:literal) => {
        concat!(
            "not exists (select 1 from dead_letters d where d.stage = '",
            $stage,
            "' and d.message_key = ",
            $key,
            " and (d.state <> 'replayed' or coalesce(d.handled_at, d.last_at) >= ",
            $died,
            "))"
        )
    };
}

/// Selects one row per failed answer, which are the texts parked behind the same fallback. A signal
/// may carry the id of any of them.
const SWARM: &str = concat!(
    "select (array_agg(i.inbound_id order by i.arrival))[1] as row_id, i.conversation_id, '' as class,
       coalesce(max(i.last_error), max(i.reason), '') as error, max(i.tries) as attempts, (array_agg(i.trace order by i.arrival))[1] as trace,
       max(i.closed_at) as at, g.key_id, g.phone_hash
     from inbound_messages i join guests g on g.guest_id = i.guest_id
     where i.disposition = 'parked' and i.closed_at between now() - interval '3 days' and now() - make_interval(secs => $1)
     group by i.conversation_id, i.disposition_ref, g.key_id, g.phone_hash
     having bool_and(",
    unlettered!("swarm", "i.inbound_id::text", "i.closed_at"),
    ") limit 200"
);

/// A turn does not record when it was parked, so a replay counts as finished once it is older than
/// the margin.
const ENVELOPE: &str = concat!(
    "select t.turn_id as row_id, t.conversation_id, '' as class, coalesce(t.last_error, t.reason, '') as error, t.tries as attempts, t.trace,
       t.created_at as at, g.key_id, g.phone_hash
     from turns t join guests g on g.guest_id = t.guest_id
     where t.state = 'parked' and t.created_at between now() - interval '3 days' and now() - make_interval(secs => $1)
       and ",
    unlettered!("envelope", "t.turn_id::text", "now() - make_interval(secs => $1)"),
    " limit 200"
);

/// Only a text that was retried until it was given up becomes a dead letter; a permanent refusal
/// does not (SMS-44).
const SENDER: &str = concat!(
    "select o.outbound_id as row_id, o.conversation_id, o.class, coalesce(o.error_code, o.reason, '') as error, o.tries + 1 as attempts, o.trace,
       o.ended_at as at, g.key_id, g.phone_hash
     from outbound_messages o join guests g on g.guest_id = o.guest_id
     where o.state = 'failed' and o.reason is distinct from 'provider_never_had_it'
       and o.ended_at between now() - interval '3 days' and now() - make_interval(secs => $1)
       and (select a.outcome from send_attempts a where a.outbound_id = o.outbound_id order by a.started_at desc limit 1) = 'transient'
       and ",
    unlettered!("sender", "o.outbound_id::text", "o.ended_at"),
    " limit 200"
);

impl Tx {
    /// Returns rows of a stage that died longer than `margin` ago, but at most three days ago, and
    /// have no dead letter; empty for stages whose messages leave no dead row.
    pub async fn unannounced(&mut self, stage: Stage, margin: Duration) -> Result<Vec<Unannounced>> {
        let query = match stage {
            Stage::Swarm => SWARM,
            Stage::Envelope => ENVELOPE,
            Stage::Sender => SENDER,
            Stage::Ingress | Stage::Gate | Stage::Receipts => return Ok(Vec::new()),
        };
        Ok(sqlx::query_as(query).bind(margin.as_secs_f64()).fetch_all(self.conn()).await?)
    }

    /// Returns whether a dead letter of this stage about this guest was announced since; its key
    /// may be that of an earlier text.
    pub async fn has_dead_of(&mut self, stage: Stage, guest: &GuestHash, since: DateTime<Utc>) -> Result<bool> {
        Ok(sqlx::query_scalar(
            "select exists (select 1 from dead_letters where stage = $1 and guest_hash = $2 and last_at >= $3 and state <> 'replayed')",
        )
        .bind(stage.as_str())
        .bind(guest.tag())
        .bind(since)
        .fetch_one(self.conn())
        .await?)
    }
}
