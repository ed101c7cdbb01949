//! `seven casino verify`: the isolation check of an onboarding (DEP-17, SEC-82): it tries what must not work.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Args;
use secrecy::SecretString;
use serde_json::json;
use seven_domain::{CasinoId, TimeScale};
use seven_runtime::Timing;
use seven_settings::Settings;
use seven_store::{
    Store,
    isolation::{Against, Finding, Login},
};

use crate::out;

/// The most other casinos whose rows one check tries.
const OTHERS: usize = 3;

#[derive(Debug, Args)]
pub struct Verify {
    casino: CasinoId,
    /// Try this casino's rows; up to three others when left out.
    #[arg(long, value_name = "ID")]
    against: Option<CasinoId>,
    /// One JSON document instead of lines.
    #[arg(long)]
    json: bool,
}

/// Findings of the check, and the database login it ran as.
#[derive(Debug, serde::Serialize)]
pub struct Verified {
    pub login: Login,
    pub others: Vec<CasinoId>,
    pub findings: Vec<Finding>,
}

impl Verified {
    pub fn ok(&self) -> bool {
        self.findings.iter().all(|finding| finding.ok)
    }
}

pub async fn run(config: Option<&Path>, command: &Verify) -> Result<ExitCode> {
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, crate::commands::LOG)?;
    let settings = Settings::load(config)?;
    let verified = verify(&settings, &command.casino, command.against.as_ref()).await?;
    if command.json {
        out!("{}", json!({ "casino": command.casino, "ok": verified.ok(), "check": verified }));
    } else {
        tell(&command.casino, &verified);
    }
    Ok(if verified.ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tell(casino: &CasinoId, verified: &Verified) {
    for finding in &verified.findings {
        let mark = if finding.ok { "ok     " } else { "FAILED " };
        out!("{mark} {:<18} {}", finding.what, finding.found);
    }
    let others = match verified.others.as_slice() {
        [] => "a casino that is not there yet (there is no other)".to_owned(),
        others => others.iter().map(CasinoId::as_str).collect::<Vec<_>>().join(", "),
    };
    let bad = verified.findings.iter().filter(|finding| !finding.ok).count();
    match bad {
        0 => out!("{casino} is apart from {others}: {} checks, as {}.", verified.findings.len(), verified.login.name),
        bad => out!(
            "{casino} is NOT apart from {others}: {bad} of {} checks failed, as {}.",
            verified.findings.len(),
            verified.login.name
        ),
    }
    if verified.login.pinned.is_none() {
        out!(
            "{} serves every casino; a login that the database pins to this one: seven casino login {casino}",
            verified.login.name
        );
    }
}

/// Looks and tries with the workers' connection of these settings.
pub async fn verify(settings: &Settings, casino: &CasinoId, against: Option<&CasinoId>) -> Result<Verified> {
    let store = store(settings, &settings.postgres.url)?;
    let login = store.login().await.context("asking the database who we are")?;
    if let Some(pinned) = &login.pinned {
        ensure!(
            pinned == casino.as_str(),
            "the login {} serves {pinned} only; check {pinned} with it, or {casino} with its own",
            login.name
        );
    }
    ensure!(against != Some(casino), "--against names {casino} itself; name another casino");
    // A pinned login sees no other casino, not even its name.
    let owner = settings.postgres.owner_url.as_ref();
    let witness = login.pinned.as_ref().and(owner);
    let roster = match witness {
        Some(owner) => self::store(settings, owner)?.roster().await?,
        None => store.roster().await?,
    };
    let known = |id: &CasinoId| roster.iter().any(|entry| entry.casino == *id);
    ensure!(known(casino), "no casino {casino}; `seven casino list` shows them");
    let others: Vec<CasinoId> = match against {
        Some(other) => vec![other.clone()],
        None => roster.into_iter().map(|entry| entry.casino).filter(|id| id != casino).take(OTHERS).collect(),
    };
    let findings = store.isolation(casino, &Against { others: &tried(&others, casino)?, witness }).await?;
    Ok(Verified { login, others, findings })
}

/// Writing must be refused for a casino that does not exist yet, too.
fn tried(others: &[CasinoId], casino: &CasinoId) -> Result<Vec<CasinoId>> {
    if !others.is_empty() {
        return Ok(others.to_vec());
    }
    let nobody: CasinoId = if casino.as_str() == "nobody" { "somebody" } else { "nobody" }.parse()?;
    Ok(vec![nobody])
}

pub fn store(settings: &Settings, url: &SecretString) -> Result<Store> {
    let timing = Timing::new(TimeScale::new(settings.time.scale));
    Store::new(url, 2, timing.sweep()).context("reading the database's address")
}
