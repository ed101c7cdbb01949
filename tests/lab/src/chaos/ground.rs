//! The environment of a run: private servers, proxies, casinos, the workers' settings, and the
//! carrier simulator with its ledger. The simulator runs in this process, which is never killed.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};
use seven::onboard;
use seven_carrier_sim::Sim;
use seven_domain::{
    CasinoConfig,
    config::{NumberKind, RateLimitTier},
};
use seven_settings::Worker;
use seven_store::Store;
use seven_testkit::{Options, Servers, collector::Collector};
use tokio::{net::TcpListener, sync::watch};
use url::Url;

use super::{
    desk::Desk,
    plan::Server,
    proxy::Proxy,
    size::{CASINOS, PER_KIND, SCALE, SLOW},
};
use crate::stack::{API_KEY, Plan, SIGNING_SEED, Stack};

/// The environment of a run. Fields drop in order, so that the fleet's clients go before their
/// servers.
pub(crate) struct Ground {
    pub(crate) stack: Stack,
    /// The browser of the person who takes conversations over.
    pub(crate) desk: Desk,
    pub(crate) webhooks: Proxy,
    nats: Proxy,
    redis: Proxy,
    postgres: Proxy,
    pub(crate) servers: Servers,
    /// Receives every worker's spans.
    pub(crate) collector: Collector,
    pub(crate) dir: PathBuf,
    /// Addresses of the web gateways, by instance.
    gateways: Vec<SocketAddr>,
    /// Settings files by instance. The first process of each kind connects to its servers directly,
    /// the second through the proxies.
    configs: Vec<PathBuf>,
    /// One casino changes its number during the run. This is the time at which another casino got
    /// the old number; `None` until then.
    pub(crate) handed_on: watch::Sender<Option<DateTime<Utc>>>,
}

pub(crate) const DATABASE: &str = "seven";

/// Origin of the visitors' calls: a page of the casinos' websites.
pub(crate) const PAGE: &str = "https://www.chaos.example";

pub(crate) fn casino_id(n: usize) -> String {
    format!("chaos_{n}")
}

pub(crate) fn casino_number(n: usize) -> String {
    format!("+1959555010{n}")
}

impl Ground {
    pub(crate) async fn lay(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir.join("logs"))
            .with_context(|| format!("creating {}", dir.display()))?;
        let dir = dir.canonicalize()?;
        let servers = Servers::start(&dir, Options::default()).await?;
        servers.postgres.create_database(DATABASE, None).await?;
        let mut ingress: Vec<SocketAddr> = free_addresses(3 * PER_KIND).await?;
        let mut gateways = ingress.split_off(PER_KIND);
        let consoles = gateways.split_off(PER_KIND);
        let webhooks = Proxy::start(ingress.clone()).await?;
        let nats = proxy_to(&servers.nats.url()).await?;
        let redis = proxy_to(&servers.redis.url()).await?;
        let postgres = proxy_to(&servers.postgres.url_of(DATABASE)).await?;
        let collector = Collector::start().await?;
        let stack = Box::pin(fleet(&dir, &servers, &webhooks, &collector)).await?;
        let direct =
            std::fs::read_to_string(&stack.config_file).context("reading the fleet's settings")?;
        let own = |n: usize| -> Result<PathBuf> {
            let mut text = direct.replace(&stack.ingress_url, &format!("http://{}", webhooks.addr));
            let listen = stack.ingress_url.trim_start_matches("http://");
            text = text.replace(
                &format!("ingress.listen = \"{listen}\""),
                &format!("ingress.listen = \"{}\"", ingress[n]),
            );
            text = text.replace(
                "web.listen = \"127.0.0.1:0\"",
                &format!("web.listen = \"{}\"", gateways[n]),
            );
            let console = consoles[n];
            let listen = format!(
                "console.listen = \"{console}\"\nconsole.public_url = \"http://{console}\"\n"
            );
            text.insert_str(text.find("console.postgres_url").unwrap_or(0), &listen);
            if n > 0 {
                for (server, proxy) in [
                    (servers.nats.url(), &nats),
                    (servers.redis.url(), &redis),
                    (servers.postgres.url_of(DATABASE), &postgres),
                ] {
                    text = text.replace(&address(&server)?.to_string(), &proxy.addr.to_string());
                }
            }
            let file = dir.join(format!("worker-{n}.toml"));
            std::fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
            Ok(file)
        };
        let configs = (0..PER_KIND).map(own).collect::<Result<Vec<_>>>()?;
        let store = console_store(&stack)?;
        let urls = consoles.iter().map(|console| format!("http://{console}"));
        let desk = Desk::open(&stack.fleet, &store, urls.collect()).await?;
        let ground = Self {
            stack,
            desk,
            webhooks,
            nats,
            redis,
            postgres,
            servers,
            collector,
            dir,
            gateways: gateways.clone(),
            configs,
            handed_on: watch::Sender::default(),
        };
        ground.open_casinos().await?;
        Ok(ground)
    }

    async fn open_casinos(&self) -> Result<()> {
        for n in (0..CASINOS).chain([SLOW]) {
            self.open_casino(n, &casino_number(n)).await?;
        }
        Ok(())
    }

    /// Adds casino `n` with the phone number `number`. If the casino exists, `number` replaces its
    /// old phone number.
    pub(crate) async fn open_casino(&self, n: usize, number: &str) -> Result<()> {
        let demo = onboard::read_casino("demo/casino.json", seven_packs::demo::CASINO)?;
        let (config, content) = (casino(&demo, n, number)?, seven_packs::demo::CONTENT);
        let (fleet, by) = (&self.stack.fleet, "seven chaos");
        onboard::add_casino(fleet, &config, by).await?;
        onboard::load_content(fleet, &config.casino_id, "demo/content.json", content, by).await?;
        Ok(())
    }

    pub(crate) fn proxy(&self, server: Server) -> &Proxy {
        match server {
            Server::Nats => &self.nats,
            Server::Redis => &self.redis,
            Server::Postgres => &self.postgres,
        }
    }

    /// Returns the number of connections that the proxies carried so far.
    pub(crate) fn connections(&self) -> usize {
        [&self.webhooks, &self.nats, &self.redis, &self.postgres]
            .map(Proxy::carried)
            .iter()
            .sum()
    }

    /// Returns the URL of the web gateway with this index; the index wraps around at the number of
    /// gateways.
    pub(crate) fn gateway(&self, instance: usize) -> String {
        format!("http://{}", self.gateways[instance % self.gateways.len()])
    }

    pub(crate) fn config(&self, instance: usize) -> &Path {
        &self.configs[instance]
    }

    pub(crate) fn log(&self, worker: Worker, instance: usize) -> PathBuf {
        self.dir
            .join("logs")
            .join(format!("{}-{instance}.log", worker.name()))
    }

    pub(crate) fn kill(&self, server: Server) -> Result<()> {
        match server {
            Server::Nats => self.servers.nats.kill(),
            Server::Redis => self.servers.redis.kill(),
            Server::Postgres => self.servers.postgres.kill(),
        }
    }

    pub(crate) async fn restart(&self, server: Server) -> Result<()> {
        match server {
            Server::Nats => self.servers.nats.restart().await,
            Server::Redis => self.servers.redis.restart().await,
            Server::Postgres => self.servers.postgres.restart().await,
        }
    }

    /// Runs a statement as the database owner.
    pub(crate) async fn sql(&self, statement: String) -> Result<String> {
        self.servers.postgres.run_sql(DATABASE, statement).await
    }
}

