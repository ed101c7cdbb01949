//! `seven dead replay`: sends dead letters back to the stage that failed, under a fresh message id
//! and the same identity (D17).

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use seven_compliance::Verdict;
use seven_dead_letters::{self as dead, Did};
use seven_domain::{CasinoId, DeadId, DeadState, Stage};
use seven_intake::{Intake, intake_raw};
use seven_runtime::Fleet;
use seven_store::dead::Filter;

use super::{
    batch::{self, Todo, Verb},
    select::{Select, whose},
    stream,
};
use crate::{
    commands::{
        args::{By, Careful, Json},
        context::Context,
        id_prefix::IdPrefix,
    },
    out,
};

const VERB: Verb = Verb {
    order: "replay",
    done: "replayed",
};

#[derive(Debug, Args)]
#[command(group = whose())]
pub struct Replay {
    /// Ids of the dead letters in any state, or unique prefixes. Without ids: all that the filters
    /// match.
    #[arg(value_name = "ID")]
    ids: Vec<IdPrefix>,
    #[command(flatten)]
    select: Select,
    /// Number of dead letters replayed per second, at most.
    #[arg(long, value_name = "N/s", default_value = "5/s", value_parser = rate)]
    rate: f64,
    #[command(flatten)]
    careful: Careful,
    /// Also replay letters whose rows are gone but whose announcements are still in the dead-letter
    /// stream.
    #[arg(long, conflicts_with = "ids")]
    from_stream: bool,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    by: By,
}

/// Parses a rate: `5`, `5/s` or `0.5/s`.
fn rate(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).parse::<f64>().ok();
    number
        .filter(|rate| (0.01..=1_000.0).contains(rate))
        .ok_or_else(|| "expected 0.01/s to 1000/s, such as 5/s".to_owned())
}

