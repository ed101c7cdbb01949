//! `seven pause|resume`: sets the operators' switches (D14). A switch is stored and audited, then
//! announced. The pre-send check and every turn read the stored switch, so workers obey even if
//! they miss the announcement.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::json;
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_staff::switches::{self, Ended};
use seven_store::{
    backup::RESTORE,
    controls::{Order, Standing, Switch},
};

use super::{
    args::{Careful, Json, Who},
    context::{Context, Operate},
    utc,
};
use crate::{one_line, out};

/// The casinos to which the command applies.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct Scope {
    /// The casino's id, as `seven casino list` shows it.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
    /// Apply to every casino, including those that are added later.
    #[arg(long, alias = "all")]
    all_casinos: bool,
}

/// Turns switches on.
#[derive(Debug, Args)]
pub struct Pause {
    #[command(flatten)]
    switches: Switches,
}

/// Turns switches off.
#[derive(Debug, Args)]
pub struct Resume {
    #[command(flatten)]
    switches: Switches,
}

#[derive(Debug, Args)]
pub struct Switches {
    #[command(flatten)]
    scope: Scope,
    /// The switch under which only safety texts are sent (STOP confirmation, HELP, answers to a cry
    /// for help), and the host makes no turns.
    #[arg(long)]
    outbound: bool,
    /// The switch under which no proactive texts are sent, such as campaigns and reminders.
    #[arg(long)]
    proactive: bool,
    /// The switch under which the host makes no turns; queued replies are sent, and staff can
    /// write.
    #[arg(long)]
    agents: bool,
    /// The switch under which the host makes no turns and campaigns stop. A guest who writes is
    /// told once that nobody answers now. Staff can write.
    #[arg(long)]
    safe_mode: bool,
    /// The switch under which nothing is sent, not even safety texts: for when texts themselves do
    /// harm.
    #[arg(long)]
    kill: bool,
    #[command(flatten)]
    careful: Careful,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    json: Json,
}

