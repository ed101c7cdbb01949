//! Raises the highest alert for a text that was sent after its guest's STOP. The pre-send check
//! prevents this; here the texts that were really sent are compared.

use std::collections::BTreeSet;

use seven_runtime::{Error, Fleet};
use seven_telemetry::Alert;

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let sent = fleet
        .store
        .sent_after_stop(fleet.timing.after_stop_watch())
        .await?;
    for (casino, outbound) in &sent {
        tracing::error!(%casino, outbound_id = %outbound, "a text was sent after its guest's STOP");
    }
    let text = "texts left after their guests said STOP; stop the casino with `seven pause --outbound`, then look at each with `seven message show`";
    for casino in sent
        .iter()
        .map(|(casino, _)| casino)
        .collect::<BTreeSet<_>>()
    {
        Alert {
            name: "text_after_stop",
            casino: casino.as_str(),
            provider: "",
            code: "",
            text,
        }
        .raise();
    }
    Ok(())
}
