//! Decides when a proactive text may be sent to this guest (D6, D15), and defers the text until
//! then.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_bus::Outcome;
use seven_compliance::{
    jurisdiction::{self, Residence},
    quiet_hours::{self, CasinoWindow, Question, Window},
};
use seven_domain::Lane;
use seven_runtime::Error;
use seven_store::outbound::Deferred;
use seven_telemetry::metrics;

use crate::types::{Job, Sender};

/// Facts that follow from a guest's location. The sender determines them before the pre-send check.
#[derive(Debug, Clone)]
pub(crate) struct Eligibility {
    pub(crate) window_open: bool,
    pub(crate) opens_at: Option<DateTime<Utc>>,
    pub(crate) exclusion_list_needed: bool,
}

/// Returns the guest's eligibility for this text. Replies may be sent at any hour.
pub(crate) fn eligibility(sender: &Sender, job: &Job) -> Result<Eligibility, Error> {
    if job.class.lane() != Lane::Bulk {
        return Ok(Eligibility {
            window_open: true,
            opens_at: None,
            exclusion_list_needed: false,
        });
    }
    let phone = job.phone()?;
    let profile = job.zone.map(|zone| Residence {
        zone,
        state: job.state,
    });
    let casino = CasinoWindow::from_regulations(&job.config.regulations)?;
    let window: Window = quiet_hours::check(&Question {
        to: phone,
        at: sender.fleet.clock.property_now(),
        profile,
        casino,
    });
    Ok(Eligibility {
        window_open: window.open,
        opens_at: window.opens_at,
        exclusion_list_needed: jurisdiction::of(phone, profile.as_ref()).self_exclusion_check,
    })
}

/// Defers the text until its window opens. If the text will no longer be useful by then, ends it
/// now (D13).
pub(crate) async fn defer(
    sender: &Sender,
    job: &Job,
    opens_at: Option<DateTime<Utc>>,
) -> Result<Outcome, Error> {
    let wait = opens_at.map(|at| {
        (at - sender.fleet.clock.property_now())
            .to_std()
            .unwrap_or_default()
    });
    let mut tx = sender.fleet.store.bind(&job.casino).await?;
    let deferred = tx
        .defer(
            job.outbound_id,
            wait.map(|wait| wait.max(Duration::from_millis(200))),
        )
        .await?;
    tx.commit().await?;
    if deferred == Deferred::Waiting {
        metrics()
            .deferred
            .with_label_values(&[job.class.as_str()])
            .inc();
    }
    tracing::info!(
        casino = %job.casino,
        outbound_id = %job.outbound_id,
        class = %job.class,
        ?deferred,
        ?opens_at,
        "quiet hours"
    );
    Ok(Outcome::Done)
}
