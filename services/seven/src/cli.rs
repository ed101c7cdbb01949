//! The command line: the names of the commands, and one line each that runs them. `help.rs` adds
//! groups and examples to the help.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    commands::{
        alert, audit, backup, campaign, casino, consent, contact, content,
        context::{Context, Operate},
        conversation, cost, dead, delivery, deploy, escalation, figures, flag, gate, guest, health,
        incident, knowledge, log, message, model, operator,
        output::{Format, View},
        pause, provider, quiet_hours, reconcile, recover, restore, run, secret, shell, sms, status,
        turn, webhook, why,
    },
    help,
};

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("SEVEN_COMMIT"), ")");

/// Heading of the options that every command has.
const GLOBAL: &str = "Options of every command";

/// The SMS host that casinos trust with their guests: workers and operators' commands.
#[derive(Debug, Parser)]
#[command(name = "seven", version = VERSION)]
pub struct Cli {
    /// Settings file (TOML). Without it: the file in SEVEN_CONFIG, else the settings of the fleet
    /// that ./scripts/dev runs on this machine.
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    config: Option<PathBuf>,
    /// Form of tables: `table` fits 80 columns, `wide` shows all columns and whole ids.
    #[arg(
        long,
        short,
        global = true,
        value_name = "FORMAT",
        default_value = "table"
    )]
    #[arg(hide_possible_values = true, help_heading = GLOBAL)]
    output: Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one worker until SIGTERM.
    Run(run::Run),
    /// Apply the database migrations with the owner's connection.
    Migrate(run::Migrate),
    /// Do nothing until SIGTERM, in the pod for operators' commands.
    StandBy(run::StandBy),
    /// List, add, check and remove casinos.
    #[command(subcommand)]
    Casino(casino::Casino),
    /// Load, publish and restore a casino's content.
    #[command(subcommand)]
    Content(content::Content),
    /// Make vectors of content; measure how well questions find it.
    #[command(subcommand)]
    Knowledge(knowledge::Knowledge),
    /// Check the hosted model that answers guests.
    #[command(subcommand)]
    Model(model::Model),
    /// Turn features on for some guests.
    #[command(subcommand)]
    Flag(flag::Flag),
    /// List and show conversations; pause the host; write in its place.
    #[command(subcommand)]
    Conversation(conversation::Conversation),
    /// Handle the cases that need a person.
    #[command(subcommand)]
    Escalation(escalation::Escalation),
    /// Show the timeline of a guest, a text or a trace over all stages.
    Why(why::Why),
    /// Show outbound texts with attempts and delivery receipts.
    #[command(subcommand)]
    Message(message::Message),
    /// Show the host's turns and what led to a reply.
    #[command(subcommand)]
    Turn(turn::Turn),
    /// Add, try and remove a casino's people who are told of cases.
    #[command(subcommand)]
    Contact(contact::Contact),
    /// Add operators of the console; give roles, disable, reset.
    #[command(subcommand)]
    Operator(operator::Operator),
    /// Export, delete or exclude guests.
    #[command(subcommand)]
    Guest(guest::Guest),
    /// Send one text to guests who consented to marketing.
    #[command(subcommand)]
    Campaign(campaign::Campaign),
    /// List, stop and release providers.
    #[command(subcommand)]
    Provider(provider::Provider),
    /// Show delivery outcomes by casino and hour.
    Delivery(delivery::Delivery),
    /// Compare a casino's texts with the provider's records.
    ///
    /// Events whose webhooks never arrived are recovered.
    Reconcile(reconcile::Reconcile),
    /// Inspect segments, and the risk that carriers filter texts.
    #[command(subcommand)]
    Sms(sms::Sms),
    /// Verify a webhook's signature.
    #[command(subcommand)]
    Webhook(webhook::Webhook),
    /// Show whether the fleet works: workers, switches, backlog, alerts.
    Status(status::Status),
    /// Pause one casino or all: in force everywhere within 2 s.
    ///
    /// The pause is kept across restarts and audited. Inbound texts are kept until `resume`.
    /// Without a choice of switches: outbound, proactive and agents.
    Pause(Box<pause::Pause>),
    /// Turn off the switches that `pause` set.
    ///
    /// Without a choice of switches: all that are on in that scope. One turn answers everything
    /// that each guest wrote meanwhile. Texts older than the pack's usefulness limit are closed as
    /// stale and listed.
    Resume(Box<pause::Resume>),
    /// List, acknowledge and test alerts.
    #[command(subcommand)]
    Alert(alert::Alert),
    /// List, replay, discard and export dead letters.
    #[command(subcommand)]
    Dead(dead::Dead),
    /// Register incidents; record drills; make a diagnostic bundle.
    #[command(subcommand)]
    Incident(incident::Incident),
    /// Write a backup of everything in Postgres.
    ///
    /// The backup is a dump of one moment, with consent and audit log, and a manifest of the dump's
    /// contents.
    Backup(backup::Backup),
    /// Restore a backup into an empty database.
    ///
    /// The restored data must equal the manifest. The fleet starts paused, so that nothing is sent.
    Restore(restore::Restore),
    /// After a restore: recover what providers got since the backup.
    ///
    /// Prints the switches that an operator must then turn off.
    Recover(recover::Recover),
    /// Report and project costs.
    #[command(subcommand)]
    Cost(cost::Cost),
    /// Show what came in, what was answered and what it cost.
    Figures(figures::Figures),
    /// Render Kubernetes manifests and NATS configuration.
    #[command(subcommand)]
    Deploy(deploy::Deploy),
    /// Show, verify and record consent.
    #[command(subcommand)]
    Consent(consent::Consent),
    /// List and export the audit log; check its sealed days.
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Check when a text may be sent to a number.
    #[command(subcommand)]
    QuietHours(quiet_hours::QuietHours),
    /// Check texts with the gate; review its guardrail hits.
    #[command(subcommand)]
    Gate(gate::Gate),
    /// Ask the worker on this machine whether it is ready.
    ///
    /// For health checks of containers, which have no other HTTP client. Exits with 1 if the worker
    /// is not ready.
    Health(health::Health),
    /// Raise the log level of running workers for a while.
    #[command(subcommand)]
    Log(log::Log),
    /// List the secrets and when to rotate them; record rotations.
    #[command(subcommand)]
    Secret(secret::Secret),
    /// Print a completion script for a shell.
    Completion(shell::Completion),
    /// Write a man page for each command into a folder.
    Man(shell::Man),
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

