//! `seven dead discard`: marks dead letters as not needed, with a reason. They can be seen until
//! retention deletes them.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use seven_dead_letters as dead;
use seven_runtime::Fleet;

use super::{
    batch::{self, Refused, Todo, Verb},
    select::{Select, whose},
};
use crate::commands::{
    args::{Careful, Json, Who},
    context::Context,
    id_prefix::IdPrefix,
};

const VERB: Verb = Verb {
    order: "discard",
    done: "discarded",
};

#[derive(Debug, Args)]
#[command(group = whose())]
pub struct Discard {
    /// Ids of the dead letters, or unique prefixes. Without ids: all that the filters match.
    #[arg(value_name = "ID")]
    ids: Vec<IdPrefix>,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    careful: Careful,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    who: Who,
}

pub(super) async fn discard(ctx: &Context, fleet: &Fleet, command: Discard) -> Result<ExitCode> {
    let Discard {
        ids,
        select,
        careful,
        json: Json { json },
        who: Who { by, reason },
    } = command;
    let parts = if ids.is_empty() {
        select.parts(fleet, false).await?
    } else {
        Vec::new()
    };
    let todos = batch::collect(fleet, &ids, &select, &parts).await?;
    if careful.dry_run {
        batch::plan(
            ctx,
            VERB,
            todos.into_iter().map(|todo| (todo.owner, todo.stage)),
            &Refused::new(),
            json,
        );
        return Ok(ExitCode::SUCCESS);
    }
    if ids.is_empty() && !batch::confirmed(VERB, todos.len(), careful.yes)? {
        bail!("nothing was done");
    }
    let act = async |todo: &Todo| dead::discard(fleet, &todo.owner, todo.id, &by, &reason).await;
    let tally = batch::each(&todos, None, VERB, act).await?;
    Ok(tally.report(VERB, json))
}
