//! Limits how fast texts are sent (SMS-14, spec 05 section 1.6). The limits of a text come from the
//! casino's registration, the provider's account and the fleet's settings.

use std::time::Duration;

use seven_cache::{Ask, Level, Pace, Pacer};
use seven_domain::{CasinoId, Lane, config::Operational};
use seven_providers::pace;
use seven_telemetry::metrics;
use tokio::time::{Instant, timeout_at};

use crate::{
    line, route,
    types::{Job, Limits, MAX_HELD_WAIT, Sender},
};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

/// Returns all rate limits that apply to a text at this provider. Pure.
pub(crate) fn levels(
    casino: &CasinoId,
    ours: &Operational,
    lane: Lane,
    provider: &str,
    limits: &Limits,
) -> Vec<Level> {
    let own = |name, most, window| {
        let key = format!("{casino}:{provider}");
        Level {
            name,
            key,
            most,
            window,
            shared: false,
        }
    };
    let shared = |name, key: &str, most| Level {
        name,
        key: key.to_owned(),
        most,
        window: SECOND,
        shared: true,
    };
    let campaign = ours.campaign_class.map(pace::campaign_per_minute);
    let brand = ours
        .brand_tier
        .filter(|_| lane == Lane::Bulk)
        .map(pace::brand_per_day);
    let account = limits
        .account
        .get(provider)
        .copied()
        .or_else(|| pace::account(provider));
    let levels = [
        Some(own("number", ours.segments_per_second(), SECOND)),
        campaign.map(|most| own("campaign", most, MINUTE)),
        brand.map(|most| own("brand", most, DAY)),
        ours.max_segments_per_second.map(|most| Level {
            key: casino.to_string(),
            ..own("casino", most, SECOND)
        }),
        account.map(|most| shared("account", provider, most)),
        limits.fleet.map(|most| shared("fleet", "all", most)),
    ];
    levels.into_iter().flatten().collect()
}

/// Maximum number of safety texts that wait in the queue. Each of them holds one of the worker's
/// permits; further ones give their permit back, for answers to a crisis or emergency. Those
/// answers always wait in the queue.
const MOST_IN_LINE: usize = 2;
/// Maximum time, in addition to one second, until a text that gave its permit back asks again.
const IN_LINE_SPREAD: Duration = Duration::from_secs(4);

/// Waits for the text's turn and its rate limits. Returns `None` once the text may go on. If
/// waiting here would take too long, returns the time after which to ask again.
pub(crate) async fn paced(sender: &Sender, job: &Job) -> Option<Duration> {
    // Without a provider there is no limit to ask. The text goes on, and the next stage holds it.
    let carrier = route::carriers_for(sender, job)
        .into_iter()
        .find(|carrier| !job.stopped(carrier.name()))?;
    let lane = job.class.lane();
    let levels = levels(
        &job.casino,
        &job.config.operational,
        lane,
        carrier.name(),
        &sender.limits,
    );
    let ask = Ask {
        casino: &job.casino,
        lane,
        segments: job.segments,
        levels: &levels,
    };
    let began = Instant::now();
    let line = sender.lines.of(&job.casino, lane, carrier.name());
    if lane == Lane::Safety && line::rank(job.class) > 0 && line.waiting() >= MOST_IN_LINE {
        return Some(SECOND + line::put_off(job.class, job.outbound_id, IN_LINE_SPREAD));
    }
    let mine = tokio::select! {
        mine = timeout_at(began + MAX_HELD_WAIT, line.turn(job.class, job.guest)) => mine,
        () = sender.fleet.shutdown.cancelled() => return Some(Duration::ZERO),
    };
    let Ok(_mine) = mine else { return Some(SECOND) };
    let mut held_by = None;
    while let Pace::Wait { after, level } = sender.fleet.cache.take(&ask).await {
        if began.elapsed() + after > MAX_HELD_WAIT || !sender.held(after).await {
            metrics()
                .pace_waits
                .with_label_values(&[level])
                .observe((began.elapsed() + after).as_secs_f64());
            return Some(after.min(Duration::from_secs(30)));
        }
        held_by = Some(level);
    }
    if let Some(level) = held_by {
        metrics()
            .pace_waits
            .with_label_values(&[level])
            .observe(began.elapsed().as_secs_f64());
    }
    None
}

#[cfg(test)]
mod tests {
    use seven_domain::{
        TELNYX, TWILIO,
        config::{BrandTier, CampaignClass, NumberKind},
    };

    use super::*;

    fn names(
        ours: &Operational,
        lane: Lane,
        provider: &str,
        limits: &Limits,
    ) -> Vec<(&'static str, u32)> {
        let casino = "here".parse().unwrap();
        levels(&casino, ours, lane, provider, limits)
            .iter()
            .map(|level| (level.name, level.most))
            .collect()
    }

    #[test] // spec 05 section 1.6
    fn limits_come_from_the_registration_the_account_and_the_fleet() {
        let mut ours = crate::route::tests::ours(|_| {});
        ours.number_kind = NumberKind::TollFree;
        let none = Limits::default();
        assert_eq!(
            names(&ours, Lane::Reply, TELNYX, &none),
            [("number", 20), ("account", 50)]
        );
        ours.number_kind = NumberKind::LongCode;
        ours.campaign_segments_per_second = Some(4);
        ours.campaign_class = Some(CampaignClass::T);
        ours.brand_tier = Some(BrandTier::Low);
        ours.max_segments_per_second = Some(3);
        let limits = Limits {
            account: [(TELNYX.to_owned(), 200)].into(),
            fleet: Some(500),
        };
        assert_eq!(
            names(&ours, Lane::Bulk, TELNYX, &limits),
            [
                ("number", 4),
                ("campaign", 75),
                ("brand", 2_000),
                ("casino", 3),
                ("account", 200),
                ("fleet", 500)
            ]
        );
        assert_eq!(
            names(&ours, Lane::Safety, TWILIO, &none),
            [("number", 4), ("campaign", 75), ("casino", 3)]
        );
    }
}
