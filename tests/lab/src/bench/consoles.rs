//! Measures the cost of 50 open pages of the console (D27). Compares the guests' latency with and
//! without these pages, at half of the fleet's throughput. Measures also how long it takes until a
//! guest's text is on a page.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use secrecy::SecretString;
use serde::Serialize;
use seven::out;
use seven_carrier_sim::{Sim, Text};
use seven_domain::{IdSource, Language, OperatorId, Role};
use seven_settings::{Settings, Worker};
use seven_staff::{
    Token,
    account::{self, Invitation},
    factor::Factor,
    login::{self, Entered},
};
use seven_store::Store;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    ground::{Ground, Lay, casino_number},
    load::{Guests, Pace, play},
    measure::{Percentiles, percentiles},
    options::Bench,
    pipeline::{Running, fleet_processes},
    usage,
};
use crate::processes::Process;

/// Number of open pages. `THREADS` of them show the thread of the probe guest, the others show the
/// list of conversations.
const PAGES: usize = 50;
const THREADS: usize = 5;
/// Shortest time between two fetches of a page, as the page's own `hx-trigger` sets it
/// (`throttle:500ms`).
const THROTTLE: Duration = Duration::from_millis(500);
/// Number of texts that are kept unanswered while the fleet's throughput is measured.
const UNDER_WAY: usize = 64;
/// Phone number of the probe guest, whose texts are looked for on the pages. No measured guest has
/// this number.
const PROBE: &str = "+13055550199";
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of runs with open pages, and of runs without. The two kinds alternate, because the
/// machine's own speed changes within minutes.
const ROUNDS: usize = 3;
/// Goals, as upper limits. `MOST_RISE` is the rise of the guests' p95 as a fraction,
/// `MOST_VISIBLE_MS` the p95 of the time until a text is visible, `MOST_RESIDENT_MB` the console's
/// resident memory, and `MOST_FETCHES` the fetches of one page per second.
const MOST_RISE: f64 = 0.10;
const MOST_VISIBLE_MS: f64 = 1_000.0;
const MOST_RESIDENT_MB: f64 = 80.0;
const MOST_FETCHES: f64 = 2.0;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Consoles {
    pub(super) pages: usize,
    /// Texts that the guests send per second: half of the throughput, unless the options set a
    /// rate.
    pub(super) rate: f64,
    /// Guests' latency without open pages, in milliseconds: the median of the runs' p95.
    pub(super) quiet_p95: f64,
    /// Guests' latency with open pages, in milliseconds: the median of the runs' p95.
    pub(super) watched_p95: f64,
    /// Rise from `quiet_p95` to `watched_p95`, as a fraction of `quiet_p95`.
    pub(super) rise: f64,
    /// Milliseconds from a guest's text until it is on an open page.
    pub(super) visible: Percentiles,
    /// Fetches per second of the page that fetched most often.
    pub(super) fetches_per_second: f64,
    pub(super) resident_mb: f64,
    pub(super) goals_met: bool,
}

