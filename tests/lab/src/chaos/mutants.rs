//! Runs fleets that each break one promise on purpose. The checker proves something only if it
//! notices every broken promise.

use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use seven::out;
use tokio::process::Command;

use super::options::Chaos;

/// Names of the mutants. The crate that implements a mutant describes in its `src/mutant.rs` what
/// the mutant breaks.
const MUTANTS: [&str; 18] = [
    "no_presend_check",
    "ack_before_publish",
    "silent_duplicate",
    "blind_resend",
    "done_before_effect",
    "all_answered",
    "no_epoch",
    "no_backoff",
    "start_from_now",
    "answers_always",
    "first_come",
    "ages_from_reading",
    "erases_unread",
    "forgets_former",
    "speaks_over_staff",
    "forgets_place",
    "shows_newest",
    "takes_twice",
];
/// Seconds of load per mutant, unless --seconds is given.
const SECONDS: u64 = 60;
/// Longest wait for the fleet to settle. A fleet that lost a text never settles. A healthy fleet
/// settles within 15 s, even on a busy machine.
const SETTLE_SECONDS: &str = "45";

/// Runs the mutants. Exit code 1 means that the checker missed one.
pub(crate) async fn run(chaos: &Chaos, seed: u64) -> Result<ExitCode> {
    let unknown = chaos
        .only
        .iter()
        .find(|name| !MUTANTS.contains(&name.as_str()));
    ensure!(
        unknown.is_none(),
        "no mutant is called {}",
        unknown.map_or("", String::as_str)
    );
    let mut missed = Vec::new();
    for name in MUTANTS {
        if !chaos.only.is_empty() && !chaos.only.iter().any(|only| only == name) {
            continue;
        }
        let said = alone(name, seed, chaos.seconds.unwrap_or(SECONDS)).await?;
        let broken: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("BROKEN"))
            .collect();
        if broken.is_empty() {
            missed.push(name);
            out!("MISSED  {name}");
            out!("{said}");
        } else {
            out!("caught  {name}");
            broken.iter().for_each(|line| {
                out!(
                    "          {}",
                    line.trim_start_matches("BROKEN").trim_start()
                );
            });
        }
    }
    out!(
        "{}",
        if missed.is_empty() {
            "every mutant was caught"
        } else {
            "the checker missed some"
        }
    );
    Ok(if missed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Runs one mutant in a separate process, whose workers inherit the mutant's name.
async fn alone(mutant: &str, seed: u64, seconds: u64) -> Result<String> {
    let output = Command::new(std::env::current_exe().context("finding our own binary")?)
        .args([
            "chaos",
            "--seed",
            &seed.to_string(),
            "--seconds",
            &seconds.to_string(),
            "--patience",
            SETTLE_SECONDS,
        ])
        .env("SEVEN_MUTANT", mutant)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await
        .with_context(|| format!("running the mutant {mutant}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
