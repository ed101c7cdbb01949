//! `seven gate`: `check` prints the gate's verdicts on texts from stdin; `hits` and `mark` are in
//! `review`.

pub mod review;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};
use seven_compliance::{Author, Decision, Intent, Verdict};
use seven_domain::{CasinoConfig, CasinoId, Language};
use seven_packs::TextKey;

use super::{
    args::Json,
    context::{Context, Operate},
    json_lines,
};
use crate::{onboard, packs};

#[derive(Debug, Subcommand)]
pub enum Gate {
    /// Print the gate's verdict on each text on stdin; JSON lines in and out.
    ///
    /// {"text"} -> {"verdict","pattern_id"?,"hits","likely"?,"author"?,"reply"?}.
    ///
    /// Verdicts: pass, opt_out, opt_in, help, affirm, privacy, delete, crisis, emergency,
    /// prompt_injection, responsible_gaming, bsa_aml, patron_privacy, pii, age_verification,
    /// identity, abuse. `hits` has every layer that hit, the most severe first. `likely` is
    /// opt_out, crisis, emergency or responsible_gaming if it is only likely that the guest means
    /// this: the guest is asked, or gets the helpline in addition to the answer. `author` is echo
    /// (a phone quotes us) or machine if no guest wrote the text; such a text gets no answer.
    Check(Check),
    /// Show the guardrail hits by pattern, with those that people judged to be false alarms.
    Hits(review::List),
    /// Record that a guardrail hit was a false alarm, or that a text was missed.
    Mark(review::Mark),
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    json: Json,
    /// The casino's id, as `seven casino list` shows it. Its replies are printed; it must be the
    /// demo pack's casino.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
    /// The casino document whose replies are printed.
    #[arg(long, value_name = "FILE", conflicts_with = "casino")]
    casino_file: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Question {
    text: String,
}

impl Operate for Gate {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::Check(command) => check(ctx, &command)?,
            Self::Hits(command) => review::list(ctx, &command).await?,
            Self::Mark(command) => review::mark(ctx, command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn check(ctx: &Context, command: &Check) -> Result<()> {
    let config = document(command.casino.as_ref(), command.casino_file.as_deref())?;
    let settings = ctx.settings()?;
    let packs = packs::load(&settings.packs.directory)?;
    let pack = packs.of(&config)?;
    json_lines(|question: Question| {
        let decision = if settings.gate.second_reader {
            seven_reader::decide(pack.guardrails(), &question.text)?
        } else {
            pack.guardrails().decide(&question.text)
        };
        let mut answer = json!({ "verdict": decision.verdict.as_str(), "hits": hits(&decision) });
        if let Some(likely) = decision.likely {
            answer["likely"] = json!(likely.kind.as_str());
            answer["margin"] = json!(likely.margin);
        }
        if decision.author != Author::Guest {
            answer["author"] = json!(decision.author);
        }
        if let Some(id) = pattern_id(&decision) {
            answer["pattern_id"] = json!(id);
        }
        if let Some((key, language)) = reply(&decision) {
            answer["reply"] = json!(pack.say(key, language.unwrap_or_default(), &config));
        }
        Ok(answer)
    })
}

/// Returns the guardrail layers that hit, and the opt-out, if any; a text may have both.
fn hits(decision: &Decision) -> Vec<Value> {
    let opt_out = decision
        .keyword
        .filter(|keyword| keyword.intent == Intent::OptOut);
    let layers = decision.hits.iter().map(
        |hit| json!({ "layer": hit.layer, "pattern_id": hit.pattern_id, "intent": hit.intent }),
    );
    layers
        .chain(
            opt_out.map(|keyword| json!({ "layer": "opt_out", "pattern_id": keyword.pattern_id })),
        )
        .collect()
}

fn pattern_id(decision: &Decision) -> Option<String> {
    match &decision.verdict {
        Verdict::Pass => None,
        Verdict::Keyword(keyword) => Some(keyword.pattern_id.to_owned()),
        Verdict::Guardrail(hit) => Some(hit.pattern_id.clone()),
    }
}

fn reply(decision: &Decision) -> Option<(TextKey, Option<Language>)> {
    match &decision.verdict {
        Verdict::Pass => None,
        Verdict::Keyword(keyword) => Some((reply_to(keyword.intent)?, decision.language())),
        Verdict::Guardrail(hit) => Some((TextKey::answer_to(hit.layer), decision.language())),
    }
}

fn document(casino: Option<&CasinoId>, file: Option<&Path>) -> Result<CasinoConfig> {
    let demo = || onboard::read_casino("demo/casino.json", seven_packs::demo::CASINO);
    match file {
        Some(file) => onboard::read_casino(&file.display().to_string(), &super::read(file)?),
        None => {
            let demo = demo()?;
            if let Some(wanted) = casino.filter(|wanted| **wanted != demo.casino_id) {
                anyhow::bail!(
                    "the pack holds {}, not {wanted}; name the document instead: --casino-file \
                     FILE",
                    demo.casino_id
                );
            }
            Ok(demo)
        }
    }
}

fn reply_to(intent: Intent) -> Option<TextKey> {
    match intent {
        Intent::OptOut => Some(TextKey::OptOutConfirmation),
        Intent::OptIn => Some(TextKey::OptInConfirmation),
        Intent::Help => Some(TextKey::Help),
        Intent::Privacy => Some(TextKey::Privacy),
        Intent::Delete => Some(TextKey::DeleteReceived),
        Intent::Affirm => None,
    }
}
