//! `seven content list|history|diff|export`: the content that guests get, and its revisions.

use anyhow::{Context as _, Result, ensure};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use seven_content::{diff::changes, questions::asked_in_vain, table::columns};
use seven_store::content::{ListedItem, Revision, Wanted};

use crate::{
    commands::{
        args::{Casino, Json},
        context::Context,
        json_rows, known,
    },
    out,
};

/// Maximum number of revisions of one item that are shown.
const MOST: i64 = 200;

#[derive(Debug, Subcommand)]
pub enum Read {
    /// List a casino's items, and the revisions that wait for a person or for their time.
    List {
        #[command(flatten)]
        of: Casino,
        /// Only this category.
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Show the revisions of an item, the newest first.
    History {
        #[command(flatten)]
        which: Item,
        #[command(flatten)]
        json: Json,
    },
    /// Show which fields differ between two revisions of an item.
    Diff {
        #[command(flatten)]
        which: Item,
        /// Revision to compare from; by default the one that guests got before the revision of
        /// --to.
        #[arg(long, value_name = "N")]
        from: Option<i32>,
        /// Revision to compare to; by default the newest.
        #[arg(long, value_name = "N")]
        to: Option<i32>,
    },
    /// Print the first row of a category's table, as CSV, to fill in a spreadsheet.
    Template {
        #[command(flatten)]
        of: Casino,
        /// The category, as the casino's pack names it.
        #[arg(long, value_name = "NAME")]
        category: String,
    },
    /// List what guests asked and the content could not answer; similar questions share one row.
    ///
    /// Numbers, addresses and names with a capital letter are left out; treat the rest as guests'
    /// words.
    Questions {
        #[command(flatten)]
        of: Casino,
        /// Number of weeks, the current one included.
        #[arg(long, value_name = "N", default_value_t = 4)]
        #[arg(value_parser = clap::value_parser!(u64).range(1..=52))]
        weeks: u64,
        #[command(flatten)]
        json: Json,
    },
    /// Print what guests get as a file that `seven content load` reads.
    Export {
        #[command(flatten)]
        of: Casino,
        /// Only this category.
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
    },
}

/// An item of one casino.
#[derive(Debug, Args)]
pub struct Item {
    /// The item's id, as `seven content list` shows it.
    pub(super) item: String,
    #[command(flatten)]
    pub(super) of: Casino,
}

async fn template(ctx: &Context, of: &Casino, category: &str) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let mut tx = fleet.store.bind(&of.casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    let row = row.with_context(|| format!("{} is no casino of this fleet", of.casino))?;
    let pack = fleet.packs.of(&row.config)?;
    let categories = &pack.agents.categories;
    let schema = categories.get(&category.into());
    let names: Vec<&str> = categories.names().collect();
    ensure!(
        schema.is_some() || names.is_empty(),
        "there is no category `{category}`; expected one of {}",
        names.join(", ")
    );
    out!("{}", columns(schema).join(","));
    Ok(())
}

async fn questions(ctx: &Context, of: &Casino, weeks: u64, json: bool) -> Result<()> {
    let fleet = ctx.fleet().await?;
    known(&fleet.store, &of.casino).await?;
    let now = fleet.clock.now();
    let since = now - chrono::Days::new(7 * weeks);
    let mut tx = fleet.store.bind(&of.casino).await?;
    let items = tx.listed_items(None).await?;
    let groups = asked_in_vain(&mut tx, since..now, &items).await?;
    tx.commit().await?;
    if json {
        return json_rows(&groups);
    }
    let mut table = ctx.table(["guests", "texts", "last asked", "newest question"]);
    for group in groups {
        table.add_row([
            group.guests.to_string(),
            group.texts.to_string(),
            group.last_at.format("%Y-%m-%d %H:%M").to_string(),
            group.example,
        ]);
    }
    out!("{table}");
    Ok(())
}

pub(super) async fn read(ctx: &Context, command: Read) -> Result<()> {
    let fleet = ctx.fleet().await?;
    match command {
        Read::List { of, category, json } => {
            known(&fleet.store, &of.casino).await?;
            let mut tx = fleet.store.bind(&of.casino).await?;
            let rows = tx.listed_items(category.as_deref()).await?;
            tx.commit().await?;
            list(ctx, &rows, json.json)
        }
        Read::Template { of, category } => template(ctx, &of, &category).await,
        Read::Questions { of, weeks, json } => questions(ctx, &of, weeks, json.json).await,
        Read::History { which, json } => {
            let rows = revisions(ctx, &which).await?;
            history(ctx, &rows, json.json)
        }
        Read::Diff { which, from, to } => {
            let rows = revisions(ctx, &which).await?;
            diff(&rows, from, to)
        }
        Read::Export { of, category } => {
            known(&fleet.store, &of.casino).await?;
            let mut tx = fleet.store.bind(&of.casino).await?;
            let items = tx.published_items(None).await?;
            tx.commit().await?;
            let wanted = |item: &Value| {
                category
                    .as_ref()
                    .is_none_or(|one| item["category"] == **one)
            };
            let items: Vec<Value> = items
                .into_iter()
                .map(|row| row.item)
                .filter(wanted)
                .collect();
            out!("{:#}", json!({ "schema": 1, "items": items }));
            Ok(())
        }
    }
}

async fn revisions(ctx: &Context, which: &Item) -> Result<Vec<Revision>> {
    let fleet = ctx.fleet().await?;
    known(&fleet.store, &which.of.casino).await?;
    let mut tx = fleet.store.bind(&which.of.casino).await?;
    let rows = tx.revisions(Wanted::Of(&which.item), MOST).await?;
    tx.commit().await?;
    anyhow::ensure!(
        !rows.is_empty(),
        "{} has no item {}; `seven content list` shows them",
        which.of.casino,
        which.item
    );
    Ok(rows)
}

fn list(ctx: &Context, rows: &[ListedItem], as_json: bool) -> Result<()> {
    if as_json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({ "item": row.item_id, "category": row.category, "name": row.name, "active": row.active,
                    "revision": row.revision, "updated_at": row.updated_at, "waits": row.waits, "waiting": row.waiting })
            })
            .collect();
        return json_rows(&rows);
    }
    let mut table = ctx.table(["item", "category", "name", "revision", "state"]);
    for row in rows {
        let state = match (row.revision, row.active, row.waits) {
            (_, _, Some(waits)) => format!("{} {waits}", row.waiting.unwrap_or_default()),
            (Some(_), true, None) => "on".to_owned(),
            _ => "off".to_owned(),
        };
        table.add_row([
            row.item_id.clone(),
            row.category.clone(),
            row.name.clone(),
            row.revision.map(|n| n.to_string()).unwrap_or_default(),
            state,
        ]);
    }
    out!("{table}");
    Ok(())
}

