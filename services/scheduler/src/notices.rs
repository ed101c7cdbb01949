//! Plans one notice per alert and channel, sends the notices that are due, and resolves alerts that
//! are no longer raised. A notice is claimed before it is sent, so that only one of several
//! schedulers sends it.

use std::time::Duration;

use futures::future::join_all;
use seven_alerts::{Again, Channels, Notice, channels::backoff, policy};
use seven_runtime::{Error, Fleet};
use seven_store::alerts::{Due, NoticeOutcome};
use seven_telemetry::metrics;

const BATCH: i64 = 50;
/// How long a claim on a notice lasts. It is longer than a request to the channel may take, so that
/// no other process sends the same notice.
const CLAIM_TTL: Duration = Duration::from_secs(30);
const MIN_WAIT: Duration = Duration::from_millis(200);
/// Resolved alerts are kept for this many days.
const KEPT_DAYS: i32 = 90;

pub(crate) async fn round(fleet: Fleet, channels: Channels) -> Result<(), Error> {
    // Plans notices before it resolves alerts, so that an alert that has already ended is still
    // announced.
    fleet
        .store
        .plan_notices(&policy().pairs(&channels.names()))
        .await?;
    fleet
        .store
        .resolve_quiet(fleet.timing.alert_quiet())
        .await?;
    fleet.store.forget_alerts(KEPT_DAYS).await?;
    loop {
        let due = fleet.store.claim_notices(BATCH, CLAIM_TTL).await?;
        if due.is_empty() {
            return Ok(());
        }
        for told in join_all(due.iter().map(|due| tell(&fleet, &channels, due))).await {
            told?;
        }
    }
}

async fn tell(fleet: &Fleet, channels: &Channels, due: &Due) -> Result<(), Error> {
    let Some(channel) = channels.get(&due.channel) else {
        tracing::error!(
            alert_id = %due.alert_id,
            channel = due.channel,
            action = %due.action,
            "a notice names a channel that the settings do not have"
        );
        return Ok(fleet
            .store
            .note_notice(
                due,
                NoticeOutcome::GivenUp("no such channel in the settings"),
            )
            .await?);
    };
    let answer = channel.tell(&notice(due)).await;
    let counted = |outcome| {
        metrics()
            .notices
            .with_label_values(&[channel.channel(), outcome])
            .inc();
    };
    let Err(untold) = answer else {
        counted("told");
        return Ok(fleet
            .store
            .note_notice(due, NoticeOutcome::Delivered)
            .await?);
    };
    let tries = u32::try_from(due.tries).unwrap_or(u32::MAX);
    let Some(wait) = backoff(tries, untold.again) else {
        counted("given_up");
        tracing::error!(
            alert_id = %due.alert_id,
            alert = due.name,
            channel = due.channel,
            action = %due.action,
            tries,
            error = untold.why,
            "notice could not be delivered on this channel; see seven alert list and the settings"
        );
        return Ok(fleet
            .store
            .note_notice(due, NoticeOutcome::GivenUp(&untold.why))
            .await?);
    };
    counted("later");
    tracing::warn!(
        alert_id = %due.alert_id,
        channel = due.channel,
        tries,
        error = untold.why,
        "a notice was not delivered yet"
    );
    // Tests scale our own waits; waits that the channel asks for are not scaled.
    let asked = match untold.again {
        Again::Later(Some(asked)) => asked.min(wait),
        _ => Duration::ZERO,
    };
    let wait = fleet.timing.scale.at_least(wait, MIN_WAIT).max(asked);
    Ok(fleet
        .store
        .note_notice(due, NoticeOutcome::Later(wait, &untold.why))
        .await?)
}

fn notice(due: &Due) -> Notice {
    Notice {
        alert_id: due.alert_id,
        action: due.action,
        name: due.name.clone(),
        casino: due.casino_id.clone(),
        provider: due.provider.clone(),
        code: due.code.clone(),
        severity: due.severity,
        summary: due.summary.clone(),
        repeats: due.repeats,
        since: due.first_at,
    }
}
