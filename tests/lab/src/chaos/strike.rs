//! Executes the scheduled strikes and counts them. A strike is a fault that is caused on purpose.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};
use seven_carrier_sim::{Fault, Matcher, Plan, Rule};
use seven_settings::Worker;
use tokio::{
    sync::Mutex,
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use super::{
    ground::{Ground, casino_id, casino_number},
    plan::{Link, Server, Strike},
    proxy::Proxy,
    size::CASINOS,
    visits::MOVES,
    workers::Workers,
};

/// `casino_number(MOVED)` is the new number of the casino that changes its number.
const MOVED: usize = 8;

/// The time in which a casino's sending was paused: from the commit of the switch to the request to
/// remove it.
#[derive(Debug, Clone)]
pub(crate) struct Paused {
    pub(crate) casino: String,
    pub(crate) from: DateTime<Utc>,
    pub(crate) to: DateTime<Utc>,
}

#[derive(Debug, Default)]
pub(crate) struct Struck {
    /// Number of kills per kind of process.
    pub(crate) kills: BTreeMap<&'static str, usize>,
    pub(crate) cuts: usize,
    pub(crate) slowed: usize,
    pub(crate) spoiled: usize,
    pub(crate) pauses: Vec<Paused>,
}

pub(crate) struct Striker {
    pub(crate) ground: Arc<Ground>,
    pub(crate) workers: Arc<Workers>,
    /// One lock per server: a killed server is not killed again before it is back.
    servers: [Mutex<()>; 3],
    struck: Mutex<Struck>,
}

impl Striker {
    pub(crate) fn new(ground: Arc<Ground>, workers: Arc<Workers>) -> Self {
        Self {
            ground,
            workers,
            servers: Default::default(),
            struck: Mutex::default(),
        }
    }

    /// Executes all strikes at their times. Returns when the last one has ended and everything runs
    /// again.
    pub(crate) async fn run(
        self: Arc<Self>,
        began: Instant,
        strikes: Vec<(Duration, Strike)>,
    ) -> Result<Struck> {
        let mut under_way = JoinSet::new();
        for (at, strike) in strikes {
            sleep_until(began + at).await;
            tracing::info!(?strike, "strikes");
            let striker = self.clone();
            under_way.spawn(async move { striker.strike(strike).await });
        }
        while let Some(done) = under_way.join_next().await {
            done.context("a strike panicked")??;
        }
        self.ground.stack.sim.set_rules(Plan::default())?;
        // Deletes all switches. Some may have been stored although the connection broke before
        // Postgres confirmed them.
        self.insist("delete from controls".to_owned()).await?;
        Ok(std::mem::take(&mut *self.struck.lock().await))
    }

    async fn strike(&self, strike: Strike) -> Result<()> {
        match strike {
            Strike::KillWorker { worker, instance } => {
                self.workers.kill(&self.ground, worker, instance).await?;
                *self
                    .struck
                    .lock()
                    .await
                    .kills
                    .entry(worker.name())
                    .or_default() += 1;
            }
            Strike::KillServer { server, down } => self.kill_server(server, down).await?,
            Strike::Cut(link) => {
                self.proxy(link).cut();
                self.struck.lock().await.cuts += 1;
            }
            Strike::Slow { link, by, span } => {
                self.proxy(link).slow(by);
                sleep(span).await;
                self.proxy(link).slow(Duration::ZERO);
                self.struck.lock().await.slowed += 1;
            }
            Strike::Spoil { fault, times, mute } => {
                let rule = |fault| Rule {
                    matcher: Matcher::default(),
                    fault,
                    times: Some(times),
                };
                let mut rules = vec![rule(fault)];
                if mute {
                    rules.push(rule(Fault::LostReceipt));
                }
                self.ground.stack.sim.set_rules(Plan {
                    rules,
                    ..Plan::default()
                })?;
                self.struck.lock().await.spoiled += 1;
            }
            Strike::FreezeGates { span } => {
                self.workers.freeze(Worker::ComplianceGate, span).await?;
            }
            Strike::MoveNumber => self.add(MOVES, &casino_number(MOVED)).await?,
            Strike::HandOnNumber => {
                self.add(CASINOS, &casino_number(MOVES)).await?;
                let now = self.ground.stack.fleet.clock.now();
                self.ground.handed_on.send_replace(Some(now));
            }
            Strike::Pause { casino, span } => self.pause(&casino_id(casino), span).await?,
        }
        Ok(())
    }

    /// Adds a casino with this number, or gives this number to an existing casino, as `seven casino
    /// add` does. Retries while a store is down.
    async fn add(&self, casino: usize, number: &str) -> Result<()> {
        let mut last = Ok(());
        for _ in 0..200 {
            last = self.ground.open_casino(casino, number).await;
            if last.is_ok() {
                break;
            }
            sleep(Duration::from_millis(200)).await;
        }
        last
    }

    fn proxy(&self, link: Link) -> &Proxy {
        match link {
            Link::To(server) => self.ground.proxy(server),
            Link::Webhooks => &self.ground.webhooks,
        }
    }

    async fn kill_server(&self, server: Server, down: Duration) -> Result<()> {
        let _alone = self.servers[server as usize].lock().await;
        self.ground.kill(server)?;
        sleep(down).await;
        self.ground
            .restart(server)
            .await
            .with_context(|| format!("restarting {}", server.name()))?;
        *self
            .struck
            .lock()
            .await
            .kills
            .entry(server.name())
            .or_default() += 1;
        Ok(())
    }

    async fn pause(&self, casino: &str, span: Duration) -> Result<()> {
        let set = format!(
            "insert into controls (casino_id, name, actor, reason) values ('{casino}', 'pause_outbound', 'seven chaos', 'chaos')
             on conflict do nothing returning 1"
        );
        // If an earlier strike has set the switch, that strike removes it and records the pause.
        if self.insist(set).await?.trim() != "1" {
            return Ok(());
        }
        let clock = &self.ground.stack.fleet.clock;
        let from = clock.now();
        sleep(span).await;
        let to = clock.now();
        self.insist(format!(
            "delete from controls where casino_id = '{casino}' and name = 'pause_outbound'"
        ))
        .await?;
        self.struck.lock().await.pauses.push(Paused {
            casino: casino.to_owned(),
            from,
            to,
        });
        Ok(())
    }

    /// Runs a statement and retries it, because Postgres may be down.
    async fn insist(&self, statement: String) -> Result<String> {
        let mut last = Ok(String::new());
        for _ in 0..100 {
            last = self.ground.sql(statement.clone()).await;
            if last.is_ok() {
                break;
            }
            sleep(Duration::from_millis(200)).await;
        }
        last
    }
}
