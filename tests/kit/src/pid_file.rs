//! Finds and ends a server that an earlier run left behind. If another process has got the server's
//! pid since, that process is not ended.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result};

use crate::{process::signal, wait};

#[cfg(not(target_os = "linux"))]
use std::process::{Command, Stdio};

/// Writes the pid and the start time of a process, because pids are reused.
pub(crate) fn write(path: &Path, pid: u32) -> Result<()> {
    let started = started(pid).unwrap_or_default();
    fs::write(path, format!("{pid} {started}\n"))
        .with_context(|| format!("writing {}", path.display()))
}

/// Ends the process that the file records, if it still runs, and removes the file. Returns the
/// recorded pid, or `None` if the file is missing or holds no pid.
pub(crate) fn clear(path: &Path) -> Result<Option<u32>> {
    let Ok(text) = fs::read_to_string(path) else {
        return Ok(None);
    };
    let recorded = text
        .trim()
        .split_once(' ')
        .and_then(|(pid, at)| Some((pid.parse::<u32>().ok()?, at.to_owned())));
    let gone = recorded.map(|(pid, at)| {
        let same = || started(pid).is_some_and(|now| now == at);
        if !at.is_empty() && same() {
            tracing::warn!(
                pid,
                file = %path.display(),
                "ending a server that an earlier run left behind"
            );
            for name in ["QUIT", "KILL"] {
                signal(pid, name).ok();
                if wait::poll(Duration::from_secs(3), || (!same()).then_some(())).is_some() {
                    break;
                }
            }
        }
        pid
    });
    fs::remove_file(path).with_context(|| format!("removing {}", path.display()))?;
    Ok(gone)
}

/// Returns the start time of a process, in the system's own format; `None` when no such process
/// runs.
#[cfg(target_os = "linux")]
fn started(pid: u32) -> Option<String> {
    // Reads /proc, because a bare Debian has no `ps`. The fields are read after the end of the
    // process name, which may itself contain spaces and brackets.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next()? == "Z" {
        return None; // a zombie: ended, but not yet collected by its parent
    }
    let ticks = fields.nth(18)?;
    // The ticks count from the last boot, so only the boot's id makes them unique.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{ticks}@{}", boot.trim()))
}

#[cfg(not(target_os = "linux"))]
fn started(pid: u32) -> Option<String> {
    let ps = Command::new("ps")
        .args(["-o", "lstart=", "-p", &pid.to_string()])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&ps.stdout).trim().to_owned();
    (ps.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
#[path = "pid_file_tests.rs"]
mod tests;
