//! `seven sms inspect|risk`: JSON lines in, JSON lines out.

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
    /// How likely carriers are to filter each text on stdin, from 0 to 1, with what adds to it; above 0.6 it must be reworded:
    /// {"text","earlier":[..]} -> {"score","reword","parts":[{"factor","count","adds"}]}. `earlier`: the guest's last texts, the newest first.
    Risk {
        /// JSON lines in and out (the only form there is).
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Deserialize)]
struct Question {
    text: String,
    #[serde(default)]
    earlier: Vec<String>,
}

pub fn run(command: &Sms) -> Result<()> {
    json_lines(|Question { text, earlier }| {
        Ok(match command {
            Sms::Inspect { .. } => {
                let measure = seven_sms::measure(&text);
                json!({ "encoding": measure.encoding.as_str(), "units": measure.units, "segments": measure.segments })
            }
            Sms::Risk { .. } => {
                let risk = seven_sms::risk(&text, &earlier);
                let part = |part: &seven_sms::risk::Part| json!({ "factor": part.factor.as_str(), "count": part.count, "adds": f64::from(part.hundredths) / 100.0 });
                json!({ "score": risk.score(), "reword": risk.must_be_reworded(), "parts": risk.parts.iter().map(part).collect::<Vec<_>>() })
            }
        })
    })
}