pub(super) async fn measure(dir: &Path, bench: &Bench) -> Result<Consoles> {
    let lay = Lay {
        casinos: 1,
        as_in_production: false,
        receipts: true,
    };
    let ground = Ground::lay(&dir.join("consoles"), lay).await?;
    let mut processes = fleet_processes(&ground)?;
    let (console, log) = (Worker::Console, ground.log(Worker::Console.name()));
    let process = Process::worker(console, &ground.config, log)?;
    processes.push((console.name().to_owned(), process));
    let running = Running { ground, processes };
    let one = Bench {
        casinos: 1,
        ..bench.clone()
    };
    running.introduce(&one).await?;
    let sim = running.ground.sim();
    let guests = |count| Guests {
        casinos: 1,
        first: 0,
        count,
    };
    let rate = match bench.rate {
        Some(rate) => rate,
        None => {
            let all = play(sim, guests(bench.texts), Pace::UnderWay(UNDER_WAY)).await?;
            (all.shown().per_second / 2.0).floor()
        }
    };
    let count = ((rate * bench.seconds as f64) as usize).clamp(1, bench.texts);
    out!("consoles: {rate:.0} texts/s, {PAGES} pages");
    let console = Address::of(&running.ground)?;
    let thread = probe_thread(&running).await?;
    let (mut quiet, mut watched, mut visible, mut fetches) = (vec![], vec![], vec![], 0.0_f64);
    let mut resident = 0;
    for round in 0..ROUNDS {
        let run = play(sim, guests(count), Pace::Rate(rate)).await?.shown();
        quiet.push(run.from_accepted.p95);
        let pages = Pages::open(&console, &running.ground, &thread).await?;
        let began = Instant::now();
        let (run, seen) = tokio::join!(
            play(sim, guests(count), Pace::Rate(rate)),
            pages.probe(sim, round, count as f64 / rate)
        );
        watched.push(run?.shown().from_accepted.p95);
        visible.extend(seen?);
        let most = pages.most_fetches() as f64 / began.elapsed().as_secs_f64();
        fetches = fetches.max(most);
        resident = resident.max(resident_of(&running)?);
        pages.close();
    }
    running.end().await?;
    let (quiet_p95, watched_p95) = (median(quiet), median(watched));
    let rise = watched_p95 / quiet_p95 - 1.0;
    let visible = percentiles(visible);
    let resident_mb = resident as f64 / 1e6;
    Ok(Consoles {
        pages: PAGES,
        rate,
        quiet_p95,
        watched_p95,
        rise,
        visible,
        fetches_per_second: fetches,
        resident_mb,
        goals_met: rise < MOST_RISE
            && visible.p95 < MOST_VISIBLE_MS
            && resident_mb < MOST_RESIDENT_MB
            && fetches <= MOST_FETCHES,
    })
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn resident_of(running: &Running) -> Result<u64> {
    let console = running
        .processes
        .iter()
        .find(|(name, _)| name == Worker::Console.name());
    let pid = console.and_then(|(_, process)| process.pid());
    Ok(usage::of(pid.context("the console has ended")?).resident_bytes)
}

/// Sends the probe guest's first text, and returns the path of the guest's thread on the console.
async fn probe_thread(running: &Running) -> Result<String> {
    write(running.ground.sim(), "hello")?;
    let casino = &running.ground.casinos[0];
    let query = format!(
        "select conversation_id from conversations c join guests g using (casino_id, guest_id) where g.phone = '{PROBE}'"
    );
    let until = Instant::now() + PROBE_TIMEOUT;
    loop {
        let found = running.ground.sql(&query).await?;
        if let Some(id) = found.split_whitespace().find(|word| word.len() == 36) {
            return Ok(format!("/c/{casino}/conversations/{id}/texts"));
        }
        ensure!(Instant::now() < until, "the probe's guest has no thread");
        sleep(Duration::from_millis(100)).await;
    }
}

fn write(sim: &Sim, text: &str) -> Result<()> {
    sim.text(Text {
        from: PROBE.to_owned(),
        to: Some(casino_number(0)),
        text: Some(text.to_owned()),
        ..Text::default()
    })?;
    Ok(())
}

/// URL of the console, and a store that uses the console's database login.
struct Address {
    url: String,
    store: Store,
}

impl Address {
    fn of(ground: &Ground) -> Result<Self> {
        let settings = Settings::load(Some(&ground.config))?;
        let url: SecretString = settings
            .console
            .postgres_url
            .context("the console has no database")?;
        Ok(Self {
            url: format!("http://{}", settings.console.listen),
            store: Store::new(&url, 2, ground.stack.fleet.timing.sweep())?,
        })
    }

    /// Adds an operator with the role host, begins a session for it and returns the session's
    /// cookie.
    async fn log_in(&self, n: usize) -> Result<String> {
        let ids = IdSource::default();
        let id: OperatorId = ids.next();
        let invitation = Invitation {
            email: format!("host{n}-{id}@example.com"),
            name: format!("Host {n}"),
            language: Language::En,
            role: Role::Host,
            casino: None,
            ends_on: None,
        };
        let link = account::add(&self.store, id, invitation, "bench").await?;
        let factor = Factor::draw(&mut rand::rng());
        let now = seven_domain::Clock::default().now();
        let seconds = u64::try_from(now.timestamp())?;
        let entered = Entered {
            password: Some("a password of the bench".to_owned().into()),
            factor: Some((factor.clone(), factor.code_at(seconds))),
        };
        login::use_link(&self.store, &link, entered, true, now).await?;
        let token = Token::draw(&mut rand::rng());
        let mut tx = self.store.staff().await?;
        tx.put_session(&token.hash(), id, true).await?;
        tx.commit().await?;
        Ok(format!("seven-here={}", token.expose()))
    }
}

/// The open pages of one run; each is a task that follows the console's event stream.
struct Pages {
    tasks: Vec<JoinHandle<()>>,
    fetches: Vec<Arc<AtomicUsize>>,
    /// The newest HTML of the probe guest's thread that any page has fetched.
    seen: Arc<std::sync::Mutex<String>>,
}

impl Pages {
    async fn open(address: &Address, ground: &Ground, thread: &str) -> Result<Self> {
        let mut cookies = Vec::new();
        for n in 0..PAGES {
            // Logs in one operator after the other, because only a few passwords can be hashed at
            // the same time.
            cookies.push(address.log_in(n).await?);
        }
        let seen = Arc::default();
        let (mut tasks, mut fetches) = (Vec::new(), Vec::new());
        for (n, cookie) in cookies.into_iter().enumerate() {
            let casino = &ground.casinos[0];
            let count = Arc::new(AtomicUsize::new(0));
            fetches.push(Arc::clone(&count));
            let page = Page {
                http: reqwest::Client::new(),
                cookie,
                stream: format!("{}/c/{casino}/stream", address.url),
                part: if n < THREADS {
                    format!("{}{thread}", address.url)
                } else {
                    format!("{}/c/{casino}/conversations/list", address.url)
                },
                fetches: count,
                seen: (n < THREADS).then(|| Arc::clone(&seen)),
            };
            tasks.push(tokio::spawn(async move {
                if let Err(error) = page.follow().await {
                    tracing::error!(error = ?error, "an open page failed");
                }
            }));
        }
        // Waits until all streams are open, before anything is measured.
        sleep(Duration::from_secs(2)).await;
        ensure!(
            tasks.iter().all(|task| !task.is_finished()),
            "a page could not be opened; see bench.log"
        );
        Ok(Self {
            tasks,
            fetches,
            seen,
        })
    }

    /// Sends the probe guest's texts one after the other, and returns the time from each text until
    /// an open page shows it.
    async fn probe(&self, sim: &Sim, round: usize, seconds: f64) -> Result<Vec<Duration>> {
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        let mut took = Vec::new();
        for n in 0.. {
            if Instant::now() >= until {
                break;
            }
            let words = format!("probe {round} {n} of the bench");
            let began = Instant::now();
            write(sim, &words)?;
            let shown = async {
                while !self.seen.lock().is_ok_and(|seen| seen.contains(&words)) {
                    sleep(Duration::from_millis(5)).await;
                }
            };
            timeout(PROBE_TIMEOUT, shown)
                .await
                .with_context(|| format!("`{words}` was on no page"))?;
            took.push(began.elapsed());
            sleep(PROBE_EVERY).await;
        }
        Ok(took)
    }

    fn most_fetches(&self) -> usize {
        let counts = self.fetches.iter();
        counts
            .map(|count| count.load(Ordering::Relaxed))
            .max()
            .unwrap_or_default()
    }

    fn close(self) {
        for task in self.tasks {
            task.abort();
        }
    }
}

/// One open page. Like the page's script, it fetches the changing part of the page whenever the
/// stream reports a change.
struct Page {
    http: reqwest::Client,
    cookie: String,
    stream: String,
    part: String,
    fetches: Arc<AtomicUsize>,
    /// Receives the fetched HTML if the page shows the probe guest's thread; `None` for other
    /// pages.
    seen: Option<Arc<std::sync::Mutex<String>>>,
}

impl Page {
    async fn follow(&self) -> Result<()> {
        let mut stream = self.get(&self.stream, "text/event-stream").await?;
        let mut fetched = Instant::now() - THROTTLE;
        while let Some(frame) = stream.chunk().await? {
            if !String::from_utf8_lossy(&frame).contains("event: change") {
                continue;
            }
            tokio::time::sleep_until(fetched + THROTTLE).await;
            fetched = Instant::now();
            let part = self.get(&self.part, "text/html").await?.text().await?;
            self.fetches.fetch_add(1, Ordering::Relaxed);
            if let Some(seen) = &self.seen
                && let Ok(mut seen) = seen.lock()
            {
                *seen = part;
            }
        }
        anyhow::bail!("the stream ended")
    }

    async fn get(&self, url: &str, accept: &str) -> Result<reqwest::Response> {
        let request = self.http.get(url).header("cookie", &self.cookie);
        let request = request
            .header("accept", accept)
            .header("hx-request", "true");
        Ok(request.send().await?.error_for_status()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_run() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
    }
}
