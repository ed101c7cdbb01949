//! Options of `./scripts/bench`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;

#[derive(Debug, Clone, clap::Args)]
pub struct Bench {
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
    /// Texts of each measurement of throughput, each of another guest; ingress alone takes five times as many webhooks.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = RangedU64ValueParser::<usize>::new().range(1..=50_000))]
    pub(crate) texts: usize,
    /// How long each rate of the latency measurements is held; --texts ends it earlier at high rates.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub(crate) seconds: u64,
    /// Casinos there are and guests write to, in pipeline, start and recovery; growth and isolation have figures of their own, ingress one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub(crate) casinos: usize,
    /// Texts a second of the part `traces`; half of what the fleet takes by default.
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<f64>,
    /// Measure only these parts; all of them by default.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) only: Vec<Measured>,
    /// Pipeline: leave out the bare relay, and with it the ratio.
    #[arg(long)]
    pub(crate) no_floor: bool,
    /// Pipeline: once more with receipts, quiet window and typing delay as in production.
    #[arg(long)]
    pub(crate) as_in_production: bool,
    /// Pipeline: print the statements that took most of Postgres, counted in a run of their own.
    #[arg(long)]
    pub(crate) statements: bool,
    /// Write the results here as JSON too.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Pipeline: write a plot of the latencies over the rates.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// Parts that can be measured alone; all of them by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Measured {
    /// The whole way of a text, beside the bare relay.
    Pipeline,
    /// Webhooks a second, beside a server that only verifies and publishes.
    Ingress,
    /// How long ingress takes to accept STOPs while 1 800 strangers send their calls slowly.
    Slow,
    /// From the start of a process to ready, and what it takes at rest.
    Start,
    /// 1 to 500 casinos, 1 000 to 1 000 000 guests.
    Growth,
    /// Delay that one casino's flood adds for another's guests, each with workers of its own.
    Isolation,
    /// Texts with one unbroken trace, and a collector that is away.
    Traces,
    /// How long guests wait when a worker or a server dies, and how long a backup and its restoring take.
    Recovery,
}

#[derive(Debug, Clone, clap::Subcommand)]
pub(crate) enum Part {
    /// One hop of the bare relay, as `./scripts/bench` starts it.
    #[command(hide = true)]
    Relay { hop: Hop },
}

impl Bench {
    pub(crate) fn wants(&self, part: Measured) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// The relay's processes, in the order a text passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Hop {
    Ingress,
    Gate,
    Swarm,
    Envelope,
    Sender,
    /// Not of the relay: what ingress alone is measured against.
    Verify,
}

impl Hop {
    pub(super) const ALL: [Self; 5] = [Self::Ingress, Self::Gate, Self::Swarm, Self::Envelope, Self::Sender];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ingress => "ingress",
            Self::Gate => "gate",
            Self::Swarm => "swarm",
            Self::Envelope => "envelope",
            Self::Sender => "sender",
            Self::Verify => "verify",
        }
    }
}