pub(super) async fn replay_all(ctx: &Context, fleet: &Fleet, command: Replay) -> Result<ExitCode> {
    let Replay {
        ids,
        select,
        rate,
        careful,
        from_stream,
        json: Json { json },
        by: By { by },
    } = command;
    let parts = if ids.is_empty() {
        select.parts(fleet, from_stream).await?
    } else {
        Vec::new()
    };
    let mut todos = batch::collect(fleet, &ids, &select, &parts).await?;
    let lost = if from_stream {
        stream::lost(fleet, &parts).await?
    } else {
        Vec::new()
    };
    let wanted = if ids.is_empty() { select.state.0 } else { None };
    if careful.dry_run {
        let mut kinds = Vec::new();
        let looked = async |todo: &Todo| {
            let did = dead::judge(fleet, &todo.owner, todo.id, wanted).await?;
            if did == Did::Done {
                kinds.push((todo.owner.clone(), todo.stage));
            }
            Ok(did)
        };
        let tally = batch::each(&todos, None, VERB, looked).await?;
        // Letters that exist only in the stream are judged later, when their rows are restored.
        batch::plan(
            ctx,
            VERB,
            kinds.into_iter().chain(lost),
            &tally.refused,
            json,
        );
        return Ok(if tally.refused.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    // Letters named by id need no confirmation.
    if ids.is_empty() && !batch::confirmed(VERB, todos.len() + lost.len(), careful.yes)? {
        bail!("nothing was done");
    }
    if !lost.is_empty() {
        stream::refile(fleet, &parts).await?;
        todos = batch::collect(fleet, &ids, &select, &parts).await?;
    }
    let act = async |todo: &Todo| dead::replay(fleet, &todo.owner, todo.id, wanted, &by).await;
    let tally = batch::each(&todos, Some(rate), VERB, act).await?;
    Ok(tally.report(VERB, json))
}

/// Replays one letter in any state.
///
/// # Errors
/// When the letter is gone, its replay is refused, or a store is unreachable.
pub async fn replay(fleet: &Fleet, owner: &CasinoId, id: DeadId) -> Result<()> {
    match dead::replay(fleet, owner, id, None, "seven dead replay").await? {
        Did::Done => {
            out!("Replayed {id}.");
            Ok(())
        }
        Did::Refused(refusal) => bail!("{refusal}"),
        Did::Elsewhere => {
            bail!("{owner} has no dead letter {id}, or another replay has it in hand")
        }
    }
}

/// The outcome of replaying dead letters addressed to numbers that belonged to no casino.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct OfNumbers {
    pub replayed: usize,
    /// Number of ordinary texts that still wait because their casinos have no content yet. An
    /// answer without content would help nobody.
    pub without_content: usize,
    /// Number of refused letters, most of them because no casino has the number.
    pub kept: usize,
}

impl OfNumbers {
    /// Prints the outcome, if anything was replayed or kept.
    pub fn tell(self) {
        let Self {
            replayed,
            without_content,
            kept,
        } = self;
        if replayed > 0 {
            out!("Replayed {replayed} event(s) that came for its numbers before it had them.");
        }
        if without_content > 0 {
            out!("{without_content} text(s) that came before wait until the casino has content.");
        }
        if kept > 0 {
            out!("{kept} event(s) for numbers no casino has are kept: seven dead list --unknown.");
        }
    }
}

/// Replays open dead letters to numbers that belonged to no casino then but belong to one now.
/// Opt-outs, keywords and cries for help are replayed at once, ordinary texts once their casino has
/// content.
///
/// # Errors
/// When a store is unreachable.
pub async fn of_known_numbers(fleet: &Fleet, by: &str) -> Result<OfNumbers> {
    let unknown = CasinoId::unknown();
    let open = Filter {
        state: Some(DeadState::Open),
        stage: Some(Stage::Ingress),
        ..Filter::default()
    };
    let mut tx = fleet.store.bind(&unknown).await?;
    let mut letters = tx.dead_ids(&open).await?;
    tx.commit().await?;
    // Oldest first, so that a guest's texts keep their order.
    letters.sort_by_key(|(id, _, first_at)| (*first_at, id.0));
    let mut done = OfNumbers::default();
    for (id, ..) in letters {
        if waits_for_content(fleet, id).await? {
            done.without_content += 1;
        } else if dead::replay(fleet, &unknown, id, Some(DeadState::Open), by).await? == Did::Done {
            done.replayed += 1;
        } else {
            done.kept += 1;
        }
    }
    Ok(done)
}

/// Returns whether the letter is an ordinary text to a casino without content.
async fn waits_for_content(fleet: &Fleet, id: DeadId) -> Result<bool> {
    let mut tx = fleet.store.bind(&CasinoId::unknown()).await?;
    let letter = tx.dead_letter(id).await?;
    tx.commit().await?;
    let Some(letter) = letter else {
        return Ok(false);
    };
    let Intake::Text {
        event,
        to,
        occurred_at,
        ..
    } = intake_raw(&letter.payload, None, letter.first_at)
    else {
        return Ok(false);
    };
    let Some(casino) = fleet.store.casino_of_text(&to, occurred_at).await? else {
        return Ok(false);
    };
    let mut tx = fleet.store.bind(&casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    let Some(row) = row.filter(|row| row.content_version == 0) else {
        return Ok(false);
    };
    let decision = seven_reader::decide(fleet.packs.of(&row.config)?.guardrails(), &event.text)?;
    Ok(decision.verdict == Verdict::Pass && decision.likely.is_none())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_rate_is_a_number_a_second() {
        for (text, wanted) in [
            ("5/s", Some(5.0)),
            ("0.5", Some(0.5)),
            ("1000/s", Some(1_000.0)),
        ] {
            assert_eq!(super::rate(text).ok(), wanted, "{text}");
        }
        for bad in ["", "0", "-1/s", "5/m", "NaN", "inf", "1001"] {
            assert!(super::rate(bad).is_err(), "{bad}");
        }
    }
}
