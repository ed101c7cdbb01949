//! `seven casino verify`: the isolation check of an onboarding. It tries to read
//! and write other casinos' rows, which must fail.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
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

use crate::{
    commands::{
        args::Json,
        context::{self, Context, Operate},
        output::View,
    },
    out,
};

/// Maximum number of other casinos whose rows one check tries to read and write.
const OTHERS: usize = 3;

#[derive(Debug, Args)]
pub struct Verify {
    /// The casino's id.
    casino: CasinoId,
    /// The other casino whose rows the check tries to reach. Without it: up to three others.
    #[arg(long, value_name = "ID")]
    against: Option<CasinoId>,
    #[command(flatten)]
    json: Json,
}

/// Findings of the check, and the database login that the check used.
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

impl Operate for Verify {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        context::log()?;
        let verified = verify(&ctx.settings()?, &self.casino, self.against.as_ref()).await?;
        if self.json.json {
            out!(
                "{}",
                json!({ "casino": self.casino, "ok": verified.ok(), "check": verified })
            );
        } else {
            tell(&self.casino, &verified, ctx.view);
        }
        Ok(if verified.ok() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

fn tell(casino: &CasinoId, verified: &Verified, view: View) {
    for finding in &verified.findings {
        let mark = if finding.ok { "ok     " } else { "FAILED " };
        out!(
            "{}",
            view.line(&format!("{mark} {:<18} {}", finding.what, finding.found))
        );
    }
    let others = match verified.others.as_slice() {
        [] => "a casino that does not exist yet (there is no other)".to_owned(),
        others => others
            .iter()
            .map(CasinoId::as_str)
            .collect::<Vec<_>>()
            .join(", "),
    };
    let bad = verified
        .findings
        .iter()
        .filter(|finding| !finding.ok)
        .count();
    match bad {
        0 => out!(
            "{casino} is apart from {others}: {} checks, as {}.",
            verified.findings.len(),
            verified.login.name
        ),
        bad => out!(
            "{casino} is NOT apart from {others}: {bad} of {} checks failed, as {}.",
            verified.findings.len(),
            verified.login.name
        ),
    }
    if verified.login.pinned.is_none() {
        out!(
            "{} serves every casino; a login that the database pins to this one: seven casino \
             login {casino}",
            verified.login.name
        );
    }
}

/// Runs the check with the workers' connection of these settings.
pub async fn verify(
    settings: &Settings,
    casino: &CasinoId,
    against: Option<&CasinoId>,
) -> Result<Verified> {
    let store = store(settings, &settings.postgres.url)?;
    let login = store
        .login()
        .await
        .context("asking the database who we are")?;
    if let Some(pinned) = &login.pinned {
        ensure!(
            pinned == casino.as_str(),
            "the login {} serves {pinned} only; check {pinned} with it, or {casino} with its own",
            login.name
        );
    }
    ensure!(
        against != Some(casino),
        "--against names {casino} itself; name another casino"
    );
    // The login of one casino does not even see the names of other casinos, so the owner's login
    // reads the roster.
    let owner = settings.postgres.owner_url.as_ref();
    let witness = login.pinned.as_ref().and(owner);
    let roster = match witness {
        Some(owner) => self::store(settings, owner)?.roster().await?,
        None => store.roster().await?,
    };
    let known = |id: &CasinoId| roster.iter().any(|entry| entry.casino == *id);
    ensure!(
        known(casino),
        "no casino {casino}; `seven casino list` shows them"
    );
    let others: Vec<CasinoId> = match against {
        Some(other) => vec![other.clone()],
        None => roster
            .into_iter()
            .map(|entry| entry.casino)
            .filter(|id| id != casino)
            .take(OTHERS)
            .collect(),
    };
    let findings = store
        .isolation(
            casino,
            &Against {
                others: &tried(&others, casino)?,
                witness,
            },
        )
        .await?;
    Ok(Verified {
        login,
        others,
        findings,
    })
}

/// Returns the casinos whose rows the check tries to reach. If there is no other casino, returns a
/// casino that does not exist: writing rows for it must be refused, too.
fn tried(others: &[CasinoId], casino: &CasinoId) -> Result<Vec<CasinoId>> {
    if !others.is_empty() {
        return Ok(others.to_vec());
    }
    let nobody: CasinoId = if casino.as_str() == "nobody" {
        "somebody"
    } else {
        "nobody"
    }
    .parse()?;
    Ok(vec![nobody])
}

pub fn store(settings: &Settings, url: &SecretString) -> Result<Store> {
    let timing = Timing::new(TimeScale::new(settings.time.scale));
    Store::new(url, 2, timing.sweep()).context("reading the database's address")
}
