//! Measures the web path (D33): the time from a visitor's POST to the first and to the last frame
//! of the answer. The floor for comparison is one durable publish, one commit and one write to a
//! socket. Also measures idle streams, and readers who never read and so may slow down other
//! visitors.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, stream};
use serde::Serialize;
use seven::{onboard, out};
use seven_bus::Outgoing;
use seven_settings::Worker;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinSet,
    time::{Instant, interval, sleep, timeout},
};
use uuid::Uuid;

use super::{
    ground::{DATABASE, Ground, Lay},
    measure::{Percentiles, percentiles},
    options::Bench,
    pipeline::{Running, fleet_processes},
    usage,
};
use crate::processes::Process;

/// Number of visitors who ask. Each asks once before the measurement, because a first contact must
/// not be measured.
const VISITORS: usize = 400;
/// Number of questions that are unanswered at any time while the fleet's throughput is measured.
const UNDER_WAY: usize = 32;
/// Number of visitors who cry for help, one after the other.
const CRIES: usize = 100;
const CRY: &str = "i want to kill myself";
const IDLE_STREAMS: usize = 10_000;
const NEVER_READERS: usize = 1_000;
/// Number of questions in the conversation that a reader opens and never reads. Their answers do
/// not fit into the connection's buffers.
const LONG_CONVERSATION: usize = 19;
const PAGE: &str = "https://www.birch.example";
const LIMITS: &str = "web.requests_per_minute = 100000000\nweb.connections = 20000\nweb.connections_per_address = 20000\nweb.token_key = \"bench only: signs sessions of this run\"\n";
const QUESTIONS: [&str; 4] = [
    "Is there a steakhouse?",
    "When does the spa open?",
    "Where can I park?",
    "What shows are on this week?",
];
/// Wait after many streams were opened at once. It is long enough for each stream to read the
/// stored messages.
const SETTLED: Duration = Duration::from_secs(12);
const PATIENCE: Duration = Duration::from_secs(30);
/// Goals for the web path, as upper limits.
const MOST_OVER_FLOOR_MS: f64 = 10.0;
const MOST_GROWTH_MB: f64 = 300.0;
const MOST_P95_IDLE_MS: f64 = 400.0;
const MOST_CRY_MS: f64 = 50.0;
const MOST_END_SECONDS: f64 = 5.0;
const MOST_UNREAD_MB: f64 = 64.0;
const MOST_UNREAD_SECONDS: f64 = 60.0;
const MOST_RISE: f64 = 0.20;

/// Latencies of a series of questions, in milliseconds. `first` is the time from the POST to the
/// first words of the answer, `done` the time to its end.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Asked {
    pub(super) rate: f64,
    pub(super) first: Percentiles,
    pub(super) done: Percentiles,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Web {
    /// Answers per second while [`UNDER_WAY`] questions are unanswered at any time.
    pub(super) throughput: f64,
    pub(super) asked: Asked,
    /// Duration in milliseconds of one publish, one commit and one write to a socket. They are made
    /// as often as the questions of `asked`.
    pub(super) floor: Percentiles,
    /// Time from a cry for help until the helplines are on the page, in milliseconds.
    pub(super) cry: Percentiles,
    pub(super) idle_streams: usize,
    /// Memory that the idle streams add to the gateway, in megabytes.
    pub(super) idle_mb: f64,
    pub(super) beside_idle: Asked,
    /// Seconds from SIGTERM to the gateway's end.
    pub(super) end_seconds: f64,
    /// Number of idle streams that got the event `bye` before the gateway ended.
    pub(super) told: usize,
    pub(super) never_readers: usize,
    pub(super) unread_mb: f64,
    /// Seconds until the gateway had cut all readers who never read.
    pub(super) cut_seconds: f64,
    pub(super) beside_unread: Asked,
    pub(super) goals_met: bool,
}

