//! `seven recover`: after a restore, takes over the events since the backup from the providers'
//! records (D5).

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use seven_domain::{CampaignState, CasinoId};
use seven_runtime::Fleet;

use super::{
    args::By,
    context::{Context, Operate},
    given::{When, words},
    known, pause,
    progress::during,
    utc,
};
use crate::{
    life::recover::{Compared, MARGIN, compare, forget_again},
    out, wiring,
};

#[derive(Debug, Args)]
pub struct Recover {
    #[command(flatten)]
    by: By,
    /// Start of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339). Without it: the
    /// time of the backup. Providers list only the texts of the last ten days.
    #[arg(long, value_name = "WHEN")]
    since: Option<When>,
    /// A casino and a file with its deletions, from the lost database's audit log (`seven audit
    /// list --casino ID --event ccpa_data_deleted --json`). Deletions that were done after the
    /// backup are repeated.
    #[arg(long, value_name = "ID=FILE", value_parser = deletions)]
    deletions: Vec<(CasinoId, PathBuf)>,
    /// The reason to go on although a casino was not compared in full. Guests who have opted out
    /// since the backup may then be texted.
    #[arg(long, value_name = "WHY", value_parser = words)]
    accept_gaps: Option<String>,
}

fn deletions(text: &str) -> Result<(CasinoId, PathBuf), String> {
    let (casino, file) = text
        .split_once('=')
        .ok_or("expected ID=FILE, such as silver_birch=deleted.jsonl")?;
    Ok((
        casino
            .parse()
            .map_err(|error: seven_domain::Invalid| error.to_string())?,
        file.into(),
    ))
}

impl Operate for Recover {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        Box::pin(recover(ctx, &self)).await
    }
}

async fn recover(ctx: &Context, command: &Recover) -> Result<ExitCode> {
    let fleet = ctx.fleet().await?;
    let provider = wiring::telnyx(&ctx.settings()?)?;
    let backup = fleet.store.restored_from().await?;
    let since = match (command.since, backup) {
        (Some(when), _) => when.at(fleet.clock.now()),
        (None, Some(made_at)) => made_at - MARGIN,
        (None, None) => {
            anyhow::bail!(
                "this database came from no backup; give the period to compare, such as --since 2h"
            )
        }
    };
    out!("Comparing with telnyx since {}.", utc(since));
    let compared = during(
        "Asking the provider",
        Box::pin(compare(fleet, &provider, since)),
    )
    .await?;
    compared.iter().for_each(tell);
    for (casino, file) in &command.deletions {
        known(&fleet.store, casino).await?;
        let lines = super::read(file)?;
        let asked = forget_again(fleet, casino, &lines, backup.unwrap_or(since)).await?;
        out!(
            "{casino}: {asked} deletion(s) done after the backup begin again; seven guest \
             deletions --casino {casino}"
        );
    }
    end_answers_of_before(fleet).await?;
    let gaps = compared
        .iter()
        .filter(|each| each.report.is_err() || !each.unread.is_empty())
        .count();
    if gaps > 0 && command.accept_gaps.is_none() {
        out!(
            "{gaps} casino(s) were not compared in full. The fleet stays paused: run this again, \
             or add --accept-gaps WHY."
        );
        return Ok(ExitCode::FAILURE);
    }
    let detail = json!({
        "since": since,
        "casinos": compared.len(),
        "gaps": gaps,
        "accepted": command.accept_gaps,
    });
    fleet.store.note_recovery(&command.by.by, detail).await?;
    next(fleet).await?;
    Ok(ExitCode::SUCCESS)
}

fn tell(each: &Compared) {
    let casino = &each.casino;
    match &each.report {
        Ok(report) => out!(
            "ok      {casino}: {} text(s) of guests listed, {} recovered; {} opt-out(s) listed, {} \
             taken over; {} text(s) of ours in doubt, {} settled",
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
        out!(
            "gap     {casino}: the records of {} cannot be read; look there by hand for STOP",
            each.unread.join(", ")
        );
    }
}

/// Ends answers to texts from before the restore. The bus may have redelivered such texts, although
/// the lost fleet had answered them.
pub(super) async fn end_answers_of_before(fleet: &Fleet) -> Result<()> {
    let Some(restored_at) = fleet.store.restored_at().await? else {
        return Ok(());
    };
    for entry in fleet.store.roster().await? {
        let casino = entry.casino;
        let mut tx = fleet.store.bind(&casino).await?;
        let (answers, texts) = tx.end_answers_of_before(restored_at).await?;
        tx.commit().await?;
        if answers + texts > 0 {
            out!(
                "{casino}: {answers} answer(s) and {texts} text(s) from before the restore were \
                 ended; they may have been sent"
            );
        }
    }
    Ok(())
}

/// Prints the next steps, which a person has to decide on.
async fn next(fleet: &Fleet) -> Result<()> {
    let standing = pause::standing(fleet).await?;
    for each in &standing {
        out!("{}", pause::line(each));
    }
    out!("Next, each step once the one before has worked:");
    out!("  1. seven status: the recovered texts are stored, and nothing else is open.");
    out!(
        "  2. seven resume --all-casinos --kill --by NAME --reason TEXT: the host answers again; \
         text the number yourself first."
    );
    out!(
        "  3. seven resume --all-casinos --proactive --by NAME --reason TEXT: campaigns may be \
         released again."
    );
    for entry in fleet.store.roster().await? {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        let campaigns = tx.campaigns(100).await?;
        tx.commit().await?;
        for campaign in campaigns
            .iter()
            .filter(|campaign| campaign.state == CampaignState::Paused)
        {
            out!(
                "     {}: campaign {} is paused. Its guests may have got it since the backup: \
                 compare with the provider before `seven campaign resume`, or cancel it.",
                entry.casino,
                campaign.name
            );
        }
    }
    Ok(())
}
