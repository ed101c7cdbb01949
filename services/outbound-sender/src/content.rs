//! Estimates how likely carriers are to filter a proactive text (SMS-34). The risk is computed from
//! the text's words before every pre-send check, which refuses risky texts.

use seven_domain::Lane;
use seven_runtime::Error;
use seven_sms::risk::COMPARED;
use seven_store::Tx;

use crate::types::Job;

/// Returns the risk, from 0 to 1; `None` for a text that is not proactive.
pub(crate) async fn risk(tx: &mut Tx, job: &Job) -> Result<Option<f64>, Error> {
    if job.class.lane() != Lane::Bulk {
        return Ok(None);
    }
    let Some(wording) = tx
        .wording(job.outbound_id, i64::try_from(COMPARED).unwrap_or(i64::MAX))
        .await?
    else {
        return Ok(None);
    };
    let risk = seven_sms::risk(&wording.body, &wording.earlier);
    if risk.must_be_reworded() {
        tracing::warn!(
            casino = %job.casino,
            outbound_id = %job.outbound_id,
            class = %job.class,
            %risk,
            "carriers would filter this text"
        );
    }
    Ok(Some(risk.score()))
}
