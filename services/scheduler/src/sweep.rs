//! Rows whose next step never came are signalled again with a fresh message id (D3).

use seven_domain::{Lane, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::fleet::Swept;
use seven_telemetry::{metrics, trace};

const PER_CASINO: i32 = 200;

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let longest = fleet.timing.sweep().longest;
    for stage in [Stage::Swarm, Stage::Envelope, Stage::Sender] {
        for row in fleet.store.sweep(stage, longest, PER_CASINO).await? {
            metrics().swept.with_label_values(&[stage.as_str()]).inc();
            let copy = Some(format!("sweep:{}", fleet.ids.uuid()));
            // The sweep is a span of the text it repeats: who looks sees that a signal was lost.
            trace::resume("sweep", &row.casino, &row.trace, signal(&fleet, stage, &row, copy)).await?;
        }
    }
    Ok(())
}

async fn signal(fleet: &Fleet, stage: Stage, row: &Swept, copy: Option<String>) -> Result<(), Error> {
    trace::set("seven.swept_stage", stage.as_str());
    match stage {
        Stage::Swarm => {
            fleet.bus.signal_conversation(&row.casino, row.conversation_id, row.row_id, copy, &row.trace).await?;
        }
        Stage::Envelope => fleet.bus.signal_draft(&row.casino, row.row_id, copy, &row.trace).await?,
        _ => {
            fleet
                .bus
                .signal_outbound(&row.casino, row.row_id, row.lane.unwrap_or(Lane::Reply), copy, &row.trace)
                .await?;
        }
    }
    Ok(())
}
