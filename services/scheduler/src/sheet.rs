//! Reads each casino's whole spreadsheet once a night, if the casino's document has the address of
//! a spreadsheet. That finds edits whose webhook call never arrived (D31).

use std::time::Duration;

use chrono::{DateTime, NaiveDate, Timelike, Utc};
use futures::{StreamExt, TryStreamExt, stream};
use reqwest::{Client, StatusCode, header, redirect::Policy};
use serde_json::{Value, json};
use seven_content::{
    load::{File, LoadError, Loaded, Loading, load},
    refusal::{AWAY, SHEET},
};
use seven_domain::CasinoId;
use seven_notices::address::{Bad, PublicOnly, public_url};
use seven_runtime::{Error, Fleet};
use seven_store::Tx;
use seven_telemetry::metrics;

use crate::nightly::{FROM_HOUR, Nights, RETRY_DELAY, next_night};

/// The name of the job in the table of nightly jobs, and of the editor in the content's history.
const JOB: &str = "content_sheet";
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of problems in a letter; the nightly job's result counts all.
const MOST_PROBLEMS: usize = 20;
/// Number of spreadsheets that are read at the same time.
const AT_ONCE: usize = 4;

/// Why a spreadsheet was not read.
#[derive(Debug, thiserror::Error)]
enum Unread {
    #[error("operational.content_sheet_url: {0}")]
    Address(#[from] Bad),
    #[error("no answer: {0}")]
    Away(String),
    #[error("the address answers with {0}; expected the file itself, with status 200")]
    Status(StatusCode),
    #[error("the file has more than {} MB", seven_content::table::MOST_BYTES >> 20)]
    TooLarge,
}

/// Fetches spreadsheets from public addresses. It does not follow redirects.
#[derive(Debug, Clone)]
pub struct Sheets {
    http: Client,
    /// Whether addresses of this machine are allowed, for development.
    local: bool,
    nights: Nights,
}

impl Sheets {
    /// Prepares the client. `local` permits http and addresses of this machine, for development.
    ///
    /// # Errors
    /// Fails if TLS cannot be set up.
    pub fn new(local: bool) -> reqwest::Result<Self> {
        let mut http = Client::builder()
            .timeout(TIMEOUT)
            .connect_timeout(Duration::from_secs(5))
            .redirect(Policy::none())
            // A proxy would resolve host names itself and so bypass the check that they are public.
            .no_proxy();
        if !local {
            http = http.dns_resolver(PublicOnly);
        }
        Ok(Self {
            http: http.build()?,
            local,
            nights: Nights::default(),
        })
    }

