//! A private Postgres server, and databases in it.

mod account;
mod cluster;
mod database;

use std::{fs, path::Path, sync::OnceLock};

use anyhow::{Context, Result};
use cluster::Cluster;

use crate::{
    env, pid_file,
    process::{Launch, Process},
    server::{Kind, Server, Spawned, absolute, blocking},
};

/// A private Postgres server: UTF-8 in any locale, only on 127.0.0.1; the superuser is `postgres`.
pub type Postgres = Server<PostgresKind>;

/// The Postgres-specific part of a [`Server`].
#[derive(Debug)]
pub struct PostgresKind {
    cluster: Cluster,
}

impl Server<PostgresKind> {
    /// Starts a server. Its log lives in `dir`, and so does its data unless we run as root. A
    /// `fast` server skips flushes to disk, and its data is deleted when it is dropped. Otherwise
    /// the data stays for the next start.
    pub async fn start(dir: &Path, fast: bool) -> Result<Self> {
        let dir = dir.to_owned();
        blocking(move || Self::start_blocking(&dir, fast)).await
    }

    /// Does the same as [`Postgres::start`], for callers without an async runtime.
    pub fn start_blocking(dir: &Path, fast: bool) -> Result<Self> {
        Self::start_counting(dir, fast, false)
    }

    pub(crate) fn start_counting(dir: &Path, fast: bool, count_statements: bool) -> Result<Self> {
        let dir = absolute(dir)?;
        let mut cluster = Cluster::at(dir, fast)?;
        cluster.count_statements = count_statements;
        if let Some(pid) = pid_file::clear(&cluster.pid_file())? {
            cluster.forget_postmaster(pid);
        }
        cluster.prepare()?;
        Self::launch(PostgresKind { cluster })
    }

    /// Returns the server that the whole test run shares, if there is one.
    #[must_use]
    pub fn from_env() -> Option<Self> {
        std::env::var(env::POSTGRES).ok().map(Self::lent)
    }

    /// Returns the server that the whole test run shares. Without one, starts a server that ends
    /// with this process, so that a plain `cargo test` of one crate works too.
    pub async fn for_tests() -> Result<&'static Self> {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        static STARTING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let _one_at_a_time = STARTING.lock().await;
        if let Some(ready) = SHARED.get() {
            return Ok(ready);
        }
        let postgres = match Self::from_env() {
            Some(lent) => lent,
            None => {
                let dir = std::env::temp_dir()
                    .join(format!("seven-test-{}-postgres", std::process::id()));
                Self::start(&dir, true).await?
            }
        };
        Ok(SHARED.get_or_init(|| postgres))
    }
}

impl Kind for PostgresKind {
    const NAME: &'static str = "postgres";

    fn url(&self, port: u16) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable")
    }

    fn data_dir(&self) -> &Path {
        &self.cluster.data
    }

    fn spawn(&self, port: u16) -> Result<Spawned> {
        self.cluster.prepare()?;
        Process::spawn(Launch {
            command: self.cluster.server(port),
            // SIGINT is a fast shutdown; SIGTERM would wait until all clients have left.
            polite: "INT",
            // SIGQUIT is an immediate shutdown: it ends the backends too, and the next start
            // replays the log.
            abrupt: "QUIT",
            log: self.cluster.log_file(),
            pid_file: self.cluster.pid_file(),
            ephemeral: self.cluster.fast.then_some(self.cluster.home.as_path()),
        })
        .map(Spawned)
    }

    fn answers(&self, _port: u16, pid: u32) -> bool {
        // Reads the pid (line 1) and the state (line 8), as pg_ctl does.
        let Ok(text) = fs::read_to_string(self.cluster.data.join("postmaster.pid")) else {
            return false;
        };
        let mut lines = text.lines();
        let ours = lines.next().and_then(|line| line.trim().parse().ok()) == Some(pid);
        ours && lines.nth(6).is_some_and(|state| state.trim() == "ready")
    }

    fn wipe(&self) -> Result<()> {
        let home = &self.cluster.home;
        fs::remove_dir_all(home).with_context(|| format!("deleting {}", home.display()))
    }

    fn forget(&self) {
        if self.cluster.fast {
            fs::remove_dir_all(&self.cluster.home).ok();
        }
    }
}
