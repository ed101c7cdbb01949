//! Ends another process, or runs a command, after our own process has ended, even by SIGKILL.

use std::{
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
};

/// A POSIX shell script that reads from a pipe whose only writer is this process. When this process
/// ends, the kernel closes the pipe, `read` returns, and the script ends the guarded process.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
read -r line
kill -s "$1" -- "$2" 2>/dev/null
tries=0
while [ "$tries" -lt 20 ] && kill -0 -- "$2" 2>/dev/null; do sleep 0.1; tries=$((tries + 1)); done
kill -s KILL -- "$2" 2>/dev/null
for path in "$3" "$4"; do [ -z "$path" ] || rm -rf -- "$path"; done
"#;

/// A POSIX shell script that waits as [`SCRIPT`] does and then runs its arguments.
const AFTERWARDS: &str = r#"
trap '' HUP INT TERM
read -r line
exec "$@"
"#;

/// Ends a process or a process group when our own process ends. A drop ends only the watchdog.
#[derive(Debug)]
pub struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Guards the process group that `leader` leads.
    pub fn over_group(leader: u32) -> io::Result<Self> {
        Self::start(&format!("-{leader}"), "TERM", [None, None])
    }

    /// Guards one process; `leftovers` are files and folders to delete once the process is gone.
    pub(crate) fn over(pid: u32, signal: &str, leftovers: [Option<&Path>; 2]) -> io::Result<Self> {
        Self::start(&pid.to_string(), signal, leftovers)
    }

    fn start(target: &str, signal: &str, leftovers: [Option<&Path>; 2]) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "seven-watchdog", signal, target]);
        for path in leftovers {
            command.arg(path.unwrap_or(Path::new("")));
        }
        let shell = spawn_waiting(command)?;
        Ok(Self { shell })
    }
}

/// Runs `command` once this process has ended.
pub(crate) fn run_afterwards(command: &Command) -> io::Result<()> {
    // A static is never dropped, so its pipes close only when the process ends.
    static WAITING: Mutex<Vec<Child>> = Mutex::new(Vec::new());
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", AFTERWARDS, "seven-afterwards"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let child = spawn_waiting(shell)?;
    WAITING
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(child);
    Ok(())
}

/// Starts a shell in its own process group. It reads from a pipe of ours, and its output is
/// discarded.
fn spawn_waiting(mut shell: Command) -> io::Result<Child> {
    shell
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Kills the shell before its pipe closes, so that the script does not end the process.
        self.shell.kill().ok();
        self.shell.wait().ok();
    }
}
