//! `seven audit export|seals`: writes entries as a file, and checks that the sealed days are
//! unchanged.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use seven_runtime::Fleet;
use seven_staff::audit::{Format, Sealed, View, check_seal, start};

use crate::{
    commands::{
        args::{By, Casino, Json},
        context::Context,
        given::{When, words},
        json_rows, known,
    },
    out,
};

#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    of: Casino,
    /// Start of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339), or a day (UTC).
    #[arg(long, value_name = "WHEN")]
    since: When,
    /// End of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339), or the day (UTC)
    /// after the last. Without it: now.
    #[arg(long, value_name = "WHEN")]
    until: Option<When>,
    /// Format of the entries.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", value_parser = format)]
    format: Format,
    #[command(flatten)]
    by: By,
    /// The reason, for the audit log. With a reason, guests are named by their hash; without one,
    /// they appear as [HASH].
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
pub struct Seals {
    #[command(flatten)]
    of: Casino,
    /// Number of rows to show, at most.
    #[arg(long, value_name = "N", default_value_t = 31)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=2_600))]
    most: i64,
    #[command(flatten)]
    json: Json,
}

fn format(text: &str) -> Result<Format, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no format; expected csv or jsonl"))
}

pub(super) async fn export(fleet: &Fleet, command: &Export) -> Result<()> {
    let casino = &command.of.casino;
    let now = fleet.clock.now();
    let (since, until) = (
        command.since.at(now),
        command.until.map_or(now, |until| until.at(now)),
    );
    ensure!(
        since < until,
        "--until {until} is not after --since {since}"
    );
    known(&fleet.store, casino).await?;
    let reason = command.reason.as_deref().unwrap_or_default();
    let (view, by) = (View::of_operator(), &command.by.by);
    let mut tx = fleet.store.bind(casino).await?;
    let mut export = start(
        &mut tx,
        view,
        command.format,
        (since, until),
        reason,
        by,
        now,
    )
    .await?;
    tx.commit().await?;
    loop {
        let mut tx = fleet.store.bind(casino).await?;
        let next = export.next(&mut tx).await?;
        tx.commit().await?;
        match next {
            Some(lines) if lines.is_empty() => {}
            Some(lines) => out!("{}", lines.trim_end()),
            None => return Ok(()),
        }
    }
}

pub(super) async fn seals(ctx: &Context, fleet: &Fleet, command: &Seals) -> Result<ExitCode> {
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let seals = tx.seals(command.most).await?;
    tx.commit().await?;
    let mut rows = Vec::new();
    let mut whole = true;
    for seal in seals {
        let mut tx = fleet.store.bind(casino).await?;
        let holds = matches!(check_seal(&mut tx, seal.day).await?, Sealed::Whole(_));
        tx.commit().await?;
        whole &= holds;
        rows.push((seal, holds));
    }
    if command.json.json {
        let rows = rows.iter().map(|(seal, holds)| {
            let mut row = serde_json::to_value(seal).unwrap_or_default();
            row["holds"] = (*holds).into();
            row
        });
        json_rows(&rows.collect::<Vec<_>>())?;
    } else {
        let mut table = ctx
            .table(["day", "entries", "seal", "sha256"])
            .wide(["sha256"]);
        for (seal, holds) in rows {
            table.add_row([
                seal.day.to_string(),
                seal.entries.to_string(),
                if holds { "holds" } else { "BROKEN" }.to_owned(),
                seal.sha256,
            ]);
        }
        out!("{table}");
    }
    Ok(match whole {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
