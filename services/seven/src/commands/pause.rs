//! `seven pause|resume`: the operators' switches (D14, SEC-120 to SEC-126, DEP-24, DEP-29). Stored and audited first, then announced; the
//! last look and every turn read what is stored, so that a worker that misses the announcement obeys all the same.

use std::path::Path;

use anyhow::{Result, ensure};
use clap::Args;
use serde_json::json;
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_store::{
    backup::RESTORE,
    controls::{Order, Reopened, Standing, Switch},
};

use super::{fleet, given::Who};
use crate::out;

/// Which casinos.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct Scope {
    /// This casino only.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
    /// Every casino, also those that are added later.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Args)]
pub struct Pause {
    #[command(flatten)]
    scope: Scope,
    /// Nothing leaves but safety texts (STOP confirmation, HELP, answers to a cry for help), and the host makes no turns.
    #[arg(long)]
    outbound: bool,
    /// No texts that answer nothing: campaigns, reminders.
    #[arg(long)]
    proactive: bool,
    /// The host makes no turns; replies that are queued go out, and people can write.
    #[arg(long)]
    agents: bool,
    /// The host makes no turns; who writes hears once that the team will answer; no campaigns. People can write.
    #[arg(long)]
    safe_mode: bool,
    /// Nothing leaves at all, safety texts included: for when texts themselves do harm.
    #[arg(long)]
    kill: bool,
    #[command(flatten)]
    who: Who,
    /// One JSON document instead of lines.
    #[arg(long)]
    json: bool,
}

/// Order of the fields in [`Switch::ALL`].
fn chosen(command: &Pause) -> Vec<Switch> {
    let given = [command.outbound, command.proactive, command.agents, command.safe_mode, command.kill];
    Switch::ALL.into_iter().zip(given).filter(|(_, given)| *given).map(|(switch, _)| switch).collect()
}

/// What `seven pause` without a choice sets.
const USUAL: [Switch; 3] = [Switch::Outbound, Switch::Proactive, Switch::Agents];

/// What the end of a switch did at one casino.
#[derive(Debug, serde::Serialize)]
pub struct Ended {
    pub casino: CasinoId,
    #[serde(flatten)]
    pub reopened: Reopened,
    /// Queued texts that waited and look again now.
    pub woken: u64,
}

pub async fn pause(config: Option<&Path>, command: &Pause) -> Result<()> {
    let (fleet, order) = prepared(config, command).await?;
    let chosen = chosen(command);
    let wanted = if chosen.is_empty() { USUAL.to_vec() } else { chosen };
    let casino = command.scope.casino.as_ref();
    let set = switch_on(&fleet, casino, &wanted, order).await?;
    let names: Vec<&str> = set.iter().map(|switch| switch.as_str()).collect();
    if command.json {
        out!("{}", json!({ "set": names, "standing": standing(&fleet).await? }));
        return Ok(());
    }
    let whom = casino.map_or("every casino", CasinoId::as_str);
    if names.is_empty() {
        out!("Nothing new for {whom}.");
    } else {
        out!("On for {whom}: {}.", names.join(", "));
    }
    standing(&fleet).await?.iter().for_each(|each| out!("{}", line(each)));
    Ok(())
}

pub async fn resume(config: Option<&Path>, command: &Pause) -> Result<()> {
    let (fleet, order) = prepared(config, command).await?;
    let chosen = chosen(command);
    let wanted = if chosen.is_empty() { Switch::ALL.to_vec() } else { chosen };
    let casino = command.scope.casino.as_ref();
    if casino.is_none() {
        let held = fleet.store.fleet_switches().await?;
        let held = held.iter().find(|on| on.actor == RESTORE && wanted.iter().any(|switch| switch.as_str() == on.name));
        ensure!(
            held.is_none(),
            "the database came from a backup: guests may have opted out since, and nothing here knows it; run seven recover first"
        );
    }
    let (lifted, ended) = switch_off(&fleet, casino, &wanted, order).await?;
    ensure!(!lifted.is_empty(), "none of these was on there; `seven status` shows what stands");
    let names: Vec<&str> = lifted.iter().map(|switch| switch.as_str()).collect();
    if command.json {
        out!("{}", json!({ "lifted": names, "casinos": ended, "standing": standing(&fleet).await? }));
        return Ok(());
    }
    out!("Off for {}: {}.", casino.map_or("every casino", CasinoId::as_str), names.join(", "));
    for each in &ended {
        let Ended { casino, reopened, woken } = each;
        out!(
            "{casino}: {} guest(s) get an answer to {} text(s); {woken} queued text(s) look again; {} too old, closed as stale{}",
            reopened.guests,
            reopened.texts,
            reopened.stale.len(),
            if reopened.stale.is_empty() { "" } else { ":" }
        );
        for text in &reopened.stale {
            out!(
                "  stale     {} of guest {}, {}",
                text.inbound_id,
                text.guest_id,
                text.received_at.format("%F %T UTC")
            );
        }
    }
    standing(&fleet).await?.iter().for_each(|each| out!("{}", line(each)));
    Ok(())
}

