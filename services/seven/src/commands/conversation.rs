//! `seven conversation`: lists and shows conversations, pauses the host, and lets a person write in
//! its place. Texts and known facts about guests are masked unless `--reveal` is given, which is
//! audited.

mod dialogue;
mod list;
mod show;
mod which;

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, OutboundId, OutboundState};
use seven_runtime::Fleet;
use seven_staff::{Write, announce, go_on, note, say as say_as_person, take_over as take_over_as};
use tokio::time::{Instant, sleep};
use which::Which;

use super::{
    args::{By, Who},
    context::{Context, Operate},
};
use crate::out;

/// Maximum time that a command waits for the outcome of a text.
const OUTCOME_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Subcommand)]
pub enum Conversation {
    /// List the conversations of a period, and all that are paused or have an open case.
    List(list::List),
    /// Show the state of one conversation, its texts and the known facts about the guest.
    Show(show::Show),
    /// Print a conversation as a dialogue that `./scripts/eval` plays again.
    ///
    /// The guest's texts become turns, and the answers that were sent become comments. Expectations
    /// that you add make it a test (tests/conversations/README.md).
    Dialogue(dialogue::Dialogue),
    /// Pause the host: it is silent and inbound texts are kept.
    ///
    /// STOP, HELP and cries for help are still answered. `resume` ends the pause.
    Pause(Pause),
    /// End a pause: the host answers the kept texts.
    Resume(End),
    /// Pause the host to write in its place.
    ///
    /// The guest is not told. `say` sends a text, `release` ends the takeover.
    Takeover(Takeover),
    /// Send a text as a person, during a takeover.
    ///
    /// The text passes the same pre-send check as every text. The guest's earlier texts count as
    /// answered.
    Say(Say),
    /// End a takeover: the host answers the texts that no person answered.
    Release(End),
}

#[derive(Debug, Args)]
pub struct Pause {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    who: Who,
    /// Minutes after which the pause ends by itself. Without it: it lasts until `resume`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_080))]
    minutes: Option<u32>,
}

#[derive(Debug, Args)]
pub struct Takeover {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    who: Who,
}

#[derive(Debug, Args)]
pub struct Say {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    by: By,
    /// The text to send, at most two messages long; - reads it from stdin.
    #[arg(long)]
    text: String,
}

#[derive(Debug, Args)]
pub struct End {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    by: By,
}

impl Operate for Conversation {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::List(command) => return command.run(ctx).await,
            Self::Show(command) => return command.run(ctx).await,
            Self::Dialogue(command) => return command.run(ctx).await,
            Self::Pause(command) => pause(ctx.fleet().await?, command).await?,
            Self::Takeover(command) => take_over(ctx.fleet().await?, command).await?,
            Self::Say(command) => say(ctx.fleet().await?, command).await?,
            Self::Resume(End { which, by }) => {
                resume(ctx.fleet().await?, &which, &by.by, "Resumed").await?;
            }
            Self::Release(End { which, by }) => {
                resume(ctx.fleet().await?, &which, &by.by, "Released").await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn pause(
    fleet: &Fleet,
    Pause {
        which,
        who,
        minutes,
    }: Pause,
) -> Result<()> {
    let conversation = which.find(fleet).await?;
    let span = minutes.map(|minutes| {
        fleet
            .timing
            .scaled(Duration::from_secs(u64::from(minutes) * 60))
    });
    let mut tx = fleet.store.bind(which.casino()).await?;
    // From now on, a turn in progress can send nothing more (D4).
    tx.cancel_unsent(conversation, "conversation_paused")
        .await?;
    tx.pause(conversation, "operator", span).await?;
    let detail = json!({ "reason": who.reason, "minutes": minutes });
    note(
        &mut tx,
        AuditEvent::ConversationPaused,
        &who.by,
        conversation,
        detail,
    )
    .await?;
    tx.commit().await?;
    let end = minutes.map_or_else(
        || "until `seven conversation resume`".to_owned(),
        |minutes| format!("for {minutes} min, or until `seven conversation resume`"),
    );
    out!("Paused {conversation} {end}: the host is silent, and the guest's texts are kept.");
    Ok(())
}

async fn take_over(fleet: &Fleet, Takeover { which, who }: Takeover) -> Result<()> {
    let conversation = which.find(fleet).await?;
    let mut tx = fleet.store.bind(which.casino()).await?;
    take_over_as(&mut tx, conversation, &who.by, &who.reason).await?;
    tx.commit().await?;
    out!(
        "Took over {conversation} until `seven conversation release`: the host is silent, and the \
         guest's texts are kept."
    );
    Ok(())
}

async fn say(
    fleet: &Fleet,
    Say {
        which,
        by: By { by },
        text,
    }: Say,
) -> Result<()> {
    let text = if text == "-" {
        std::io::read_to_string(std::io::stdin()).context("reading stdin")?
    } else {
        text
    };
    let conversation = which.find(fleet).await?;
    let said = say_as_person(
        fleet,
        &Write {
            casino: which.casino(),
            conversation,
            by: &by,
            text: &text,
            read: None,
        },
    )
    .await?;
    out!(
        "Queued as {} text(s); {} text(s) of the guest count as answered.",
        said.texts.len(),
        said.answered
    );
    for id in &said.texts {
        let (state, reason) = outcome(fleet, which.casino(), *id).await?;
        out!(
            "  {id}  {state}{}",
            reason.map_or_else(String::new, |reason| format!(" ({reason})"))
        );
    }
    Ok(())
}

async fn resume(fleet: &Fleet, which: &Which, by: &str, done: &str) -> Result<()> {
    let conversation = which.find(fleet).await?;
    let mut tx = fleet.store.bind(which.casino()).await?;
    let resumed = go_on(&mut tx, conversation, by).await?;
    let resumed = resumed.with_context(|| format!("{conversation} is not paused"))?;
    tx.commit().await?;
    announce(fleet, which.casino(), conversation, &resumed).await;
    out!(
        "{done} {conversation}: the host answers {} kept text(s).",
        resumed.released
    );
    Ok(())
}

/// Waits until the text was sent or cannot be sent, for 5 s at most. Returns its state and the
/// reason, if there is one.
async fn outcome(
    fleet: &Fleet,
    casino: &CasinoId,
    text: OutboundId,
) -> Result<(OutboundState, Option<String>)> {
    let end = Instant::now() + OUTCOME_TIMEOUT;
    loop {
        let mut tx = fleet.store.bind(casino).await?;
        let (state, reason) = tx
            .outbound_state(text)
            .await?
            .context("it was deleted this moment")?;
        tx.commit().await?;
        let under_way = match state {
            OutboundState::Queued => reason.is_none(),
            state => state == OutboundState::Sending,
        };
        if !under_way || Instant::now() > end {
            return Ok((state, reason));
        }
        sleep(Duration::from_millis(100)).await;
    }
}
