//! A whole fleet on this machine: database, carrier simulator, and the workers as tasks of this
//! process. `./scripts/dev` and the integration tests use it.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};
use secrecy::SecretString;
use seven::{ops::Ops, traces, wiring};
use seven_bus::Bus;
use seven_carrier_sim::Sim;
use seven_domain::{CasinoId, TimeScale};
use seven_runtime::{Fleet, Timing};
use seven_settings::{Settings, Worker};
use seven_store::Store;
use tokio::{net::TcpListener, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;
use url::Url;

/// Addresses of the servers, and options of the fleet that runs on them.
#[derive(Debug, Clone)]
pub struct Plan {
    pub nats_url: String,
    pub redis_url: String,
    /// The owner's URL of an existing database; migrations run there.
    pub postgres_url: String,
    pub dir: PathBuf,
    pub scale: f64,
    pub at: Option<DateTime<Utc>>,
    /// Workers in this process; others can be started as processes with [`Stack::config_file`].
    pub workers: Vec<Worker>,
    pub casino_name: String,
    pub casino_number: String,
    /// Additional TOML for the settings file.
    pub extra: String,
    /// File of the simulator's ledger, kept across restarts.
    pub ledger_file: Option<PathBuf>,
}

/// Ports of 127.0.0.1 to listen on; 0 means any free port. A port that is taken is replaced by any
/// free port.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ports {
    pub handset: u16,
    pub webhooks: u16,
    pub metrics: u16,
}

/// A running fleet.
#[derive(Debug)]
pub struct Stack {
    pub fleet: Fleet,
    pub sim: Sim,
    pub settings: Box<Settings>,
    /// Settings of this fleet as a file, for `seven run` and the operators' commands.
    pub config_file: PathBuf,
    pub ingress_url: String,
    /// URL of the console; `None` when it does not run.
    pub console_url: Option<String>,
    /// URLs of the web gateways, in the order of their start.
    pub web_urls: Vec<String>,
    /// URL of this process's health checks and metrics; `None` when the address was taken.
    pub ops_url: Option<String>,
    ops: Ops,
    tasks: JoinSet<(Worker, Result<()>)>,
    traces: Option<seven_otlp::Exporting>,
}

/// The API key that the fleet presents to the simulator.
pub const API_KEY: &str = "carrier-sim-key";
/// Seed of the key that signs simulated webhooks; public, so that tests can sign their own.
pub const SIGNING_SEED: [u8; 32] = *b"carrier-sim signs for tests only";

impl Stack {
    pub async fn start(plan: Plan) -> Result<Self> {
        Self::start_at(plan, Ports::default()).await
    }

    /// Starts the fleet on these ports; a port that is taken is replaced by a free one.
    pub async fn start_at(mut plan: Plan, ports: Ports) -> Result<Self> {
        let listener = listen(ports.webhooks).await?;
        let ingress_url = format!("http://{}", listener.local_addr()?);
        let handset = listen(ports.handset).await?.local_addr()?;
        if ports.metrics != 0 {
            let metrics = listen(ports.metrics).await?.local_addr()?;
            plan.extra
                .insert_str(0, &format!("ops.listen = \"{metrics}\"\n"));
        }
        let sim = start_sim(&plan, &format!("{ingress_url}/webhooks/telnyx"), handset).await?;
        Self::start_on(plan, listener, sim).await
    }

