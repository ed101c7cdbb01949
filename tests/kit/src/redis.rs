//! A private Redis server.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result};

use crate::{
    binaries, env, pid_file,
    process::{Launch, Process},
    server::{Kind, Server, Spawned, absolute, blocking},
};

/// A private Redis server. It saves nothing by itself, because losing Redis must only cost speed
/// (D3). If a test needs the data after a [`Server::restart`], the test sends `SAVE` first.
pub type Redis = Server<RedisKind>;

/// The Redis-specific part of a [`Server`].
#[derive(Debug)]
pub struct RedisKind {
    binary: PathBuf,
    dir: PathBuf,
    data: PathBuf,
}

impl Server<RedisKind> {
    /// Starts a server whose data and log live in `dir`.
    pub async fn start(dir: &Path) -> Result<Self> {
        let dir = dir.to_owned();
        blocking(move || Self::start_blocking(&dir)).await
    }

    /// Does the same as [`Redis::start`], for callers without an async runtime.
    pub fn start_blocking(dir: &Path) -> Result<Self> {
        let dir = absolute(dir)?;
        pid_file::clear(&dir.join("redis.pid"))?;
        let data = dir.join("redis");
        Self::launch(RedisKind {
            binary: binaries::redis_server()?,
            dir,
            data,
        })
    }

    /// Returns the server that the whole test run shares, if there is one.
    #[must_use]
    pub fn from_env() -> Option<Self> {
        std::env::var(env::REDIS).ok().map(Self::lent)
    }
}

impl Kind for RedisKind {
    const NAME: &'static str = "redis-server";

    fn url(&self, port: u16) -> String {
        format!("redis://127.0.0.1:{port}/")
    }

    fn data_dir(&self) -> &Path {
        &self.data
    }

    fn spawn(&self, port: u16) -> Result<Spawned> {
        fs::create_dir_all(&self.data)
            .with_context(|| format!("creating {}", self.data.display()))?;
        let mut command = Command::new(&self.binary);
        command
            .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
            .args([
                "--save",
                "",
                "--appendonly",
                "no",
                "--daemonize",
                "no",
                "--dir",
            ])
            .arg(&self.data)
            .current_dir(&self.dir);
        Process::spawn(Launch {
            command,
            polite: "TERM",
            abrupt: "KILL",
            log: self.dir.join("redis.log"),
            pid_file: self.dir.join("redis.pid"),
            ephemeral: None,
        })
        .map(Spawned)
    }

    fn answers(&self, port: u16, pid: u32) -> bool {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            // PING fails while a snapshot loads, and the pid shows that the server is ours.
            stream.write_all(b"PING\r\nINFO server\r\nQUIT\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        ask().is_ok_and(|said| {
            said.starts_with("+PONG") && said.contains(&format!("process_id:{pid}\r"))
        })
    }

    fn wipe(&self) -> Result<()> {
        match fs::remove_dir_all(&self.data) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("deleting {}", self.data.display()))
            }
            _ => Ok(()),
        }
    }
}
