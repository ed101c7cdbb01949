//! Sends letters to contacts by chat or mail (D28): the casino's figures of the past week, a weekly
//! summary of its content, refused content, and outages. A letter is claimed before it is sent, so
//! that only one of several schedulers sends it. If a channel is down, the letter is tried again.

use std::{sync::Arc, time::Duration};

use chrono::{Days, NaiveDate, TimeDelta, Weekday};
use chrono_tz::Tz;
use seven_alerts::{Again, Untold, channels::backoff};
use seven_content::{
    refusal,
    week::{self, ContentWeek},
};
use seven_domain::{CasinoId, LetterKind};
use seven_figures::{Period, Report, letter};
use seven_notices::{
    Senders,
    outage::{self, Outage},
};
use seven_runtime::{Error, Fleet};
use seven_settings::Settings;
use seven_store::{
    Tx, alerts::NoticeOutcome, casinos::Casino, contacts::Contact, contacts::DueLetter,
};
use url::Url;

/// How long a claim on a letter lasts. It is longer than it may take to write a letter and to try
/// once to send it.
const CLAIM_TTL: Duration = Duration::from_secs(60);
const MIN_WAIT: Duration = Duration::from_millis(200);
/// Time from the end of a week (midnight) until its letters are sent, at eight in the morning.
pub(crate) const SENT_AFTER: TimeDelta = TimeDelta::hours(8);

/// Plans the reports about the last full week before this day.
pub(crate) async fn plan(tx: &mut Tx, zone: Tz, day: NaiveDate) -> Result<u64, Error> {
    let monday = day.week(Weekday::Mon).first_day() - Days::new(7);
    let (_, ended) = week(monday, zone).bounds();
    let at = ended + SENT_AFTER;
    Ok(tx.plan_weekly_reports(monday, ended, at).await?)
}

fn week(monday: NaiveDate, zone: Tz) -> Period {
    Period {
        from: monday,
        to: monday + Days::new(6),
        zone,
    }
}

pub(crate) async fn round(
    fleet: Fleet,
    settings: Arc<Settings>,
    senders: Senders,
) -> Result<(), Error> {
    crate::rounds::each(fleet.store.with_letters().await?, |casino| {
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
    loop {
        let mut tx = fleet.store.bind(&casino).await?;
        let due = tx.claim_letter(CLAIM_TTL).await?;
        tx.commit().await?;
        let Some(due) = due else { return Ok(()) };
        let told = match tell(&fleet, &settings, &senders, &casino, &due).await {
            Ok(told) => told,
            Err(error) if error.is_away() => return Err(error),
            // A letter that cannot be written must not stop the letters of other casinos.
            Err(error) => Err(Untold {
                why: error.to_string(),
                again: Again::Later(None),
            }),
        };
        note(&fleet, &casino, &due, told).await?;
    }
}

async fn tell(
    fleet: &Fleet,
    settings: &Settings,
    senders: &Senders,
    casino: &CasinoId,
    due: &DueLetter,
) -> Result<Result<(), Untold>, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let (contact, row) = (tx.contact(due.contact_id).await?, tx.casino_row().await?);
    let row = row.filter(|_| fleet.roster.serving().contains(casino));
    let (Some(contact), Some(row)) = (contact, row) else {
        return Ok(Err(Untold {
            why: "the contact has ended, or the casino is not served".to_owned(),
            again: Again::Never,
        }));
    };
    let (subject, text) = match due.kind {
        LetterKind::WeeklyReport => report(settings, &mut tx, &contact, &row, due).await?,
        LetterKind::ContentRefused => {
            let page = page(settings, &format!("c/{casino}/content"))?;
            let name = &row.config.prompts.casino_name_display;
            refusal::letter(contact.language, name, &due.detail, &page)
        }
        LetterKind::ContentWeek => {
            let told: ContentWeek = serde_json::from_value(due.detail.clone())
                .map_err(|error| Error::Other(format!("content of {}: {error}", due.key)))?;
            let gaps = page(settings, &format!("c/{casino}/content/gaps?weeks=1"))?;
            let set = page(settings, &format!("c/{casino}/content/set"))?;
            let name = &row.config.prompts.casino_name_display;
            week::letter(contact.language, name, &told, &gaps, &set)
        }
        LetterKind::Outage | LetterKind::OutageOver => {
            let told: Outage = serde_json::from_value(due.detail.clone())
                .map_err(|error| Error::Other(format!("outage {}: {error}", due.key)))?;
            let name = &row.config.prompts.casino_name_display;
            let zone = row.config.operational.timezone;
            outage::letter(contact.language, name, zone, &told)
        }
    };
    // The call to the channel may take seconds, so the transaction ends first and frees its
    // connection.
    tx.commit().await?;
    let (channel, address) = (contact.channel, &contact.address);
    let told = senders.say(channel, address, due.letter_id, &subject, &text);
    Ok(told.await.map(drop))
}

/// Writes the letter with the figures of a week.
async fn report(
    settings: &Settings,
    tx: &mut Tx,
    contact: &Contact,
    row: &Casino,
    due: &DueLetter,
) -> Result<(String, String), Error> {
    let monday: Result<NaiveDate, _> = due.key.parse();
    let monday = monday.map_err(|error| Error::Other(format!("week {}: {error}", due.key)))?;
    let week = week(monday, row.config.operational.timezone);
    let report = Report::read(tx, &settings.cost, week).await?;
    let before = Report::read(tx, &settings.cost, week.before()).await?;
    let casino = &row.config.casino_id;
    let path = format!("c/{casino}/figures?from={}&to={}", week.from, week.to);
    let page = page(settings, &path)?;
    let name = &row.config.prompts.casino_name_display;
    Ok(letter(contact.language, name, &report, &before, &page))
}

fn page(settings: &Settings, path: &str) -> Result<Url, Error> {
    let page = settings.console.public_url.join(path);
    page.map_err(|error| Error::Other(error.to_string()))
}

/// Records the outcome of sending a letter. A failed letter is tried again as long as that may
/// help.
async fn note(
    fleet: &Fleet,
    casino: &CasinoId,
    due: &DueLetter,
    told: Result<(), Untold>,
) -> Result<(), Error> {
    let tries = u32::try_from(due.tries).unwrap_or(u32::MAX);
    let why;
    let outcome = match told {
        Ok(()) => NoticeOutcome::Delivered,
        Err(untold) => {
            why = untold.why;
            let letter_id = due.letter_id;
            tracing::warn!(%casino, %letter_id, tries, error = why, "a letter was not delivered");
            match backoff(tries, untold.again) {
                Some(wait) => {
                    NoticeOutcome::Later(fleet.timing.scale.at_least(wait, MIN_WAIT), &why)
                }
                None => NoticeOutcome::GivenUp(&why),
            }
        }
    };
    let mut tx = fleet.store.bind(casino).await?;
    tx.note_letter(due, outcome).await?;
    Ok(tx.commit().await?)
}
