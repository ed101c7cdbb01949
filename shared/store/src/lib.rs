//! Postgres: the truth of the fleet (D3). One module per aggregate; every tenant query runs inside a transaction bound to one
//! casino by [`Store::bind`], and a query outside such a transaction sees nothing (D9).
//!
//! Never publishes, never calls a provider, never reads a clock of its own: due times are the database's `now()`.

mod after;
pub mod alerts;
pub mod audit;
pub mod backup;
pub mod campaigns;
pub mod casinos;
pub mod connections;
pub mod consent;
pub mod content;
pub mod controls;
pub mod conversations;
pub mod cost;
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
pub mod flags;
pub mod fleet;
pub mod floors;
pub mod guests;
pub mod inbound;
pub mod incidents;
pub mod isolation;
pub mod keyed;
pub mod last_look;
pub mod logins;
pub mod model_results;
mod mutant;
pub mod nightly;
pub mod numbers;
pub mod offers;
pub mod outbound;
pub mod pauses;
pub mod profiles;
pub mod prompts;
pub mod providers;
pub mod readiness;
pub mod receipts;
pub mod reconcile;
pub mod retention;
pub mod review;
pub mod schema;
pub mod sessions;
pub mod spool;
pub mod standing;
pub mod suppressions;
pub mod timeline;
pub mod turns;
pub mod upkeep;
pub mod vectors;
mod watches;
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
    // A build that was rolled back finds newer migrations than its own, and has nothing to do (PROD-27).
    migrations.set_ignore_missing(true);
    migrations
});

/// Our statements are few and go by key: planned once per connection instead of at each call, for tables of any size instead of for those
/// that a new fleet finds empty. Compiling them would take longer than they do.
const PLANS: [(&str, &str); 3] = [("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"), ("jit", "off")];

/// A guest's row that somebody holds for longer delays that guest alone: who waited comes again, and what shared its transaction goes on.
const LOCKS: [(&str, &str); 1] = [("lock_timeout", "5s")];

/// The first and the longest interval of the sweep (D3), already scaled.
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

/// A transaction bound to one casino: it can read and write that casino's rows and no others.
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
    /// Connects lazily: a database that is away makes queries fail, not the start.
    pub fn new(url: &SecretString, connections: u32, sweep: SweepPlan) -> Result<Self> {
        let options: PgConnectOptions = url.expose_secret().parse()?;
        let connections = Connections::new(options.options(PLANS).options(LOCKS), connections);
        Ok(Self { connections, sweep, documents: Documents::default() })
    }

    /// The same database through connections of its own, so that nobody else's queue stands before this user's.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self { connections: self.connections.apart(), sweep: self.sweep, documents: self.documents.clone() }
    }

    /// The same database for one who waits for a connection no longer than this.
    #[must_use]
    pub fn within(&self, patience: Duration) -> Self {
        Self { connections: self.connections.within(patience), ..self.clone() }
    }

    /// Applies the migrations with the owner's (not the app's) connection.
    pub async fn migrate(owner_url: &SecretString) -> Result<()> {
        let pool = PgPoolOptions::new().max_connections(1).connect(owner_url.expose_secret()).await?;
        let outcome = MIGRATIONS.run(&pool).await;
        pool.close().await;
        Ok(outcome?)
    }

    /// Begins a transaction that sees this casino's rows only.
    pub async fn bind(&self, casino: &CasinoId) -> Result<Tx> {
        self.bind_on(self.lend().await?, casino).await
    }

    /// A connection, for whoever decides only when he has it what he asks: [`Store::bind_on`].
    pub async fn lend(&self) -> Result<Lent> {
        Ok(self.connections.lend().await?)
    }

    /// As [`Store::bind`], on a connection that is lent already.
    pub async fn bind_on(&self, lent: Lent, casino: &CasinoId) -> Result<Tx> {
        self.bind_with(lent, casino, "").await
    }

    /// The same, but its commit does not wait for the disk: for work that is done again when a crash of the database takes it back
    /// (D23). Whatever is committed with [`Store::bind`] afterwards takes it along.
    pub async fn bind_repeatable(&self, casino: &CasinoId) -> Result<Tx> {
        self.bind_repeatable_on(self.lend().await?, casino).await
    }

    /// As [`Store::bind_repeatable`], on a connection that is lent already.
    pub async fn bind_repeatable_on(&self, lent: Lent, casino: &CasinoId) -> Result<Tx> {
        self.bind_with(lent, casino, "; set local synchronous_commit = off").await
    }

    async fn bind_with(&self, lent: Lent, casino: &CasinoId, also: &str) -> Result<Tx> {
        // One round trip for all; a casino's id is of a-z, 0-9 and _ only, whatever was read.
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

    /// Connections that are idle, and those in use.
    pub fn connections(&self) -> (usize, usize) {
        self.connections.count()
    }

    /// The most connections it may have at once.
    pub fn most_connections(&self) -> usize {
        self.connections.most()
    }

    /// True when the database answers and takes writes.
    pub async fn ready(&self) -> bool {
        self.connections.close_idle();
        matches!(tokio::time::timeout(Duration::from_secs(2), self.connections.writable()).await, Ok(Ok(true)))
    }

    /// For a statement of the fleet's own, outside any casino's rows.
    pub(crate) async fn fleet(&self) -> Result<Lent> {
        Ok(self.connections.live().await?)
    }

    /// The same for several that belong together.
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

    /// Done when this transaction is committed, and never when it is not.
    pub fn once_committed(&mut self, what: impl FnOnce() + Send + 'static) {
        self.after.push(what);
    }

    /// Commits while the caller goes on: for a transaction that only read, or whose outcome is
    /// needed later. A caller that writes to the same rows waits for the outcome first; the
    /// transaction's locks keep everybody else from them.
    pub fn commit_meanwhile(self) -> JoinHandle<Result<()>> {
        tokio::spawn(self.commit())
    }

    /// Takes everything back: for a question that only writing can answer.
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