fn history(ctx: &Context, rows: &[Revision], as_json: bool) -> Result<()> {
    if as_json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({ "item": row.item_id, "revision": row.revision, "state": row.state, "current": row.current, "source": row.source,
                    "editor": row.editor, "saved_at": row.saved_at, "published_at": row.published_at, "publish_at": row.publish_at,
                    "take_down_at": row.take_down_at, "decided_by": row.decided_by, "decided_at": row.decided_at,
                    "reason": row.decision_reason, "findings": row.findings, "content": row.item })
            })
            .collect();
        return json_rows(&rows);
    }
    let mut table = ctx.table([
        "revision",
        "state",
        "source",
        "editor",
        "saved",
        "decided by",
        "why",
    ]);
    for row in rows {
        let state = if row.current {
            "published, now".to_owned()
        } else {
            row.state.to_string()
        };
        table.add_row([
            row.revision.to_string(),
            state,
            row.source.to_string(),
            row.editor.clone(),
            row.saved_at.format("%F %H:%M").to_string(),
            row.decided_by.clone().unwrap_or_default(),
            row.decision_reason.clone().unwrap_or_else(|| findings(row)),
        ]);
    }
    out!("{table}");
    Ok(())
}

/// Returns the findings of the checks about a revision, in one line.
fn findings(row: &Revision) -> String {
    let all = row.findings.as_array().into_iter().flatten();
    let text = |finding: &Value, key| finding[key].as_str().unwrap_or_default().to_owned();
    let lines: Vec<String> = all
        .map(|one| format!("{} {}", text(one, "field"), text(one, "problem")))
        .collect();
    lines.join("; ")
}

fn diff(rows: &[Revision], from: Option<i32>, to: Option<i32>) -> Result<()> {
    let numbered = |n: i32| {
        let found = rows.iter().find(|row| row.revision == n);
        found.with_context(|| {
            format!("there is no revision {n}; `seven content history` shows them")
        })
    };
    let to = match to {
        Some(n) => numbered(n)?,
        None => &rows[0],
    };
    let from = match from {
        Some(n) => Some(numbered(n)?),
        None => rows
            .iter()
            .find(|row| row.revision < to.revision && row.published_at.is_some()),
    };
    let nothing = Value::Null;
    let content = |row: &Revision| row.item.clone().unwrap_or(Value::Null);
    let before = from.map_or(nothing, content);
    let from = from.map_or_else(|| "nothing".to_owned(), |row| row.revision.to_string());
    out!("{} {}: {from} -> {}", to.item_id, to.name, to.revision);
    for change in changes(&before, &content(to)) {
        out!("  {change}");
    }
    Ok(())
}
