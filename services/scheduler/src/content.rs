//! Publishes content at its scheduled time and switches it off at its scheduled end (D31). Raises
//! an alert if guests do not get published content soon enough.

use chrono::TimeDelta;
use seven_domain::CasinoId;
use seven_runtime::{Error, Fleet};
use seven_telemetry::{Alert, metrics};

/// If the host does not use a published change within this time, an alert is raised.
const LATE_AFTER: TimeDelta = TimeDelta::seconds(30);
/// The states of revisions that the gauge counts. Their names are the gauge's labels.
const STATES: [&str; 3] = ["review", "scheduled", "rejected"];

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let now = fleet.clock.now();
    let waits = fleet.store.content_waits(now, now - LATE_AFTER).await?;
    let gauge = &metrics().content.waiting;
    gauge.reset();
    for one in waits {
        let casino = one.casino.as_str();
        match one.what.as_str() {
            "due" => publish(&fleet, &one.casino).await,
            "late" => late(casino, one.n),
            state if STATES.contains(&state) => {
                gauge.with_label_values(&[casino, state]).set(one.n);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Publishes the casino's content that is due. A failure is only logged, so that it does not delay
/// other casinos.
async fn publish(fleet: &Fleet, casino: &CasinoId) {
    if let Err(error) = seven_content::due(fleet, casino).await {
        tracing::warn!(
            %casino,
            error = &error as &dyn std::error::Error,
            "content could not be published at its time; trying again"
        );
    }
}

fn late(casino: &str, count: i64) {
    let text = format!("{count} published change(s) of content reach no guest for over 30 seconds");
    Alert {
        name: "content_late",
        casino,
        provider: "",
        code: "",
        text: &text,
    }
    .raise();
}
