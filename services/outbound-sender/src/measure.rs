//! Metrics of the sender: how long the guest waited, and the outcome of each call.

use std::time::Duration;

use seven_runtime::Fleet;
use seven_store::outbound::{AttemptEnd, Next};
use seven_telemetry::{code, metrics};

use crate::types::Job;

/// Measures the time from the arrival of the guest's newest text to our call to the provider, in
/// total and without deliberate delays. Skips texts that were tried before and texts that answer no
/// text.
pub(crate) fn reply(fleet: &Fleet, job: &Job) {
    let (Some(asked), 0) = (job.answers_at, job.tries) else {
        return;
    };
    let whole = (fleet.clock.now() - asked).to_std().unwrap_or_default();
    let quiet = if job.of_turn {
        quiet_window(fleet, job)
    } else {
        Duration::ZERO
    };
    let processing = whole.saturating_sub(job.delay + quiet);
    for (part, took) in [("whole", whole), ("processing", processing)] {
        metrics()
            .texts
            .replies
            .with_label_values(&[job.casino.as_str(), part])
            .observe(took.as_secs_f64());
    }
}

fn quiet_window(fleet: &Fleet, job: &Job) -> Duration {
    fleet.packs.of(&job.config).map_or(Duration::ZERO, |pack| {
        fleet.timing.pause(pack.rules.quiet_window())
    })
}

/// Counts one call to a provider. If the provider accepted the text, also counts the text's
/// segments.
pub(crate) fn called(job: &Job, provider: &str, end: &AttemptEnd, next: Next) {
    let casino = job.casino.as_str();
    let error_code = code(end.error_code.as_deref().unwrap_or_default());
    metrics()
        .sends
        .with_label_values(&[casino, provider, end.outcome.as_str(), error_code])
        .inc();
    if next == Next::Sent {
        metrics()
            .texts
            .outcomes
            .with_label_values(&[casino, provider, "sent"])
            .inc();
        metrics()
            .texts
            .segments
            .with_label_values(&[casino, job.class.as_str()])
            .inc_by(u64::from(job.segments));
    }
}
