//! Options of `./scripts/chaos`.

use std::time::Duration;

#[derive(Debug, Clone, clap::Args)]
pub struct Chaos {
    /// Minutes for which guests write and faults occur.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        conflicts_with = "seconds"
    )]
    pub(crate) minutes: u64,
    /// Seconds for which guests write and faults occur, for a shortened run.
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<u64>,
    /// Seed from which faults and load are drawn; by default a new one, which is printed.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Run the mutants instead: break each promise on purpose, one after the other, and show that
    /// the checker notices.
    #[arg(long)]
    pub(crate) mutants: bool,
    /// Run only these mutants; needs --mutants.
    #[arg(long, value_name = "NAME", requires = "mutants")]
    pub(crate) only: Vec<String>,
    /// Seconds that the fleet may take to settle after the load.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) patience: u64,
}

impl Chaos {
    pub(crate) fn span(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(self.minutes * 60))
    }
}
