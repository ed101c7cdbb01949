//! `seven gate check`: JSON lines {"text"} -> {"verdict","pattern_id"?,"reply"?}.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Subcommand;
use serde::Deserialize;
use serde_json::json;
use seven_compliance::{Guardrails, Intent, Verdict, verdict};
use seven_domain::{CasinoConfig, CasinoId};
use seven_packs::{Slots, TextKey, Texts};

use super::json_lines;
use crate::onboard;

#[derive(Debug, Subcommand)]
pub enum Gate {
    /// The gate's verdict on each text on stdin: {"text"} -> {"verdict","pattern_id"?,"reply"?}.
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
}

#[derive(Debug, Deserialize)]
struct Question {
    text: String,
}

pub fn run(Gate::Check { casino, casino_file, .. }: &Gate) -> Result<()> {
    let config = document(casino.as_ref(), casino_file.as_deref())?;
    let (texts, guardrails) = (Texts::casino(), Guardrails::default());
    json_lines(|question: Question| {
        let verdict = verdict(&question.text, &guardrails);
        let mut answer = json!({ "verdict": verdict.as_str() });
        match &verdict {
            Verdict::Pass => {}
            Verdict::Guardrail(hit) => answer["pattern_id"] = json!(hit.pattern_id),
            Verdict::Keyword(keyword) => {
                answer["pattern_id"] = json!(keyword.pattern_id);
                if let Some(key) = reply_to(keyword.intent) {
                    answer["reply"] = json!(texts.render(key, keyword.language.unwrap_or_default(), &slots(&config)));
                }
            }
        }
        Ok(answer)
    })
}

fn document(casino: Option<&CasinoId>, file: Option<&Path>) -> Result<CasinoConfig> {
    let demo = || onboard::read_casino("demo/casino.json", seven_packs::demo::CASINO);
    match file {
        Some(file) => onboard::read_casino(&file.display().to_string(), &std::fs::read_to_string(file)?),
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

fn slots(config: &CasinoConfig) -> Slots<'_> {
    Slots {
        casino: &config.prompts.casino_name_display,
        phone: &config.operational.contact_phone,
        persona: &config.branding.persona_name,
    }
}
