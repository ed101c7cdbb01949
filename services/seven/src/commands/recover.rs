//! `seven recover` (D5, DEP-32).

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use chrono::TimeDelta;
use clap::Args;
use serde_json::json;
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_settings::Settings;

use super::{fleet, given, known, pause, reconcile::span};
use crate::{
    life::recover::{Compared, MARGIN, compare, forget_again},
    out, wiring,
};

#[derive(Debug, Args)]
pub struct Recover {
    /// Your name, for the record.
    #[arg(long, value_parser = given::words)]
    by: String,
    /// How far back to ask: 90m, 2h, 3d. When left out: since the backup this database came from. The providers' look-up of a text ends
    /// after ten days.
    #[arg(long, value_name = "SPAN", value_parser = span)]
    since: Option<TimeDelta>,
    /// A casino's deletions, from the lost database's audit log (`seven audit list --casino ID --event ccpa_data_deleted --json`): those
    /// done after the backup are done again.
    #[arg(long, value_name = "ID=FILE", value_parser = deletions)]
    deletions: Vec<(CasinoId, PathBuf)>,
    /// Go on although a casino could not be compared whole: say why. Guests who opted out meanwhile may be texted.
    #[arg(long, value_name = "WHY")]
    accept_gaps: Option<String>,
}

fn deletions(text: &str) -> Result<(CasinoId, PathBuf), String> {
    let (casino, file) = text.split_once('=').ok_or("expected ID=FILE, such as silver_birch=deleted.jsonl")?;
    Ok((casino.parse().map_err(|error: seven_domain::Invalid| error.to_string())?, file.into()))
}

pub async fn run(config: Option<&Path>, command: &Recover) -> Result<ExitCode> {
    let fleet = fleet(config).await?;
    let provider = wiring::telnyx(&Settings::load(config)?)?;
    let backup = fleet.store.restored_from().await?;
    let since = match (command.since, backup) {
        (Some(span), _) => fleet.clock.now() - span,
        (None, Some(made_at)) => made_at - MARGIN,
        (None, None) => anyhow::bail!("this database came from no backup; say how far back to ask, such as --since 2h"),
    };
    out!("Comparing with telnyx since {}.", since.format("%F %T UTC"));
    let compared = compare(&fleet, &provider, since).await?;
    compared.iter().for_each(tell);
    for (casino, file) in &command.deletions {
        known(&fleet.store, casino).await?;
        let lines = super::read(file)?;
        let asked = forget_again(&fleet, casino, &lines, backup.unwrap_or(since)).await?;
        out!(
            "{casino}: {asked} deletion(s) done after the backup begin again; seven guest deletions --casino {casino}"
        );
    }
    end_answers_of_before(&fleet).await?;
    let gaps = compared.iter().filter(|each| each.report.is_err() || !each.unread.is_empty()).count();
    if gaps > 0 && command.accept_gaps.is_none() {
        out!(
            "{gaps} casino(s) were not compared whole. The fleet stays paused: run this again, or say --accept-gaps WHY."
        );
        return Ok(ExitCode::FAILURE);
    }
    let detail = json!({ "since": since, "casinos": compared.len(), "gaps": gaps, "accepted": command.accept_gaps });
    fleet.store.note_recovery(&command.by, detail).await?;
    next(&fleet).await?;
    Ok(ExitCode::SUCCESS)
}

fn tell(each: &Compared) {
    let casino = &each.casino;
    match &each.report {
        Ok(report) => out!(
            "ok      {casino}: {} text(s) of guests listed, {} recovered; {} opt-out(s) listed, {} taken over; {} text(s) of ours in doubt, {} settled",
            report.texts_listed,
            report.texts_recovered,
            report.opt_outs_listed,
            report.opt_outs_taken_over,
            report.sends_in_doubt,
            report.sends_settled
        ),
        Err(why) => out!("FAILED  {casino}: {why}"),
    }
    if !each.unread.is_empty() {
        out!("gap     {casino}: no records are read of {}; look there by hand for STOP", each.unread.join(", "));
    }
}

/// The bus may have brought texts again that the lost fleet had answered.
pub(super) async fn end_answers_of_before(fleet: &Fleet) -> Result<()> {
    let Some(restored_at) = fleet.store.restored_at().await? else { return Ok(()) };
    for entry in fleet.store.roster().await? {
        let casino = entry.casino;
        let mut tx = fleet.store.bind(&casino).await?;
        let (answers, texts) = tx.end_answers_of_before(restored_at).await?;
        tx.commit().await?;
        if answers + texts > 0 {
            out!(
                "{casino}: {answers} answer(s) and {texts} text(s) of before the restore ended; they may have been sent"
            );
        }
    }
    Ok(())
}

/// Prints the steps that only a person decides on.
async fn next(fleet: &Fleet) -> Result<()> {
    let standing = pause::standing(fleet).await?;
    for each in &standing {
        out!("{}", pause::line(each));
    }
    out!("Next, each when you have seen that the one before is well:");
    out!("  1. seven status: the recovered texts are stored, nothing is open that should not be.");
    out!(
        "  2. seven resume --all --kill --by NAME --reason TEXT: the host answers again; text the number yourself first."
    );
    out!("  3. seven resume --all --proactive --by NAME --reason TEXT: campaigns may be released again.");
    for entry in fleet.store.roster().await? {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        let campaigns = tx.campaigns(100).await?;
        tx.commit().await?;
        for campaign in campaigns.iter().filter(|campaign| campaign.state == "paused") {
            out!(
                "     {}: campaign {} is paused. Guests it had listed at the backup may have had it since: compare with the provider before seven campaign resume, or cancel it.",
                entry.casino,
                campaign.name
            );
        }
    }
    Ok(())
}