pub(super) async fn measure(dir: &Path, bench: &Bench) -> Result<Web> {
    let lay = Lay {
        casinos: 1,
        as_in_production: true,
        receipts: false,
    };
    let ground = Ground::lay(&dir.join("web"), lay).await?;
    let mut demo = onboard::read_casino("demo/casino.json", seven_packs::demo::CASINO)?;
    demo.casino_id = ground.casinos[0].clone();
    let row = {
        let mut tx = ground.stack.fleet.store.bind(&demo.casino_id).await?;
        let row = tx.casino_row().await?.context("the casino is there")?;
        tx.commit().await?;
        row
    };
    let mut config = (*row.config).clone();
    config.operational.web_domains = vec!["www.birch.example".to_owned()];
    onboard::add_casino(&ground.stack.fleet, &config, "seven bench").await?;
    let processes = fleet_processes(&ground)?;
    let mut running = Running { ground, processes };
    let first = Gateway::start(&running.ground, "web-1").await?;
    let second = Gateway::start(&running.ground, "web-2").await?;
    let visitors = Visitors::meet(&running.ground, first.address).await?;
    let throughput = visitors.saturate(bench.seconds).await?;
    // Updates the planner's statistics before latency is measured. Autovacuum would do so within a
    // new fleet's first minute.
    running.ground.sql("analyze").await?;
    let rate = bench.rate.unwrap_or((throughput / 2.0).max(1.0));
    out!("web: {throughput:.0} answers/s, measured at {rate:.0}");
    let asked = visitors.ask(rate, bench.seconds).await?;
    if bench.statements {
        usage::statements(&running.ground, visitors.asked.load(Ordering::Relaxed)).await?;
    }
    let cry = visitors.cry().await?;
    let floor = floor(&running.ground, rate, bench.seconds).await?;
    let before = second.resident()?;
    let idle = Idle::open(second.address, &visitors).await?;
    // Waits until each idle stream has read the stored messages.
    sleep(SETTLED).await;
    let idle_mb = (second.resident()? - before) / 1e6;
    out!("web: {IDLE_STREAMS} idle streams took {idle_mb:.0} MB");
    let beside_idle = visitors.at(second.address).ask(rate, bench.seconds).await?;
    let (end_seconds, told) = second.end(idle).await?;
    let before = first.resident()?;
    let unread = Unread::open(first.address, &visitors).await?;
    // Waits until the work of opening the streams is done and the buffers of all of them are full.
    sleep(SETTLED).await;
    let pid = first.process.pid().context("the gateway has ended")?;
    let (beside_unread, cut) = tokio::join!(visitors.ask(rate, bench.seconds), unread.cut(pid));
    let (most, cut_seconds) = cut?;
    let unread_mb = (most - before) / 1e6;
    let beside_unread = beside_unread?;
    running.processes.push(("web-1".to_owned(), first.process));
    running.end().await?;
    let rise = beside_unread.first.p95 / asked.first.p95 - 1.0;
    Ok(Web {
        goals_met: asked.first.p50 - floor.p50 <= MOST_OVER_FLOOR_MS
            && cry.p95 < MOST_CRY_MS
            && idle_mb <= MOST_GROWTH_MB
            && beside_idle.first.p95 < MOST_P95_IDLE_MS
            && end_seconds < MOST_END_SECONDS
            && told == IDLE_STREAMS
            && unread_mb <= MOST_UNREAD_MB
            && cut_seconds <= MOST_UNREAD_SECONDS
            && rise <= MOST_RISE,
        throughput,
        asked,
        floor,
        cry,
        idle_streams: IDLE_STREAMS,
        idle_mb,
        beside_idle,
        end_seconds,
        told,
        never_readers: NEVER_READERS,
        unread_mb,
        cut_seconds,
        beside_unread,
    })
}

/// A web gateway that runs in its own process.
struct Gateway {
    process: Process,
    address: SocketAddr,
}

