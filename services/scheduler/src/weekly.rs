//! Sends each casino's figures of the past week to the contacts that want them (D28). Reports are
//! claimed, so that several schedulers send each of them once; a channel that is down is tried
//! again.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Days, NaiveDate, NaiveTime};
use chrono_tz::Tz;
use seven_alerts::channels::backoff;
use seven_domain::CasinoId;
use seven_figures::{Period, Report, letter};
use seven_notices::Senders;
use seven_runtime::{Error, Fleet};
use seven_settings::Settings;
use seven_store::{Tx, alerts::NoticeOutcome, contacts::DueReport};

const BATCH: i64 = 20;
/// How long a report is claimed: longer than an attempt may take.
const CLAIM_TTL: Duration = Duration::from_secs(60);
const MIN_WAIT: Duration = Duration::from_millis(200);
/// The hour at which the report is sent, by the casino's clock.
const FROM_HOUR: u32 = 8;

/// Plans the reports of the last week that ended before the day.
pub(crate) async fn plan(tx: &mut Tx, zone: Tz, day: NaiveDate) -> Result<u64, Error> {
    let monday = day.week(chrono::Weekday::Mon).first_day();
    let week = monday - Days::new(7);
    let at = |hour| {
        let local = monday.and_time(NaiveTime::MIN) + chrono::TimeDelta::hours(i64::from(hour));
        let there = local.and_local_timezone(zone).earliest();
        there.map_or_else(|| local.and_utc(), |at: DateTime<Tz>| at.to_utc())
    };
    Ok(tx.plan_weekly_reports(week, at(0), at(FROM_HOUR)).await?)
}

pub(crate) async fn round(
    fleet: Fleet,
    settings: Arc<Settings>,
    senders: Senders,
) -> Result<(), Error> {
    crate::rounds::each(fleet.store.with_weekly_reports().await?, |casino| {
        send(fleet.clone(), settings.clone(), senders.clone(), casino)
    })
    .await
}

async fn send(
    fleet: Fleet,
    settings: Arc<Settings>,
    senders: Senders,
    casino: CasinoId,
) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&casino).await?;
    let due = tx.claim_weekly_reports(BATCH, CLAIM_TTL).await?;
    tx.commit().await?;
    for due in &due {
        tell(&fleet, &settings, &senders, &casino, due).await?;
    }
    Ok(())
}

async fn tell(
    fleet: &Fleet,
    settings: &Settings,
    senders: &Senders,
    casino: &CasinoId,
    due: &DueReport,
) -> Result<(), Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let (contact, row) = (tx.contact(due.contact_id).await?, tx.casino_row().await?);
    let (Some(contact), Some(row)) = (contact, row) else {
        let ended = NoticeOutcome::GivenUp("the contact has ended");
        tx.note_weekly_report(due, ended).await?;
        return Ok(tx.commit().await?);
    };
    let week = Period {
        from: due.week,
        to: due.week + Days::new(6),
        zone: row.config.operational.timezone,
    };
    let report = Report::read(&mut tx, &settings.cost, week).await?;
    let before = Report::read(&mut tx, &settings.cost, week.before()).await?;
    // The channel may take seconds; no connection waits for it.
    tx.commit().await?;
    let page = format!("c/{casino}/figures?from={}&to={}", week.from, week.to);
    let page = settings.console.public_url.join(&page);
    let page = page.map_err(|error| Error::Other(error.to_string()))?;
    let name = &row.config.prompts.casino_name_display;
    let (subject, text) = letter(contact.language, name, &report, &before, &page);
    let told = senders
        .say(
            contact.channel,
            &contact.address,
            due.report_id,
            &subject,
            &text,
        )
        .await;
    let mut tx = fleet.store.bind(casino).await?;
    match told {
        Ok(_) => tx.note_weekly_report(due, NoticeOutcome::Delivered).await?,
        Err(untold) => {
            let tries = u32::try_from(due.tries).unwrap_or(u32::MAX);
            let outcome = match backoff(tries, untold.again) {
                Some(wait) => {
                    let wait = fleet.timing.scale.at_least(wait, MIN_WAIT);
                    NoticeOutcome::Later(wait, &untold.why)
                }
                None => NoticeOutcome::GivenUp(&untold.why),
            };
            tracing::warn!(
                %casino,
                report_id = %due.report_id,
                channel = contact.channel.as_str(),
                tries,
                error = untold.why,
                "a weekly report was not delivered"
            );
            tx.note_weekly_report(due, outcome).await?;
        }
    }
    Ok(tx.commit().await?)
}
