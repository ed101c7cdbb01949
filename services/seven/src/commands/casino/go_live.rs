//! `seven casino go-live`: checks everything that must be true before the first real guest is
//! texted. `gather` collects the facts, `checklist` judges them.

pub mod checklist;
pub mod gather;
pub mod pages;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use seven_domain::CasinoId;

use crate::{
    commands::{
        args::Json,
        context::{Context, Operate},
    },
    out,
};

#[derive(Debug, Args)]
pub struct GoLive {
    /// The casino's id.
    casino: CasinoId,
    #[command(flatten)]
    json: Json,
}

impl Operate for GoLive {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let Self { casino, json } = self;
        let fleet = ctx.fleet().await?;
        crate::commands::known(&fleet.store, &casino).await?;
        let lines = checklist::judge(&gather::facts(fleet, &ctx.settings()?, &casino).await?);
        let missing = lines.iter().filter(|line| !line.ok).count();
        let code = if missing == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
        if json.json {
            out!(
                "{}",
                json!({ "casino": casino, "ready": missing == 0, "checks": lines })
            );
            return Ok(code);
        }
        for line in &lines {
            let mark = if line.ok { "ok     " } else { "missing" };
            out!(
                "{}",
                ctx.view
                    .line(&format!("{mark} {:<14} {}", line.what, line.found))
            );
            if let Some(todo) = &line.todo {
                out!("        {:<14} -> {todo}", "");
            }
        }
        match missing {
            0 => out!(
                "{casino} is ready for its first guests: {} checks.",
                lines.len()
            ),
            n => out!(
                "{casino} is not ready: {n} of {} checks missing.",
                lines.len()
            ),
        }
        out!(
            "No command can check these: the casino's signature under its content, a person on \
             call."
        );
        Ok(code)
    }
}
