//! Contains a text that was sent after its guest's STOP (SEC-94), then raises the highest alert. The pre-send check
//! prevents this; here the texts that were really sent are compared.

use std::collections::BTreeSet;

use seven_domain::{ConversationId, IncidentKind};
use seven_runtime::{Error, Fleet};
use seven_telemetry::Alert;

use crate::incidents::{Found, contain};

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let sent = fleet
        .store
        .sent_after_stop(fleet.timing.after_stop_watch())
        .await?;
    for (casino, outbound) in &sent {
        tracing::error!(%casino, outbound_id = %outbound, "a text was sent after its guest's STOP");
        let mut tx = fleet.store.bind(casino).await?;
        let conversation = tx
            .pending(*outbound)
            .await?
            .map(|text| ConversationId(text.conversation_id));
        tx.commit().await?;
        let Some(conversation) = conversation else {
            continue;
        };
        let found = Found {
            kind: IncidentKind::TextAfterStop,
            conversation,
            text: outbound.0,
            by: "scheduler",
        };
        contain(&fleet, casino, found).await?;
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
