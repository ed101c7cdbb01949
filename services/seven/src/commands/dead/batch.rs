//! Acts on many dead letters: prints a plan, asks for confirmation, and handles one letter at a
//! time at a set rate. Prints exact counts even if it is interrupted.

use std::{
    collections::BTreeMap,
    io::{IsTerminal, Write},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, Result};
use chrono::{DateTime, Utc};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use seven_dead_letters::Did;
use seven_domain::{CasinoId, DeadId, Stage};
use seven_runtime::{Error, Fleet};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{MissedTickBehavior, interval},
};

use super::select::{Part, Select};
use crate::{
    commands::{capital, confirmed as confirm, context::Context, id_prefix::IdPrefix},
    out,
};

/// Maximum number of refusals that are printed one by one.
const MOST_SAID: usize = 20;

/// A dead letter to act on.
#[derive(Debug, Clone)]
pub(super) struct Todo {
    pub(super) owner: CasinoId,
    pub(super) id: DeadId,
    pub(super) stage: Stage,
    pub(super) first_at: DateTime<Utc>,
}

/// Numbers of refused letters by reason code.
pub(super) type Refused = BTreeMap<&'static str, usize>;

/// Counts of a batch's letters by outcome.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) done: usize,
    pub(super) elsewhere: usize,
    pub(super) refused: Refused,
    pub(super) left: usize,
    pub(super) stopped: bool,
}

/// The words that name a command in messages: its imperative and its past participle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verb {
    pub(super) order: &'static str,
    pub(super) done: &'static str,
}

/// Returns the letters with these ids, and the letters that match the filters in `parts`. The
/// oldest come first, so that a guest's texts keep their order.
pub(super) async fn collect(
    fleet: &Fleet,
    ids: &[IdPrefix],
    select: &Select,
    parts: &[Part],
) -> Result<Vec<Todo>> {
    let mut todos = Vec::new();
    for id in ids {
        let (owner, id) = select.named(fleet, id).await?;
        let mut tx = fleet.store.bind(&owner).await?;
        let letter = tx
            .dead_letter(id)
            .await?
            .with_context(|| format!("{owner} has no dead letter {id}"))?;
        tx.commit().await?;
        todos.push(Todo {
            owner,
            id,
            stage: letter.stage,
            first_at: letter.first_at,
        });
    }
    for part in parts {
        let mut tx = fleet.store.bind(&part.owner).await?;
        let found = tx.dead_ids(&part.filter).await?;
        tx.commit().await?;
        let todo = |(id, stage, first_at)| Todo {
            owner: part.owner.clone(),
            id,
            stage,
            first_at,
        };
        todos.extend(found.into_iter().map(todo));
    }
    todos.sort_by_key(|todo| (todo.first_at, todo.id.0));
    Ok(todos)
}

/// Prints the plan: how many letters per casino and stage, and how many would be refused.
pub(super) fn plan(
    ctx: &Context,
    verb: Verb,
    kinds: impl Iterator<Item = (CasinoId, Stage)>,
    refused: &Refused,
    json: bool,
) {
    let mut counts = BTreeMap::<(String, &str), usize>::new();
    for (owner, stage) in kinds {
        *counts
            .entry((owner.to_string(), stage.as_str()))
            .or_default() += 1;
    }
    let all: usize = counts.values().sum();
    if json {
        let by: Vec<_> = counts
            .iter()
            .map(|((casino, stage), n)| json!({ "casino": casino, "stage": stage, "letters": n }))
            .collect();
        out!(
            "{}",
            json!({
                "dry_run": true,
                "would": verb.order,
                "letters": all,
                "by": by,
                "refused": refused,
            })
        );
        return;
    }
    if all > 0 {
        let mut table = ctx.table(["casino", "stage", "dead letters"]);
        for ((casino, stage), n) in counts {
            table.add_row([casino, stage.to_owned(), n.to_string()]);
        }
        out!("{table}");
    }
    let and = if refused.is_empty() {
        String::new()
    } else {
        format!(" and refuse {}", told(refused))
    };
    out!(
        "Would {} {all} dead letter(s){and}; nothing was done.",
        verb.order
    );
}

/// Formats refusals as `3 (gone 2, opted_out 1)`.
fn told(refused: &Refused) -> String {
    let by: Vec<_> = refused
        .iter()
        .map(|(code, n)| format!("{code} {n}"))
        .collect();
    format!("{} ({})", refused.values().sum::<usize>(), by.join(", "))
}

