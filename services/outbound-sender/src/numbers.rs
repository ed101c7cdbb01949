//! Stage: asks the registry whether the guest's phone number has changed hands since the guest
//! consented. Writes the answer to Postgres, where the pre-send check reads it.

use seven_domain::MessageClass;
use seven_runtime::Error;

use crate::types::{Job, Sender};

/// Checks the number before a marketing text, once per number and consent; other texts need no
/// check.
pub(crate) async fn check_number(sender: &Sender, job: &Job) -> Result<(), Error> {
    let Some(registry) = &sender.registry else {
        return Ok(());
    };
    if job.class != MessageClass::Marketing || !job.config.regulations.reassigned_number_check {
        return Ok(());
    }
    let mut tx = sender.fleet.store.bind(&job.casino).await?;
    let wanted = tx.number_unchecked_since(&job.guest).await?;
    tx.commit().await?;
    let Some(since) = wanted else { return Ok(()) };
    let Some(holder) = registry.holder(job.phone()?, since).await else {
        return Ok(());
    };
    let mut tx = sender.fleet.store.bind(&job.casino).await?;
    tx.put_number_check(&job.guest, holder).await?;
    Ok(tx.commit().await?)
}
