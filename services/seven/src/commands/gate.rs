//! `seven gate`: `hits` and `mark` are in `review`; `check`: JSON lines {"text"} -> {"verdict","pattern_id"?,"hits","likely"?,"author"?,"reply"?}.

pub mod review;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Subcommand;
use serde::Deserialize;
use serde_json::{Value, json};
use seven_compliance::{Author, Decision, Intent, Verdict};
use seven_domain::{CasinoConfig, CasinoId, Language};
use seven_packs::TextKey;
use seven_settings::Settings;

use super::json_lines;
use crate::{onboard, packs};

#[derive(Debug, Subcommand)]
pub enum Gate {
    /// The gate's verdict on each text on stdin: {"text"} -> {"verdict","pattern_id"?,"hits","likely"?,"author"?,"reply"?}.
    ///
    /// Verdicts: pass, opt_out, opt_in, help, affirm, privacy, delete, crisis, emergency, prompt_injection, responsible_gaming,
    /// bsa_aml, patron_privacy, pii, age_verification, identity, abuse. `hits` has every layer that hit, the gravest first.
    /// `likely` is opt_out, crisis, emergency or responsible_gaming where a text only resembles one: the guest is asked, or told of the
    /// line beside the answer. `author` is echo (a phone quotes us) or machine where no guest wrote the text; nothing answers it.
    Check {
        /// JSON lines in and out (the only form there is).
        #[arg(long)]
        json: bool,
        /// Render replies for this casino of the demo pack.
        #[arg(long, value_name = "ID")]
        casino: Option<CasinoId>,
        /// Render replies for the casino of this document.
        #[arg(long, value_name = "FILE", conflicts_with = "casino")]
        casino_file: Option<PathBuf>,
    },
    /// The weekly review: what the guardrails hit, by pattern, with what people judged to be false alarms.
    Hits(review::List),
    /// Judge what a guardrail did with one text: a false alarm, or a text it missed, which raises an alert.
    Mark(review::Mark),
}

#[derive(Debug, Deserialize)]
struct Question {
    text: String,
}

pub async fn run(settings: Option<&Path>, command: &Gate) -> Result<()> {
    match command {
        Gate::Check { casino, casino_file, .. } => check(settings, casino.as_ref(), casino_file.as_deref()),
        Gate::Hits(command) => review::list(settings, command).await,
        Gate::Mark(command) => review::mark(settings, command).await,
    }
}

fn check(settings: Option<&Path>, casino: Option<&CasinoId>, casino_file: Option<&Path>) -> Result<()> {
    let config = document(casino, casino_file)?;
    let settings = Settings::load(settings)?;
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

/// Guardrail layers and, where there is one, the opt-out: a text may be both.
fn hits(decision: &Decision) -> Vec<Value> {
    let opt_out = decision.keyword.filter(|keyword| keyword.intent == Intent::OptOut);
    let layers = decision
        .hits
        .iter()
        .map(|hit| json!({ "layer": hit.layer, "pattern_id": hit.pattern_id, "intent": hit.intent }));
    layers.chain(opt_out.map(|keyword| json!({ "layer": "opt_out", "pattern_id": keyword.pattern_id }))).collect()
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
        Verdict::Keyword(keyword) => Some((reply_to(keyword.intent)?, keyword.language)),
        Verdict::Guardrail(hit) => Some((TextKey::answer_to(hit.layer), hit.language)),
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
                    "the pack holds {}, not {wanted}; name the document instead: --casino-file FILE",
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
