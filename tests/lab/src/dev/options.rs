//! Options of `./scripts/dev`.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

#[derive(Debug, Clone, clap::Args)]
pub struct Dev {
    /// Send one text, print the conversation and exit.
    #[arg(long, value_name = "TEXT", conflicts_with = "script")]
    pub say: Option<String>,
    /// Play a JSON Lines file of {"from","text","wait_ms"?} and print every text sent.
    #[arg(long, value_name = "FILE.jsonl")]
    pub script: Option<PathBuf>,
    /// Print JSON Lines instead of a conversation.
    #[arg(long)]
    pub json: bool,
    /// Scale of all waits: 1 is real time, 0 removes them.
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub time_scale: f64,
    /// Start the clock of the guests and the casino at this time.
    #[arg(long, value_name = "RFC3339", value_parser = seven::commands::given::moment)]
    pub at: Option<DateTime<Utc>>,
    /// Document of another casino (JSON or TOML) to use instead of the demo's.
    #[arg(long, value_name = "FILE")]
    pub casino_file: Option<PathBuf>,
    /// Content of that casino (JSON or JSON Lines).
    #[arg(long, value_name = "FILE")]
    pub content_file: Option<PathBuf>,
    /// Let a hosted model answer; the [model] table of this settings file names it.
    #[arg(long, value_name = "FILE.toml")]
    pub model: Option<PathBuf>,
    /// Send every trace to this collector (OTLP over HTTP), such as http://127.0.0.1:4318.
    #[arg(long, value_name = "URL")]
    pub otlp: Option<url::Url>,
    /// Cause this failure on purpose and show that no text is lost.
    #[arg(long, value_name = "WHAT")]
    pub r#break: Option<Break>,
    /// Start Prometheus with the fleet, using the rules in this folder.
    #[arg(long, value_name = "FOLDER")]
    pub observe: Option<PathBuf>,
    /// Check this machine and exit.
    #[arg(long)]
    pub doctor: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Break {
    /// Redis dies just before a text arrives.
    Redis,
    /// NATS is down when the webhook arrives, and is restarted later.
    Nats,
    /// Postgres is down when the webhook arrives, and is restarted later.
    Postgres,
    /// The carrier answers 429 twice.
    #[value(name = "telnyx-429")]
    Telnyx429,
    /// The sender is killed (kill -9) during the typing delay.
    KillSender,
}
