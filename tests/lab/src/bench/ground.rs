//! The environment of a measurement: private servers that flush every write to disk, the carrier
//! simulator in this process, and casinos with limits so high that no text reaches them.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use seven::onboard;
use seven_carrier_sim::Sim;
use seven_domain::{
    CasinoConfig, CasinoId,
    config::{NumberKind, RateLimitTier},
};
use seven_testkit::{Options, Servers};
use tokio::net::TcpListener;

use crate::stack::{API_KEY, Plan, SIGNING_SEED, Stack};

pub(super) const DATABASE: &str = "seven";

const LIMITS: &str = "limits.fleet_texts_per_minute = 10000000\nsending.account_segments_per_second = { telnyx = 100000 }\n";
const AT_NO_COST: &str = "time.pauses = 0.0\nmodel.provider = \"fixed\"\n";

/// The environment of one measurement. Fields drop in order, so that clients end before their
/// servers.
pub(super) struct Ground {
    pub(super) stack: Stack,
    pub(super) servers: Servers,
    pub(super) dir: PathBuf,
    /// The workers' settings: as in production, but with very high rate limits. Unless
    /// [`Lay::as_in_production`] is set, there are no pauses, and the model has a fixed answer.
    pub(super) config: PathBuf,
    pub(super) casinos: Vec<CasinoId>,
}

/// Options that differ between measurements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lay {
    pub(super) casinos: usize,
    /// True: quiet window and typing delay as in production, and the offline host. False: no
    /// delays, and a model with a fixed answer.
    pub(super) as_in_production: bool,
    /// Whether the carrier sends delivery receipts.
    pub(super) receipts: bool,
}

impl Ground {
    pub(super) async fn lay(dir: &Path, lay: Lay) -> Result<Self> {
        std::fs::create_dir_all(dir.join("logs"))
            .with_context(|| format!("creating {}", dir.display()))?;
        let dir = dir.canonicalize()?;
        let servers = Servers::start(
            &dir,
            Options {
                count_statements: true,
                ..Options::default()
            },
        )
        .await?;
        servers.postgres.create_database(DATABASE, None).await?;
        servers
            .postgres
            .run_sql(DATABASE, "create extension pg_stat_statements".to_owned())
            .await?;
        let ingress = free_address().await?;
        let stack = Box::pin(stack(&dir, &servers, ingress, lay)).await?;
        let config = dir.join("worker.toml");
        let text =
            std::fs::read_to_string(&stack.config_file).context("reading the fleet's settings")?;
        let ours = stack.ingress_url.trim_start_matches("http://");
        std::fs::write(&config, text.replace(ours, &ingress.to_string()))
            .with_context(|| format!("writing {}", config.display()))?;
        let mut ground = Self {
            stack,
            servers,
            dir,
            config,
            casinos: Vec::new(),
        };
        ground.open_casinos(lay.casinos).await?;
        Ok(ground)
    }

    async fn open_casinos(&mut self, count: usize) -> Result<()> {
        let demo = onboard::read_casino("demo/casino.json", seven_packs::demo::CASINO)?;
        for n in 0..count {
            let config = casino(&demo, n)?;
            onboard::add_casino(&self.stack.fleet, &config, "seven bench").await?;
            let content = seven_packs::demo::CONTENT;
            onboard::load_content(
                &self.stack.fleet,
                &config.casino_id,
                "demo/content.json",
                content,
                "seven bench",
            )
            .await?;
            self.casinos.push(config.casino_id);
        }
        Ok(())
    }

    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.dir.join("logs").join(format!("{name}.log"))
    }

    pub(super) fn sim(&self) -> &Sim {
        &self.stack.sim
    }

    pub(super) async fn sql(&self, statement: &str) -> Result<String> {
        self.servers
            .postgres
            .run_sql(DATABASE, statement.to_owned())
            .await
    }
}

/// Returns the phone number of the n-th of at most 10 000 casinos.
pub(super) fn casino_number(n: usize) -> String {
    format!("+1959555{n:04}")
}

fn casino(demo: &CasinoConfig, n: usize) -> Result<CasinoConfig> {
    let mut config = demo.clone();
    config.casino_id = format!("bench_{n}").parse()?;
    config.operational.telnyx_phone_number = casino_number(n).parse()?;
    config.operational.twilio_phone_number = None;
    config.operational.number_kind = NumberKind::Demo;
    config.operational.max_messages_per_guest_per_day = 1_000;
    config.limits.rate_limit_tier = RateLimitTier::Enterprise;
    config.limits.casino_texts_per_minute = Some(1_000_000);
    config.limits.guest_texts_per_minute = 1_000;
    Ok(config)
}

async fn stack(dir: &Path, servers: &Servers, ingress: SocketAddr, lay: Lay) -> Result<Stack> {
    let mut sim = seven_carrier_sim::Settings::new(
        format!("http://{ingress}/webhooks/telnyx"),
        API_KEY,
        SIGNING_SEED,
    );
    if !lay.receipts {
        let never = Duration::from_secs(86_400);
        sim.receipt_delays = (never, never);
    }
    let sim = seven_carrier_sim::start(sim)
        .await
        .context("starting carrier-sim")?;
    let plan = Plan {
        nats_url: servers.nats.url(),
        redis_url: servers.redis.url(),
        postgres_url: servers.postgres.url_of(DATABASE),
        dir: dir.to_path_buf(),
        scale: 1.0,
        at: None,
        workers: Vec::new(),
        casino_name: "Bench".to_owned(),
        casino_number: casino_number(0),
        extra: LIMITS.to_owned() + if lay.as_in_production { "" } else { AT_NO_COST },
        ledger_file: None,
    };
    // Ingress runs as a process with its own address; this listener is only a placeholder.
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .context("listening")?;
    Stack::start_on(plan, listener, sim).await
}

/// Returns an address that is free at the moment, on a port below the range of outgoing
/// connections.
pub(super) async fn free_address() -> Result<SocketAddr> {
    let first = 10_240 + u16::try_from(std::process::id() % 18_000).unwrap_or_default();
    for port in first..first + 2_000 {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(address).await.is_ok() {
            return Ok(address);
        }
    }
    anyhow::bail!("no free port from {first} on")
}

/// Stops the servers and deletes their data after a successful measurement. The logs stay.
pub(super) async fn clear(servers: Servers, dir: &Path) -> Result<()> {
    // When we run as root, the data of Postgres lies outside the run's folder.
    servers.postgres.wipe_data().await?;
    servers.nats.stop().await?;
    servers.redis.stop().await?;
    for data in ["nats", "redis"] {
        drop(std::fs::remove_dir_all(dir.join(data)));
    }
    Ok(())
}
