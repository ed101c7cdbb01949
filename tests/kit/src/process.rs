//! One server process, which writes to a log file, is guarded by a watchdog, and is shut down
//! cleanly.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};

use crate::{pid_file, wait, watchdog::Watchdog};

/// A running server process; dropping the value ends the process.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    polite: &'static str,
    pid_file: PathBuf,
    log: Log,
    // Declared last, because fields drop in order and the watchdog must guard the process to its
    // end.
    _watchdog: Watchdog,
}

/// The command of a server, its files, and the signals that end it.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) command: Command,
    /// The signal that asks the server for a quick and clean shutdown.
    pub(crate) polite: &'static str,
    /// The signal with which the watchdog ends the server: quick, and safe for the server's data.
    pub(crate) abrupt: &'static str,
    pub(crate) log: PathBuf,
    pub(crate) pid_file: PathBuf,
    /// Data that the watchdog deletes after our process and the server have ended.
    pub(crate) ephemeral: Option<&'a Path>,
}

/// The part of a log file that belongs to one process.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    path: PathBuf,
    from: u64,
}

// === impl Process ===

impl Process {
    pub(crate) fn spawn(mut launch: Launch<'_>) -> Result<Self> {
        let (log, output) = Log::open(launch.log)?;
        let program = launch.command.get_program().to_string_lossy().into_owned();
        let mut child = launch
            .command
            .stdin(Stdio::null())
            .stdout(output.try_clone().context("sharing the log file")?)
            .stderr(output)
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {program}"))?;
        let guarded = pid_file::write(&launch.pid_file, child.id()).and_then(|()| {
            let leftovers = [Some(launch.pid_file.as_path()), launch.ephemeral];
            Watchdog::over(child.id(), launch.abrupt, leftovers).context("starting the watchdog")
        });
        match guarded {
            Ok(watchdog) => Ok(Self {
                child,
                polite: launch.polite,
                pid_file: launch.pid_file,
                log,
                _watchdog: watchdog,
            }),
            Err(error) => {
                child.kill().ok();
                child.wait().ok();
                Err(error)
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the exit status if the process has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Asks the process to end, and kills it after five seconds.
    pub(crate) fn stop(&mut self) {
        if self.ended().is_none() {
            signal(self.pid(), self.polite).ok();
            signal(self.pid(), "CONT").ok(); // a frozen process handles no signal
            if wait::poll(Duration::from_secs(5), || self.ended()).is_none() {
                tracing::warn!(
                    pid = self.pid(),
                    "a server ignored its stop signal and is killed"
                );
            }
        }
        self.kill();
    }

    /// Sends SIGKILL, waits for the end, and removes the pid file.
    pub(crate) fn kill(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
        fs::remove_file(&self.pid_file).ok();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

// === impl Log ===

impl Log {
    pub(crate) fn open(path: PathBuf) -> Result<(Self, File)> {
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(|| format!("opening the log file {}", path.display()))?;
        let from = file.metadata().map(|meta| meta.len()).unwrap_or_default();
        Ok((Self { path, from }, file))
    }

    pub(crate) fn text(&self) -> String {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.from))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Returns the last 20 lines, for an error message.
    pub(crate) fn tail(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(20)..].join("\n");
        format!("{last}\n(log: {})", self.path.display())
    }
}

/// Sends a signal with the shell's built-in `kill`, because a bare Debian has no `kill` program and
/// the system call would need `unsafe`.
pub(crate) fn signal(pid: u32, name: &str) -> Result<()> {
    send(&pid.to_string(), name)
}

/// Sends a signal to the whole process group that `leader` leads.
pub fn signal_group(leader: u32, name: &str) -> Result<()> {
    send(&format!("-{leader}"), name)
}

fn send(target: &str, name: &str) -> Result<()> {
    let status = Command::new("/bin/sh")
        .args([
            "-c",
            r#"kill -s "$1" -- "$2""#,
            "seven-signal",
            name,
            target,
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("running /bin/sh")?;
    if !status.success() {
        bail!("no process {target} to send {name} to");
    }
    Ok(())
}
