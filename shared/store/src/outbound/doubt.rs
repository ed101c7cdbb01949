//! Attempts that the provider did not answer (D5).

use seven_domain::{AttemptId, MessageClass, OutboundId, OutboundState};
use uuid::Uuid;

use super::Queued;
use crate::{Result, Tx, mutant};

impl Tx {
    /// Settles an attempt whose deadline and grace passed without a webhook. A safety text is
    /// queued once more; any other text becomes `unknown`. Returns the queued text, which the
    /// caller signals.
    pub async fn settle_doubt(&mut self, attempt: AttemptId) -> Result<Option<Queued>> {
        let row: Option<(Uuid, MessageClass, i64)> = sqlx::query_as(
            "select o.outbound_id, o.class, (select count(*) from send_attempts x where x.outbound_id = o.outbound_id and x.outcome in ('pending', 'ambiguous'))
             from send_attempts a join outbound_messages o on o.outbound_id = a.outbound_id
             where a.attempt_id = $1 and a.outcome in ('pending', 'ambiguous') and o.state = 'sending'
               and not exists (select 1 from send_attempts n where n.outbound_id = a.outbound_id and n.started_at > a.started_at)
             for update of o",
        )
        .bind(attempt.0)
        .fetch_optional(self.conn())
        .await?;
        let Some((outbound, class, doubtful)) = row else {
            return Ok(None);
        };
        let again = (class.is_safety() || mutant::resends_blindly()) && doubtful < 2;
        let (state, reason) = match again {
            true => (OutboundState::Queued, "doubtful_send_repeated"),
            false => (OutboundState::Unknown, "no_answer_from_provider"),
        };
        sqlx::query(
            "update outbound_messages set state = $2, reason = $3, not_before = now(), next_sweep_at = now() + make_interval(secs => $4),
               ended_at = case when $2 = 'unknown' then now() end
             where outbound_id = $1",
        )
        .bind(outbound)
        .bind(state)
        .bind(reason)
        .bind(self.sweep_base())
        .execute(self.conn())
        .await?;
        sqlx::query("update send_attempts set outcome = 'ambiguous' where attempt_id = $1 and outcome = 'pending'")
            .bind(attempt.0)
            .execute(self.conn())
            .await?;
        Ok(again.then(|| Queued::new(OutboundId(outbound), class)))
    }
}
