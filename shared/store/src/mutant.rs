//! Safeguards that `./scripts/chaos --mutants` disables here (`seven_faults`); a product build
//! contains none of this.

use std::time::Duration;

use seven_domain::{ConversationId, Stage};
use seven_faults::{mutant, where_armed};

use crate::{
    Result, Tx,
    last_look::{Claim, Look},
};

/// Claims a text without any pre-send check.
pub(crate) async fn claim_unlooked(tx: &mut Tx, look: &Look) -> Result<Option<Claim>> {
    where_armed!({
        if !mutant!("no_last_look") {
            return Ok(None);
        }
        let casino = tx.casino_str();
        let row: Option<(String, String, String, uuid::Uuid)> = sqlx::query_as(
            "with claimed as (
               update outbound_messages set state = 'sending', provider = $3, reason = null
               where outbound_id = $1 and state = 'queued' and not_before <= now() returning *),
             attempt as (
               insert into send_attempts (casino_id, attempt_id, outbound_id, provider, deadline_at, called_at)
               select $5, $2, outbound_id, $3, now() + make_interval(secs => $4), $6 from claimed),
             doubt as (
               insert into due (casino_id, kind, row_id, due_at)
               select $5, 'attempt_doubt', $2, now() + make_interval(secs => $7) from claimed)
             select g.phone, c.body, c.class, c.conversation_id from claimed c join guests g on g.guest_id = c.guest_id",
        )
        .bind(look.outbound_id.0)
        .bind(look.attempt_id.0)
        .bind(look.provider)
        .bind(look.deadline.as_secs_f64())
        .bind(casino)
        .bind(look.called_at)
        .bind((look.deadline + look.grace).as_secs_f64())
        .fetch_optional(tx.conn())
        .await?;
        let claim =
            |(to, body, class, conversation_id)| Claim { to, body, class, conversation_id, messaging_profile_id: None };
        Ok(row.map(claim))
    } else {
        let _ = (tx, look);
        Ok(None)
    })
}

/// Returns the epoch under which a turn is committed: the conversation's current one, whatever the
/// turn's is.
pub(crate) async fn epoch(tx: &mut Tx, conversation: ConversationId, epoch: i64) -> Result<i64> {
    where_armed!({
        if !no_epoch() {
            return Ok(epoch);
        }
        let current = sqlx::query_scalar("select turn_epoch from conversations where conversation_id = $1");
        Ok(current.bind(conversation.0).fetch_one(tx.conn()).await?)
    } else {
        let _ = (tx, conversation);
        Ok(epoch)
    })
}

/// Returns whether turns commit under any epoch.
pub(crate) fn no_epoch() -> bool {
    mutant!("no_epoch")
}

/// Returns whether the sweep behind the gate is disabled.
pub(crate) fn sweeps_nothing(stage: Stage) -> bool {
    stage == Stage::Swarm && mutant!("silent_duplicate")
}

/// Returns the first and the longest sweep interval; zero if every round sweeps.
pub(crate) fn backoff(base: Duration, longest: Duration) -> (Duration, Duration) {
    if mutant!("no_backoff") { (Duration::ZERO, Duration::ZERO) } else { (base, longest) }
}

/// Returns whether a send in doubt is repeated, whatever its class.
pub(crate) fn resends_blindly() -> bool {
    mutant!("blind_resend")
}
