//! A guest's consent with its proof, for people who must show it. The page lists the present state,
//! every change with its evidence, whether the chain verifies, and the audit log's entries about
//! the guest. It shows no words of the guest.

use askama::Template;
use axum::{
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};
use seven_domain::{AuditEvent, CasinoId, GuestHash, GuestId, config::Scope};
use seven_staff::{
    Right,
    audit::View,
    evidence::{Evidence, evidence},
};
use seven_store::audit::{Entry, Query as Wanted};

use super::{
    conversations::{clock, name_of},
    thread::{Place, exists},
};
use crate::{
    access::Person,
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{file, go_to, shown},
    words::Words,
};

/// Maximum number of audit log entries on the page.
const MOST: i64 = 200;

#[derive(Template)]
#[template(path = "evidence.html")]
struct EvidencePage {
    frame: Frame,
    casino: CasinoId,
    guest: String,
    /// The present state of consent and suppression: name and value of each line.
    standing: Vec<(&'static str, String)>,
    whole: bool,
    chain: String,
    events: Vec<Change>,
    entries: Vec<Noted>,
}

struct Change {
    position: String,
    at: String,
    action: String,
    method: String,
    tiers: String,
    evidence: String,
}

struct Noted {
    at: String,
    event: String,
    by: String,
    detail: String,
}

#[derive(Deserialize)]
pub(crate) struct Chosen {
    /// `json` to download the evidence as a file; anything else shows the page.
    #[serde(default)]
    format: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path((casino, guest)): Path<(CasinoId, String)>,
    Query(chosen): Query<Chosen>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Audit)?;
    let guest = GuestHash::from_tag(&guest).ok_or(Fault::NotFound)?;
    let view = View::of(&person.grants, &casino);
    let w = person.words();
    let mut tx = app.fleet.store.bind(&casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let zone = Some(row.config.operational.timezone);
    let evidence = evidence(&mut tx, &app.fleet, &guest).await?;
    let evidence = evidence.ok_or(Fault::NotFound)?;
    if chosen.format == "json" {
        let by = person.actor();
        let detail = json!({ "evidence": true });
        let about = Entry {
            guest: Some(&guest),
            ..Entry::of(AuditEvent::AuditExported, &by, casino.as_str(), detail)
        };
        tx.audit(&about).await?;
        tx.commit().await?;
        let text = serde_json::to_string_pretty(&evidence).unwrap_or_default();
        return Ok(file(&format!("{casino}-consent.json"), text));
    }
    let wanted = Wanted {
        events: view.searchable().collect(),
        guest: Some(guest),
        limit: MOST,
        ..Wanted::default()
    };
    let entries = tx.audit_entries(&wanted).await?;
    let names = tx.staff_names().await?;
    tx.commit().await?;
    let entries = entries.into_iter().filter_map(|entry| view.shown(entry));
    let page = EvidencePage {
        frame: Frame::of(&person, Some(&casino), w.t("evidence"), "compliance"),
        casino,
        standing: standing(w, &evidence, zone),
        whole: evidence.chain.valid,
        chain: chain(w, &evidence),
        events: evidence
            .events
            .iter()
            .map(|event| change(w, event))
            .collect(),
        entries: entries
            .map(|entry| Noted {
                at: clock(entry.at, zone),
                event: entry.event_type,
                by: name_of(&names, &entry.actor),
                detail: serde_json::to_string_pretty(&entry.detail).unwrap_or_default(),
            })
            .collect(),
        guest: evidence.guest,
    };
    Ok(shown(&page).into_response())
}

/// Redirects from a conversation to the evidence of its guest.
pub(crate) async fn of_conversation(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    person: Person,
) -> Result<Response, Fault> {
    let mut tx = exists(&app, &place, &person, Right::Audit).await?;
    let shown = tx.shown_conversation(place.1).await?;
    let guest = shown.ok_or(Fault::NotFound)?.guest_id;
    let hash = tx.hash_of(GuestId(guest)).await?.ok_or(Fault::NotFound)?;
    tx.commit().await?;
    let (casino, tag) = (place.0, hash.tag());
    Ok(go_to(&format!("/c/{casino}/guests/{tag}/consent")))
}

fn standing(
    w: Words,
    evidence: &Evidence,
    zone: Option<chrono_tz::Tz>,
) -> Vec<(&'static str, String)> {
    let consent = match &evidence.standing {
        Some(standing) => {
            let tier = w.of_kind("tier", standing.consent_tier.as_str());
            let at = standing.consent_at.map(|at| clock(at, zone));
            let method = standing.consent_method.clone();
            [Some(tier), method, at]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" · ")
        }
        None => w.t("evidence_no_guest").to_owned(),
    };
    let texts = match &evidence.suppression {
        Some(state) => {
            let name = w.of_kind("suppression", state.state.as_str());
            // For a guest who never said STOP or START, the state has the time of the Unix epoch.
            // That time is not shown.
            let since = (state.as_of.timestamp() > 0)
                .then(|| format!("{} ({})", clock(state.as_of, zone), state.method));
            let blocked = state
                .provider_blocked
                .then(|| w.t("evidence_blocked").to_owned());
            let asked = state
                .asked_at
                .map(|at| format!("{} {}", w.t("evidence_asked"), clock(at, zone)));
            let parts = [Some(name), since, blocked, asked];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
        }
        None => w.t("evidence_no_state").to_owned(),
    };
    let reach = match (evidence.revocation_scope, &evidence.legal_sender) {
        (Scope::Sender, Some(sender)) => format!("{} {}", w.t("evidence_sender"), sender.name),
        _ => w.t("evidence_casino").to_owned(),
    };
    vec![
        ("evidence_consent", consent),
        ("evidence_texts", texts),
        ("evidence_stop", reach),
    ]
}

fn chain(w: Words, evidence: &Evidence) -> String {
    let report = &evidence.chain;
    let length = report.chain_length;
    if report.valid {
        return format!("{} {length}", w.t("evidence_whole"));
    }
    let places: Vec<String> = report
        .broken_links
        .iter()
        .map(ToString::to_string)
        .collect();
    let head = serde_json::to_value(report.head).unwrap_or_default();
    let head = head.as_str().unwrap_or_default().to_owned();
    format!(
        "{} {length} · {} {} · {} {head}",
        w.t("evidence_broken"),
        w.t("evidence_links"),
        places.join(", "),
        w.t("evidence_head")
    )
}

fn change(w: Words, event: &Value) -> Change {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let tier = |state: &Value| w.of_kind("tier", state["tier"].as_str().unwrap_or("none"));
    Change {
        position: event["chain_position"].to_string(),
        at: text(&event["timestamp"]),
        action: w.of_kind("consent", event["action"].as_str().unwrap_or_default()),
        method: text(&event["method"]),
        tiers: format!(
            "{} → {}",
            tier(&event["previous_state"]),
            tier(&event["new_state"])
        ),
        evidence: match &event["metadata"] {
            Value::Null => String::new(),
            metadata => serde_json::to_string_pretty(metadata).unwrap_or_default(),
        },
    }
}
