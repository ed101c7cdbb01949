//! Starts private NATS, Redis and Postgres servers for `./scripts/dev` and for the tests, and ends them whatever happens.
//!
//! Every server is a child of this process: on a port of its own at 127.0.0.1, with its output in a log file, in its
//! own process group, and with a watchdog that ends it when this process dies, even by SIGKILL. Servers that were
//! already running on the machine are never used and never touched.
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
mod lock;
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

/// Where `scripts/test` tells the tests of a run to find what they share.
pub mod env {
    /// URL of the run's Postgres.
    pub const POSTGRES: &str = "SEVEN_TEST_POSTGRES";
    /// URL of the run's NATS.
    pub const NATS: &str = "SEVEN_NATS_URL";
    /// URL of the run's Redis.
    pub const REDIS: &str = "SEVEN_REDIS_URL";
}