    /// Starts the fleet with a listener and a simulator that already run, for instance to restart
    /// everything except these two.
    pub async fn start_on(plan: Plan, listener: TcpListener, sim: Sim) -> Result<Self> {
        let ingress_url = format!("http://{}", listener.local_addr()?);
        Store::migrate(&SecretString::from(plan.postgres_url.clone()))
            .await
            .context("migrating the database")?;
        let config = config_text(&plan, &sim, &ingress_url)?;
        let config_file = plan.dir.join("seven.toml");
        std::fs::write(&config_file, &config)
            .with_context(|| format!("writing {}", config_file.display()))?;
        let mut settings = Box::new(Settings::parse(&config)?);
        // A fleet in quick motion is a test: it would spend most of its time on vectors of facts.
        settings.model.find_facts &= plan.scale >= 1.0;
        // In production each worker has its own connections. Here all workers share one pool, so
        // its size is multiplied by the number of workers.
        settings.postgres.connections *= u32::try_from(plan.workers.len().max(1))?;
        let mut ops = Ops::bind(settings.ops.listen, &plan.workers).await;
        let fleet = wiring::fleet(
            &settings,
            Vec::new(),
            wiring::Nats::Needed(Duration::from_secs(10)),
            CancellationToken::new(),
        )
        .await?;
        streams(&fleet.bus).await?;
        let traces = traces::start(&settings, &fleet.bus, "seven-stack")?;
        ops.watch(&fleet);
        let ops_url = ops.url();
        let mut stack = Self {
            fleet,
            sim,
            settings,
            config_file,
            ingress_url,
            console_url: None,
            web_urls: Vec::new(),
            ops_url,
            ops,
            tasks: JoinSet::new(),
            traces,
        };
        let mut listener = Some(listener);
        for worker in plan.workers {
            let listener = if worker == Worker::IngressWebhook {
                listener.take()
            } else {
                None
            };
            stack.spawn(worker, listener).await?;
        }
        let (fleet, follow) = (stack.fleet.clone(), stack.fleet.shutdown.clone());
        stack.tasks.spawn(async move {
            fleet.roster.follow(&fleet.bus, follow).await;
            (Worker::Scheduler, Ok(()))
        });
        stack.ops.serving();
        Ok(stack)
    }

    /// Starts one more worker in this process.
    pub async fn spawn(&mut self, worker: Worker, listener: Option<TcpListener>) -> Result<()> {
        let (mut fleet, mut settings) = (self.fleet.clone(), self.settings.clone());
        let mut listener = listener;
        if worker == Worker::Console {
            let own = listen(settings.console.listen.port()).await?;
            let url = format!("http://{}", own.local_addr()?);
            settings.console.public_url = url.parse()?;
            *settings = wiring::settings_of(worker, *settings)?;
            let connections = settings.postgres.own_connections;
            let sweep = fleet.timing.sweep();
            fleet.store = Store::new(&settings.postgres.url, connections, sweep)?;
            (listener, self.console_url) = (Some(own), Some(url));
        }
        if worker == Worker::WebGateway {
            let own = listen(settings.web.listen.port()).await?;
            let url = format!("http://{}", own.local_addr()?);
            settings.web.public_url = url.parse()?;
            listener = Some(own);
            self.web_urls.push(url);
        }
        // Gives ingress its own connections, as in production, so that a STOP does not wait for a
        // connection behind the senders.
        if worker == Worker::IngressWebhook {
            fleet.store = fleet.store.apart();
        }
        self.tasks.spawn(async move {
            (
                worker,
                Box::pin(wiring::run(worker, fleet, &settings, listener)).await,
            )
        });
        Ok(())
    }

    /// Drains the workers and stops the simulator.
    pub async fn stop(self) -> Result<()> {
        let sim = self.stop_workers().await?;
        sim.shutdown().await;
        Ok(())
    }

    /// Drains the workers and leaves the simulator running.
    pub async fn stop_workers(mut self) -> Result<Sim> {
        self.fleet.shutdown.cancel();
        while let Ok(Some(done)) =
            tokio::time::timeout(Duration::from_secs(10), self.tasks.join_next()).await
        {
            let (worker, outcome) = done.context("a worker panicked")?;
            outcome.with_context(|| format!("{worker:?}"))?;
        }
        if let Some(traces) = self.traces.take() {
            traces.flush(traces::FLUSH).await;
        }
        Ok(self.sim)
    }

