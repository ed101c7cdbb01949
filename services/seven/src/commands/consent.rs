//! `seven consent show|verify|record`: what a guest agreed to, the proof, and consent that came on paper or through a form.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, Result, ensure};
use chrono::{DateTime, Utc};
use clap::Subcommand;
use serde_json::{Value, json};
use seven_compliance::chain::{Action, Report};
use seven_domain::{
    CasinoId, GuestHash, GuestId,
    config::{LegalSender, Scope},
};
use seven_runtime::Fleet;
use seven_store::consent::Consent as Change;

use super::{fleet, guest_ref::GuestRef, known};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Consent {
    /// Show the consent in force, and every change with its evidence, oldest first.
    Show {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Phone, guest id, hmac:<key>:<hex>, or - for a phone on stdin.
        #[arg(long)]
        guest: GuestRef,
        #[arg(long)]
        json: bool,
    },
    /// Walk the chain of one guest, or of all of a casino's: exit 1 when one does not hold.
    Verify {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Phone, guest id, hmac:<key>:<hex>, or - for a phone on stdin.
        #[arg(long, required_unless_present = "all")]
        guest: Option<GuestRef>,
        /// Every chain of the casino.
        #[arg(long, conflicts_with = "guest")]
        all: bool,
        #[arg(long)]
        json: bool,
    },
    /// Record consent given outside the conversation, with its evidence.
    Record {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Phone, guest id, hmac:<key>:<hex>, or - for a phone on stdin.
        #[arg(long)]
        guest: GuestRef,
        /// The kind of messages that the guest agreed to.
        #[arg(long, value_parser = ["none", "transactional", "informational", "marketing"])]
        tier: String,
        /// How it was given.
        #[arg(long, value_parser = ["web_form", "paper_form", "text_keyword", "api_call", "human_override"])]
        method: String,
        /// Where the proof is: form submission, scan, ticket.
        #[arg(long)]
        evidence: String,
        /// Version of the disclosure that was shown.
        #[arg(long, default_value = "1.0")]
        wording_version: String,
        /// When it was given (RFC 3339); now when left out.
        #[arg(long)]
        at: Option<DateTime<Utc>>,
    },
}

pub async fn run(config: Option<&Path>, command: Consent) -> Result<ExitCode> {
    let fleet = fleet(config).await?;
    match command {
        Consent::Show { casino, guest, json } => show(&fleet, &casino, &guest, json).await?,
        Consent::Verify { casino, guest, json, .. } => return verify(&fleet, &casino, guest.as_ref(), json).await,
        Consent::Record { casino, guest, tier, method, evidence, wording_version, at } => {
            ensure!(!evidence.trim().is_empty(), "--evidence is empty; say where the proof of this consent is");
            let evidence = json!({ "evidence": evidence, "tcpa_consent_version": wording_version });
            record(&fleet, &casino, &guest, &tier, &method, evidence, at.unwrap_or_else(|| fleet.clock.now())).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(fleet: &Fleet, casino: &CasinoId, guest: &GuestRef, json: bool) -> Result<()> {
    known(&fleet.store, casino).await?;
    let hash = guest.hash(fleet, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let (standing, suppression) = (tx.consent_standing(&hash).await?, tx.suppression(&hash).await?);
    let chain = tx.consent_chain(&hash).await?;
    let report = tx.verify_chain(&hash, &fleet.keys).await?;
    let config = tx.casino_row().await?.context("the casino has no document")?.config;
    tx.commit().await?;
    let scope = config.revocation_scope(fleet.clock.now());
    let events: Vec<Value> =
        chain.events.iter().map(|e| serde_json::from_str(&e.event).unwrap_or_else(|_| json!(e.event))).collect();
    if json {
        out!(
            "{}",
            json!({ "casino": casino, "guest": hash.tag(), "standing": standing, "suppression": suppression, "revocation_scope": scope, "legal_sender": config.regulations.legal_sender, "events": events, "chain": report })
        );
        return Ok(());
    }
    out!("{} at {casino}", hash.tag());
    match &standing {
        Some(s) => out!(
            "  consent      {}{}",
            s.consent_tier,
            s.consent_method.as_deref().map(|m| format!(" ({m})")).unwrap_or_default()
        ),
        None => out!("  consent      no such guest (any more)"),
    }
    match &suppression {
        Some(s) => out!(
            "  texts        {}{}{}",
            s.state,
            // A guest who never said STOP or START has a state as of the beginning of time.
            if s.as_of.timestamp() == 0 { String::new() } else { format!(" since {} ({})", s.as_of, s.method) },
            match (s.provider_blocked, s.asked_at) {
                (true, _) => ", but the provider blocks the number".to_owned(),
                (false, Some(asked)) => format!(", asked at {asked} whether to end them: proactive texts wait"),
                (false, None) => String::new(),
            }
        ),
        None => out!("  texts        no safety state: nothing may be sent"),
    }
    out!("  a STOP ends  {}", reach(scope, config.regulations.legal_sender.as_ref()));
    for event in &events {
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
    out!("  chain        {}", sentence(&report));
    Ok(())
}

/// How far a revocation reaches today, in words.
fn reach(scope: Scope, sender: Option<&LegalSender>) -> String {
    match (scope, sender) {
        (Scope::Sender, Some(sender)) => format!("the texts of every casino of {}", sender.name),
        _ => "this casino's texts".to_owned(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn sentence(report: &Report) -> String {
    if report.valid {
        return format!("{} event(s), whole", report.chain_length);
    }
    format!("BROKEN: {} event(s), broken at {:?}, head {:?}", report.chain_length, report.broken_links, report.head)
}

async fn verify(fleet: &Fleet, casino: &CasinoId, guest: Option<&GuestRef>, json: bool) -> Result<ExitCode> {
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
        out!("{} chain(s) checked at {casino}: {}", guests.len(), if whole { "all whole" } else { "NOT all whole" });
    }
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn record(
    fleet: &Fleet,
    casino: &CasinoId,
    guest: &GuestRef,
    tier: &str,
    method: &str,
    evidence: Value,
    at: DateTime<Utc>,
) -> Result<()> {
    known(&fleet.store, casino).await?;
    let hash = guest.hash(fleet, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let guest_id: GuestId = tx
        .guest_by_hash(&hash)
        .await?
        .with_context(|| format!("{casino} has no guest with this phone; a guest comes to be with the first text"))?;
    ensure!(
        tier == "none" || !tx.is_stopped(&hash).await?,
        "this guest opted out; only the guest's own START lifts that"
    );
    let change = Change {
        guest: &hash,
        guest_id: Some(guest_id),
        action: if tier == "none" { Action::Revoked } else { Action::Updated },
        method,
        tier,
        at,
        evidence,
        actor: "seven consent record",
        trace: None,
    };
    let position = tx.record_consent(&change, &fleet.keys).await?;
    tx.commit().await?;
    out!("Recorded {tier} for {} at position {position}.", hash.tag());
    Ok(())
}
