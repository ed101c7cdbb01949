//! `seven gate hits|mark`: the weekly review of the guardrails' hits, and a person's judgement on
//! single texts.

use anyhow::{Context as _, Result, ensure};
use chrono::Days;
use clap::{Args, ValueEnum};
use serde_json::json;
use seven_domain::{AuditEvent, IncidentKind};
use seven_scheduler::incidents::{Found, contain_in};
use seven_store::{audit::Entry, prefix::Named, review::Hits};
use seven_telemetry::Raised;

use crate::{
    commands::{
        args::{By, Casino, Json},
        context::Context,
        id_prefix::IdPrefix,
        json_rows, known, minute,
    },
    out,
};

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    of: Casino,
    /// Number of days before now.
    #[arg(long, value_name = "N", default_value_t = 7)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=2_557))]
    days: u64,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Mark {
    #[command(flatten)]
    of: Casino,
    /// Id of the guest's text, as `gate hits`, `audit list` and `why` print it; a unique prefix is
    /// enough.
    #[arg(long, value_name = "ID")]
    text: IdPrefix,
    /// The judgement.
    #[arg(long = "as", value_name = "JUDGEMENT")]
    judgement: Judgement,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Judgement {
    /// A guardrail hit a harmless text.
    FalseAlarm,
    /// A guardrail should have hit the text and did not; this raises a critical alert.
    Missed,
    /// The text was a cry for help that no guardrail hit. Like `missed`, but the host is also
    /// paused for the guest, and a case is opened.
    MissedCry,
}

impl Judgement {
    fn as_str(self) -> &'static str {
        match self {
            Self::FalseAlarm => "false_alarm",
            Self::Missed | Self::MissedCry => "missed",
        }
    }
}

pub(super) async fn list(ctx: &Context, command: &List) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let since = fleet.clock.now() - Days::new(command.days);
    let (review, missed) = (
        tx.guardrail_hits(since).await?,
        tx.guardrail_misses(since).await?,
    );
    tx.commit().await?;
    if command.json.json {
        return json_rows(&review);
    }
    let columns = [
        "layer",
        "pattern",
        "hits",
        "false alarms",
        "a text",
        "guests",
        "last",
    ];
    let mut table = ctx.table(columns).ids(["a text"]).wide(["guests", "last"]);
    for line in &review {
        table.add_row(row(line));
    }
    out!("{table}");
    let hits: i64 = review.iter().map(|line| line.hits).sum();
    let wrong: i64 = review.iter().map(|line| line.false_alarms).sum();
    // A hit that nobody marked may be wrong too, so this share is an upper limit.
    let right = 100.0 * (hits - wrong) as f64 / hits.max(1) as f64;
    let precision = if wrong > 0 {
        format!(" (at most {right:.1} % right)")
    } else {
        String::new()
    };
    out!(
        "{hits} hit(s) in {} day(s), {wrong} marked as false alarms{precision}; {missed} text(s) \
         marked as missed.",
        command.days
    );
    out!("Read a text with: seven why --casino {casino} --text ID --reveal");
    out!(
        "Judge it with: seven gate mark --casino {casino} --text ID --as false-alarm --by NAME (or \
         --as missed, missed-cry)"
    );
    Ok(())
}

/// Returns the table cells for one pattern's hits.
fn row(line: &Hits) -> [String; 7] {
    [
        line.layer.clone(),
        line.pattern_id.clone(),
        line.hits.to_string(),
        line.false_alarms.to_string(),
        line.last_text.clone(),
        line.guests.to_string(),
        minute(line.last_at),
    ]
}

pub(super) async fn mark(ctx: &Context, command: Mark) -> Result<()> {
    let Mark {
        of: Casino { casino },
        text,
        judgement,
        by: By { by },
    } = command;
    let fleet = ctx.fleet().await?;
    known(&fleet.store, &casino).await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let text = text.find(&mut tx, Named::Inbound).await?;
    let hit = tx.guardrail_hit(text).await?.with_context(|| {
        format!("{casino} has no text {text}; `seven why` shows a guest's texts")
    })?;
    match judgement {
        Judgement::FalseAlarm => {
            ensure!(
                !hit.is_empty(),
                "no guardrail hit text {text}; `seven gate hits` shows the hits"
            );
        }
        Judgement::Missed | Judgement::MissedCry => {
            ensure!(
                hit.is_empty(),
                "text {text} was not missed: {} hit it",
                hit.join(", ")
            );
        }
    }
    let detail = json!({ "judgement": judgement.as_str(), "layers": hit, "by": by });
    tx.audit(&Entry::of(
        AuditEvent::GuardrailReviewed,
        "seven gate mark",
        &text.to_string(),
        detail,
    ))
    .await?;
    let conversation = tx.conversation_of(text).await?;
    if let (Judgement::MissedCry, Some(conversation)) = (judgement, conversation) {
        let found = Found {
            kind: IncidentKind::CryMissed,
            conversation,
            text,
            by: "seven gate mark",
        };
        contain_in(fleet, &mut tx, found).await?;
    }
    tx.commit().await?;
    if judgement != Judgement::FalseAlarm {
        let raised = Raised {
            name: "guardrail_missed",
            casino: casino.as_str().to_owned(),
            provider: String::new(),
            code: String::new(),
            text: format!(
                "a guardrail missed text {text}, says {by}; add its pattern to the pack before \
                 anything else is deployed"
            ),
            times: 1,
        };
        seven_alerts::file_one(fleet, &raised)
            .await
            .context("raising the alert")?;
        out!("Marked as missed, and a critical alert is raised: seven alert list.");
        if judgement == Judgement::MissedCry {
            out!(
                "The host is paused for this guest, and a case is open: seven incident found \
                 --casino {casino}"
            );
        }
    } else {
        out!("Marked as a false alarm of {}.", hit.join(", "));
    }
    out!(
        "Next: change the pattern in the pack's guardrails.toml, add the text as an example in \
         other words, and try it: seven gate check."
    );
    Ok(())
}