impl Gateway {
    async fn start(ground: &Ground, name: &str) -> Result<Self> {
        // Lets the kernel choose the port, because `free_address` could return the port that
        // ingress is about to take.
        let address = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        let config: PathBuf = ground.dir.join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&ground.config)?;
        let ours = |line: &&str| !line.trim_start().starts_with("web.");
        let text: String = text
            .lines()
            .filter(ours)
            .flat_map(|line| [line, "\n"])
            .collect();
        let text = format!("web.listen = \"{address}\"\n{LIMITS}{text}");
        std::fs::write(&config, text)?;
        let process = Process::worker(Worker::WebGateway, &config, ground.log(name))?;
        let url = format!("http://{address}/health");
        let until = Instant::now() + PATIENCE;
        while !reqwest::get(&url)
            .await
            .is_ok_and(|answer| answer.status().is_success())
        {
            ensure!(Instant::now() < until, "{name} does not answer");
            sleep(Duration::from_millis(50)).await;
        }
        Ok(Self { process, address })
    }

    fn resident(&self) -> Result<f64> {
        let pid = self.process.pid().context("the gateway has ended")?;
        Ok(usage::of(pid).resident_bytes as f64)
    }

    /// Ends the process with SIGTERM, as an orchestrator does. Returns the seconds that the end
    /// took, and the number of streams that got the event `bye`.
    async fn end(mut self, idle: Idle) -> Result<(f64, usize)> {
        let pid = self.process.pid().context("the gateway has ended")?;
        let began = Instant::now();
        let status = std::process::Command::new("kill")
            .arg(pid.to_string())
            .status()?;
        ensure!(status.success(), "the gateway could not be told to end");
        while !self.process.ended()? {
            ensure!(began.elapsed() < PATIENCE, "the gateway does not end");
            sleep(Duration::from_millis(20)).await;
        }
        Ok((began.elapsed().as_secs_f64(), idle.told().await))
    }
}

/// Visitors who have a session, and an answer to their first question.
struct Visitors {
    address: SocketAddr,
    casino: String,
    tokens: Arc<Vec<String>>,
    http: reqwest::Client,
    asked: Arc<AtomicUsize>,
}

impl Visitors {
    async fn meet(ground: &Ground, address: SocketAddr) -> Result<Self> {
        let mut visitors = Self {
            address,
            casino: ground.casinos[0].to_string(),
            tokens: Arc::default(),
            http: reqwest::Client::builder().no_proxy().build()?,
            asked: Arc::default(),
        };
        let tokens: Vec<Result<String>> = stream::iter(0..VISITORS)
            .map(|_| visitors.init(address))
            .buffered(16)
            .collect()
            .await;
        visitors.tokens = Arc::new(tokens.into_iter().collect::<Result<_>>()?);
        let first: Vec<Result<Times>> = stream::iter(0..VISITORS)
            .map(|_| visitors.one())
            .buffer_unordered(16)
            .collect()
            .await;
        first.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(visitors)
    }

    /// Begins a session and returns its token.
    async fn init(&self, address: SocketAddr) -> Result<String> {
        let body = serde_json::json!({ "tenant_id": self.casino });
        let call = self.http.post(format!("http://{address}/api/v1/chat/init"));
        let answer = call.header("origin", PAGE).json(&body).send().await?;
        let answer: serde_json::Value = answer.error_for_status()?.json().await?;
        let token = answer["token"].as_str().context("a token")?;
        Ok(token.to_owned())
    }

    fn at(&self, address: SocketAddr) -> Self {
        Self {
            address,
            casino: self.casino.clone(),
            tokens: Arc::clone(&self.tokens),
            http: self.http.clone(),
            asked: Arc::clone(&self.asked),
        }
    }

    /// Asks one question and reads its answer.
    async fn one(&self) -> Result<Times> {
        let n = self.asked.fetch_add(1, Ordering::Relaxed);
        let token = &self.tokens[n % self.tokens.len()];
        let question = QUESTIONS[n / self.tokens.len() % QUESTIONS.len()];
        ask(&self.http, self.address, token, question).await
    }

    /// Asks questions for `seconds`, with [`UNDER_WAY`] unanswered at any time. Returns the answers
    /// per second.
    async fn saturate(&self, seconds: u64) -> Result<f64> {
        let began = Instant::now();
        let until = began + Duration::from_secs(seconds);
        let askers = stream::iter(0..UNDER_WAY).map(|_| async {
            let mut answered = 0;
            while Instant::now() < until {
                self.one().await?;
                answered += 1;
            }
            anyhow::Ok(answered)
        });
        let answered: Vec<Result<usize>> = askers.buffer_unordered(UNDER_WAY).collect().await;
        let answered: usize = answered.into_iter().sum::<Result<usize>>()?;
        Ok(answered as f64 / began.elapsed().as_secs_f64())
    }

