//! Reads a casino's whole spreadsheet each night, where its document names an address: an edit whose
//! call never reached the webhook is found then (D31).

use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use reqwest::{Client, StatusCode, header, redirect::Policy};
use serde_json::{Value, json};
use seven_content::load::{File, LoadError, Loaded, Loading, load};
use seven_domain::{CasinoConfig, CasinoId};
use seven_notices::address::{Bad, PublicOnly, public_url};
use seven_runtime::{Error, Fleet};
use seven_telemetry::metrics;

use crate::nightly::{FROM_HOUR, Nights, RETRY_DELAY, next_night};

/// The job's name in the table of nightly jobs, and the editor's in the history.
const JOB: &str = "content_sheet";
const TIMEOUT: Duration = Duration::from_secs(60);
/// Problems that a letter tells; the nightly result has their number.
const MOST_PROBLEMS: usize = 20;

/// Why a spreadsheet was not read.
#[derive(Debug, thiserror::Error)]
enum Unread {
    #[error("operational.content_sheet_url: {0}")]
    Address(#[from] Bad),
    #[error("no answer: {0}")]
    Away(reqwest::Error),
    #[error("the address answers with {0}; expected the file itself, with status 200")]
    Status(StatusCode),
    #[error("the file has more than {} MB", seven_content::table::MOST_BYTES >> 20)]
    TooLarge,
}

/// Asks for spreadsheets at public addresses; no redirect is followed.
#[derive(Debug, Clone)]
pub struct Sheets {
    http: Client,
    /// Whether addresses of this machine are permitted, for development.
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
            .redirect(Policy::none());
        if !local {
            http = http.dns_resolver(PublicOnly);
        }
        Ok(Self {
            http: http.build()?,
            local,
            nights: Nights::default(),
        })
    }

    /// Returns the file under the name that problems give, whose ending says what it is.
    async fn fetch(&self, address: &str) -> Result<(&'static str, Vec<u8>), Unread> {
        let url = public_url(address, self.local)?;
        let away = |error: reqwest::Error| Unread::Away(error.without_url());
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

pub(crate) async fn round(fleet: Fleet, sheets: Sheets) -> Result<(), Error> {
    let now = fleet.clock.property_now();
    for entry in fleet.store.roster().await? {
        if !entry.active || !sheets.nights.is_due(&entry.casino, now) {
            continue;
        }
        let next = match casino_round(&fleet, &sheets, &entry.casino, now).await {
            Ok(next) => next,
            Err(error) if error.is_away() => return Err(error),
            Err(error) => {
                tracing::warn!(
                    casino = %entry.casino,
                    error = &error as &dyn std::error::Error,
                    "a casino's spreadsheet was not read; it is tried again in ten minutes"
                );
                now + RETRY_DELAY
            }
        };
        sheets.nights.next(entry.casino, next);
    }
    Ok(())
}

/// Returns when the casino is looked at again.
async fn casino_round(
    fleet: &Fleet,
    sheets: &Sheets,
    casino: &CasinoId,
    now: DateTime<Utc>,
) -> Result<DateTime<Utc>, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    let Some(row) = row else {
        return Ok(now + RETRY_DELAY);
    };
    let Some(address) = &row.config.operational.content_sheet_url else {
        // The document may name an address at any time.
        return Ok(now + RETRY_DELAY);
    };
    let local = now.with_timezone(&row.config.operational.timezone);
    if chrono::Timelike::hour(&local) >= FROM_HOUR {
        read_sheet(fleet, sheets, &row.config, address, local.date_naive()).await?;
    }
    Ok(next_night(local))
}

/// Reads and loads a casino's spreadsheet, unless that was done for this date.
///
/// # Errors
/// Fails when the address does not answer with a file, or the database is away. A file that is
/// refused is no error: contacts are told.
pub async fn read_sheet(
    fleet: &Fleet,
    sheets: &Sheets,
    config: &CasinoConfig,
    address: &str,
    date: NaiveDate,
) -> Result<(), Error> {
    let casino = &config.casino_id;
    let mut tx = fleet.store.bind(casino).await?;
    let due = tx.nightly_due(JOB, date).await?;
    tx.commit().await?;
    if !due {
        return Ok(());
    }
    let read = sheets
        .fetch(address)
        .await
        .map_err(|unread| vec![unread.to_string()]);
    let loaded = match &read {
        Ok((name, bytes)) => take(fleet, casino, name, bytes.clone()).await?,
        Err(problems) => Err(problems.clone()),
    };
    let outcome = if loaded.is_ok() { "loaded" } else { "refused" };
    metrics().content.sheets.with_label_values(&[outcome]).inc();
    let mut tx = fleet.store.bind(casino).await?;
    if let Err(problems) = &loaded {
        let told: Vec<String> = problems.iter().take(MOST_PROBLEMS).cloned().collect();
        let key = format!("{JOB} {date}");
        tx.plan_refusal_letters(&key, "", JOB, &told).await?;
    }
    // An address that does not answer is asked again tonight.
    if read.is_ok() && tx.claim_nightly(JOB, date).await? {
        tx.note_nightly(JOB, &result(&loaded)).await?;
    }
    tx.commit().await?;
    match read {
        Ok(_) => Ok(()),
        Err(problems) => Err(Error::Other(problems.join("; "))),
    }
}

/// Loads the file; the inner error has every problem of it.
async fn take(
    fleet: &Fleet,
    casino: &CasinoId,
    name: &str,
    bytes: Vec<u8>,
) -> Result<Result<Loaded, Vec<String>>, Error> {
    let loading = Loading {
        by: JOB,
        approved_by: None,
        switch_off_missing: false,
        draft: false,
        first_waits_for_nobody: false,
    };
    let done = match File::read(name, bytes) {
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
