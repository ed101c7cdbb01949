//! `seven incident open|note|resolve|review|list|show`: records an incident step by step in the
//! audit log, and its blameless review.

use std::fmt::Write;

use anyhow::{Context as _, Result, ensure};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use seven_runtime::Fleet;
use seven_store::incidents::{Action, Incident, Step};
use uuid::Uuid;

use super::bundle::redact;
use crate::{
    commands::{
        args::{By, Json},
        context::Context,
        given,
        id_prefix::IdPrefix,
        json_rows,
    },
    out,
};

/// Id of an incident.
#[derive(Debug, Args)]
pub struct Which {
    /// Id of the incident, as `seven incident list` shows it; a unique prefix is enough.
    id: IdPrefix,
}

// Texts in these commands must name guests by id, because the audit log is kept for years and read
// by many people.
#[derive(Debug, Subcommand)]
pub enum Register {
    /// Open an incident and print its id.
    Open {
        /// Severity as docs/runbook.md defines it: SEV0 to SEV3.
        #[arg(long, value_parser = severity)]
        severity: u8,
        /// The problem, in one line.
        #[arg(long, value_name = "TEXT", value_parser = said)]
        title: String,
        /// Time at which the incident began (RFC 3339). Without it: now.
        #[arg(long, value_name = "TIME", value_parser = given::moment)]
        began: Option<DateTime<Utc>>,
        #[command(flatten)]
        by: By,
    },
    /// Add an observation, an assumption or an action to an incident's timeline.
    Note {
        #[command(flatten)]
        which: Which,
        /// The entry. Name guests only by their id.
        #[arg(long, value_parser = said)]
        text: String,
        /// Id of a trace that shows what the entry says, 32 hex digits.
        #[arg(long, value_name = "TRACE", value_parser = trace)]
        trace: Option<String>,
        #[command(flatten)]
        by: By,
    },
    /// Record that an incident is over, and its impact.
    Resolve {
        #[command(flatten)]
        which: Which,
        /// Affected guests; texts delayed, duplicated or lost.
        #[arg(long, value_name = "TEXT", value_parser = said)]
        impact: String,
        /// Time at which the incident ended (RFC 3339). Without it: now.
        #[arg(long, value_name = "TIME", value_parser = given::moment)]
        ended: Option<DateTime<Utc>>,
        #[command(flatten)]
        by: By,
    },
    /// Record the blameless review, due 48 hours after the end of a SEV0 or SEV1.
    Review {
        #[command(flatten)]
        which: Which,
        /// The cause of the incident, without names of people.
        #[arg(long, value_name = "TEXT", value_parser = said)]
        cause: String,
        /// An improvement, its owner and due day: "what; owner; 2026-12-01". May be given several
        /// times.
        #[arg(long = "action", value_name = "WHAT; OWNER; DAY", value_parser = action)]
        actions: Vec<Action>,
        #[command(flatten)]
        by: By,
    },
    /// List all incidents, open ones first, by severity.
    List(Json),
    /// Show one incident as a page of Markdown.
    Show(Which),
}

/// Parses a text; refuses one that contains what looks like a phone number or a mail address.
pub(super) fn said(text: &str) -> Result<String, String> {
    let said = given::words(text)?;
    if redact(&said) == said {
        Ok(said)
    } else {
        Err("it has a phone or a mail address in it; name guests by their id".to_owned())
    }
}

fn severity(text: &str) -> Result<u8, String> {
    let number = text
        .strip_prefix("SEV")
        .and_then(|number| number.parse().ok())
        .filter(|number| *number <= 3);
    number.ok_or_else(|| format!("`{text}` is no severity; expected SEV0, SEV1, SEV2 or SEV3"))
}

fn trace(text: &str) -> Result<String, String> {
    let is_trace = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_trace
        .then(|| text.to_owned())
        .ok_or_else(|| format!("`{text}` is no trace; expected 32 hex digits"))
}

