//! The command line. Exit codes: 0 done or drained, 1 failed, 2 wrong usage, 3 something must be installed.

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
    /// Settings file (TOML); without it SEVEN_CONFIG, else the fleet ./scripts/dev runs here.
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
    /// Casinos: add, list, suspend, resume, remove; checks before the first guest (verify, go-live); a login of their own; the schema of
    /// their document.
    #[command(subcommand)]
    Casino(casino::Casino),
    /// Content: load.
    #[command(subcommand)]
    Content(content::Content),
    /// Knowledge: make the vectors of a casino's content, measure how well questions find it.
    #[command(subcommand)]
    Knowledge(knowledge::Knowledge),
    /// Texts we sent: show one with every attempt and receipt, or list them.
    #[command(subcommand)]
    Message(message::Message),
    /// Conversations: how one stands, and a person in the host's place (takeover, say, release).
    #[command(subcommand)]
    Conversation(conversation::Conversation),
    /// The host's turns: what led to a reply, or list them.
    #[command(subcommand)]
    Turn(turn::Turn),
    /// Dead letters: list, show, replay, discard, export.
    #[command(subcommand)]
    Dead(dead::Dead),
    /// The timeline of one guest, text or trace over all stages, each refusal with its reason.
    Why(why::Why),
    /// Campaigns: one text to guests who agreed to such texts; send, list, show, pause, resume, cancel.
    #[command(subcommand)]
    Campaign(campaign::Campaign),
    /// Providers: what stops them, and lifting it.
    #[command(subcommand)]
    Provider(provider::Provider),
    /// Compare a casino's texts with the provider's own records; recover what its webhooks never told us.
    Reconcile(reconcile::Reconcile),
    /// Write everything in Postgres (consent and audit included) to a folder: a dump of one moment, and a manifest that says what is in it.
    Backup(backup::Backup),
    /// Put a backup into an empty database. The restored data must equal the manifest, and the
    /// fleet starts paused, so that nothing is sent.
    Restore(restore::Restore),
    /// After a restore: ask the providers what happened since the backup, then say what an operator resumes.
    Recover(recover::Recover),
    /// Stop it now, for one casino or all: effective everywhere within 2 s, kept over restarts, audited. Guests' texts wait for `resume`.
    /// Without a choice: outbound, proactive and agents.
    Pause(Box<pause::Pause>),
    /// End what `pause` set (without a choice: everything that is on there). One turn answers what each guest wrote meanwhile; texts older
    /// than the pack's usefulness limit are closed as stale and listed.
    Resume(Box<pause::Pause>),
    /// Feature flags: on for a share of the guests, for a list, for a time.
    #[command(subcommand)]
    Flag(flag::Flag),
    /// How many texts, turns and dead letters stand where, and what waits on the bus.
    Status(status::Status),
    /// Texts: inspect encoding and segments, the risk that carriers filter them.
    #[command(subcommand)]
    Sms(sms::Sms),
    /// Consent: what a guest agreed to, its proof, and consent from outside the conversation.
    #[command(subcommand)]
    Consent(consent::Consent),
    /// A guest's rights: export, deletion, self-exclusion.
    #[command(subcommand)]
    Guest(guest::Guest),
    /// The audit log.
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Cases a person has to look at.
    #[command(subcommand)]
    Escalation(escalation::Escalation),
    /// Alerts: list them, say that you have one in hand, test the channels.
    #[command(subcommand)]
    Alert(alert::Alert),
    /// Outcomes of texts we sent, per casino and hour; figures beyond their thresholds are marked.
    Delivery(delivery::Delivery),
    /// Production: Kubernetes manifests and NATS configuration from values, and the values file of a casino.
    #[command(subcommand)]
    Deploy(deploy::Deploy),
    /// Costs: report each casino's usage and cost in a month, project the cost of a month.
    #[command(subcommand)]
    Cost(cost::Cost),
    /// Incidents: their register and reviews, drilled recoveries, and a bundle of what stood where, without guests, for whoever helps.
    #[command(subcommand)]
    Incident(incident::Incident),
    /// When a text may go to a number.
    #[command(subcommand)]
    QuietHours(quiet_hours::QuietHours),
    /// The gate's judgement on texts: check one, review what the guardrails hit, mark what they got wrong.
    #[command(subcommand)]
    Gate(gate::Gate),
    /// Secrets: when each is due to be changed, and the audit entry that ends its rotation. docs/rotation.md has the steps.
    #[command(subcommand)]
    Secret(secret::Secret),
    /// Webhook signatures.
    #[command(subcommand)]
    Webhook(webhook::Webhook),
    /// Does nothing until SIGTERM: what a pod runs in which operators run the other commands (`kubectl exec`).
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

/// The arguments of a command that moved: taken, so that the answer is where it went.
#[derive(Debug, clap::Args)]
struct Moved {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<String>,
}

impl Cli {
    /// Threads of the runtime; None leaves them to the machine, or to TOKIO_WORKER_THREADS. A casino's own workers have one each: its flood
    /// has replicas for more, and several would stand before the other casinos' workers (docs/performance.md).
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

/// Fails with the new place of a command that is no longer in the shipped program (D41).
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