    /// Lets new visitors cry for help, one after the other, and returns the times until they
    /// received the helplines.
    async fn cry(&self) -> Result<Percentiles> {
        let mut took = Vec::with_capacity(CRIES);
        for _ in 0..CRIES {
            let token = self.init(self.address).await?;
            took.push(ask(&self.http, self.address, &token, CRY).await?.first);
        }
        Ok(percentiles(took))
    }

    /// Asks questions at a fixed rate, however long the answers take, and returns the latencies.
    async fn ask(&self, rate: f64, seconds: u64) -> Result<Asked> {
        let count = ((rate * seconds as f64) as usize).max(1);
        let mut ticks = interval(Duration::from_secs_f64(1.0 / rate));
        let mut asking = JoinSet::new();
        for _ in 0..count {
            ticks.tick().await;
            let visitors = self.at(self.address);
            asking.spawn(async move { visitors.one().await });
        }
        let (mut first, mut done) = (Vec::new(), Vec::new());
        while let Some(times) = asking.join_next().await {
            let times = times.context("a question panicked")??;
            first.push(times.first);
            done.push(times.done);
        }
        Ok(Asked {
            rate,
            first: percentiles(first),
            done: percentiles(done),
        })
    }
}

struct Times {
    first: Duration,
    done: Duration,
}

async fn ask(
    http: &reqwest::Client,
    address: SocketAddr,
    token: &str,
    question: &str,
) -> Result<Times> {
    let body = serde_json::json!({ "message": question, "message_id": Uuid::new_v4() });
    let call = http.post(format!("http://{address}/api/v1/chat/stream"));
    let call = call
        .bearer_auth(token)
        .header("accept", "text/event-stream");
    let began = Instant::now();
    let read = async {
        let mut answer = call.json(&body).send().await?.error_for_status()?;
        let (mut unread, mut first) = (String::new(), None);
        while let Some(chunk) = answer.chunk().await? {
            unread.push_str(&String::from_utf8_lossy(&chunk));
            let shown = unread.contains("event: token") || unread.contains("event: replace");
            if shown && first.is_none() {
                first = Some(began.elapsed());
            }
        }
        ensure!(unread.contains("event: end"), "a stream without an end");
        Ok(Times {
            first: first.context("an answer without words")?,
            done: began.elapsed(),
        })
    };
    timeout(PATIENCE, read).await.context("no answer")?
}

/// Makes one durable publish, one commit and one write to a socket, one after the other. Repeats
/// this at the given rate. Returns percentiles of the total time of the three.
async fn floor(ground: &Ground, rate: f64, seconds: u64) -> Result<Percentiles> {
    let url = ground.servers.postgres.url_of(DATABASE);
    let pool = sqlx::PgPool::connect(&url).await?;
    sqlx::query("create table if not exists floor (id uuid primary key, body text)")
        .execute(&pool)
        .await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut client = TcpStream::connect(listener.local_addr()?).await?;
    let (mut server, _) = listener.accept().await?;
    server.set_nodelay(true)?;
    let bus = &ground.stack.fleet.bus;
    let count = ((rate * seconds as f64) as usize).max(1);
    let mut ticks = interval(Duration::from_secs_f64(1.0 / rate));
    let mut took = Vec::with_capacity(count);
    for _ in 0..count {
        ticks.tick().await;
        let id = Uuid::new_v4();
        let began = Instant::now();
        let message = Outgoing {
            // A stream of JetStream stores messages of this subject, but no worker acts on them,
            // because no casino is called `bench_floor`.
            subject: "content.bench_floor".to_owned(),
            key: &id.to_string(),
            copy: None,
            trace: "",
            payload: bytes::Bytes::from_static(&[0; 200]),
        };
        bus.publish(&message, PATIENCE).await?;
        sqlx::query("insert into floor values ($1, $2)")
            .bind(id)
            .bind("a reply of some length")
            .execute(&pool)
            .await?;
        server.write_all(&[b'x'; 1_500]).await?;
        client.read_exact(&mut [0; 1_500]).await?;
        took.push(began.elapsed());
    }
    Ok(percentiles(took))
}

