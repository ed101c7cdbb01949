//! Finds texts that were sent after their guest's STOP, contains each as an incident, and raises an
//! alert. The pre-send check should prevent such texts; this check looks at the texts that were
//! really sent.

use std::{collections::BTreeSet, time::Instant};

use seven_domain::{CasinoId, ConversationId, IncidentKind, OutboundId};
use seven_runtime::{Error, Fleet};
use seven_telemetry::Alert;

use crate::{
    incidents::{Found, contain},
    lookback::Lookback,
};

pub(crate) async fn round(fleet: Fleet, lookback: Lookback) -> Result<(), Error> {
    let began = Instant::now();
    let span = lookback.span(began, fleet.timing.after_stop_watch());
    let sent = fleet.store.sent_after_stop(span).await?;
    let casinos: BTreeSet<CasinoId> = sent.iter().map(|(casino, _)| casino.clone()).collect();
    let one = |(casino, outbound)| contain_one(fleet.clone(), casino, outbound);
    let contained = crate::rounds::each_of(sent, |(casino, _)| casino, one).await;
    // Raises the alert for each casino, even if an incident could not be contained.
    let text = "texts left after their guests said STOP; stop the casino with `seven pause --outbound`, then look at each with `seven message show`";
    for casino in casinos {
        Alert {
            name: "text_after_stop",
            casino: casino.as_str(),
            provider: "",
            code: "",
            text,
        }
        .raise();
    }
    contained?;
    lookback.done(began);
    Ok(())
}

async fn contain_one(fleet: Fleet, casino: CasinoId, outbound: OutboundId) -> Result<(), Error> {
    tracing::error!(%casino, outbound_id = %outbound, "a text was sent after its guest's STOP");
    let mut tx = fleet.store.bind(&casino).await?;
    let text = tx.pending(outbound).await?;
    tx.commit().await?;
    if let Some(text) = text {
        let found = Found {
            kind: IncidentKind::TextAfterStop,
            conversation: ConversationId(text.conversation_id),
            text: outbound.0,
            by: "scheduler",
        };
        contain(&fleet, &casino, found).await?;
    }
    Ok(())
}
