//! The common part of NATS, Redis and Postgres. A server starts on a free port and stops on drop.
//! It can be broken and restarted on the same port.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};

use crate::{
    process::{Process, signal},
    wait,
};

/// The server-specific part of a [`Server`]. Implemented by this crate only.
pub trait Kind: fmt::Debug + Send + Sync + 'static {
    /// Name of the server's program, for logs and errors.
    const NAME: &'static str;
    #[doc(hidden)]
    fn url(&self, port: u16) -> String;
    #[doc(hidden)]
    fn data_dir(&self) -> &Path;
    #[doc(hidden)]
    fn spawn(&self, port: u16) -> Result<Spawned>;
    /// Returns whether the process that we started serves on this port.
    #[doc(hidden)]
    fn answers(&self, port: u16, pid: u32) -> bool;
    #[doc(hidden)]
    fn wipe(&self) -> Result<()>;
    /// Called once, when the last handle of the server is dropped.
    #[doc(hidden)]
    fn forget(&self) {}
}

/// A started process; opaque outside this crate.
#[doc(hidden)]
#[derive(Debug)]
pub struct Spawned(pub(crate) Process);

/// A private server; dropping the last handle stops it. Blocking work runs on tokio's blocking
/// threads.
#[derive(Debug)]
pub struct Server<K: Kind>(Repr<K>);

#[derive(Debug)]
enum Repr<K: Kind> {
    Own(Arc<Own<K>>),
    /// The URL of a server that another process started and the whole test run shares.
    Lent(String),
}

#[derive(Debug)]
struct Own<K: Kind> {
    kind: K,
    port: u16,
    process: Mutex<Option<Process>>,
}

/// Maximum time that a server may take to start. It is long, because Postgres may recover from a
/// crash on a slow disk.
const START_TIMEOUT: Duration = Duration::from_secs(30);

// === impl Server ===

impl<K: Kind> Server<K> {
    pub(crate) fn launch(kind: K) -> Result<Self> {
        let mut last = anyhow!("no free port");
        for _ in 0..8 {
            let port = crate::port::free()?;
            match bring_up(&kind, port) {
                Ok(process) => {
                    tracing::debug!(server = K::NAME, port, pid = process.pid(), "started");
                    return Ok(Self(Repr::Own(Arc::new(Own {
                        kind,
                        port,
                        process: Mutex::new(Some(process)),
                    }))));
                }
                Err(Trouble::PortTaken(error)) => last = error,
                Err(Trouble::Other(error)) => return Err(error),
            }
        }
        Err(last)
    }

    pub(crate) fn lent(url: String) -> Self {
        Self(Repr::Lent(url))
    }

    /// Returns the URL for clients. A restart does not change the URL.
    #[must_use]
    pub fn url(&self) -> String {
        match &self.0 {
            Repr::Own(own) => own.kind.url(own.port),
            Repr::Lent(url) => url.clone(),
        }
    }

    /// Returns the folder with the server's data. Fails for a server that the whole run shares.
    pub fn data_dir(&self) -> Result<&Path> {
        Ok(self.own()?.kind.data_dir())
    }