/// Asks for confirmation at a terminal; without a terminal, `--yes` is required.
pub(super) fn confirmed(verb: Verb, letters: usize, yes: bool) -> Result<bool> {
    Ok(letters == 0 || confirm(&format!("{} {letters} dead letter(s)", verb.order), yes)?)
}

/// Handles the letters one after the other, at most `per_second` of them in a second. Ctrl-C and
/// SIGTERM stop it between two letters.
pub(super) async fn each(
    todos: &[Todo],
    per_second: Option<f64>,
    verb: Verb,
    mut act: impl AsyncFnMut(&Todo) -> Result<Did, Error>,
) -> Result<Tally> {
    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    let mut beat = interval(per_second.map_or(Duration::from_micros(1), |rate| {
        Duration::from_secs_f64(1.0 / rate)
    }));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let progress = Progress::of(todos.len(), verb);
    let mut tally = Tally {
        left: todos.len(),
        ..Tally::default()
    };
    for todo in todos {
        tokio::select! {
            biased;
            _ = interrupt.recv() => tally.stopped = true,
            _ = terminate.recv() => tally.stopped = true,
            _ = beat.tick() => {}
        }
        if tally.stopped {
            break;
        }
        let did = match act(todo).await {
            Err(Error::Store(error)) if error.is_contended() => act(todo).await,
            did => did,
        };
        let did = did.with_context(|| {
            format!(
                "stopped at {}: {} {}, {} left as they are",
                todo.id, verb.done, tally.done, tally.left
            )
        })?;
        tally.count(&did);
        let refused: usize = tally.refused.values().sum();
        match &did {
            Did::Refused(refusal) if refused <= MOST_SAID => {
                progress.say(&format!("{} of {}: {refusal}", todo.id, todo.owner));
            }
            Did::Refused(_) if refused == MOST_SAID + 1 => {
                progress.say("More are refused; the end counts them.");
            }
            Did::Done | Did::Elsewhere | Did::Refused(_) => {}
        }
        progress.step(todos.len() - tally.left);
    }
    progress.close();
    Ok(tally)
}

// === impl Tally ===

impl Tally {
    fn count(&mut self, did: &Did) {
        self.left -= 1;
        match did {
            Did::Done => self.done += 1,
            Did::Elsewhere => self.elsewhere += 1,
            Did::Refused(refusal) => *self.refused.entry(refusal.code()).or_default() += 1,
        }
    }

    /// Prints the counts and returns the exit code for them.
    pub(super) fn report(&self, verb: Verb, json: bool) -> ExitCode {
        let refused: usize = self.refused.values().sum();
        if json {
            out!(
                "{}",
                json!({
                    verb.done: self.done,
                    "refused": self.refused,
                    "elsewhere": self.elsewhere,
                    "left": self.left,
                    "stopped": self.stopped,
                })
            );
        } else {
            let mut line = format!("{} {} dead letter(s)", capital(verb.done), self.done);
            if refused > 0 {
                line = format!("{line}; refused {}, still listed", told(&self.refused));
            }
            if self.elsewhere > 0 {
                line = format!(
                    "{line}; {} handled by somebody else meanwhile",
                    self.elsewhere
                );
            }
            if self.stopped {
                line = format!("{line}; stopped, {} left as they are", self.left);
            }
            out!("{line}.");
        }
        match (self.stopped, refused) {
            (true, _) => ExitCode::from(130),
            (false, 0) => ExitCode::SUCCESS,
            (false, _) => ExitCode::FAILURE,
        }
    }
}

/// Progress on stderr: a bar on a terminal, otherwise a line after each tenth of the letters.
/// Results go to stdout.
struct Progress {
    bar: Option<ProgressBar>,
    of: usize,
    verb: Verb,
}

// === impl Progress ===

impl Progress {
    fn of(of: usize, verb: Verb) -> Self {
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {per_sec} {eta} left");
        let bar = style
            .ok()
            .filter(|_| std::io::stderr().is_terminal() && of > 1)
            .map(|style| ProgressBar::new(u64::try_from(of).unwrap_or(u64::MAX)).with_style(style));
        Self { bar, of, verb }
    }

    fn step(&self, at: usize) {
        match &self.bar {
            Some(bar) => bar.set_position(u64::try_from(at).unwrap_or(u64::MAX)),
            None if self.of >= 20 && at.is_multiple_of(self.of / 10) => {
                self.say(&format!("{at} of {} {}", self.of, self.verb.done));
            }
            None => {}
        }
    }

    /// Prints a line above the bar. A closed pipe is not an error.
    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => drop(writeln!(std::io::stderr(), "{line}")),
        }
    }

    fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}
