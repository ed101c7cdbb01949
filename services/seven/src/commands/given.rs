//! Arguments whose errors say what would be right, where the libraries' own do not.

use anyhow::{Result, bail};
use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use uuid::Uuid;

use crate::out;

/// The person who makes a change that everybody will notice, and why; both are in the audit log.
#[derive(Debug, Clone, clap::Args)]
pub struct Who {
    /// Your name, for the record.
    #[arg(long, value_name = "NAME", value_parser = words)]
    pub(super) by: String,
    /// Why; kept in the audit log.
    #[arg(long, value_name = "TEXT", value_parser = words)]
    pub(super) reason: String,
}

/// The person who does it; the change itself says why.
#[derive(Debug, Clone, clap::Args)]
pub struct By {
    /// Your name, for the record.
    #[arg(long, value_name = "NAME", value_parser = words)]
    pub(super) by: String,
}

/// Whether a command writes, and whether it asks first.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Careful {
    /// Decide everything as the run would, say it, and write nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Do not ask.
    #[arg(long)]
    pub(super) yes: bool,
}

impl Careful {
    /// True when the command goes on and writes. `question`: what a person must agree to, beginning with a verb; none where the change is
    /// small.
    ///
    /// # Errors
    /// When the person does not agree, or nobody is there to be asked.
    pub(super) fn goes_on(self, question: Option<&str>) -> Result<bool> {
        if self.dry_run {
            out!("Nothing was written: this was a dry run.");
            return Ok(false);
        }
        if let Some(question) = question
            && !super::confirmed(question, self.yes)?
        {
            bail!("nothing was written");
        }
        Ok(true)
    }
}

/// Text of which something is left without the blanks around it.
pub(super) fn words(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("it is empty; the audit log keeps it".to_owned())
    } else {
        Ok(text.trim().to_owned())
    }
}

pub(super) fn id(text: &str) -> Result<Uuid, String> {
    text.parse().map_err(|_| {
        format!("`{text}` is no id; expected one as lists show it, such as 01a2079d-1bf7-7f6e-8f3a-0caae79d99bc")
    })
}

pub(super) fn day(text: &str) -> Result<NaiveDate, String> {
    text.parse().map_err(|_| format!("`{text}` is no day; expected year, month and day, such as 2026-11-01"))
}

pub fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    text.parse().map_err(|_| format!("`{text}` is no time; expected one with its zone, such as 2026-11-01T18:00:00Z"))
}

pub(super) fn zone(text: &str) -> Result<Tz, String> {
    text.parse().map_err(|_| format!("`{text}` is no time zone; expected a name such as America/New_York"))
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("`{text}` is no share; expected 0 to 1, such as 0.15"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named_with_what_would_be_right() {
        assert!(id("01a2079d-1bf7-7f6e-8f3a-0caae79d99bc").is_ok() && day("2026-11-01").is_ok());
        assert!(zone("America/New_York").is_ok() && share("0.15").is_ok());
        assert!(moment("2026-11-01T18:00:00-05:00").is_ok() && words("ana").is_ok() && words(" ").is_err());
        let wrong = [
            moment("now").unwrap_err(),
            id("x").unwrap_err(),
            day("yesterday").unwrap_err(),
            zone("Mars").unwrap_err(),
            share("2").unwrap_err(),
        ];
        for error in wrong {
            assert!(error.starts_with('`') && error.contains("; expected ") && error.contains("such as "), "{error}");
        }
    }
}
