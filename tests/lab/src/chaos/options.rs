//! Options of `./scripts/chaos`.

use std::time::Duration;

#[derive(Debug, Clone, clap::Args)]
pub struct Chaos {
    /// How long guests text and things break.
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "seconds")]
    pub(crate) minutes: u64,
    /// The same in seconds, for a shortened run.
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<u64>,
    /// Draws faults and load; without it a new one, which is printed.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Instead, break the promises on purpose, one after the other, and show that the checker notices each.
    #[arg(long)]
    pub(crate) mutants: bool,
    /// With --mutants: only these.
    #[arg(long, value_name = "NAME", requires = "mutants")]
    pub(crate) only: Vec<String>,
    /// How long after the load everything may take to settle.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) patience: u64,
}

impl Chaos {
    pub(crate) fn span(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(self.minutes * 60))
    }
}