fn action(text: &str) -> Result<Action, String> {
    let parts: Vec<&str> = text.split(';').map(str::trim).collect();
    let [what, owner, day] = parts[..] else {
        return Err(format!(
            "`{text}` has {} part(s); expected \"what; owner; 2026-12-01\"",
            parts.len()
        ));
    };
    let due = day
        .parse()
        .map_err(|_| format!("`{day}` is no day; expected one such as 2026-12-01"))?;
    Ok(Action {
        what: said(what)?,
        owner: said(owner)?,
        due,
    })
}

pub(super) async fn register(ctx: &Context, command: Register) -> Result<()> {
    let fleet = ctx.fleet().await?;
    match command {
        Register::Open {
            severity,
            title,
            began,
            by,
        } => {
            let id = fleet.ids.uuid();
            let step = Step::Opened {
                severity,
                title,
                began: began.unwrap_or(fleet.clock.now()),
            };
            note(fleet, id, by, step).await?;
            out!("{id}");
        }
        Register::Note {
            which,
            text,
            trace,
            by,
        } => {
            let incident = which.find(fleet).await?;
            note(fleet, incident.incident_id, by, Step::Noted { text, trace }).await?;
            out!("Noted.");
        }
        Register::Resolve {
            which,
            impact,
            ended,
            by,
        } => resolve(fleet, which, impact, ended, by).await?,
        Register::Review {
            which,
            cause,
            actions,
            by,
        } => {
            let incident = which.find(fleet).await?;
            let id = incident.incident_id;
            ensure!(
                incident.ended.is_some(),
                "{id} is not over; `seven incident resolve` comes first"
            );
            ensure!(
                !incident.is_reviewed(),
                "{id} has its review; `seven incident note` adds later entries"
            );
            note(fleet, id, by, Step::Reviewed { cause, actions }).await?;
            out!("Written; `seven incident show {id}` prints it.");
        }
        Register::List(json) => list(ctx, fleet, json.json).await?,
        Register::Show(which) => out!("{}", page(&which.find(fleet).await?).trim_end()),
    }
    Ok(())
}

async fn resolve(
    fleet: &Fleet,
    which: Which,
    impact: String,
    ended: Option<DateTime<Utc>>,
    by: By,
) -> Result<()> {
    let incident = which.find(fleet).await?;
    let id = incident.incident_id;
    let ended = ended.unwrap_or(fleet.clock.now());
    ensure!(
        incident.ended.is_none(),
        "{id} is resolved already; `seven incident note` adds later entries"
    );
    ensure!(
        ended >= incident.began,
        "it began {}; --ended must come after that",
        incident.began
    );
    note(fleet, id, by, Step::Resolved { impact, ended }).await?;
    let id = IdPrefix::of(id);
    match (Which { id: id.clone() }).find(fleet).await?.review_due {
        Some(due) => out!(
            "Resolved. `seven incident review {id}` is due by {} UTC.",
            stamp(Some(due))
        ),
        None => out!("Resolved."),
    }
    Ok(())
}

async fn note(fleet: &Fleet, id: Uuid, By { by }: By, step: Step) -> Result<()> {
    Ok(fleet.store.note_incident(id, &by, &step).await?)
}

impl Which {
    async fn find(&self, fleet: &Fleet) -> Result<Incident> {
        let all = fleet.store.incidents().await?;
        let id = self
            .id
            .among(all.iter().map(|one| one.incident_id), "incidents")?;
        let found = all.into_iter().find(|one| one.incident_id == id);
        found.with_context(|| format!("no incident {id}; `seven incident list` shows them"))
    }
}

