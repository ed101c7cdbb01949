//! Arguments that several commands share. A flag means the same in every command that has it.

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Utc};
use clap::Args;
use seven_domain::CasinoId;
use seven_runtime::Fleet;

use super::{
    given::{When, words},
    guest_ref::GuestRef,
};
use crate::out;

/// The casino that a command is about.
#[derive(Debug, Clone, Args)]
pub struct Casino {
    /// The casino's id, as `seven casino list` shows it.
    #[arg(long, value_name = "ID")]
    pub(super) casino: CasinoId,
}

/// One casino, or all.
#[derive(Debug, Clone, Args)]
pub struct Casinos {
    /// The casino's id, as `seven casino list` shows it. Without it: all casinos.
    #[arg(long, value_name = "ID")]
    pub(super) casino: Option<CasinoId>,
}

/// The guest that a command is about.
#[derive(Debug, Clone, Args)]
pub struct Guest {
    /// The guest: phone, guest id, hmac:<key>:<hex>, or - to read a phone from stdin.
    #[arg(long, value_name = "GUEST")]
    pub(super) guest: GuestRef,
}

/// Whether results are JSON.
#[derive(Debug, Clone, Copy, Args)]
pub struct Json {
    /// Print JSON: one document, or one line per row of a list.
    #[arg(long)]
    pub(super) json: bool,
}

/// Whether personal data is shown or masked.
#[derive(Debug, Clone, Copy, Args)]
pub struct Reveal {
    /// Show personal data and the words of texts; the audit log records it.
    #[arg(long)]
    pub(super) reveal: bool,
}

/// The person who makes a change for which no reason has to be given.
#[derive(Debug, Clone, Args)]
pub struct By {
    /// Your name, for the audit log.
    #[arg(long, value_name = "NAME", value_parser = words)]
    pub(super) by: String,
}

/// The person who makes the change, and the reason.
#[derive(Debug, Clone, Args)]
pub struct Who {
    /// Your name, for the audit log.
    #[arg(long, value_name = "NAME", value_parser = words)]
    pub(super) by: String,
    /// The reason, for the audit log.
    #[arg(long, value_name = "TEXT", value_parser = words)]
    pub(super) reason: String,
}

/// Whether a command writes, and whether it asks first.
#[derive(Debug, Clone, Copy, Args)]
pub struct Careful {
    /// Print what would be written, and write nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Answer yes to the question that the command asks before it writes.
    #[arg(long)]
    pub(super) yes: bool,
}

/// A period that ends now, unless `--until` is given.
#[derive(Debug, Clone, Copy, Args)]
pub struct Period {
    /// Start of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339).
    #[arg(long, value_name = "WHEN")]
    pub(super) since: Option<When>,
    /// End of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339).
    #[arg(long, value_name = "WHEN")]
    pub(super) until: Option<When>,
}

// === impl Careful, Period, Guest ===

impl Careful {
    /// Returns true when the command may write. `question` begins with a verb and says what the
    /// person must agree to. It is `None` if no agreement is needed.
    ///
    /// # Errors
    /// When the person does not agree, or stdin is not a terminal and `--yes` is missing.
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

impl Period {
    /// Returns start and end as times.
    pub(super) fn at(self, now: DateTime<Utc>) -> (Option<DateTime<Utc>>, Option<DateTime<Utc>>) {
        (
            self.since.map(|when| when.at(now)),
            self.until.map(|when| when.at(now)),
        )
    }
}

impl Guest {
    /// Returns the guest's keyed hash after a check that the casino exists.
    pub(super) async fn hash(
        &self,
        fleet: &Fleet,
        casino: &CasinoId,
    ) -> Result<seven_domain::GuestHash> {
        super::known(&fleet.store, casino).await?;
        self.guest
            .hash(fleet, casino)
            .await
            .context("finding the guest")
    }
}