    /// Waits until at least `texts` texts are stored and no work is left: no open text, no unshaped
    /// turn, no unsent text. Returns false if that takes longer than `most`.
    pub async fn settled(&self, texts: i64, most: Duration) -> Result<bool> {
        let until = tokio::time::Instant::now() + most;
        loop {
            let counts = self.fleet.store.counts().await.unwrap_or_default();
            let sum = |what: &str, states: &[&str]| -> i64 {
                counts
                    .iter()
                    .filter(|c| {
                        c.what == what && (states.is_empty() || states.contains(&c.state.as_str()))
                    })
                    .map(|c| c.n)
                    .sum()
            };
            let busy = sum("inbound", &["open"])
                + sum("turn", &["drafted"])
                + sum("outbound", &["queued", "sending"])
                + sum("spool", &[]);
            if !counts.is_empty() && busy == 0 && sum("inbound", &[]) >= texts {
                return Ok(true);
            }
            if tokio::time::Instant::now() > until {
                return Ok(false);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub fn casino(&self, id: &str) -> Result<CasinoId> {
        Ok(id.parse()?)
    }
}

/// Creates the bus's streams. Retries for a minute, because a cluster of servers refuses this until
/// it has elected a leader.
async fn streams(bus: &Bus) -> Result<()> {
    let until = Instant::now() + Duration::from_secs(60);
    while let Err(error) = bus.ensure_streams().await {
        anyhow::ensure!(Instant::now() < until, error);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}

/// Listens on a port of 127.0.0.1, or on a free one if the port is taken.
async fn listen(port: u16) -> Result<TcpListener> {
    if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
        return Ok(listener);
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .context("listening on 127.0.0.1")
}

async fn start_sim(plan: &Plan, webhook_url: &str, handset: SocketAddr) -> Result<Sim> {
    let mut sim = seven_carrier_sim::Settings::new(webhook_url, API_KEY, SIGNING_SEED);
    sim.listen = handset;
    sim.time_scale = plan.scale;
    sim.casino_name.clone_from(&plan.casino_name);
    sim.casino_number.clone_from(&plan.casino_number);
    sim.ledger_file.clone_from(&plan.ledger_file);
    // The simulator has its own database connections, because it keeps running when everything else
    // is restarted.
    let app = SecretString::from(String::from(app_url(plan)?));
    let store = Store::new(&app, 2, Timing::new(TimeScale::new(plan.scale)).sweep())
        .context("reading the database URL")?;
    sim.explain = Some(crate::dev::explain(store, plan.at.is_some()));
    seven_carrier_sim::start(sim)
        .await
        .context("starting carrier-sim")
}

/// Returns the database URL that the workers use.
fn app_url(plan: &Plan) -> Result<Url> {
    url_of(plan, "seven_app")
}

fn url_of(plan: &Plan, login: &str) -> Result<Url> {
    let mut app = Url::parse(&plan.postgres_url).context("reading the database URL")?;
    app.set_username(login)
        .map_err(|()| anyhow::anyhow!("the database URL takes no user"))?;
    Ok(app)
}

fn config_text(plan: &Plan, sim: &Sim, ingress_url: &str) -> Result<String> {
    let (app, console) = (app_url(plan)?, url_of(plan, "seven_console")?);
    let (nats, redis, owner, extra) = (
        &plan.nats_url,
        &plan.redis_url,
        &plan.postgres_url,
        &plan.extra,
    );
    let (base, key, scale) = (sim.url(), sim.public_key_b64(), plan.scale);
    let seven_carrier_sim::TwilioSide {
        account_sid: sid,
        auth_token: token,
        ..
    } = sim.twilio();
    let listen = ingress_url.trim_start_matches("http://");
    // Lifts the rate limit of the simulator's account, unless the run sets that limit itself.
    let account = match extra.contains("account_segments_per_second") {
        true => "",
        false => "sending.account_segments_per_second = { telnyx = 1000, twilio = 1000 }\n",
    };
    let ops = if extra.contains("ops.listen") {
        ""
    } else {
        "ops.listen = \"127.0.0.1:0\"\n"
    };
    let web = match extra.contains("web.listen") {
        true => "",
        false => "web.listen = \"127.0.0.1:0\"\n",
    };
    let at = plan
        .at
        .map(|at| format!("time.at = \"{}\"\n", at.to_rfc3339()))
        .unwrap_or_default();
    Ok(format!(
        "# Written by seven dev for the fleet it runs. Keys of the carrier simulator: worth nothing anywhere else.\n\
         nats.url = \"{nats}\"\nredis.url = \"{redis}\"\npostgres.url = \"{app}\"\npostgres.owner_url = \"{owner}\"\n\
         telnyx.base_url = \"{base}/\"\ntelnyx.webhook_url = \"{ingress_url}/webhooks/telnyx\"\ntelnyx.api_key = \"{API_KEY}\"\n\
         telnyx.public_keys = [\"{key}\"]\ningress.listen = \"{listen}\"\n{ops}\
         twilio.base_url = \"{base}/\"\ntwilio.webhook_url = \"{ingress_url}/webhooks/twilio\"\ntwilio.account_sid = \"{sid}\"\n\
         twilio.auth_tokens = [\"{token}\"]\nsending.providers = [\"telnyx\", \"twilio\"]\n\
         {account}\
         console.postgres_url = \"{console}\"\nnotices.local = true\n\
         web.token_key = \"development only: signs sessions of this machine\"\n{web}\
         guest_hash.secret = \"development only: hashes of guests on this machine\"\ntime.scale = {scale:?}\n{at}{extra}"
    ))
}
