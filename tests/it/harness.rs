//! A private fleet for each test. Each fleet has its own NATS, Redis and carrier simulator, and its
//! own database on the Postgres server of the whole test run.

use std::{path::PathBuf, process::Stdio, time::Duration};

use seven::onboard;
use seven_carrier_sim::{Outbound, Text, Texted};
use seven_domain::{CasinoConfig, CasinoId};
use seven_lab::stack::{Plan, Stack};
use seven_settings::Worker;
use seven_testkit::{Nats, Postgres, Redis, Scratch};
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep},
};

/// A running fleet and the private servers under it.
pub(crate) struct House {
    // Dropped in this order: the fleet first, then the servers that it needs.
    pub(crate) stack: Stack,
    pub(crate) nats: Nats,
    pub(crate) redis: Redis,
    pub(crate) database_url: String,
    pub(crate) config: CasinoConfig,
    pub(crate) scratch: Scratch,
}

/// Settings of a test's [`House`]; the default ones suit most tests.
pub(crate) struct Wanted {
    pub(crate) scale: f64,
    pub(crate) at: Option<&'static str>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) extra: String,
    pub(crate) casino: Option<(String, String)>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            scale: 0.0,
            at: None,
            workers: Worker::ALL.to_vec(),
            extra: String::new(),
            casino: None,
        }
    }
}

pub(crate) const GUEST: &str = "+18605550142";

/// Starts a fleet with its own database, NATS and Redis. Database and scratch folder are named
/// after `unique`, the test's name.
pub(crate) async fn house(unique: &str, wanted: Wanted) -> House {
    let postgres = Postgres::for_tests().await.unwrap();
    let url = postgres
        .create_database(&database_name(unique), None)
        .await
        .unwrap();
    house_on(unique, wanted, url).await
}

pub(crate) fn database_name(unique: &str) -> String {
    // A Postgres name may have at most 63 bytes.
    let short: String = unique.chars().take(28).collect();
    format!("{short}_{}", uuid::Uuid::new_v4().simple())
}

/// Starts a fleet on a database that the caller created.
pub(crate) async fn house_on(unique: &str, wanted: Wanted, database_url: String) -> House {
    let scratch = Scratch::new(unique).unwrap();
    let nats = Nats::start(&scratch.path().join("nats")).await.unwrap();
    let nats_url = nats.url();
    house_at(scratch, wanted, database_url, nats, nats_url).await
}

/// Starts a fleet on a bus that the caller started; the fleet connects to it at `nats_url`.
pub(crate) async fn house_at(
    scratch: Scratch,
    wanted: Wanted,
    database_url: String,
    nats: Nats,
    nats_url: String,
) -> House {
    drop(rustls::crypto::ring::default_provider().install_default());
    if std::env::var_os("SEVEN_TEST_LOG").is_some() {
        seven_telemetry_to(&scratch);
    }
    let redis = Redis::start(&scratch.path().join("redis")).await.unwrap();
    let demo = (
        seven_packs::demo::CASINO.to_owned(),
        seven_packs::demo::CONTENT.to_owned(),
    );
    let (casino, content) = wanted.casino.unwrap_or(demo);
    let config = onboard::read_casino("casino.json", &casino).unwrap();
    let plan = Plan {
        nats_url,
        redis_url: redis.url(),
        postgres_url: database_url.clone(),
        dir: scratch.path().to_path_buf(),
        scale: wanted.scale,
        at: wanted.at.map(|at| at.parse().unwrap()),
        workers: wanted.workers,
        casino_name: config.prompts.casino_name_display.clone(),
        casino_number: config.operational.telnyx_phone_number.as_str().to_owned(),
        extra: wanted.extra,
        ledger_file: None,
    };
    let stack = Box::pin(Stack::start(plan)).await.unwrap();
    onboard::add_casino(&stack.fleet, &config, "test")
        .await
        .unwrap();
    onboard::load_content(
        &stack.fleet,
        &config.casino_id,
        "content.json",
        &content,
        "test",
    )
    .await
    .unwrap();
    House {
        stack,
        nats,
        redis,
        database_url,
        config,
        scratch,
    }
}

fn seven_telemetry_to(scratch: &Scratch) {
    let file = PathBuf::from("/tmp").join(format!(
        "{}.log",
        scratch.path().file_name().unwrap().to_string_lossy()
    ));
    seven_telemetry::init(
        seven_telemetry::LogTarget::File(&file),
        "debug,sqlx=warn,async_nats=warn,hyper=warn,hyper_util=warn,reqwest=warn",
    )
    .unwrap();
}

impl House {
    pub(crate) fn casino(&self) -> &CasinoId {
        &self.config.casino_id
    }

    pub(crate) fn text(&self, from: &str, text: &str) -> Texted {
        self.stack
            .sim
            .text(Text {
                from: from.to_owned(),
                text: Some(text.to_owned()),
                ..Text::default()
            })
            .unwrap()
    }

    /// Waits until `texts` texts in total are stored and no message is being processed. After 30 s
    /// it panics with the counts.
    pub(crate) async fn settle(&self, texts: i64) {
        self.settle_within(texts, Duration::from_secs(30)).await;
    }

