//! Postgres access, one module per aggregate; Postgres is the source of truth (D3). Tenant queries
//! run inside [`Store::bind`] and see no rows outside it (D9).

mod after;
pub mod alerts;
pub mod audit;
pub mod backup;
pub mod campaigns;
pub mod casinos;
pub mod connections;
pub mod consent;
pub mod contacts;
pub mod content;
pub mod controls;
pub mod conversations;
pub mod cost;
pub mod day;
pub mod dead;
pub mod deletions;
pub mod delivery;
pub mod disclosures;
mod documents;
pub mod due;
mod error;
pub mod escalations;
pub mod exclusions;
pub mod export;
pub mod facts;
pub mod figures;
pub mod flags;
pub mod fleet;
pub mod floors;
pub mod guests;
pub mod held;
pub mod inbound;
pub mod incidents;
pub mod isolation;
pub mod keyed;
pub mod logins;
pub mod model_results;
mod mutant;
pub mod nightly;
pub mod numbers;
pub mod offers;
pub mod operators;
pub mod outages;
pub mod outbound;
pub mod pauses;
pub mod prefix;
pub mod presend_check;
pub mod profiles;
pub mod prompts;
pub mod providers;
pub mod readiness;
pub mod receipts;
pub mod reconcile;
pub mod retention;
pub mod review;
pub mod saved_replies;
pub mod schema;
pub mod sessions;
pub mod spool;
pub mod staff_work;
pub mod standing;
pub mod suppressions;
pub mod tickets;
pub mod timeline;
pub mod turns;
pub mod upkeep;
pub mod vectors;
mod watches;
pub mod web;
pub mod wording;
pub mod workers;

use std::{sync::LazyLock, time::Duration};

use after::After;
use connections::{Connections, Lent, Open};
use documents::Documents;
use secrecy::{ExposeSecret, SecretString};
use seven_domain::CasinoId;
use sqlx::{
    PgConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::task::JoinHandle;

pub use error::Error;

pub type Result<T, E = Error> = std::result::Result<T, E>;

static MIGRATIONS: LazyLock<sqlx::migrate::Migrator> = LazyLock::new(|| {
    let mut migrations = sqlx::migrate!("../../migrations");
    // After a rollback, the database may have migrations that this older build does not know. The
    // build ignores them and applies nothing.
    migrations.set_ignore_missing(true);
    migrations
});

/// Settings of Postgres's planner. Each connection plans a statement only once, perhaps while the
/// tables are still empty. These settings make the plan fit large tables, too. JIT is off, because
/// compiling a statement would take longer than running it.
const PLANS: [(&str, &str); 3] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("jit", "off"),
];

/// Limits on locks. `lock_timeout`: a statement that waits longer than this for a locked row fails,
/// and its work is retried later. The second limit ends a transaction whose process is frozen or
/// whose machine is lost. Without it, the server could keep the transaction's locks for hours.
const LOCKS: [(&str, &str); 2] = [
    ("lock_timeout", "5s"),
    ("idle_in_transaction_session_timeout", "60s"),
];

/// The first and the longest interval between two sweeps of a row (D3). The time scale is already
/// applied to both.
#[derive(Debug, Clone, Copy)]
pub struct SweepPlan {
    pub base: Duration,
    pub longest: Duration,
}

/// The fleet's connections to Postgres, under the app role (not the owner's).
#[derive(Debug, Clone)]
pub struct Store {
    connections: Connections,
    sweep: SweepPlan,
    documents: Documents,
}

/// A transaction bound to one casino: it can read and write that casino's rows only.
#[derive(Debug)]
pub struct Tx {
    inner: Open,
    casino: CasinoId,
    sweep: SweepPlan,
    documents: Documents,
    after: After,
}

// === impl Store ===

impl Store {
    /// Connects lazily: if the database is unreachable, queries fail, but the start does not.
    pub fn new(url: &SecretString, connections: u32, sweep: SweepPlan) -> Result<Self> {
        let options: PgConnectOptions = url.expose_secret().parse()?;
        let connections = Connections::new(options.options(PLANS).options(LOCKS), connections);
        Ok(Self {
            connections,
            sweep,
            documents: Documents::default(),
        })
    }