impl Operate for Pause {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        pause(ctx, &self.switches).await?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Operate for Resume {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        resume(ctx, &self.switches).await?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the chosen switches. The array `given` must have the order of [`Switch::ALL`].
fn chosen(command: &Switches) -> Vec<Switch> {
    let given = [
        command.outbound,
        command.proactive,
        command.agents,
        command.safe_mode,
        command.kill,
    ];
    Switch::ALL
        .iter()
        .copied()
        .zip(given)
        .filter(|(_, given)| *given)
        .map(|(switch, _)| switch)
        .collect()
}

const NOT_PAUSED: &str = "nothing was paused; while Postgres is away nothing is sent all the same, since the check before each send asks it";
const NOT_RESUMED: &str = "nothing was resumed";
const NOT_ANNOUNCED: &str =
    "It is stored, and the check before each send reads it; the workers could not be told yet";

/// Switches that `seven pause` sets when none is chosen.
const USUAL: [Switch; 3] = [Switch::Outbound, Switch::Proactive, Switch::Agents];

async fn pause(ctx: &Context, command: &Switches) -> Result<()> {
    let (fleet, order) = prepared(ctx, command).await.context(NOT_PAUSED)?;
    let chosen = chosen(command);
    let wanted = if chosen.is_empty() {
        USUAL.to_vec()
    } else {
        chosen
    };
    let casino = command.scope.casino.as_ref();
    let question = (casino.is_none() && wanted.contains(&Switch::Kill))
        .then_some("stop all texts of every casino, answers to cries for help and confirmations of STOP included");
    if !agreed(fleet, command, &wanted, true, question).await? {
        return Ok(());
    }
    let set = fleet
        .store
        .switch(casino, &wanted, true, order)
        .await
        .context(NOT_PAUSED)?;
    let names: Vec<&str> = set.iter().map(|switch| switch.as_str()).collect();
    let left = announce(fleet, casino)
        .await
        .err()
        .map(|error| format!("{NOT_ANNOUNCED}: {}", one_line(&error)));
    let standing = standing(fleet).await;
    if command.json.json {
        out!(
            "{}",
            json!({ "set": names, "not_done": left, "standing": standing? })
        );
        return Ok(());
    }
    let whom = casino.map_or("every casino", CasinoId::as_str);
    if names.is_empty() {
        out!("Nothing new for {whom}.");
    } else {
        out!("On for {whom}: {}.", names.join(", "));
    }
    left.iter().for_each(|left| out!("{left}"));
    tell(standing);
    Ok(())
}

async fn resume(ctx: &Context, command: &Switches) -> Result<()> {
    let (fleet, order) = prepared(ctx, command).await.context(NOT_RESUMED)?;
    let chosen = chosen(command);
    let wanted = if chosen.is_empty() {
        Switch::ALL.to_vec()
    } else {
        chosen
    };
    let casino = command.scope.casino.as_ref();
    if casino.is_none() {
        let held = fleet.store.fleet_switches().await.context(NOT_RESUMED)?;
        let held = held
            .iter()
            .find(|on| on.actor == RESTORE && wanted.contains(&on.name));
        ensure!(
            held.is_none(),
            "the database came from a backup: guests may have opted out since, and nothing here \
             knows it; run `seven recover` first"
        );
    }
    let casinos = match casino {
        Some(casino) => vec![casino.clone()],
        None => fleet
            .store
            .roster()
            .await
            .context(NOT_RESUMED)?
            .into_iter()
            .map(|entry| entry.casino)
            .collect(),
    };
    let question = casino.is_none().then_some("let every casino send again");
    if !agreed(fleet, command, &wanted, false, question).await? {
        return Ok(());
    }
    if wanted.contains(&Switch::Kill) {
        // After `seven recover`, the bus may have delivered more texts from before the restore.
        // Their answers end here, too.
        super::recover::end_answers_of_before(fleet)
            .await
            .context(NOT_RESUMED)?;
    }
    let lifted = fleet
        .store
        .switch(casino, &wanted, false, order)
        .await
        .context(NOT_RESUMED)?;
    let names: Vec<&str> = lifted.iter().map(|switch| switch.as_str()).collect();
    let left = announce(fleet, casino)
        .await
        .err()
        .map(|error| format!("{NOT_ANNOUNCED}: {}", one_line(&error)));
    let (ended, failed) = reopen(fleet, casinos).await;
    // If an earlier resume was interrupted, the switches are already off; this run completes the
    // remaining steps.
    let nothing = names.is_empty() && failed.is_empty() && ended.iter().all(is_nothing);
    ensure!(
        !nothing,
        "none of these was on there; `seven status` shows what stands"
    );
    let standing = standing(fleet).await;
    if command.json.json {
        let failed: Vec<_> = failed
            .iter()
            .map(|(casino, error)| json!({ "casino": casino, "error": error }))
            .collect();
        let document =
            json!({ "lifted": names, "casinos": ended, "failed": failed, "not_done": left });
        out!("{document}");
    } else {
        let whom = casino.map_or("every casino", CasinoId::as_str);
        match names.as_slice() {
            [] => out!("Nothing was on for {whom} any more; what waited:"),
            names => out!("Off for {whom}: {}.", names.join(", ")),
        }
        left.iter().for_each(|left| out!("{left}"));
        ended.iter().for_each(tell_ended);
        for (casino, error) in &failed {
            out!("{casino}: NOT DONE: what waited is not looked at again ({error})");
        }
        tell(standing);
    }
    ensure!(
        failed.is_empty(),
        "{} casino(s) were not opened; give the same command again",
        failed.len()
    );
    Ok(())
}

/// Returns whether to carry out the order. A dry run prints what would change and returns false.
async fn agreed(
    fleet: &Fleet,
    command: &Switches,
    wanted: &[Switch],
    on: bool,
    question: Option<&str>,
) -> Result<bool> {
    if command.careful.dry_run {
        let scope = command.scope.casino.as_ref();
        let stands = standing(fleet).await?;
        let there = |switch: &&Switch| {
            let whose = scope.map_or("", CasinoId::as_str);
            stands
                .iter()
                .any(|each| each.casino_id == whose && each.name == **switch)
        };
        let changed: Vec<&str> = wanted
            .iter()
            .filter(|switch| there(switch) != on)
            .map(|switch| switch.as_str())
            .collect();
        let (word, whom) = (
            if on { "on" } else { "off" },
            scope.map_or("every casino", CasinoId::as_str),
        );
        out!(
            "Would turn {word} for {whom}: {}.",
            if changed.is_empty() {
                "nothing".to_owned()
            } else {
                changed.join(", ")
            }
        );
    }
    command.careful.goes_on(question)
}

fn is_nothing(ended: &Ended) -> bool {
    ended.reopened.texts == 0 && ended.reopened.stale.is_empty() && ended.woken == 0
}

fn tell_ended(ended: &Ended) {
    let Ended {
        casino,
        reopened,
        woken,
    } = ended;
    out!(
        "{casino}: {} guest(s) get an answer to {} text(s); {woken} queued text(s) look again; \
             {} too old, closed as stale{}",
        reopened.guests,
        reopened.texts,
        reopened.stale.len(),
        if reopened.stale.is_empty() { "" } else { ":" }
    );
    for text in &reopened.stale {
        let at = utc(text.received_at);
        out!(
            "  stale     {} of guest {}, {at}",
            text.inbound_id,
            text.guest_id
        );
    }
}

/// Prints the switches that are on now. The order is already carried out, so a failure to read them
/// is only printed.
fn tell(standing: Result<Vec<Standing>>) {
    match standing {
        Ok(standing) => standing.iter().for_each(|each| out!("{}", line(each))),
        Err(error) => out!("What else stands is not known: {}", one_line(&error)),
    }
}

async fn prepared<'a>(ctx: &'a Context, command: &'a Switches) -> Result<(&'a Fleet, Order<'a>)> {
    let fleet = ctx.fleet().await?;
    if let Some(casino) = &command.scope.casino {
        super::known(&fleet.store, casino).await?;
    }
    Ok((
        fleet,
        Order {
            by: &command.who.by,
            reason: &command.who.reason,
        },
    ))
}

/// Releases the work that waited for the end of a switch, casino by casino. Also returns the
/// casinos for which this failed, each with its error.
async fn reopen(fleet: &Fleet, casinos: Vec<CasinoId>) -> (Vec<Ended>, Vec<(CasinoId, String)>) {
    let (mut ended, mut failed) = (Vec::new(), Vec::new());
    for casino in casinos {
        match switches::reopen(fleet, &casino).await {
            Ok(done) => ended.push(done),
            Err(error) => failed.push((casino, one_line(&error.into()))),
        }
    }
    (ended, failed)
}

/// Copies the stored switches to the bus. If the bus is unreachable, the scheduler copies them
/// later, so the command has succeeded all the same.
async fn announce(fleet: &Fleet, casino: Option<&CasinoId>) -> Result<()> {
    for entry in fleet.store.roster().await? {
        if casino.is_none_or(|one| *one == entry.casino) {
            fleet.bus.mirror(&seven_scheduler::control(entry)).await?;
        }
    }
    Ok(())
}

/// Returns all switches that are on, those for the whole fleet first.
pub async fn standing(fleet: &Fleet) -> Result<Vec<Standing>> {
    let mut all = fleet.store.fleet_switches().await?;
    for entry in fleet.store.roster().await? {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        all.extend(tx.own_switches().await?);
        if tx
            .casino_row()
            .await?
            .is_some_and(|row| row.config.safe_mode.enabled)
        {
            all.push(Standing {
                casino_id: entry.casino.to_string(),
                name: Switch::SafeMode,
                since: fleet.clock.now(),
                actor: "the casino's document".to_owned(),
                reason: "safe_mode.enabled".to_owned(),
            });
        }
        tx.commit().await?;
    }
    Ok(all)
}

pub(super) fn line(standing: &Standing) -> String {
    let Standing {
        casino_id,
        name,
        since,
        actor,
        reason,
    } = standing;
    let whom = if casino_id.is_empty() {
        "every casino"
    } else {
        casino_id
    };
    format!(
        "ON: {name} for {whom} since {}, by {actor}: {reason}",
        utc(*since)
    )
}