    /// Fetches the file. Returns a name for the file, which problems mention, and the file's bytes.
    /// The ending of the name is the file's type.
    async fn fetch(&self, address: &str) -> Result<(&'static str, Vec<u8>), Unread> {
        let url = public_url(address, self.local)?;
        let away = |error: reqwest::Error| Unread::Away(causes(&error.without_url()));
        let mut answer = self.http.get(url.clone()).send().await.map_err(away)?;
        if answer.status() != StatusCode::OK {
            return Err(Unread::Status(answer.status()));
        }
        let kind = answer.headers().get(header::CONTENT_TYPE);
        let is_csv = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/csv"));
        let name = match is_csv || url.path().ends_with(".csv") {
            true => "sheet.csv",
            false => "sheet.xlsx",
        };
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(away)? {
            if bytes.len() + chunk.len() > seven_content::table::MOST_BYTES {
                return Err(Unread::TooLarge);
            }
            bytes.extend(chunk);
        }
        Ok((name, bytes))
    }
}

/// Returns an error and all its causes in one line; the last cause says what failed.
fn causes(error: &dyn std::error::Error) -> String {
    let all = std::iter::successors(Some(error), |error| error.source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

pub(crate) async fn round(fleet: Fleet, sheets: Sheets) -> Result<(), Error> {
    let now = fleet.clock.property_now();
    let casinos = fleet.store.roster().await?.into_iter();
    let due = casinos.filter(|entry| entry.active && sheets.nights.is_due(&entry.casino, now));
    // Reads several spreadsheets at a time, so that a slow address delays only some of the others.
    let read = stream::iter(due).map(|entry| one_casino(&fleet, &sheets, entry.casino, now));
    read.buffer_unordered(AT_ONCE).try_collect().await
}

/// Reads one casino's spreadsheet if it is time, and notes when to do so next. A failure does not
/// stop the other casinos.
async fn one_casino(
    fleet: &Fleet,
    sheets: &Sheets,
    casino: CasinoId,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    let next = match casino_round(fleet, sheets, &casino, now).await {
        Ok(next) => next,
        Err(error) if error.is_away() => return Err(error),
        Err(error) => {
            tracing::warn!(
                %casino,
                error = &error as &dyn std::error::Error,
                "a casino's spreadsheet was not read; it is tried again in ten minutes"
            );
            now + RETRY_DELAY
        }
    };
    sheets.nights.next(casino, next);
    Ok(())
}

/// Reads the casino's spreadsheet if it is night there. Returns when the casino is due again.
async fn casino_round(
    fleet: &Fleet,
    sheets: &Sheets,
    casino: &CasinoId,
    now: DateTime<Utc>,
) -> Result<DateTime<Utc>, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    // A casino without an address is checked again soon, because its document may get an address at
    // any time.
    let address = row.as_ref().and_then(|row| {
        let address = row.config.operational.content_sheet_url.as_ref()?;
        Some((row, address))
    });
    let Some((row, address)) = address else {
        return Ok(now + RETRY_DELAY);
    };
    let local = now.with_timezone(&row.config.operational.timezone);
    if local.hour() >= FROM_HOUR {
        // Failures in the first hour may pass by themselves, so no contact is told of them.
        let tells = local.hour() > FROM_HOUR;
        let date = local.date_naive();
        read_sheet(fleet, sheets, (casino, address), date, tells).await?;
    }
    Ok(next_night(local))
}

/// Reads and loads a casino's spreadsheet, unless that was done for this date. `tells` says whether
/// contacts get a letter if the address does not answer.
///
/// # Errors
/// Fails when the address does not return a file, or the database is away. If the file is refused,
/// the contacts get a letter, and this is not an error.
pub async fn read_sheet(
    fleet: &Fleet,
    sheets: &Sheets,
    (casino, address): (&CasinoId, &str),
    date: NaiveDate,
    tells: bool,
) -> Result<(), Error> {
    let mut tx = fleet.store.bind(casino).await?;
    // The claim is committed first, so that two schedulers do not load the sheet twice. If this
    // process dies now, the next night finds the edits.
    let ours = tx.claim_nightly(JOB, date).await?;
    tx.commit().await?;
    if !ours {
        return Ok(());
    }
    let loaded = match sheets.fetch(address).await {
        Ok((name, bytes)) => match take(fleet, casino, name, bytes).await {
            Ok(loaded) => loaded,
            Err(error) => {
                let mut tx = fleet.store.bind(casino).await?;
                tx.release_nightly(JOB, date).await?;
                tx.commit().await?;
                return Err(error);
            }
        },
        Err(unread) => {
            metrics().content.sheets.with_label_values(&["away"]).inc();
            let mut tx = fleet.store.bind(casino).await?;
            // Releases the job, so that the address is tried again later.
            tx.release_nightly(JOB, date).await?;
            if tells {
                tell(&mut tx, AWAY, date, &[unread.to_string()]).await?;
            }
            tx.commit().await?;
            return Err(Error::Other(unread.to_string()));
        }
    };
    let outcome = if loaded.is_ok() { "loaded" } else { "refused" };
    metrics().content.sheets.with_label_values(&[outcome]).inc();
    let mut tx = fleet.store.bind(casino).await?;
    if let Err(problems) = &loaded {
        tell(&mut tx, SHEET, date, problems).await?;
    }
    tx.note_nightly(JOB, &result(&loaded)).await?;
    Ok(tx.commit().await?)
}

/// Plans one letter of this kind for the date, with the problems.
async fn tell(tx: &mut Tx, kind: &str, date: NaiveDate, problems: &[String]) -> Result<(), Error> {
    let told = &problems[..problems.len().min(MOST_PROBLEMS)];
    tx.plan_refusal_letters(&format!("{kind} {date}"), kind, JOB, told)
        .await?;
    Ok(())
}

/// Loads the file. The inner error contains every problem of the file.
async fn take(
    fleet: &Fleet,
    casino: &CasinoId,
    name: &'static str,
    bytes: Vec<u8>,
) -> Result<Result<Loaded, Vec<String>>, Error> {
    let loading = Loading {
        by: JOB,
        approved_by: None,
        switch_off_missing: false,
        draft: false,
        keep_waiting: true,
        first_waits_for_nobody: false,
    };
    // Unpacking and parsing a workbook only computes, so it runs on a blocking thread.
    let read = tokio::task::spawn_blocking(move || File::read(name, bytes)).await;
    let read = read.map_err(|error| Error::Other(error.to_string()))?;
    let done = match read {
        Ok(file) => load(fleet, casino, &file, &loading).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(loaded) => Ok(Ok(loaded)),
        Err(LoadError::Problems { lines, .. }) => Ok(Err(lines)),
        Err(LoadError::Content {
            why: seven_content::Error::Store(error),
            ..
        }) => Err(error.into()),
        Err(error) => Ok(Err(vec![error.to_string()])),
    }
}

fn result(loaded: &Result<Loaded, Vec<String>>) -> Value {
    match loaded {
        Ok(loaded) => json!({
            "new": loaded.created.len(), "changed": loaded.changed.len(),
            "off": loaded.switched_off.len(), "review": loaded.review.len(),
            "unchanged": loaded.unchanged,
        }),
        Err(problems) => json!({ "problems": problems.len() }),
    }
}
