//! Starts private NATS, Redis and Postgres servers for `./scripts/dev` and the tests, and ends them
//! afterwards.
//!
//! Every server is a child of this process on its own port of 127.0.0.1; a watchdog ends it even if
//! this process dies by SIGKILL. Servers that already run on the machine are never used.
//!
//! ```no_run
//! # async fn demo(dir: &std::path::Path) -> anyhow::Result<()> {
//! use seven_testkit::{Nats, Postgres, Redis};
//!
//! let nats = Nats::start(dir).await?; // a private one: break it as you like
//! nats.kill()?;
//! nats.restart().await?; // same port, same data
//!
//! let redis = Redis::start(dir).await?;
//! let postgres = Postgres::for_tests().await?; // one per run, a database per test
//! let url = postgres.create_database("consent_chain", None).await?;
//! # drop((redis, url));
//! # Ok(())
//! # }
//! ```

mod binaries;
pub mod collector;
pub mod identity;
mod lock;
pub mod mailbox;
pub mod models;
mod nats;
pub mod pagers;
mod pid_file;
mod port;
mod postgres;
mod process;
mod redis;
mod scratch;
mod server;
mod servers;
pub mod sse;
mod wait;
mod watchdog;

pub use lock::DirLock;
pub use nats::{Nats, NatsKind};
pub use postgres::{Postgres, PostgresKind};
pub use process::signal_group;
pub use redis::{Redis, RedisKind};
pub use scratch::Scratch;
pub use server::{Kind, Server};
pub use servers::{Options, Servers};
pub use watchdog::Watchdog;

/// Names of the environment variables that hold the URLs of the servers shared by a test run.
/// `scripts/test` sets them.
pub mod env {
    /// URL of the Postgres server that the run shares.
    pub const POSTGRES: &str = "SEVEN_TEST_POSTGRES";
    /// URL of the NATS server that the run shares.
    pub const NATS: &str = "SEVEN_NATS_URL";
    /// URL of the Redis server that the run shares.
    pub const REDIS: &str = "SEVEN_REDIS_URL";
}
