//! The mutants of this crate (`seven_faults`): with them, `./scripts/chaos --mutants` disables
//! safeguards to see whether the chaos checker notices. A product build contains no mutants.

use std::time::Duration;

use seven_domain::{ConversationId, MessageClass, Queue, Stage};
use seven_faults::{mutant, where_armed};

use crate::{
    Result, Tx,
    presend_check::{Claim, PresendCheck},
};

/// Returns the queue of a text. With the mutant `first_come`, answers to cries for help share the
/// queue of all safety texts.
pub(crate) fn queue(class: MessageClass) -> Queue {
    match class.queue() {
        Queue::Urgent if mutant!("first_come") => Queue::Safety,
        queue => queue,
    }
}

/// Claims a text without any pre-send check if the mutant `no_presend_check` is set.
pub(crate) async fn claim_unchecked(tx: &mut Tx, check: &PresendCheck) -> Result<Option<Claim>> {
    where_armed!({
        if !mutant!("no_presend_check") {
            return Ok(None);
        }
        let casino = tx.casino_str();
        let row: Option<(String, String, seven_domain::MessageClass, uuid::Uuid)> = sqlx::query_as(
            include_str!("../sql/claim_unchecked.sql"),
        )
        .bind(check.outbound_id.0)
        .bind(check.attempt_id.0)
        .bind(check.provider)
        .bind(check.deadline.as_secs_f64())
        .bind(casino)
        .bind(check.called_at)
        .bind((check.deadline + check.grace).as_secs_f64())
        .fetch_optional(tx.conn())
        .await?;
        Ok(row.map(|(to, body, class, conversation_id)| Claim {
            to: Some(to),
            body,
            class,
            conversation_id,
            messaging_profile_id: None,
        }))
    } else {
        let _ = (tx, check);
        Ok(None)
    })
}

/// Returns the epoch under which a turn is committed. With the mutant `no_epoch`, that is the
/// conversation's current epoch instead of the turn's.
pub(crate) async fn epoch(tx: &mut Tx, conversation: ConversationId, epoch: i64) -> Result<i64> {
    where_armed!({
        if !no_epoch() {
            return Ok(epoch);
        }
        let current = sqlx::query_scalar(
            "select turn_epoch from conversations where conversation_id = $1",
        );
        Ok(current.bind(conversation.0).fetch_one(tx.conn()).await?)
    } else {
        let _ = (tx, conversation);
        Ok(epoch)
    })
}

/// Returns whether the mutant `no_epoch` is set. With this mutant, a turn is committed even if its
/// epoch is outdated.
pub(crate) fn no_epoch() -> bool {
    mutant!("no_epoch")
}

/// Returns whether the mutant `silent_duplicate` disables the sweep of this stage. It concerns only
/// the swarm.
pub(crate) fn sweeps_nothing(stage: Stage) -> bool {
    stage == Stage::Swarm && mutant!("silent_duplicate")
}

/// Returns the first and the longest sweep interval. With the mutant `no_backoff`, both are zero,
/// so that every round sweeps.
pub(crate) fn backoff(base: Duration, longest: Duration) -> (Duration, Duration) {
    if mutant!("no_backoff") {
        (Duration::ZERO, Duration::ZERO)
    } else {
        (base, longest)
    }
}

/// Returns whether the mutant `blind_resend` is set. With this mutant, a send in doubt is repeated,
/// whatever the text's class.
pub(crate) fn resends_blindly() -> bool {
    mutant!("blind_resend")
}