async fn list(ctx: &Context, fleet: &Fleet, json: bool) -> Result<()> {
    let mut incidents = fleet.store.incidents().await?;
    // The sort is stable, so the newest incidents stay first within each severity.
    incidents.sort_by_key(|one| {
        (
            one.ended.is_some(),
            if one.ended.is_none() { one.severity } else { 0 },
        )
    });
    if json {
        return json_rows(&incidents);
    }
    let now = fleet.clock.now();
    let mut table = ctx
        .table([
            "incident", "severity", "began", "minutes", "review", "title",
        ])
        .ids(["incident"]);
    for one in incidents {
        let review = match one.review_due {
            Some(due) if due < now => "overdue".to_owned(),
            Some(due) => format!("due {}", due.format("%F %H:%M")),
            None if one.is_reviewed() => "written".to_owned(),
            None => String::new(),
        };
        table.add_row([
            one.incident_id.to_string(),
            format!("SEV{}", one.severity),
            one.began.format("%F %H:%M").to_string(),
            minutes(&one),
            review,
            one.title,
        ]);
    }
    out!("{table}");
    Ok(())
}

fn minutes(incident: &Incident) -> String {
    incident.ended.map_or_else(
        || "not over".to_owned(),
        |ended| (ended - incident.began).num_minutes().to_string(),
    )
}

fn page(incident: &Incident) -> String {
    let (mut impact, mut timeline, mut review) = (String::new(), String::new(), String::new());
    let told = incident.steps.iter().try_for_each(|told| {
        let mut line = |what: &str| {
            writeln!(
                timeline,
                "- {} {}: {what}",
                told.at.format("%F %T"),
                told.by
            )
        };
        match &told.step {
            Step::Opened { .. } => line("opened"),
            Step::Noted { text, trace: None } => line(text),
            Step::Noted {
                text,
                trace: Some(trace),
            } => line(&format!("{text} (trace {trace})")),
            Step::Resolved { impact: cost, .. } => {
                impact.push_str(cost);
                line("resolved")
            }
            Step::Reviewed { cause, actions } => {
                writeln!(
                    review,
                    "\n## Cause\n\n{cause}\n\n## Who changes what by when\n"
                )?;
                actions
                    .iter()
                    .try_for_each(|a| writeln!(review, "- {}: {}, by {}", a.owner, a.what, a.due))
            }
        }
    });
    debug_assert!(told.is_ok(), "a string takes all that is written");
    let times = format!(
        "{} to {}",
        stamp(Some(incident.began)),
        stamp(incident.ended)
    );
    let length = minutes(incident);
    format!(
        "# SEV{}: {}\n\n{}\n\n{times} UTC, minutes: {length}\n\n## Impact\n\n{}\n\n## Timeline\n\n{timeline}{review}",
        incident.severity,
        incident.title,
        incident.incident_id,
        if impact.is_empty() {
            "not told yet"
        } else {
            &impact
        },
    )
}

fn stamp(at: Option<DateTime<Utc>>) -> String {
    at.map_or_else(|| "...".to_owned(), |at| at.format("%F %T").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // OBS-19
    fn what_is_typed_is_read_or_refused_with_what_would_be_right() {
        assert_eq!((severity("SEV0"), severity("SEV3")), (Ok(0), Ok(3)));
        for bad in ["SEV4", "sev1", "1", ""] {
            assert!(
                severity(bad).unwrap_err().contains("expected SEV0"),
                "{bad}"
            );
        }
        let read = action("alert on a full disk; R. Viewer; 2026-12-01").unwrap();
        assert_eq!(
            (read.what.as_str(), read.owner.as_str()),
            ("alert on a full disk", "R. Viewer")
        );
        for bad in ["alert", "a; b", "a; b; soon", "a; b; c; 2026-12-01"] {
            assert!(action(bad).unwrap_err().contains("2026-12-01"), "{bad}");
        }
        assert!(trace(&"ab".repeat(16)).is_ok() && trace("ab").is_err());
        assert!(said("call +18605550142").is_err() && said(" ").is_err());
        assert!(action("call +18605550142; R. Viewer; 2026-12-01").is_err());
        assert!(said("12 texts waited a minute").is_ok());
    }
}
