//! `seven sms inspect`: JSON lines {"text"} -> {"encoding","units","segments"}.

use anyhow::Result;
use clap::Subcommand;
use serde::Deserialize;
use serde_json::json;

use super::json_lines;

#[derive(Debug, Subcommand)]
pub enum Sms {
    /// Encoding, units (septets or UTF-16 units) and segments of each text on stdin: {"text"} -> {"encoding","units","segments"}.
    Inspect {
        /// JSON lines in and out (the only form there is).
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Deserialize)]
struct Question {
    text: String,
}

pub fn run(_command: &Sms) -> Result<()> {
    json_lines(|question: Question| {
        let measure = seven_sms::measure(&question.text);
        Ok(json!({ "encoding": measure.encoding.as_str(), "units": measure.units, "segments": measure.segments }))
    })
}