/// Accepts any arguments, so that a moved command fails with its new path instead of a usage error.
#[derive(Debug, Args)]
struct Moved {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<String>,
}

impl Cli {
    /// Parses the arguments of the process. Prints help or a usage error and exits if there is no
    /// command to run.
    pub fn of_process() -> Self {
        let parsed = Self::grammar()
            .try_get_matches()
            .and_then(|matches| Self::from_arg_matches(&matches));
        parsed.unwrap_or_else(|error| error.exit())
    }

    /// Returns the whole command line with its help.
    pub(crate) fn grammar() -> clap::Command {
        help::complete(Self::command())
    }

    /// Returns the number of runtime threads; `None` leaves it to the runtime's default. A worker
    /// for the casinos named on its command line gets one thread: more would delay other casinos'
    /// workers (docs/performance.md).
    pub fn threads(&self) -> Option<usize> {
        matches!(&self.command, Command::Run(run) if run.has_own_casinos()).then_some(1)
    }

    pub async fn run(self) -> Result<ExitCode> {
        let ctx = &Context::new(self.config, View::of_stdout(self.output), Self::grammar);
        match self.command {
            Command::Run(command) => operate(command, ctx).await,
            Command::Migrate(command) => operate(command, ctx).await,
            Command::StandBy(command) => operate(command, ctx).await,
            Command::Casino(command) => operate(command, ctx).await,
            Command::Content(command) => operate(command, ctx).await,
            Command::Knowledge(command) => operate(command, ctx).await,
            Command::Model(command) => operate(command, ctx).await,
            Command::Flag(command) => operate(command, ctx).await,
            Command::Conversation(command) => operate(command, ctx).await,
            Command::Escalation(command) => operate(command, ctx).await,
            Command::Why(command) => operate(command, ctx).await,
            Command::Message(command) => operate(command, ctx).await,
            Command::Turn(command) => operate(command, ctx).await,
            Command::Contact(command) => operate(command, ctx).await,
            Command::Operator(command) => operate(command, ctx).await,
            Command::Guest(command) => operate(command, ctx).await,
            Command::Campaign(command) => operate(command, ctx).await,
            Command::Provider(command) => operate(command, ctx).await,
            Command::Delivery(command) => operate(command, ctx).await,
            Command::Reconcile(command) => operate(command, ctx).await,
            Command::Sms(command) => operate(command, ctx).await,
            Command::Webhook(command) => operate(command, ctx).await,
            Command::Status(command) => operate(command, ctx).await,
            Command::Pause(command) => operate(*command, ctx).await,
            Command::Resume(command) => operate(*command, ctx).await,
            Command::Alert(command) => operate(command, ctx).await,
            Command::Dead(command) => operate(command, ctx).await,
            Command::Incident(command) => operate(command, ctx).await,
            Command::Backup(command) => operate(command, ctx).await,
            Command::Restore(command) => operate(command, ctx).await,
            Command::Recover(command) => operate(command, ctx).await,
            Command::Cost(command) => operate(command, ctx).await,
            Command::Figures(command) => operate(command, ctx).await,
            Command::Deploy(command) => operate(command, ctx).await,
            Command::Consent(command) => operate(command, ctx).await,
            Command::Audit(command) => operate(command, ctx).await,
            Command::QuietHours(command) => operate(command, ctx).await,
            Command::Gate(command) => operate(command, ctx).await,
            Command::Health(command) => operate(command, ctx).await,
            Command::Log(command) => operate(command, ctx).await,
            Command::Secret(command) => operate(command, ctx).await,
            Command::Completion(command) => operate(command, ctx).await,
            Command::Man(command) => operate(command, ctx).await,
            Command::Dev(_) => moved("dev"),
            Command::Chaos(_) => moved("chaos"),
            Command::Bench(_) => moved("bench"),
            Command::Eval(_) => moved("eval"),
        }
    }
}

/// Runs a command in a boxed future, because the futures of some commands are large.
async fn operate(command: impl Operate, ctx: &Context) -> Result<ExitCode> {
    Box::pin(command.run(ctx)).await
}

/// Fails with the new path of a command that the shipped program no longer has (D41).
fn moved(name: &str) -> Result<ExitCode> {
    anyhow::bail!("`seven {name}` is a tool of development and moved: ./scripts/{name}")
}

#[cfg(test)]
mod tests;
