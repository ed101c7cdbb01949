//! `seven reconcile`: a casino's texts against the provider's own records, now and as far back as asked.

use std::path::Path;

use anyhow::{Context, Result};
use chrono::TimeDelta;
use clap::Args;
use seven_domain::CasinoId;
use seven_scheduler::reconcile::{self, How};
use seven_settings::Settings;

use super::known;
use crate::{out, wiring};

#[derive(Debug, Args)]
pub struct Reconcile {
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
    /// How far back: 90m, 2h, 3d. The provider's look-up of a text ends after ten days.
    #[arg(long, value_name = "SPAN", default_value = "2h", value_parser = span)]
    since: TimeDelta,
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Send once more what the provider has no record of and is still of use. Its list may lag: look at `--dry-run` first.
    #[arg(long, conflicts_with = "dry_run")]
    resend: bool,
    /// One JSON document instead of lines.
    #[arg(long)]
    json: bool,
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

/// Reads `90m`, `2h` or `3d`.
pub(super) fn span(text: &str) -> Result<TimeDelta, String> {
    let expected = || "expected a number and m, h or d, such as 90m, 2h or 3d".to_owned();
    let unit = text.chars().last().ok_or_else(expected)?;
    let number: i64 = text.strip_suffix(unit).and_then(|n| n.parse().ok()).filter(|n| *n > 0).ok_or_else(expected)?;
    let span = match unit {
        'm' => TimeDelta::try_minutes(number),
        'h' => TimeDelta::try_hours(number),
        'd' => TimeDelta::try_days(number),
        _ => None,
    };
    span.filter(|span| *span <= TimeDelta::days(3_650)).ok_or_else(expected)
}

pub async fn run(config: Option<&Path>, command: &Reconcile) -> Result<()> {
    let fleet = super::fleet(config).await?;
    known(&fleet.store, &command.casino).await?;
    let provider = wiring::telnyx(&Settings::load(config)?)?;
    let roster = fleet.store.roster().await?;
    let entry = roster.into_iter().find(|entry| entry.casino == command.casino);
    let entry = entry.with_context(|| format!("casino {} was removed", command.casino))?;
    let since = fleet.clock.now() - command.since;
    let report = reconcile::reconcile(&fleet, &provider, &entry, since, command.how()).await?;
    if command.json {
        out!("{}", serde_json::to_string(&report)?);
        return Ok(());
    }
    let (was, dry) = if command.dry_run { ("would be ", "; nothing was changed") } else { ("", "") };
    out!("Compared with telnyx since {} ({} requests){dry}.", since.format("%F %T UTC"), report.requests);
    out!("Texts of guests: {} listed, {} without webhook {was}recovered", report.texts_listed, report.texts_recovered);
    out!(
        "Our texts: {} without a last word; {} {was}settled, {} never at the provider {was}sent, {} {was}ended as failed",
        report.sends_in_doubt,
        report.sends_settled,
        report.sends_requeued,
        report.sends_ended
    );
    out!("Opt-outs: {} listed, {} {was}taken over", report.opt_outs_listed, report.opt_outs_taken_over);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_a_number_and_a_unit() {
        assert_eq!(span("90m"), Ok(TimeDelta::minutes(90)));
        assert_eq!(span("2h"), Ok(TimeDelta::hours(2)));
        assert_eq!(span("3d"), Ok(TimeDelta::days(3)));
        for bad in ["", "h", "-2h", "0h", "2", "2w", "99999999999999d", "é"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }
}
