//! All three servers at once, for `./scripts/dev`.

use std::{path::Path, thread};

use anyhow::{Result, anyhow};

use crate::{
    DirLock, Nats, Postgres, Redis,
    server::{absolute, blocking},
};

/// How [`Servers::start`] runs them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Postgres without fsync, and deleted afterwards: for tests.
    pub fast_postgres: bool,
    /// Postgres counts its statements (`pg_stat_statements`; the extension still has to be created): for benchmarks.
    pub count_statements: bool,
}

/// NATS, Redis and Postgres of one directory; dropping it stops them.
#[derive(Debug)]
pub struct Servers {
    /// The bus.
    pub nats: Nats,
    /// The cache.
    pub redis: Redis,
    /// The truth.
    pub postgres: Postgres,
    // Last: nobody may start here before the servers are gone.
    _lock: DirLock,
}

impl Servers {
    /// Starts all three in `dir`, which no other process may be using.
    pub async fn start(dir: &Path, options: Options) -> Result<Self> {
        let dir = dir.to_owned();
        blocking(move || Self::start_blocking(&dir, options)).await
    }

    fn start_blocking(dir: &Path, options: Options) -> Result<Self> {
        let dir = absolute(dir)?;
        let lock = DirLock::acquire(&dir)?;
        let (nats, redis, postgres) = thread::scope(|scope| {
            let nats = scope.spawn(|| Nats::start_blocking(&dir));
            let redis = scope.spawn(|| Redis::start_blocking(&dir));
            let postgres = Postgres::start_counting(&dir, options.fast_postgres, options.count_statements);
            (nats.join(), redis.join(), postgres)
        });
        let died = |_| anyhow!("the thread that starts a server died");
        Ok(Self { nats: nats.map_err(died)??, redis: redis.map_err(died)??, postgres: postgres?, _lock: lock })
    }

    /// Ends all three in order. Dropping does the same, but on the thread that drops.
    pub async fn stop(self) -> Result<()> {
        let (nats, redis, postgres) = tokio::join!(self.nats.stop(), self.redis.stop(), self.postgres.stop());
        nats.and(redis).and(postgres)
    }
}
