//! `seven reconcile`: compares a casino's texts with the provider's own records.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use seven_scheduler::reconcile::{self, How};

use super::{
    args::{Casino, Json},
    context::{Context, Operate},
    given::When,
    known,
    progress::during,
    utc,
};
use crate::{out, wiring};

#[derive(Debug, Args)]
pub struct Reconcile {
    #[command(flatten)]
    of: Casino,
    /// Start of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339). Providers list
    /// only the texts of the last ten days.
    #[arg(long, value_name = "WHEN", default_value = "2h")]
    since: When,
    /// Print what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Also send again the texts of which the provider has no record, if they are still useful. The
    /// provider's list may lag: use --dry-run first.
    #[arg(long, conflicts_with = "dry_run")]
    resend: bool,
    #[command(flatten)]
    json: Json,
}

impl Reconcile {
    fn how(&self) -> How {
        match (self.dry_run, self.resend) {
            (true, _) => How::Dry,
            (false, true) => How::Resend,
            (false, false) => How::Record,
        }
    }
}

impl Operate for Reconcile {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        compare(ctx, &self).await?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn compare(ctx: &Context, command: &Reconcile) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let provider = wiring::telnyx(&ctx.settings()?)?;
    let roster = fleet.store.roster().await?;
    let entry = roster.into_iter().find(|entry| entry.casino == *casino);
    let entry = entry.with_context(|| format!("casino {casino} was removed"))?;
    let since = command.since.at(fleet.clock.now());
    let report = reconcile::reconcile(fleet, &provider, &entry, since, command.how());
    let report = during("Asking the provider", report).await?;
    if command.json.json {
        out!("{}", serde_json::to_string(&report)?);
        return Ok(());
    }
    let (was, dry) = if command.dry_run {
        ("would be ", "; nothing was changed")
    } else {
        ("", "")
    };
    out!(
        "Compared with telnyx since {} ({} requests){dry}.",
        utc(since),
        report.requests
    );
    out!(
        "Texts of guests: {} listed, {} without a webhook {was}recovered",
        report.texts_listed,
        report.texts_recovered
    );
    out!(
        "Our texts: {} in doubt; {} {was}settled, {} unknown to the provider {was}sent, {} \
         {was}ended as failed",
        report.sends_in_doubt,
        report.sends_settled,
        report.sends_requeued,
        report.sends_ended
    );
    out!(
        "Opt-outs: {} listed, {} {was}taken over",
        report.opt_outs_listed,
        report.opt_outs_taken_over
    );
    Ok(())
}
