//! Raises an alert for each grave case, under the case's id. The alert is announced once, and is
//! acknowledged and resolved together with the case.

use std::time::Duration;

use seven_alerts::{CASE, key, policy};
use seven_domain::CasinoId;
use seven_runtime::{Error, Fleet};
use seven_store::alerts::NewAlert;

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    crate::rounds::each(fleet.store.with_cases(CASE).await?, |casino| {
        look(fleet.clone(), casino)
    })
    .await
}

async fn look(fleet: Fleet, id: CasinoId) -> Result<(), Error> {
    let severities = policy().told_cases();
    let casino = id.as_str();
    let mut tx = fleet.store.bind(&id).await?;
    let untold = tx.untold_cases(&severities).await?;
    let moved = tx.moved_cases(CASE).await?;
    tx.commit().await?;
    for case in untold {
        let Some(severity) = policy().case(case.severity) else {
            continue;
        };
        let case_id = case.escalation_id.to_string();
        let summary = format!(
            "a case of {} waits for a person: {} ({}); seven escalation list --casino {casino}, \
             then seven alert ack {case_id} --by NAME",
            case.severity, case.reason, case.source
        );
        let new = NewAlert {
            alert_id: case.escalation_id,
            key: &key(CASE, casino, "", &case_id),
            name: CASE,
            casino,
            provider: "",
            code: &case.reason,
            severity,
            summary: &summary,
            standing: true,
            times: 1,
            ack_within: case
                .ack_seconds
                .map(|seconds| Duration::from_secs_f64(seconds.max(0.0))),
        };
        fleet.store.raise_alert(&new).await?;
    }
    for case in moved {
        if case.settled {
            fleet.store.resolve_alert(&case.key, Duration::ZERO).await?;
        } else if let Some(by) = &case.acknowledged_by {
            fleet.store.acknowledge_alert(case.alert_id, by).await?;
        }
    }
    Ok(())
}
