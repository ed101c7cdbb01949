//! `seven consent show|verify|record`: what a guest agreed to, its proof, and consent that was
//! given on paper or through a form.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use seven_compliance::chain::{Action, Report};
use seven_domain::{
    ConsentTier, GuestHash, GuestId,
    config::{LegalSender, Scope},
};
use seven_runtime::{Fleet, own_cases::end_stopped_contacts};
use seven_staff::evidence::evidence;
use seven_store::consent::Consent as Change;

use super::{
    args::{self, Casino, Json},
    context::{Context, Operate},
    given,
    guest_ref::GuestRef,
    known, utc,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Consent {
    /// Show the consent in force and every change with its evidence, oldest first.
    Show(Show),
    /// Verify the consent chain of one guest, or of all guests of a casino; exit 1 when one is
    /// broken.
    Verify(Verify),
    /// Record consent that was given outside the conversation, with its evidence.
    Record(Record),
}

#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    guest: args::Guest,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    of: Casino,
    /// The guest: phone, guest id, hmac:<key>:<hex>, or - to read a phone from stdin.
    #[arg(long, value_name = "GUEST", required_unless_present = "all_guests")]
    guest: Option<GuestRef>,
    /// Verify the chains of all guests of the casino.
    #[arg(long, alias = "all", conflicts_with = "guest")]
    all_guests: bool,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Record {
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    guest: args::Guest,
    /// The kind of messages that the guest agreed to.
    #[arg(long, value_parser = given::one_of(ConsentTier::ALL, ConsentTier::as_str))]
    tier: ConsentTier,
    /// The way in which the consent was given.
    #[arg(long)]
    #[arg(value_parser = ["web_form", "paper_form", "text_keyword", "api_call", "human_override"])]
    method: String,
    /// Place of the proof: form submission, scan, ticket.
    #[arg(long, value_name = "TEXT", value_parser = given::words)]
    evidence: String,
    /// Version of the disclosure that was shown.
    #[arg(long, value_name = "VERSION", default_value = "1.0")]
    wording_version: String,
    /// Time at which the consent was given (RFC 3339). Without it: now.
    #[arg(long, value_name = "TIME", value_parser = given::moment)]
    at: Option<DateTime<Utc>>,
}

impl Operate for Consent {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::Show(command) => show(fleet, &command).await?,
            Self::Verify(command) => return verify(fleet, &command).await,
            Self::Record(command) => record(fleet, &command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn show(
    fleet: &Fleet,
    Show {
        of: Casino { casino },
        guest,
        json,
    }: &Show,
) -> Result<()> {
    let hash = guest.hash(fleet, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let evidence = evidence(&mut tx, fleet, &hash).await?;
    tx.commit().await?;
    let evidence = evidence.context("the casino has no document")?;
    if json.json {
        out!("{}", serde_json::to_string(&evidence)?);
        return Ok(());
    }
    out!("{} at {casino}", evidence.guest);
    match &evidence.standing {
        Some(s) => out!(
            "  consent      {}{}",
            s.consent_tier,
            s.consent_method
                .as_deref()
                .map(|m| format!(" ({m})"))
                .unwrap_or_default()
        ),
        None => out!("  consent      no such guest, or a deleted one"),
    }
    match &evidence.suppression {
        Some(s) => out!(
            "  texts        {}{}{}",
            s.state,
            // If the guest never said STOP or START, the time of the state is the Unix epoch.
            if s.as_of.timestamp() == 0 {
                String::new()
            } else {
                format!(" since {} ({})", utc(s.as_of), s.method)
            },
            match (s.provider_blocked, s.asked_at) {
                (true, _) => ", but the provider blocks the number".to_owned(),
                (false, Some(asked)) => format!(
                    ", asked on {} whether to end them: proactive texts wait",
                    utc(asked)
                ),
                (false, None) => String::new(),
            }
        ),
        None => out!("  texts        no safety state: nothing may be sent"),
    }
    out!(
        "  a STOP ends  {}",
        reach(evidence.revocation_scope, evidence.legal_sender.as_ref())
    );
    for event in &evidence.events {
        out!(
            "  {:>4}  {}  {} by {}: {} -> {}",
            event["chain_position"],
            text(&event["timestamp"]),
            text(&event["action"]),
            text(&event["method"]),
            text(&event["previous_state"]["tier"]),
            text(&event["new_state"]["tier"])
        );
    }
    out!("  chain        {}", sentence(&evidence.chain));
    Ok(())
}

/// Describes which texts a revocation would end today.
fn reach(scope: Scope, sender: Option<&LegalSender>) -> String {
    match (scope, sender) {
        (Scope::Sender, Some(sender)) => format!("the texts of every casino of {}", sender.name),
        _ => "this casino's texts".to_owned(),
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn sentence(report: &Report) -> String {
    if report.valid {
        return format!("{} event(s), whole", report.chain_length);
    }
    format!(
        "BROKEN: {} event(s), broken at {:?}, head {:?}",
        report.chain_length, report.broken_links, report.head
    )
}

async fn verify(
    fleet: &Fleet,
    Verify {
        of: Casino { casino },
        guest,
        json,
        ..
    }: &Verify,
) -> Result<ExitCode> {
    let json = json.json;
    known(&fleet.store, casino).await?;
    let guests: Vec<GuestHash> = match guest {
        Some(guest) => vec![guest.hash(fleet, casino).await?],
        None => {
            let mut tx = fleet.store.bind(casino).await?;
            let all = tx.chains(None).await?;
            tx.commit().await?;
            all
        }
    };
    let mut whole = true;
    for hash in &guests {
        let mut tx = fleet.store.bind(casino).await?;
        let report = tx.verify_chain(hash, &fleet.keys).await?;
        tx.commit().await?;
        whole &= report.valid;
        if json {
            let mut line = serde_json::to_value(&report)?;
            line["guest"] = json!(hash.tag());
            out!("{line}");
        } else if guest.is_some() || !report.valid {
            out!("{}  {}", hash.tag(), sentence(&report));
        }
    }
    if !json && guest.is_none() {
        out!(
            "{} chain(s) checked at {casino}: {}",
            guests.len(),
            if whole { "all whole" } else { "NOT all whole" }
        );
    }
    Ok(if whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn record(fleet: &Fleet, command: &Record) -> Result<()> {
    let Record {
        of: Casino { casino },
        guest,
        tier,
        method,
        ..
    } = command;
    let hash = guest.hash(fleet, casino).await?;
    let evidence =
        json!({ "evidence": command.evidence, "tcpa_consent_version": command.wording_version });
    let mut tx = fleet.store.bind(casino).await?;
    let guest_id: GuestId = tx.guest_by_hash(&hash).await?.with_context(|| {
        format!("{casino} has no guest with this phone; the first text from it makes one")
    })?;
    ensure!(
        *tier == ConsentTier::None || !tx.is_stopped(&hash).await?,
        "this guest opted out; only the guest's own START lifts that"
    );
    let change = Change {
        guest: &hash,
        guest_id: Some(guest_id),
        action: if *tier == ConsentTier::None {
            Action::Revoked
        } else {
            Action::Updated
        },
        method,
        tier: *tier,
        at: command.at.unwrap_or_else(|| fleet.clock.now()),
        evidence,
        actor: "seven consent record",
        trace: None,
    };
    let position = tx.record_consent(&change, &fleet.keys).await?;
    if *tier == ConsentTier::None {
        end_stopped_contacts(&mut tx, guest_id, change.actor).await?;
    }
    tx.commit().await?;
    out!("Recorded {tier} for {} at position {position}.", hash.tag());
    Ok(())
}
