//! `./scripts/dev`: the whole fleet with the demo casino and the carrier simulator, and a handset to text it.

pub mod breaking;
mod doctor;
mod explain;
mod handset;
mod observe;
mod play;
mod start;

use std::path::PathBuf;

use anyhow::Result;
use chrono::{DateTime, Utc};

#[derive(Debug, Clone, clap::Args)]
pub struct Dev {
    /// Send one text, print the conversation, leave.
    #[arg(long, value_name = "TEXT", conflicts_with = "script")]
    pub say: Option<String>,
    /// Play a JSON Lines file of {"from","text","wait_ms"?} and print every text sent.
    #[arg(long, value_name = "FILE.jsonl")]
    pub script: Option<PathBuf>,
    /// Print JSON lines instead of a conversation.
    #[arg(long)]
    pub json: bool,
    /// Scale of all waits: 1 is real time, 0 removes them.
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub time_scale: f64,
    /// Start the guests' and the casino's clock at this time.
    #[arg(long, value_name = "RFC3339", value_parser = seven::commands::given::moment)]
    pub at: Option<DateTime<Utc>>,
    /// Another casino's document (JSON or TOML) instead of the demo's.
    #[arg(long, value_name = "FILE")]
    pub casino_file: Option<PathBuf>,
    /// Its content (JSON or JSON Lines).
    #[arg(long, value_name = "FILE")]
    pub content_file: Option<PathBuf>,
    /// Send every trace to this collector (OTLP over HTTP), such as http://127.0.0.1:4318.
    #[arg(long, value_name = "URL")]
    pub otlp: Option<url::Url>,
    /// Break something on purpose and watch the promise hold.
    #[arg(long, value_name = "WHAT")]
    pub r#break: Option<breaking::Break>,
    /// Start Prometheus beside the fleet with the rules of this folder.
    #[arg(long, value_name = "FOLDER")]
    pub observe: Option<PathBuf>,
    /// Check this machine and leave.
    #[arg(long)]
    pub doctor: bool,
}

pub async fn run(dev: Dev) -> Result<()> {
    if dev.doctor {
        return doctor::run().await;
    }
    if let Some(what) = dev.r#break {
        return breaking::run(&dev, what).await;
    }
    let empty = dev.say.as_ref().is_some_and(|text| text.trim().is_empty());
    anyhow::ensure!(!empty, "--say is empty; say what the guest texts, such as \"Is the pool open?\"");
    if dev.say.is_some() || dev.script.is_some() {
        return play::run(&dev).await;
    }
    handset::run(&dev).await
}

pub(crate) use explain::explain;
pub(crate) use play::sent_texts;
pub(crate) use start::{House, house};
