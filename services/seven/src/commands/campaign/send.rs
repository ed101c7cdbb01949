//! `seven campaign send`: checks the texts, prints the forecast, asks for confirmation and lists
//! the guests.

use std::{collections::HashSet, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use seven_campaigns::{New, Plan, Text, Texts, create, pace};
use seven_domain::{CampaignId, CasinoConfig, CasinoId, GuestHash};
use seven_runtime::Fleet;
use seven_staff::phrases::sentence;
use seven_store::controls::Order;

use crate::{
    commands::{
        args::{Careful, Casino, Json, Who},
        context::Context,
        guest_ref::GuestRef,
        progress::during,
    },
    out,
};

#[derive(Debug, Args)]
pub struct Send {
    #[command(flatten)]
    of: Casino,
    /// Name of the campaign; no other campaign of the casino may have it.
    #[arg(long)]
    name: String,
    /// English text; {casino}, {persona} and {phone} are filled in. It must fit one segment, name
    /// the casino, say that an AI writes and how to stop.
    #[arg(long, value_name = "TEXT")]
    text_en: String,
    /// Spanish text, for guests of that language.
    #[arg(long, value_name = "TEXT")]
    text_es: String,
    #[command(flatten)]
    whom: Whom,
    /// Send nothing until a second person approves the campaign with `seven campaign approve`.
    #[arg(long)]
    for_approval: bool,
    #[command(flatten)]
    careful: Careful,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    who: Who,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Whom {
    /// File with one guest per line: phone, guest id or keyed hash; `#` begins a comment; `-` reads
    /// stdin.
    #[arg(long, value_name = "FILE")]
    guests: Option<PathBuf>,
    /// Send to every guest with marketing consent.
    #[arg(long)]
    all_consenting: bool,
}

pub(super) async fn send(ctx: &Context, fleet: &Fleet, command: &Send) -> Result<()> {
    let who = &command.who;
    ensure!(
        !command.name.trim().is_empty(),
        "--name is empty; call it something"
    );
    let (casino, name) = (&command.of.casino, command.name.trim());
    let config = config(fleet, casino, name).await?;
    let texts = Texts::read(&command.text_en, &command.text_es, &config)?;
    let guests = guests(fleet, casino, &command.whom).await?;
    ensure!(!guests.is_empty(), "there is no guest in the list");
    let campaign: CampaignId = fleet.ids.next();
    let plan = during(
        "Planning the campaign",
        Plan::of(fleet, &config, campaign, &texts, guests),
    )
    .await?;
    let rate = pace::rate(&config.operational);
    let Careful { dry_run, .. } = command.careful;
    if !command.json.json {
        say(ctx, name, casino, &texts, &plan, rate, dry_run);
    } else if dry_run {
        out!("{}", document(None, name, &texts, &plan, rate));
    }
    ensure!(
        config.features.outbound_campaigns_enabled,
        "{casino} has no campaigns: features.outbound_campaigns_enabled of its document is false; \
         nothing was written"
    );
    let to_send = plan.0.len() - plan.count("refused");
    ensure!(
        to_send > 0,
        "none of the guests may get it; nothing was written"
    );
    if command.json.json && dry_run
        || !command
            .careful
            .goes_on(Some(&format!("send to {to_send} guest(s)")))?
    {
        return Ok(());
    }
    let new = New {
        campaign_id: campaign,
        name,
        texts: &texts,
        plan: &plan,
        all_consenting: false,
        awaits_approval: command.for_approval,
        order: Order {
            by: &who.by,
            reason: &who.reason,
        },
    };
    let created = during("Listing the guests", create(fleet, casino, &new)).await?;
    ensure!(created, taken(casino, name));
    if command.json.json {
        out!("{}", document(Some(campaign), name, &texts, &plan, rate));
    } else if command.for_approval {
        out!("Campaign {campaign} waits for `seven campaign approve --casino {casino} '{name}'`.");
    } else {
        out!("Campaign {campaign} is under way: `seven campaign show --casino {casino} '{name}'`.");
    }
    Ok(())
}

fn taken(casino: &CasinoId, name: &str) -> String {
    format!("{casino} has a campaign `{name}` already; nothing was written")
}

/// Returns the casino's document; fails if the campaign name is already used.
async fn config(fleet: &Fleet, casino: &CasinoId, name: &str) -> Result<Arc<CasinoConfig>> {
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx
        .casino_row()
        .await?
        .with_context(|| format!("no casino {casino}; `seven casino list` shows them"))?;
    ensure!(tx.campaign(name).await?.is_none(), taken(casino, name));
    tx.commit().await?;
    Ok(row.config)
}

/// Returns the chosen guests without duplicates, in the list's order.
async fn guests(fleet: &Fleet, casino: &CasinoId, whom: &Whom) -> Result<Vec<GuestHash>> {
    let Some(file) = &whom.guests else {
        let mut tx = fleet.store.bind(casino).await?;
        let all = tx.consenting_guests().await?;
        tx.commit().await?;
        return Ok(all);
    };
    let text = crate::commands::read(file)?;
    let (mut guests, mut seen) = (Vec::new(), HashSet::new());
    for (n, line) in (1..).zip(text.lines()) {
        let word = line.split('#').next().unwrap_or_default().trim();
        if word.is_empty() {
            continue;
        }
        // The error does not repeat the text of the line, because it may be a phone.
        let guest: GuestRef = word
            .parse()
            .ok()
            .with_context(|| format!("line {n} names no guest"))?;
        ensure!(!matches!(guest, GuestRef::Stdin), "line {n} names no guest");
        let hash = guest
            .hash(fleet, casino)
            .await
            .with_context(|| format!("line {n}"))?;
        if seen.insert(hash.tag()) {
            guests.push(hash);
        }
    }
    Ok(guests)
}

/// Prints the plan; with `each`, also one line per guest.
fn say(
    ctx: &Context,
    name: &str,
    casino: &CasinoId,
    texts: &Texts,
    plan: &Plan,
    rate: f64,
    each: bool,
) {
    out!("{name} at {casino}");
    for (
        language,
        Text {
            body,
            measure,
            risk,
        },
    ) in [("EN", &texts.en), ("ES", &texts.es)]
    {
        out!("  {language}  {body}");
        out!(
            "      {} of {} units, risk {risk}",
            measure.units,
            measure.encoding.single()
        );
    }
    if each {
        let mut table = ctx.table(["guest", "outcome", "why"]);
        for line in &plan.0 {
            let guest = line
                .guest_id
                .map_or_else(|| line.guest.tag(), |id| id.to_string());
            let opens = line
                .fate
                .opens_at()
                .map(|at| format!(" (opens {})", at.format("%F %R UTC")))
                .unwrap_or_default();
            table.add_row([
                guest,
                line.fate.word().to_owned(),
                format!("{}{opens}", line.fate.why()),
            ]);
        }
        out!("{table}");
    }
    for ((word, why), n) in plan.counts() {
        out!(
            "{}",
            format!("  {n:>6}  {word:<9} {}", sentence(why)).trim_end()
        );
    }
    let (segments, seconds) = (plan.segments(), pace::estimate(rate, plan.segments()));
    let opening = plan
        .last_opening()
        .map(|at| format!("; the last window opens {}", at.format("%F %R UTC")));
    out!(
        "{} guest(s), {segments} segment(s): {} at {rate} a second{}",
        plan.0.len(),
        spoken(seconds),
        opening.unwrap_or_default()
    );
}

fn document(
    campaign: Option<CampaignId>,
    name: &str,
    texts: &Texts,
    plan: &Plan,
    rate: f64,
) -> Value {
    let text = |Text {
                    body,
                    measure,
                    risk,
                }: &Text| {
        json!({
            "text": body,
            "segments": measure.segments,
            "risk": risk.score(),
        })
    };
    let guests: Vec<Value> = plan
        .0
        .iter()
        .map(|line| {
            json!({
                "guest": line.guest.tag(), "guest_id": line.guest_id, "what": line.fate.word(),
                "why": line.fate.why(),
                "opens_at": line.fate.opens_at(),
            })
        })
        .collect();
    json!({
        "dry_run": campaign.is_none(), "campaign_id": campaign, "name": name, "en": text(&texts.en),
        "es": text(&texts.es),
        "counts": plan.document(), "segments": plan.segments(), "segments_per_second": rate,
        "seconds": pace::estimate(rate, plan.segments()).as_secs(), "guests": guests,
    })
}

/// Formats a duration for an operator.
fn spoken(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..120 => format!("about {seconds} s"),
        seconds @ 120..7_200 => format!("about {} min", seconds.div_ceil(60)),
        seconds => format!("about {} h", seconds.div_ceil(3_600)),
    }
}
