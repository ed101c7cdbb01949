//! The command line. Exit codes: 0 done or drained, 1 failed, 2 wrong usage, 3 a program is not
//! installed.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use seven_domain::CasinoId;
use seven_settings::Worker;

use crate::commands::{
    alert, audit, backup, campaign, casino, consent, content, conversation, cost, dead, delivery, deploy, escalation,
    flag, gate, guest, incident, knowledge, message, pause, provider, quiet_hours, reconcile, recover, restore, run,
    secret, sms, status, turn, webhook, why,
};

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("SEVEN_COMMIT"), ")");

#[derive(Debug, Parser)]
#[command(name = "seven", version = VERSION, about = "The SMS host casinos trust with their guests: workers and operators' commands")]
pub struct Cli {
    /// Settings file (TOML). Default: the file in SEVEN_CONFIG, else the settings of the fleet that
    /// ./scripts/dev runs on this machine.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one worker until SIGTERM.
    Run {
        worker: Worker,
        /// Serve only this casino; may be given several times.
        #[arg(long = "casino", value_name = "ID")]
        casinos: Vec<CasinoId>,
    },
    /// Apply the database migrations with the owner's connection (postgres.owner_url).
    Migrate(run::Migrate),
    /// Casinos: add, list, suspend, resume, remove; checks before the first guest (verify,
    /// go-live); a database login of their own; the schema of the casino document.
    #[command(subcommand)]
    Casino(casino::Casino),
    /// Content: load.
    #[command(subcommand)]
    Content(content::Content),
    /// Knowledge: make the vectors of a casino's content, and measure how well questions find it.
    #[command(subcommand)]
    Knowledge(knowledge::Knowledge),
    /// Outbound texts: show one with its attempts and delivery receipts, or list them.
    #[command(subcommand)]
    Message(message::Message),
    /// Conversations: show the state of one, or write to the guest in place of the host (takeover,
    /// say, release).
    #[command(subcommand)]
    Conversation(conversation::Conversation),
    /// The host's turns: show what led to a reply, or list them.
    #[command(subcommand)]
    Turn(turn::Turn),
    /// Dead letters: list, show, replay, discard, export.
    #[command(subcommand)]
    Dead(dead::Dead),
    /// Show the timeline of one guest, text or trace across all stages, with the reason of each
    /// refusal.
    Why(why::Why),
    /// Campaigns: one text to guests who consented to marketing; send, list, show, pause, resume,
    /// cancel.
    #[command(subcommand)]
    Campaign(campaign::Campaign),
    /// Providers: list, stop and release.
    #[command(subcommand)]
    Provider(provider::Provider),
    /// Compare a casino's texts with the provider's records, and recover events whose webhooks
    /// never arrived.
    Reconcile(reconcile::Reconcile),
    /// Write everything in Postgres (consent and audit log included) to a folder: a dump of one
    /// moment, and a manifest of its contents.
    Backup(backup::Backup),
    /// Restore a backup into an empty database. The restored data must equal the manifest. The
    /// fleet starts paused, so that nothing is sent.
    Restore(restore::Restore),
    /// After a restore: ask the providers what happened since the backup, then print the switches
    /// that an operator must resume.
    Recover(recover::Recover),
    /// Pause one casino or all casinos: in force everywhere within 2 s, kept across restarts,
    /// audited. Inbound texts are kept until `resume`. Without a choice of switches: outbound,
    /// proactive and agents.
    Pause(Box<pause::Pause>),
    /// Turn off the switches that `pause` set (without a choice: all that are on in that scope).
    /// One turn answers everything that each guest wrote meanwhile; texts older than the pack's
    /// usefulness limit are closed as stale and listed.
    Resume(Box<pause::Pause>),
    /// Feature flags: on for a percentage of the guests, for listed guests, or for a period.
    #[command(subcommand)]
    Flag(flag::Flag),
    /// Show the number of texts, turns and dead letters in each state, and the messages that wait
    /// in NATS.
    Status(status::Status),
    /// Texts: inspect their encoding and segments, and the risk that carriers filter them.
    #[command(subcommand)]
    Sms(sms::Sms),
    /// Consent: show what a guest agreed to, verify its proof, and record consent given outside the
    /// conversation.
    #[command(subcommand)]
    Consent(consent::Consent),
    /// Guests' rights: export, deletion, self-exclusion.
    #[command(subcommand)]
    Guest(guest::Guest),
    /// The audit log.
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Escalations: cases that a person must handle.
    #[command(subcommand)]
    Escalation(escalation::Escalation),
    /// Alerts: list them, acknowledge one, test the channels.
    #[command(subcommand)]
    Alert(alert::Alert),
    /// Delivery outcomes of outbound texts, per casino and hour; figures beyond their thresholds
    /// are marked.
    Delivery(delivery::Delivery),
    /// Production: render Kubernetes manifests and the NATS configuration from values, and write a
    /// casino's values file.
    #[command(subcommand)]
    Deploy(deploy::Deploy),
    /// Costs: report each casino's usage and cost in a month, project the cost of a month.
    #[command(subcommand)]
    Cost(cost::Cost),
    /// Incidents: their register and reviews, recovery drills, and a diagnostic bundle without
    /// guest data for people outside.
    #[command(subcommand)]
    Incident(incident::Incident),
    /// Quiet hours: check when a text may be sent to a number.
    #[command(subcommand)]
    QuietHours(quiet_hours::QuietHours),
    /// The compliance gate: check texts, review its guardrail hits, mark its wrong decisions.
    #[command(subcommand)]
    Gate(gate::Gate),
    /// Secrets: list when each must be rotated, and record a finished rotation in the audit log.
    /// docs/rotation.md has the steps.
    #[command(subcommand)]
    Secret(secret::Secret),
    /// Webhooks: verify a signature.
    #[command(subcommand)]
    Webhook(webhook::Webhook),
    /// Does nothing until SIGTERM. The pod in which operators run the other commands (`kubectl
    /// exec`) runs this.
    StandBy,
    /// Moved to ./scripts/dev.
    #[command(hide = true)]
    Dev(Moved),
    /// Moved to ./scripts/chaos.
    #[command(hide = true)]
    Chaos(Moved),
    /// Moved to ./scripts/bench.
    #[command(hide = true)]
    Bench(Moved),
    /// Moved to ./scripts/eval.
    #[command(hide = true)]
    Eval(Moved),
}