    /// Returns the pid while our server runs; `None` for a server that the whole run shares.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        match &self.0 {
            Repr::Own(own) => own.process().as_ref().map(Process::pid),
            Repr::Lent(_) => None,
        }
    }

    /// Shuts the server down cleanly; it stays stopped until [`Server::restart`].
    pub async fn stop(&self) -> Result<()> {
        let own = Arc::clone(self.own()?);
        blocking(move || {
            drop(own.process().take());
            Ok(())
        })
        .await
    }

    /// Ends the server with SIGKILL, as a crash would.
    pub fn kill(&self) -> Result<()> {
        if let Some(mut process) = self.own()?.process().take() {
            process.kill();
        }
        Ok(())
    }

    /// Freezes the server with SIGSTOP: connections stay open but get no answer until
    /// [`Server::thaw`].
    pub fn freeze(&self) -> Result<()> {
        self.signal("STOP")
    }

    /// Continues a frozen server with SIGCONT.
    pub fn thaw(&self) -> Result<()> {
        self.signal("CONT")
    }

    /// Starts the server again on the same port with its data; stops it first if it runs.
    pub async fn restart(&self) -> Result<()> {
        let own = Arc::clone(self.own()?);
        blocking(move || own.restart()).await
    }

    /// Kills the server if it runs, and deletes all its data. [`Server::restart`] then starts it
    /// empty.
    pub async fn wipe_data(&self) -> Result<()> {
        let own = Arc::clone(self.own()?);
        blocking(move || {
            if let Some(mut process) = own.process().take() {
                process.kill();
            }
            own.kind.wipe()
        })
        .await
    }

    /// Returns whether another process started the server and the whole test run shares it.
    pub(crate) fn is_lent(&self) -> bool {
        matches!(self.0, Repr::Lent(_))
    }

    fn signal(&self, name: &str) -> Result<()> {
        match self.own()?.process().as_ref() {
            Some(process) => signal(process.pid(), name),
            None => bail!("{} is not running", K::NAME),
        }
    }

    fn own(&self) -> Result<&Arc<Own<K>>> {
        match &self.0 {
            Repr::Own(own) => Ok(own),
            Repr::Lent(url) => bail!(
                "{} at {url} belongs to the whole run: start a private one to break it",
                K::NAME
            ),
        }
    }
}

// === impl Own ===

impl<K: Kind> Own<K> {
    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn restart(&self) -> Result<()> {
        let mut process = self.process();
        drop(process.take());
        // After a kill, the port or Postgres's shared memory may stay taken for a moment.
        let mut last = None;
        let up = wait::poll(Duration::from_secs(10), || {
            match bring_up(&self.kind, self.port) {
                Ok(started) => Some(Ok(started)),
                Err(Trouble::PortTaken(error)) => {
                    last = Some(error);
                    None
                }
                Err(Trouble::Other(error)) => Some(Err(error)),
            }
        });
        *process = Some(match up {
            Some(outcome) => outcome?,
            None => return Err(last.unwrap_or_else(|| anyhow!("{} did not come back", K::NAME))),
        });
        Ok(())
    }
}

impl<K: Kind> Drop for Own<K> {
    fn drop(&mut self) {
        drop(self.process().take());
        self.kind.forget();
    }
}

enum Trouble {
    PortTaken(anyhow::Error),
    Other(anyhow::Error),
}

fn bring_up<K: Kind>(kind: &K, port: u16) -> Result<Process, Trouble> {
    let Spawned(mut process) = kind.spawn(port).map_err(Trouble::Other)?;
    let pid = process.pid();
    // `Some(None)`: the server answers. `Some(Some(status))`: the process ended.
    let outcome = wait::poll(START_TIMEOUT, || match process.ended() {
        Some(status) => Some(Some(status)),
        None => kind.answers(port, pid).then_some(None),
    });
    let error = match outcome {
        Some(None) => return Ok(process),
        Some(Some(status)) => anyhow!(
            "{} ended at its start ({status}):\n{}",
            K::NAME,
            process.log().tail()
        ),
        None => anyhow!(
            "{} did not answer within {START_TIMEOUT:?}:\n{}",
            K::NAME,
            process.log().tail()
        ),
    };
    let log = process.log().text().to_lowercase();
    let transient = log.contains("address already in use") || log.contains("shared memory block");
    Err(if transient {
        Trouble::PortTaken(error)
    } else {
        Trouble::Other(error)
    })
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .context("waiting for the server's thread")?
}

/// Creates `dir` and returns its absolute path, because servers run in another working directory.
pub(crate) fn absolute(dir: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
    dir.canonicalize()
        .with_context(|| format!("resolving {}", dir.display()))
}
