//! Starts all three servers together, for `./scripts/dev` and the tools of `tests/lab`.

use std::{path::Path, thread};

use anyhow::{Result, anyhow};

use crate::{
    DirLock, Nats, Postgres, Redis,
    server::{absolute, blocking},
};

/// Options of [`Servers::start`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// For tests: Postgres does not flush to disk, and its data is deleted when the servers are
    /// dropped.
    pub fast_postgres: bool,
    /// Postgres loads the library `pg_stat_statements` for benchmarks. Each benchmark has to create
    /// the extension itself.
    pub count_statements: bool,
}

/// NATS, Redis and Postgres in one directory; dropping the value stops them.
#[derive(Debug)]
pub struct Servers {
    /// The NATS server, which is the fleet's bus.
    pub nats: Nats,
    /// The Redis server, which is the fleet's cache.
    pub redis: Redis,
    /// The Postgres server, without the fleet's database at first.
    pub postgres: Postgres,
    // Declared last, because fields drop in order and no other process may use the directory before
    // these servers have ended.
    _lock: DirLock,
}

impl Servers {
    /// Starts all three servers in `dir`. Fails if another process uses `dir`.
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
            let postgres =
                Postgres::start_counting(&dir, options.fast_postgres, options.count_statements);
            (nats.join(), redis.join(), postgres)
        });
        let died = |_| anyhow!("the thread that starts a server died");
        Ok(Self {
            nats: nats.map_err(died)??,
            redis: redis.map_err(died)??,
            postgres: postgres?,
            _lock: lock,
        })
    }

    /// Shuts all three servers down cleanly. A drop does the same, but blocks its thread.
    pub async fn stop(self) -> Result<()> {
        let (nats, redis, postgres) =
            tokio::join!(self.nats.stop(), self.redis.stop(), self.postgres.stop());
        nats.and(redis).and(postgres)
    }
}