    pub(crate) async fn settle_within(&self, texts: i64, most: Duration) {
        if !self.stack.settled(texts, most).await.unwrap() {
            let mut webhooks = std::collections::BTreeMap::new();
            for inbound in self.stack.sim.ledger().snapshot().inbound {
                *webhooks
                    .entry(format!(
                        "{:?} {:?}",
                        inbound.delivery.state,
                        inbound
                            .delivery
                            .attempts
                            .iter()
                            .map(|a| (a.status, a.millis / 500, a.error.clone()))
                            .collect::<Vec<_>>()
                    ))
                    .or_insert(0) += 1;
            }
            panic!(
                "not settled: {:?}, webhooks {webhooks:?}",
                self.stack.fleet.store.counts().await
            );
        }
    }

    /// Returns the texts to this guest that the carrier accepted, oldest first.
    pub(crate) fn sent_to(&self, guest: &str) -> Vec<Outbound> {
        self.stack.sim.ledger().of_guest(guest).outbound
    }

    pub(crate) fn texts_to(&self, guest: &str) -> Vec<String> {
        self.sent_to(guest)
            .into_iter()
            .filter_map(|sent| sent.text)
            .collect()
    }

    /// Returns all texts to the guest, joined, since an answer may come in two parts.
    pub(crate) fn said_to(&self, guest: &str) -> String {
        self.texts_to(guest).join(" ")
    }

    /// Returns the number of rows of the kind `what` (such as `inbound`) in this state.
    pub(crate) async fn count(&self, what: &str, state: &str) -> i64 {
        let counts = self.stack.fleet.store.counts().await.unwrap();
        counts
            .iter()
            .filter(|c| c.what == what && c.state == state)
            .map(|c| c.n)
            .sum()
    }

    /// Returns the number that a query finds. The query runs as the database's owner, who sees all
    /// casinos.
    pub(crate) async fn number(&self, query: &str) -> i64 {
        let pool = sqlx::PgPool::connect(&self.database_url).await.unwrap();
        let number: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(query.to_owned()))
            .fetch_one(&pool)
            .await
            .unwrap();
        pool.close().await;
        number
    }

    /// Returns the strings that a query finds. The query runs as the database's owner.
    pub(crate) async fn texts_of(&self, query: &str) -> Vec<String> {
        let pool = sqlx::PgPool::connect(&self.database_url).await.unwrap();
        let texts = sqlx::query_scalar(sqlx::AssertSqlSafe(query.to_owned()))
            .fetch_all(&pool)
            .await
            .unwrap();
        pool.close().await;
        texts
    }

    /// Runs a statement as the database's owner.
    pub(crate) async fn change(&self, statement: &str) {
        let pool = sqlx::PgPool::connect(&self.database_url).await.unwrap();
        sqlx::query(sqlx::AssertSqlSafe(statement.to_owned()))
            .execute(&pool)
            .await
            .unwrap();
        pool.close().await;
    }

    /// Starts a worker as a process. `failpoint` sets the point at which the process dies or stops.
    pub(crate) fn process(&self, worker: &str, failpoint: Option<&str>) -> Child {
        let mut command = Command::new(binary());
        command
            .args(["run", worker, "--config"])
            .arg(&self.stack.config_file)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.scratch.path().join(format!("{worker}.log")))
            .unwrap();
        command.stderr(Stdio::from(log)).kill_on_drop(true);
        if let Some(failpoint) = failpoint {
            command.env("SEVEN_FAILPOINT", failpoint);
        }
        command.spawn().unwrap()
    }

    /// Waits until ingress answers, because a carrier gives up on a webhook after three tries.
    pub(crate) async fn ingress_up(&self) {
        let url = format!("{}/health/live", self.stack.ingress_url);
        until("ingress answers", Duration::from_secs(15), || async {
            reqwest::get(&url).await.is_ok()
        })
        .await;
    }

    pub(crate) async fn stop(self) {
        let Self {
            stack, nats, redis, ..
        } = self;
        stack.stop().await.unwrap();
        drop((nats, redis));
    }
}

/// Returns the path of this build's `seven`.
pub(crate) fn binary() -> PathBuf {
    program("seven")
}

/// Returns the path of a program of this build.
pub(crate) fn program(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    while path.file_name().is_some_and(|name| name != "deps") {
        path.pop();
    }
    path.pop();
    path.join(name)
}

/// Sums the metrics of this process whose lines begin with `series`. Other tests in the same
/// process add to the sum.
pub(crate) fn counted(series: &str) -> f64 {
    let rendered = seven_telemetry::render();
    let value = |line: &str| {
        let value = line.strip_prefix(series)?.rsplit(' ').next()?;
        value.parse::<f64>().ok()
    };
    rendered.lines().filter_map(value).sum()
}

/// Polls until `done` returns true; panics with `what` after `most`.
pub(crate) async fn until<F: Future<Output = bool>>(
    what: &str,
    most: Duration,
    mut done: impl FnMut() -> F,
) {
    let end = Instant::now() + most;
    while !done().await {
        assert!(Instant::now() < end, "waited {most:?} in vain: {what}");
        sleep(Duration::from_millis(20)).await;
    }
}
