//! Options of `./scripts/bench`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;

#[derive(Debug, Clone, clap::Args)]
pub struct Bench {
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
    /// Number of texts per throughput measurement, each from a different guest. The part ingress
    /// sends five times as many webhooks.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2_000,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=50_000)
    )]
    pub(crate) texts: usize,
    /// Duration of each rate of a latency measurement, in seconds. At high rates the measurement
    /// ends earlier, after --texts texts.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 20,
        value_parser = RangedU64ValueParser::<u64>::new().range(1..)
    )]
    pub(crate) seconds: u64,
    /// Number of casinos in the parts pipeline, start, traces and recovery. Growth and isolation
    /// use their own numbers; the other parts use one.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000)
    )]
    pub(crate) casinos: usize,
    /// Texts per second in the parts traces, consoles and web; by default half of the fleet's
    /// throughput.
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<f64>,
    /// Measure only these parts; all of them by default.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) only: Vec<Measured>,
    /// Pipeline: skip the bare relay and the ratio to it.
    #[arg(long)]
    pub(crate) no_floor: bool,
    /// Pipeline: measure again with receipts, quiet window and typing delay as in production.
    #[arg(long)]
    pub(crate) as_in_production: bool,
    /// Pipeline: print the statements that cost Postgres most, counted in a separate run.
    #[arg(long)]
    pub(crate) statements: bool,
    /// Also write the results as JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Pipeline: write a plot of the latencies at each rate, as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// Parts that can be measured separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Measured {
    /// The whole path of a text, compared with the bare relay.
    Pipeline,
    /// Webhooks per second, compared with a server that only verifies and publishes.
    Ingress,
    /// Time that ingress takes to accept STOPs while 1 800 strangers send their calls slowly.
    Slow,
    /// Time from the start of a process to ready, and its idle use of memory and CPU.
    Start,
    /// Cost of growth: 1 to 500 casinos, 1 000 to 1 000 000 guests.
    Growth,
    /// Delay that a flood of texts at one casino causes for another casino's guests, if each casino
    /// has its own workers.
    Isolation,
    /// Share of texts with one unbroken trace, and the cost of an unreachable collector.
    Traces,
    /// Delay that 50 open console pages cause for guests, and the time until a text appears on a
    /// page.
    Consoles,
    /// Latency of the websites' chat, compared with a floor of one publish, one commit and one
    /// write. Measured again beside 10 000 idle streams, and beside 1 000 readers who never read.
    Web,
    /// Time that guests wait when a worker or a server dies. Duration of a backup, and of its
    /// restore.
    Recovery,
}

#[derive(Debug, Clone, clap::Subcommand)]
pub(crate) enum Part {
    /// Run one hop of the bare relay; `./scripts/bench` starts it.
    #[command(hide = true)]
    Relay { hop: Hop },
}

impl Bench {
    pub(crate) fn wants(&self, part: Measured) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// The relay's processes, in the order in which a text passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Hop {
    Ingress,
    Gate,
    Swarm,
    Envelope,
    Sender,
    /// Not part of the relay: the server with which ingress is compared. It only verifies
    /// signatures and publishes.
    Verify,
}

impl Hop {
    pub(super) const ALL: [Self; 5] = [
        Self::Ingress,
        Self::Gate,
        Self::Swarm,
        Self::Envelope,
        Self::Sender,
    ];

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