/// Accepts any arguments of a moved command, so that it fails with the new path instead of a usage
/// error.
#[derive(Debug, clap::Args)]
struct Moved {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<String>,
}

impl Cli {
    /// Returns the number of runtime threads; None leaves it to the machine, or to
    /// TOKIO_WORKER_THREADS. A casino's own worker gets one thread: it scales by replicas, and more
    /// threads would delay the other casinos' workers (docs/performance.md).
    pub fn threads(&self) -> Option<usize> {
        matches!(&self.command, Command::Run { casinos, .. } if !casinos.is_empty()).then_some(1)
    }

    pub async fn run(self) -> Result<ExitCode> {
        let config = self.config.as_deref();
        match self.command {
            Command::Run { worker, casinos } => Box::pin(run::run(config, worker, casinos)).await?,
            Command::Migrate(command) => return run::migrate(config, &command).await,
            Command::Casino(command) => return casino::run(config, command).await,
            Command::Content(command) => content::run(config, command).await?,
            Command::Knowledge(command) => knowledge::run(config, command).await?,
            Command::Message(command) => message::run(config, command).await?,
            Command::Conversation(command) => conversation::run(config, command).await?,
            Command::Turn(command) => turn::run(config, command).await?,
            Command::Dead(command) => return Box::pin(dead::run(config, command)).await,
            Command::Why(command) => why::run(config, command).await?,
            Command::Campaign(command) => Box::pin(campaign::run(config, command)).await?,
            Command::Provider(command) => provider::run(config, command).await?,
            Command::Reconcile(command) => reconcile::run(config, &command).await?,
            Command::Backup(command) => backup::run(config, &command).await?,
            Command::Restore(command) => return restore::run(config, &command).await,
            Command::Recover(command) => return Box::pin(recover::run(config, &command)).await,
            Command::Pause(command) => pause::pause(config, &command).await?,
            Command::Resume(command) => pause::resume(config, &command).await?,
            Command::Flag(command) => Box::pin(flag::run(config, command)).await?,
            Command::Status(command) => status::run(config, &command).await?,
            Command::Sms(command) => sms::run(&command)?,
            Command::Consent(command) => return consent::run(config, command).await,
            Command::Guest(command) => guest::run(config, command).await?,
            Command::Audit(command) => audit::run(config, command).await?,
            Command::Escalation(command) => escalation::run(config, command).await?,
            Command::Alert(command) => return alert::run(config, command).await,
            Command::Delivery(command) => delivery::run(config, &command).await?,
            Command::Deploy(command) => deploy::run(config, command).await?,
            Command::Cost(command) => cost::run(config, command).await?,
            Command::Incident(command) => Box::pin(incident::run(config, command)).await?,
            Command::QuietHours(command) => quiet_hours::run(&command)?,
            Command::Gate(command) => gate::run(config, &command).await?,
            Command::Secret(command) => secret::run(config, command).await?,
            Command::Webhook(command) => return webhook::run(&command),
            Command::StandBy => run::stand_by().await?,
            Command::Dev(_) => moved("dev")?,
            Command::Chaos(_) => moved("chaos")?,
            Command::Bench(_) => moved("bench")?,
            Command::Eval(_) => moved("eval")?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Fails with the new path of a command that the shipped program no longer has (D41).
fn moved(name: &str) -> Result<()> {
    anyhow::bail!("`seven {name}` is a tool of development and moved: ./scripts/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_casinos_own_workers_have_one_thread() {
        let threads = |arguments: &str| Cli::try_parse_from(arguments.split(' ')).unwrap().threads();
        assert_eq!(threads("seven run agent-swarm --casino silver_birch"), Some(1));
        assert_eq!(threads("seven run agent-swarm"), None);
        assert_eq!(threads("seven status"), None);
    }
}