async fn prepared<'a>(config: Option<&Path>, command: &'a Pause) -> Result<(Fleet, Order<'a>)> {
    let fleet = fleet(config).await?;
    if let Some(casino) = &command.scope.casino {
        super::known(&fleet.store, casino).await?;
    }
    Ok((fleet, Order { by: &command.who.by, reason: &command.who.reason }))
}

/// Stores and audits the switches, then tells the workers. Returns those that were off before.
pub async fn switch_on(
    fleet: &Fleet,
    casino: Option<&CasinoId>,
    switches: &[Switch],
    order: Order<'_>,
) -> Result<Vec<Switch>> {
    let set = fleet.store.switch(casino, switches, true, order).await?;
    announce(fleet, casino).await;
    Ok(set)
}

/// Lifts the switches; where the host may speak again, opens its texts and wakes what waited to be sent.
pub async fn switch_off(
    fleet: &Fleet,
    casino: Option<&CasinoId>,
    switches: &[Switch],
    order: Order<'_>,
) -> Result<(Vec<Switch>, Vec<Ended>)> {
    let lifted = fleet.store.switch(casino, switches, false, order).await?;
    announce(fleet, casino).await;
    let mut ended = Vec::new();
    for entry in fleet.store.roster().await?.into_iter().filter(|entry| casino.is_none_or(|one| *one == entry.casino)) {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        let silent = tx.switched().await?.iter().any(|switch| switch.silences_agents());
        let row = tx.casino_row().await?;
        let reopened = match row {
            Some(row) if !silent => tx.reopen(fleet.packs.of(&row.config)?.rules.usefulness()).await?,
            _ => Reopened::default(),
        };
        tx.commit().await?;
        // What may still not leave looks, and waits on.
        let woken = fleet.store.wake_held(Some(&entry.casino)).await?;
        ended.push(Ended { casino: entry.casino, reopened, woken });
    }
    Ok((lifted, ended))
}

/// Mirrors what is stored. A bus that is away is no reason to fail: the switch stands, and the scheduler mirrors it every second.
async fn announce(fleet: &Fleet, casino: Option<&CasinoId>) {
    let told = async {
        for entry in fleet.store.roster().await? {
            if casino.is_none_or(|one| *one == entry.casino) {
                fleet.bus.mirror(&seven_scheduler::control(entry)).await?;
            }
        }
        anyhow::Ok(())
    };
    if let Err(error) = told.await {
        tracing::warn!(error = &*error as &dyn std::error::Error, "the switch is stored but could not be announced");
    }
}

/// Everything that is on, the fleet's first.
pub async fn standing(fleet: &Fleet) -> Result<Vec<Standing>> {
    let mut all = fleet.store.fleet_switches().await?;
    for entry in fleet.store.roster().await? {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        all.extend(tx.own_switches().await?);
        if tx.casino_row().await?.is_some_and(|row| row.config.safe_mode.enabled) {
            all.push(Standing {
                casino_id: entry.casino.to_string(),
                name: Switch::SafeMode.as_str().to_owned(),
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
    let Standing { casino_id, name, since, actor, reason } = standing;
    let whom = if casino_id.is_empty() { "every casino" } else { casino_id };
    format!("ON: {name} for {whom} since {}, by {actor}: {reason}", since.format("%F %T UTC"))
}
