//! Compares each casino's delivery figures of the current hour with thresholds. Also detects
//! whether carriers block a casino's texts. If they do, proactive texts are paused at once; replies
//! continue.

use std::time::Duration;

use seven_alerts::{
    delivery::{Figures, Standing, Streak},
    key, policy,
};
use seven_domain::{CasinoId, Severity};
use seven_runtime::{Error, Fleet};
use seven_store::{
    alerts::NewAlert,
    controls::{Order, Switch},
    delivery::Hour,
};
use seven_telemetry::Alert;

/// Converts an hour's delivery counts into the figures that the thresholds compare.
pub fn figures_of(hour: &Hour) -> Figures {
    Figures {
        sent: hour.sent,
        single_segment: hour.single_segment,
        counted: hour.counted,
        delivered: hour.delivered,
        bounced: hour.bounced,
        opt_outs: hour.opt_outs,
        reported: hour.reported,
        receipt_seconds: hour.receipt_seconds,
    }
}

/// Compares each casino's current hour with the thresholds.
pub(crate) async fn figures(fleet: Fleet) -> Result<(), Error> {
    let names: Vec<&str> = policy()
        .figures
        .iter()
        .map(|threshold| threshold.alert.as_str())
        .collect();
    let casinos = fleet
        .store
        .sending_or_alerted(Duration::from_secs(3_600), &names)
        .await?;
    crate::rounds::each(casinos, |casino| hour_of(fleet.clone(), casino)).await
}

async fn hour_of(fleet: Fleet, casino: CasinoId) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&casino).await?;
    let hours = tx.delivery_hours(1, fleet.timing.receipt_margin()).await?;
    tx.commit().await?;
    let Some(hour) = hours.last().map(figures_of) else {
        return Ok(());
    };
    for threshold in &policy().figures {
        match threshold.judge(&hour) {
            Standing::Beyond(severity) => {
                let found = Condition {
                    casino: &casino,
                    name: &threshold.alert,
                    severity,
                    provider: "",
                };
                let pauses = threshold.pauses && severity == Severity::Critical;
                found.file(&fleet, &threshold.told(&hour), pauses).await?;
            }
            Standing::Good => end(&fleet, &casino, &threshold.alert, Duration::ZERO).await?,
            // Few texts prove nothing, so the alert does not end at once. It ends after it was not
            // raised for a while.
            Standing::TooFew => {
                end(
                    &fleet,
                    &casino,
                    &threshold.alert,
                    fleet.timing.figure_quiet(),
                )
                .await?;
            }
        }
    }
    Ok(())
}

/// Detects carriers that block a casino's texts.
pub(crate) async fn blocks(fleet: Fleet) -> Result<(), Error> {
    let casinos = fleet
        .store
        .sending_or_alerted(fleet.timing.block_window(), &[&policy().block.alert])
        .await?;
    crate::rounds::each(casinos, |casino| block_of(fleet.clone(), casino)).await
}

async fn block_of(fleet: Fleet, casino: CasinoId) -> Result<(), Error> {
    let rules = &policy().block;
    let (window, margin) = (fleet.timing.block_window(), fleet.timing.receipt_margin());
    let mut tx = fleet.store.bind(&casino).await?;
    let recent = tx.delivery_recent(window, margin).await?;
    let refusals = tx.carrier_refusals(window, &rules.codes).await?;
    tx.commit().await?;
    let recent = Figures {
        sent: recent.counted,
        counted: recent.counted,
        delivered: recent.delivered,
        bounced: recent.bounced,
        ..Figures::default()
    };
    let streaks: Vec<Streak> = refusals
        .into_iter()
        .map(|each| Streak {
            provider: each.provider,
            carrier: each.carrier,
            refused: each.refused,
        })
        .collect();
    match rules.judge(&recent, &streaks) {
        Some(why) => {
            let severity = policy().severity(&rules.alert);
            let found = Condition {
                casino: &casino,
                name: &rules.alert,
                severity,
                provider: why.provider(),
            };
            found.file(&fleet, &rules.told(&why), true).await
        }
        None => end(&fleet, &casino, &rules.alert, Duration::ZERO).await,
    }
}

/// A condition that keeps its alert open until the figure is good again.
struct Condition<'a> {
    casino: &'a CasinoId,
    name: &'a str,
    severity: Severity,
    provider: &'a str,
}

impl Condition<'_> {
    /// First pauses proactive texts, then raises the alert: if the process dies in between, the
    /// pause stays. While a critical alert is open, no new pause is set, because a person may have
    /// ended the first one.
    async fn file(&self, fleet: &Fleet, told: &str, pauses: bool) -> Result<(), Error> {
        let Self {
            casino,
            name,
            severity,
            provider,
        } = self;
        let key = standing_key(casino, name);
        let open = fleet.store.open_severity(&key).await?;
        if pauses && open != Some(Severity::Critical) {
            let actor = name.replace('_', "-");
            let order = Order {
                by: &actor,
                reason: told,
            };
            if !fleet
                .store
                .switch(Some(casino), &[Switch::Proactive], true, order)
                .await?
                .is_empty()
            {
                tracing::error!(%casino, actor, "proactive texts are paused");
            }
        }
        if open.is_none() {
            Alert {
                name: self.label(),
                casino: casino.as_str(),
                provider,
                code: "",
                text: told,
            }
            .say();
        }
        let minutes = policy().route(*severity).ack_minutes;
        let new = NewAlert {
            alert_id: fleet.ids.uuid(),
            key: &key,
            name,
            casino: casino.as_str(),
            provider,
            code: "",
            severity: *severity,
            summary: told,
            standing: true,
            times: 1,
            ack_within: minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes))),
        };
        Ok(fleet.store.raise_alert(&new).await?)
    }

    /// Returns the name under which metrics count the alert. It comes from a fixed set, so that the
    /// rules file cannot add labels.
    fn label(&self) -> &'static str {
        if self.name == policy().block.alert {
            "carrier_block"
        } else {
            "delivery_figure"
        }
    }
}

fn standing_key(casino: &CasinoId, name: &str) -> String {
    key(name, casino.as_str(), "", "")
}

async fn end(fleet: &Fleet, casino: &CasinoId, name: &str, quiet: Duration) -> Result<(), Error> {
    fleet
        .store
        .resolve_alert(&standing_key(casino, name), quiet)
        .await?;
    Ok(())
}
