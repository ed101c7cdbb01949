//! How likely carriers are to filter a text that nobody asked for (SMS-34): computed from its words at every look, judged by the look.

use seven_domain::Lane;
use seven_runtime::Error;
use seven_sms::risk::COMPARED;
use seven_store::Tx;

use crate::types::Job;

/// From 0 to 1; none for texts that answer something.
pub(crate) async fn risk(tx: &mut Tx, job: &Job) -> Result<Option<f64>, Error> {
    if job.class.lane() != Lane::Bulk {
        return Ok(None);
    }
    let Some(wording) = tx.wording(job.outbound_id, i64::try_from(COMPARED).unwrap_or(i64::MAX)).await? else {
        return Ok(None);
    };
    let risk = seven_sms::risk(&wording.body, &wording.earlier);
    if risk.must_be_reworded() {
        tracing::warn!(casino = %job.casino, outbound_id = %job.outbound_id, class = %job.class, %risk, "carriers would filter this text");
    }
    Ok(Some(risk.score()))
}
