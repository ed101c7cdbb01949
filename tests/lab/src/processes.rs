//! Runs workers as separate processes, as in production, for `./scripts/chaos` and
//! `./scripts/bench`.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use seven_settings::Worker;
use seven_testkit::Watchdog;
use tokio::process::{Child, Command};

/// Returns the path of the shipped program, which is built next to this one.
pub fn seven() -> Result<PathBuf> {
    let mut path = std::env::current_exe().context("finding our own program")?;
    path.set_file_name("seven");
    ensure!(
        path.is_file(),
        "{} is not there; cargo build --workspace --bin seven --bin seven-lab",
        path.display()
    );
    Ok(path)
}

/// A running process of one of our programs. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
    // Declared last, because fields drop in order and the watchdog must guard the process to its
    // end.
    _watchdog: Watchdog,
}

// === impl Process ===

impl Process {
    /// Starts `seven run <worker> --config FILE` and appends its log to a file.
    pub(crate) fn worker(worker: Worker, config: &Path, log: PathBuf) -> Result<Self> {
        let config = config.to_string_lossy();
        Self::start(&seven()?, &["run", worker.name(), "--config", &config], log)
    }

    /// Starts this program with other arguments.
    pub(crate) fn tool(arguments: &[&str], log: PathBuf) -> Result<Self> {
        Self::start(
            &std::env::current_exe().context("finding our own program")?,
            arguments,
            log,
        )
    }

    pub(crate) fn start(program: &Path, arguments: &[&str], log: PathBuf) -> Result<Self> {
        let file = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .context("opening a worker's log")?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::from(file))
            .kill_on_drop(true)
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {} {}", program.display(), arguments.join(" ")))?;
        // The watchdog ends the worker when our process ends, even if an interrupt ends our
        // process.
        let leader = child.id().context("a worker ended at its start")?;
        let watchdog = Watchdog::over_group(leader).context("starting a watchdog")?;
        Ok(Self {
            child,
            log,
            _watchdog: watchdog,
        })
    }

    /// Returns the pid, or `None` once the process has ended.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Returns the text of the worker's `/metrics`. The worker's log holds the address.
    pub(crate) async fn metrics(&self) -> Result<String> {
        let log = std::fs::read_to_string(&self.log).context("reading a worker's log")?;
        let url = log
            .lines()
            .rev()
            .find_map(ops_url)
            .context("the worker has no operations listener")?;
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(Duration::from_secs(5))
            .build()?;
        let answer = client
            .get(format!("{url}/metrics"))
            .send()
            .await
            .context("asking a worker for its metrics")?;
        answer.text().await.context("reading a worker's metrics")
    }

    pub(crate) fn ended(&mut self) -> Result<bool> {
        Ok(self
            .child
            .try_wait()
            .context("looking after a worker")?
            .is_some())
    }

    /// Sends SIGKILL; does nothing when the process has already ended.
    pub(crate) async fn kill(&mut self) {
        let _gone = self.child.kill().await;
    }
}

/// Returns the URL from the log line in which a worker reports its operations address.
fn ops_url(line: &str) -> Option<String> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    (line["message"] == "metrics and health")
        .then(|| line["url"].as_str().map(str::to_owned))
        .flatten()
}
