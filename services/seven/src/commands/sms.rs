//! `seven sms inspect|risk`: reads texts as JSON lines and prints one JSON line about each.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use serde::Deserialize;
use serde_json::json;

use super::{
    args::Json,
    context::{Context, Operate},
    json_lines,
};

#[derive(Debug, Subcommand)]
pub enum Sms {
    /// Print encoding, units and segments of each text on stdin; JSON lines in and out.
    ///
    /// {"text"} -> {"encoding","units","segments"}. Units are septets (GSM-7) or UTF-16 units.
    Inspect(Json),
    /// Print the risk that carriers filter each text on stdin; JSON lines in and out.
    ///
    /// {"text","earlier":[..]} -> {"score","reword","parts":[{"factor","count","adds"}]}. `earlier`
    /// holds the guest's last texts, the newest first. The score is 0 to 1; above 0.6 the text must
    /// be reworded.
    Risk(Json),
}

#[derive(Debug, Deserialize)]
struct Question {
    text: String,
    #[serde(default)]
    earlier: Vec<String>,
}

impl Operate for Sms {
    async fn run(self, _: &Context) -> Result<ExitCode> {
        answer(&self)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn answer(command: &Sms) -> Result<()> {
    json_lines(|Question { text, earlier }| {
        Ok(match command {
            Sms::Inspect(_) => {
                let measure = seven_sms::measure(&text);
                json!({
                    "encoding": measure.encoding.as_str(),
                    "units": measure.units,
                    "segments": measure.segments,
                })
            }
            Sms::Risk(_) => {
                let risk = seven_sms::risk(&text, &earlier);
                let part = |part: &seven_sms::risk::Part| {
                    json!({
                        "factor": part.factor.as_str(),
                        "count": part.count,
                        "adds": f64::from(part.hundredths) / 100.0,
                    })
                };
                json!({
                    "score": risk.score(),
                    "reword": risk.must_be_reworded(),
                    "parts": risk.parts.iter().map(part).collect::<Vec<_>>(),
                })
            }
        })
    })
}