    /// Returns a store for the same database with separate connections. Work on this store never
    /// waits for connections that other work uses.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self {
            connections: self.connections.apart(),
            sweep: self.sweep,
            documents: self.documents.clone(),
        }
    }

    /// Returns a store for the same database that waits at most `patience` for a connection.
    #[must_use]
    pub fn within(&self, patience: Duration) -> Self {
        Self {
            connections: self.connections.within(patience),
            ..self.clone()
        }
    }

    /// Applies the migrations with the owner's (not the app's) connection.
    pub async fn migrate(owner_url: &SecretString) -> Result<()> {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .connect(owner_url.expose_secret())
            .await?;
        let outcome = MIGRATIONS.run(&pool).await;
        pool.close().await;
        Ok(outcome?)
    }

    /// Begins a transaction that sees this casino's rows only.
    pub async fn bind(&self, casino: &CasinoId) -> Result<Tx> {
        self.bind_on(self.lend().await?, casino).await
    }

    /// Lends a connection that is not bound yet. The caller binds it later with [`Store::bind_on`],
    /// when it knows the casino.
    pub async fn lend(&self) -> Result<Lent> {
        Ok(self.connections.lend().await?)
    }

    /// Works like [`Store::bind`], on a connection that is already lent.
    pub async fn bind_on(&self, lent: Lent, casino: &CasinoId) -> Result<Tx> {
        self.bind_with(lent, casino, "").await
    }

    /// Begins a transaction whose commit does not wait for the disk (D23). A crash may undo the
    /// commit, so use this only for work that is then repeated. The next commit of a
    /// [`Store::bind`] transaction makes this work durable, too.
    pub async fn bind_repeatable(&self, casino: &CasinoId) -> Result<Tx> {
        self.bind_repeatable_on(self.lend().await?, casino).await
    }

    /// Works like [`Store::bind_repeatable`], on a connection that is already lent.
    pub async fn bind_repeatable_on(&self, lent: Lent, casino: &CasinoId) -> Result<Tx> {
        self.bind_with(lent, casino, "; set local synchronous_commit = off")
            .await
    }

    async fn bind_with(&self, lent: Lent, casino: &CasinoId, also: &str) -> Result<Tx> {
        // Sends all settings in one round trip. The casino id can be inlined, because every casino
        // id consists of a-z, 0-9 and _ only.
        let begin = format!("begin; set local app.casino = '{casino}'{also}");
        let inner = self.connections.begin_on(lent, &begin).await?;
        Ok(Tx {
            inner,
            casino: casino.clone(),
            sweep: self.sweep,
            documents: self.documents.clone(),
            after: After::default(),
        })
    }

    /// Returns the numbers of idle and of used connections.
    pub fn connections(&self) -> (usize, usize) {
        self.connections.count()
    }

    /// Returns the maximum number of connections.
    pub fn most_connections(&self) -> usize {
        self.connections.most()
    }

    /// Returns whether the database answers and accepts writes.
    pub async fn ready(&self) -> bool {
        self.connections.close_idle();
        matches!(
            tokio::time::timeout(Duration::from_secs(2), self.connections.writable()).await,
            Ok(Ok(true))
        )
    }

    /// Returns a connection for a single fleet-wide statement, which sees no casino's rows.
    pub(crate) async fn fleet(&self) -> Result<Lent> {
        Ok(self.connections.live().await?)
    }

    /// Begins a transaction for several fleet-wide statements.
    pub(crate) async fn fleet_begin(&self) -> Result<Open> {
        Ok(self.connections.begin("begin").await?)
    }

    pub(crate) fn options(&self) -> &PgConnectOptions {
        self.connections.options()
    }
}

// === impl Tx ===

impl Tx {
    pub async fn commit(self) -> Result<()> {
        self.inner.commit().await?;
        self.after.run();
        Ok(())
    }

    /// Runs `what` after this transaction is committed; never if it is not committed.
    pub fn once_committed(&mut self, what: impl FnOnce() + Send + 'static) {
        self.after.push(what);
    }

    /// Makes the commit wait for the disk, as it does after [`Store::bind`]. Call this when a guest
    /// sees the outcome of the transaction, because a crash must not undo it.
    pub async fn outlast_crash(&mut self) -> Result<()> {
        sqlx::query("set local synchronous_commit = on")
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Commits in the background. The caller must await the outcome before it writes to the same
    /// rows again. Other transactions need not: the locks make them wait.
    pub fn commit_meanwhile(self) -> JoinHandle<Result<()>> {
        tokio::spawn(self.commit())
    }

    /// Rolls everything back. Used where only a trial write can answer a question.
    pub async fn rollback(self) -> Result<()> {
        Ok(self.inner.rollback().await?)
    }

    pub fn casino(&self) -> &CasinoId {
        &self.casino
    }

    pub(crate) fn conn(&mut self) -> &mut PgConnection {
        &mut self.inner
    }

    pub(crate) fn casino_str(&self) -> String {
        self.casino.as_str().to_owned()
    }

    pub(crate) fn sweep_base(&self) -> f64 {
        self.sweep.base.as_secs_f64()
    }
}
