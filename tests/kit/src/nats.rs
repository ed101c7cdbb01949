//! A private NATS server with JetStream.

use std::{
    fs,
    io::{BufRead, BufReader},
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

/// A private NATS server: JetStream on disk, with every acknowledged write flushed (D2, D16).
pub type Nats = Server<NatsKind>;

/// Maximum disk space that a server may reserve for its streams. The server's default is three
/// quarters of the free disk space, and tests would fail on a machine with little free space.
const MAX_FILE_STORE: &str = "10GB";

/// The NATS-specific part of a [`Server`].
#[derive(Debug)]
pub struct NatsKind {
    binary: PathBuf,
    dir: PathBuf,
    store: PathBuf,
    /// A configuration that the caller provides, in place of the one we write.
    given: Option<Given>,
}

/// A caller's configuration file, and the environment variables it refers to.
#[derive(Debug)]
struct Given {
    file: PathBuf,
    environment: Vec<(String, String)>,
    monitoring_port: u16,
}

impl Server<NatsKind> {
    /// Starts a server whose data, configuration and log live in `dir`.
    pub async fn start(dir: &Path) -> Result<Self> {
        let dir = dir.to_owned();
        blocking(move || Self::start_blocking(&dir)).await
    }

    /// Does the same as [`Nats::start`], for callers without an async runtime.
    pub fn start_blocking(dir: &Path) -> Result<Self> {
        let dir = absolute(dir)?;
        pid_file::clear(&dir.join("nats.pid"))?;
        let store = dir.join("nats");
        Self::launch(NatsKind {
            binary: binaries::nats_server()?,
            dir,
            store,
            given: None,
        })
    }

    /// Starts a server with this configuration file, but on free ports; also returns the monitoring
    /// port. The server's environment holds `environment`, `NATS_SERVER_NAME`,
    /// `NATS_STORE_DIR` and `NATS_MAX_FILE_STORE`.
    pub async fn start_configured(
        dir: &Path,
        file: &Path,
        environment: Vec<(String, String)>,
    ) -> Result<(Self, u16)> {
        let dir = absolute(dir)?;
        let file =
            std::path::absolute(file).with_context(|| format!("finding {}", file.display()))?;
        blocking(move || {
            pid_file::clear(&dir.join("nats.pid"))?;
            let monitoring_port = crate::port::free()?;
            let given = Some(Given {
                file,
                environment,
                monitoring_port,
            });
            let kind = NatsKind {
                binary: binaries::nats_server()?,
                store: dir.join("nats"),
                dir,
                given,
            };
            Ok((Self::launch(kind)?, monitoring_port))
        })
        .await
    }

    /// Starts a cluster of three servers, each in a folder below `dir`. JetStream answers once two
    /// of them have elected a leader.
    pub async fn start_cluster(dir: &Path) -> Result<[Self; 3]> {
        let dir = absolute(dir)?;
        let ports = [
            crate::port::free()?,
            crate::port::free()?,
            crate::port::free()?,
        ];
        let routes = ports
            .map(|port| format!("\"nats-route://127.0.0.1:{port}\""))
            .join(", ");
        let start = async |port: u16| {
            let dir = dir.join(format!("nats-{port}"));
            fs::create_dir_all(&dir).with_context(|| format!("creating {}", dir.display()))?;
            let file = dir.join("cluster.conf");
            fs::write(&file, clustered(port, &routes))
                .with_context(|| format!("writing {}", file.display()))?;
            Ok::<_, anyhow::Error>(Self::start_configured(&dir, &file, Vec::new()).await?.0)
        };
        Ok([
            start(ports[0]).await?,
            start(ports[1]).await?,
            start(ports[2]).await?,
        ])
    }

    /// Returns the server that the whole test run shares, if there is one.
    #[must_use]
    pub fn from_env() -> Option<Self> {
        std::env::var(env::NATS).ok().map(Self::lent)
    }
}

/// Returns the configuration of one of three servers; on `port` it listens for the two others.
fn clustered(port: u16, routes: &str) -> String {
    format!(
        "server_name: $NATS_SERVER_NAME\n\
         jetstream {{\n  store_dir: $NATS_STORE_DIR\n  sync_interval: always\n  max_memory_store: 256MB\n  max_file_store: {MAX_FILE_STORE}\n}}\n\
         cluster {{\n  name: \"seven\"\n  listen: \"127.0.0.1:{port}\"\n  no_advertise: true\n  routes: [{routes}]\n}}\n"
    )
}

impl NatsKind {
    /// Returns a name made of our pid and the port. By this name `answers` recognises that the
    /// server on the port is ours.
    fn server_name(&self, port: u16) -> String {
        format!("seven-{}-{port}", std::process::id())
    }

    fn write_config(&self, port: u16) -> Result<PathBuf> {
        let name = self.server_name(port);
        let store = self
            .store
            .to_string_lossy()
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        let config = format!(
            "# Written at every start.\n\
             server_name: \"{name}\"\n\
             listen: \"127.0.0.1:{port}\"\n\
             jetstream {{\n  \
               store_dir: \"{store}\"\n  \
               # The default flushes every two minutes and has lost acknowledged messages that way.\n  \
               sync_interval: always\n  \
               max_memory_store: 256MB\n  \
               max_file_store: {MAX_FILE_STORE}\n\
             }}\n"
        );
        let path = self.dir.join("nats.conf");
        fs::write(&path, config).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }
}

impl Kind for NatsKind {
    const NAME: &'static str = "nats-server";

    fn url(&self, port: u16) -> String {
        format!("nats://127.0.0.1:{port}")
    }

    fn data_dir(&self) -> &Path {
        &self.store
    }

    fn spawn(&self, port: u16) -> Result<Spawned> {
        fs::create_dir_all(&self.store)
            .with_context(|| format!("creating {}", self.store.display()))?;
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.dir);
        match &self.given {
            None => {
                command.arg("--config").arg(self.write_config(port)?);
            }
            Some(given) => {
                command.arg("--config").arg(&given.file).args([
                    "--addr",
                    "127.0.0.1",
                    "--port",
                    &port.to_string(),
                ]);
                command.args(["--http_port", &given.monitoring_port.to_string()]);
                command
                    .env("NATS_SERVER_NAME", self.server_name(port))
                    .env("NATS_STORE_DIR", &self.store)
                    .env("NATS_MAX_FILE_STORE", MAX_FILE_STORE);
                command.envs(given.environment.iter().map(|(name, value)| (name, value)));
            }
        }
        Process::spawn(Launch {
            command,
            polite: "INT",
            abrupt: "KILL",
            log: self.dir.join("nats.log"),
            pid_file: self.dir.join("nats.pid"),
            ephemeral: None,
        })
        .map(Spawned)
    }

    fn answers(&self, port: u16, _pid: u32) -> bool {
        let greeting = || -> std::io::Result<String> {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line)?;
            Ok(line)
        };
        let name = format!("\"server_name\":\"{}\"", self.server_name(port));
        greeting().is_ok_and(|info| info.contains(&name) && info.contains("\"jetstream\":true"))
    }

    fn wipe(&self) -> Result<()> {
        fs::remove_dir_all(&self.store)
            .with_context(|| format!("deleting {}", self.store.display()))
    }
}