async fn fleet(
    dir: &Path,
    servers: &Servers,
    webhooks: &Proxy,
    collector: &Collector,
) -> Result<Stack> {
    let url = format!("http://{}/webhooks/telnyx", webhooks.addr);
    let mut sim = seven_carrier_sim::Settings::new(url, API_KEY, SIGNING_SEED);
    sim.time_scale = SCALE;
    // Both ingress processes may be down for seconds. The carrier retries for longer than that,
    // because a text on which it gave up would prove nothing.
    sim.retry_delays = [5, 10, 20, 40, 60, 100, 200, 200, 200]
        .map(Duration::from_secs)
        .to_vec();
    sim.ledger_file = Some(dir.join("ledger.jsonl"));
    let sim: Sim = seven_carrier_sim::start(sim)
        .await
        .context("starting carrier-sim")?;
    let plan = Plan {
        nats_url: servers.nats.url(),
        redis_url: servers.redis.url(),
        postgres_url: servers.postgres.url_of(DATABASE),
        dir: dir.to_path_buf(),
        scale: SCALE,
        at: None,
        workers: Vec::new(),
        casino_name: "Chaos".to_owned(),
        casino_number: casino_number(0),
        extra: format!(
            "postgres.connections = 6\nworker.concurrency = 16\nworker.sender_concurrency = 64\n\
             telemetry.otlp_endpoint = \"{}\"\ntelemetry.sample = 1.0\nweb.requests_per_minute = 1000000\n\
             web.connections_per_address = 10000\n",
            collector.url()
        ),
        ledger_file: None,
    };
    // Ingress runs as processes with their own addresses; this listener is only a placeholder.
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .context("listening")?;
    Stack::start_on(plan, listener, sim).await
}

fn casino(demo: &CasinoConfig, n: usize, number: &str) -> Result<CasinoConfig> {
    let mut config = demo.clone();
    config.casino_id = casino_id(n).parse()?;
    config.operational.telnyx_phone_number = number.parse()?;
    config.operational.web_domains = vec![PAGE.trim_start_matches("https://").to_owned()];
    config.limits.rate_limit_tier = RateLimitTier::Enterprise;
    if n == SLOW {
        config.operational.number_kind = NumberKind::TollFree;
    }
    Ok(config)
}

/// Returns a store that uses the console's database login.
fn console_store(stack: &Stack) -> Result<Store> {
    let url = stack.settings.console.postgres_url.clone();
    let url = url.context("the fleet's settings have no console.postgres_url")?;
    Ok(Store::new(&url, 1, stack.fleet.timing.sweep())?)
}

async fn proxy_to(url: &str) -> Result<Proxy> {
    Proxy::start(vec![address(url)?]).await
}

fn address(url: &str) -> Result<SocketAddr> {
    let url = Url::parse(url).context("reading a server's URL")?;
    let host = url.host_str().context("a server's URL without a host")?;
    let port = url.port().context("a server's URL without a port")?;
    format!("{host}:{port}")
        .parse()
        .context("reading a server's address")
}

/// Returns free addresses, on ports below the range of outgoing connections. Otherwise an outgoing
/// connection could take the port of an ingress that was killed.
async fn free_addresses(count: usize) -> Result<Vec<SocketAddr>> {
    let mut found = Vec::new();
    let first = 10_240 + u16::try_from(std::process::id() % 18_000).unwrap_or_default();
    for port in first..first + 2_000 {
        let addr = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(addr).await.is_ok() {
            found.push(addr);
        }
        if found.len() == count {
            return Ok(found);
        }
    }
    anyhow::bail!("no free ports from {first} on")
}
