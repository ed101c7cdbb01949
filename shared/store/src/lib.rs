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
    // After a rollback, an older build finds newer migrations than its own and has nothing to apply
    // (PROD-27).
    migrations.set_ignore_missing(true);
    migrations
});

/// Planner settings for tables of any size. Each connection plans a statement once. Without these
/// settings, a plan made for a new fleet's empty tables would stay in use when they have grown.
/// Compiling statements (JIT) would take longer than running them.
const PLANS: [(&str, &str); 3] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("jit", "off"),
];

/// Limits on locks. With `lock_timeout`, a locked row delays only the guest to whom it belongs:
/// work that waits for the row fails and is retried, and other work in the same transaction can
/// continue. The second limit ends a transaction whose process is frozen or whose machine is lost:
/// otherwise the server would keep its locks until the connection breaks, which can take hours.
const LOCKS: [(&str, &str); 2] = [
    ("lock_timeout", "5s"),
    ("idle_in_transaction_session_timeout", "60s"),
];

/// The first and the longest interval of the sweep (D3), with the time scale applied.
#[derive(Debug, Clone, Copy)]
pub struct SweepPlan {
    pub base: Duration,
    pub longest: Duration,
}

/// Connections of the app role.
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

    /// Returns a store for the same database with connections of its own, so that its user never
    /// queues behind other users.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self {
            connections: self.connections.apart(),
            sweep: self.sweep,
            documents: self.documents.clone(),
        }
    }

    /// Returns a store for the same database in which the longest wait for a connection is
    /// `patience`.
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

    /// Begins a transaction whose commit does not wait for the disk, for work that is repeated if a
    /// crash undoes it (D23). The next commit of a [`Store::bind`] transaction makes this work
    /// durable, too.
    pub async fn bind_repeatable(&self, casino: &CasinoId) -> Result<Tx> {
        self.bind_repeatable_on(self.lend().await?, casino).await
    }

    /// Works like [`Store::bind_repeatable`], on a connection that is already lent.
    pub async fn bind_repeatable_on(&self, lent: Lent, casino: &CasinoId) -> Result<Tx> {
        self.bind_with(lent, casino, "; set local synchronous_commit = off")
            .await
    }

    async fn bind_with(&self, lent: Lent, casino: &CasinoId, also: &str) -> Result<Tx> {
        // All settings take one round trip. The casino id can be inlined: it consists of a-z, 0-9
        // and _ only, wherever it was read.
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

    /// Makes the commit wait for the disk, as it does after [`Store::bind`]. Call it when the
    /// outcome of the transaction is shown to a guest and must not be lost in a crash.
    pub async fn outlast_crash(&mut self) -> Result<()> {
        sqlx::query("set local synchronous_commit = on")
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Commits in the background. A caller that writes to the same rows must await the outcome
    /// first; everybody else waits for the transaction's locks.
    pub fn commit_meanwhile(self) -> JoinHandle<Result<()>> {
        tokio::spawn(self.commit())
    }

    /// Rolls everything back. Used for questions that can only be answered by trying a write.
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