/// Opens a stream over plain TCP, so that it costs this program little memory. `buffer` is the size
/// of the connection's receive buffer in bytes; `None` is the system's default.
async fn open(address: SocketAddr, token: &str, buffer: Option<u32>) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if let Some(bytes) = buffer {
        socket.set_recv_buffer_size(bytes)?;
    }
    let mut stream = socket.connect(address).await?;
    let call = format!(
        "GET /api/v1/chat/stream HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         accept: text/event-stream\r\n\r\n"
    );
    stream.write_all(call.as_bytes()).await?;
    Ok(stream)
}

/// Open streams on which no message arrives.
struct Idle {
    streams: Vec<TcpStream>,
}

impl Idle {
    /// Opens each stream for a different visitor: in reality all tabs of one browser share one
    /// stream.
    async fn open(address: SocketAddr, visitors: &Visitors) -> Result<Self> {
        let opened: Vec<Result<TcpStream>> = stream::iter(0..IDLE_STREAMS)
            .map(|_| async move {
                let token = visitors.init(address).await?;
                let mut stream = open(address, &token, None).await?;
                let mut head = [0; 1_024];
                let read = timeout(PATIENCE, stream.read(&mut head)).await??;
                ensure!(
                    head[..read].starts_with(b"HTTP/1.1 200"),
                    "an idle stream was refused"
                );
                Ok(stream)
            })
            .buffer_unordered(64)
            .collect()
            .await;
        let streams = opened.into_iter().collect::<Result<_>>();
        Ok(Self {
            streams: streams.context("10 000 streams need `ulimit -n 24000` for both processes")?,
        })
    }

    /// Returns the number of streams that got the event `bye`, which announces the gateway's end.
    async fn told(self) -> usize {
        let told = stream::iter(self.streams).map(|mut stream| async move {
            let mut rest = Vec::new();
            let read = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
            drop(read);
            String::from_utf8_lossy(&rest).contains("event: bye")
        });
        let told: Vec<bool> = told.buffer_unordered(64).collect().await;
        told.into_iter().filter(|told| *told).count()
    }
}

/// Streams of readers who open a long conversation and never read.
struct Unread {
    streams: Vec<TcpStream>,
    opened: Instant,
}

impl Unread {
    async fn open(address: SocketAddr, visitors: &Visitors) -> Result<Self> {
        let token = &visitors.init(address).await?;
        for n in 0..LONG_CONVERSATION {
            let question = QUESTIONS[n % QUESTIONS.len()];
            ask(&visitors.http, address, token, question).await?;
        }
        let opened = Instant::now();
        let streams: Vec<Result<TcpStream>> = stream::iter(0..NEVER_READERS)
            .map(|_| open(address, token, Some(2_048)))
            .buffer_unordered(64)
            .collect()
            .await;
        Ok(Self {
            streams: streams.into_iter().collect::<Result<_>>()?,
            opened,
        })
    }

    /// Waits until the gateway has cut all of these streams. Returns the gateway's highest resident
    /// memory in bytes, and the seconds since the streams were opened.
    async fn cut(self, gateway: u32) -> Result<(f64, f64)> {
        let mut most = 0.0_f64;
        let mut left = self.streams;
        while !left.is_empty() && self.opened.elapsed() < Duration::from_secs(90) {
            sleep(Duration::from_secs(1)).await;
            most = most.max(usage::of(gateway).resident_bytes as f64);
            // Writes one byte to each stream, because a write reports a cut connection. The gateway
            // ignores the byte, because it is not a whole request.
            let mut open = Vec::with_capacity(left.len());
            for mut stream in left {
                if stream.write_all(b"x").await.is_ok() {
                    open.push(stream);
                }
            }
            left = open;
        }
        ensure!(left.is_empty(), "{} readers were not cut", left.len());
        Ok((most, self.opened.elapsed().as_secs_f64()))
    }
}
