//! `seven dead list`: lists the dead letters of one casino or of all, page by page and without
//! payloads.

use std::{cmp::Reverse, str::FromStr};

use anyhow::Result;
use chrono::{DateTime, SecondsFormat};
use clap::Args;
use seven_dead_letters::payload::plain;
use seven_domain::{Channel, DeadState, Invalid};
use seven_runtime::Fleet;
use seven_store::dead::{Cursor, Listed};

use super::select::{Part, Select};
use crate::{
    commands::{args::Json, context::Context, json_rows, minute, output::short},
    out,
};

/// Number of rows that are queried and printed at a time.
const PAGE: i64 = 1_000;

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    select: Select,
    /// Number of rows to show, at most.
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    most: i64,
    /// Cursor after which to continue, as the previous page printed it.
    #[arg(long, value_name = "CURSOR")]
    after: Option<After>,
    #[command(flatten)]
    json: Json,
}

/// A cursor in text form: `time/id`.
#[derive(Debug, Clone, Copy)]
struct After(Cursor);

pub(super) async fn list(ctx: &Context, fleet: &Fleet, command: List) -> Result<()> {
    let List {
        select,
        most,
        after,
        json: Json { json },
    } = command;
    let parts = select.parts(fleet, false).await?;
    let mut all = 0;
    for part in &parts {
        let mut tx = fleet.store.bind(&part.owner).await?;
        all += tx.dead_count(&part.filter).await?;
        tx.commit().await?;
    }
    let (mut after, mut left) = (after.map(|after| after.0), most);
    let mut shown = 0;
    while left > 0 {
        let rows = page(fleet, &parts, after, left.min(PAGE)).await?;
        let read = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        after = rows.last().map(Listed::cursor).or(after);
        shown += read;
        print(ctx, rows, json)?;
        if read < left.min(PAGE) {
            left = 0;
            after = None;
        } else {
            left -= read;
        }
    }
    if !json {
        let more = match after.filter(|_| shown < all) {
            Some(cursor) => format!("; more: --after {}", After(cursor)),
            None => String::new(),
        };
        out!("{shown} of {all} dead letter(s){more}");
    }
    Ok(())
}

/// Returns the newest letters after the cursor, from all parts together, at most `most`.
async fn page(
    fleet: &Fleet,
    parts: &[Part],
    after: Option<Cursor>,
    most: i64,
) -> Result<Vec<Listed>> {
    let mut rows = Vec::new();
    for part in parts {
        let mut tx = fleet.store.bind(&part.owner).await?;
        rows.extend(tx.dead_letters(&part.filter, after, most).await?);
        tx.commit().await?;
    }
    rows.sort_by_key(|row| Reverse((row.last_at, row.dead_id)));
    rows.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(rows)
}

fn print(ctx: &Context, rows: Vec<Listed>, json: bool) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let plain = |row: Listed| Listed {
        last_error: plain(&row.last_error),
        ..row
    };
    let rows: Vec<Listed> = rows.into_iter().map(plain).collect();
    if json {
        return json_rows(&rows);
    }
    let columns = [
        "dead letter",
        "casino",
        "stage",
        "channel",
        "reason",
        "last seen",
        "state",
        "tries",
        "error",
    ];
    let mut table = ctx
        .table(columns)
        .ids(["dead letter"])
        .wide(["tries", "error"]);
    for row in rows {
        let state = match row.state {
            DeadState::Open if row.claimed => "open, replay begun".to_owned(),
            DeadState::Replayed if row.replays > 1 => format!("replayed {} times", row.replays),
            state => state.to_string(),
        };
        table.add_row([
            row.dead_id.to_string(),
            row.casino_id,
            row.stage.to_string(),
            channel(row.channel),
            row.reason,
            minute(row.last_at),
            state,
            row.attempts.to_string(),
            short(&row.last_error, ctx.view),
        ]);
    }
    out!("{table}");
    Ok(())
}

/// Formats a guest's channel; "-" if it is unknown.
pub(super) fn channel(channel: Option<Channel>) -> String {
    channel.map_or_else(|| "-".to_owned(), |channel| channel.to_string())
}

// === impl After ===

impl FromStr for After {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let read = || {
            let (at, id) = text.split_once('/')?;
            let last_at = DateTime::parse_from_rfc3339(at).ok()?.to_utc();
            Some(Self(Cursor {
                last_at,
                dead_id: id.parse().ok()?,
            }))
        };
        read()
            .ok_or_else(|| Invalid::new("cursor", text, "the --after that the page before printed"))
    }
}

impl std::fmt::Display for After {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Postgres keeps microseconds; a less precise cursor would repeat rows.
        write!(
            f,
            "{}/{}",
            self.0.last_at.to_rfc3339_opts(SecondsFormat::Micros, true),
            self.0.dead_id
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_being_printed() {
        let text = "2026-11-22T19:00:00.123456Z/01931234-5678-7abc-8def-0123456789ab";
        assert_eq!(text.parse::<After>().unwrap().to_string(), text);
        for bad in [
            "",
            "/",
            "2026-11-22T19:00:00Z",
            "yesterday/01931234-5678-7abc-8def-0123456789ab",
        ] {
            assert!(bad.parse::<After>().is_err(), "{bad}");
        }
    }
}
