//! Runs a command with private servers: `seven-servers run [--postgres] [--nats] [--redis] --
//! COMMAND`. `scripts/test` runs the tests through it, so that a whole run shares one Postgres
//! server.
#![expect(clippy::print_stderr, reason = "a command-line program")]

use std::{
    ffi::OsString,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{ExitCode, ExitStatus},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use seven_testkit::{Nats, Postgres, Redis, Watchdog, env, signal_group};
use tokio::{
    process::Command,
    signal::unix::{Signal, SignalKind, signal},
};

const USAGE: &str =
    "usage: seven-servers run [--dir DIR] [--postgres] [--nats] [--redis] -- COMMAND [ARGS...]";

#[derive(Debug, Default, PartialEq)]
struct Args {
    dir: Option<PathBuf>,
    postgres: bool,
    nats: bool,
    redis: bool,
    command: Vec<OsString>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = match Args::parse(std::env::args_os().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&args).await {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("seven-servers: {error:#}");
            ExitCode::FAILURE
        }
    }
}

impl Args {
    fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Self> {
        if words.next().is_none_or(|word| word != "run") {
            bail!("expected `run`");
        }
        let mut args = Self::default();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--dir") => {
                    args.dir = Some(words.next().context("--dir needs a folder")?.into());
                }
                Some("--postgres") => args.postgres = true,
                Some("--nats") => args.nats = true,
                Some("--redis") => args.redis = true,
                Some("--") => {
                    args.command = words.by_ref().collect();
                }
                _ => bail!("unknown option {word:?}"),
            }
        }
        if args.command.is_empty() {
            bail!("no command to run");
        }
        Ok(args)
    }
}

async fn run(args: &Args) -> Result<u8> {
    let mut signals = Signals::listen()?;
    let own = std::env::temp_dir().join(format!("seven-servers-{}", std::process::id()));
    let dir = args.dir.as_deref().unwrap_or(&own);
    let servers = tokio::select! {
        name = signals.next() => return Ok(Signals::exit_code(name)),
        servers = Started::all(args, dir) => servers?,
    };
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]).envs(servers.environment());
    let status = supervise(command, &mut signals).await;
    servers.stop().await;
    let code = exit_code(status?);
    // If the command succeeded, deletes the servers' files. After a failure they stay, so that the
    // failure can be examined.
    if args.dir.is_none() && code == 0 {
        std::fs::remove_dir_all(&own).ok();
    }
    Ok(code)
}

/// The servers that the arguments ask for.
struct Started {
    postgres: Option<Postgres>,
    nats: Option<Nats>,
    redis: Option<Redis>,
}

impl Started {
    async fn all(args: &Args, dir: &Path) -> Result<Self> {
        let postgres = async {
            if args.postgres {
                Postgres::start(dir, true).await.map(Some)
            } else {
                Ok(None)
            }
        };
        let nats = async {
            if args.nats {
                Nats::start(dir).await.map(Some)
            } else {
                Ok(None)
            }
        };
        let redis = async {
            if args.redis {
                Redis::start(dir).await.map(Some)
            } else {
                Ok(None)
            }
        };
        let (postgres, nats, redis) = tokio::try_join!(postgres, nats, redis)?;
        Ok(Self {
            postgres,
            nats,
            redis,
        })
    }

    fn environment(&self) -> impl Iterator<Item = (&'static str, String)> {
        let urls = [
            (env::POSTGRES, self.postgres.as_ref().map(Postgres::url)),
            (env::NATS, self.nats.as_ref().map(Nats::url)),
            (env::REDIS, self.redis.as_ref().map(Redis::url)),
        ];
        urls.into_iter()
            .filter_map(|(name, url)| Some((name, url?)))
    }

    async fn stop(self) {
        let postgres = async {
            if let Some(server) = &self.postgres {
                server.stop().await.ok();
            }
        };
        let nats = async {
            if let Some(server) = &self.nats {
                server.stop().await.ok();
            }
        };
        let redis = async {
            if let Some(server) = &self.redis {
                server.stop().await.ok();
            }
        };
        tokio::join!(postgres, nats, redis);
    }
}

/// The two signals that ask this program to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        let interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT")?;
        let terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
        Ok(Self {
            interrupt,
            terminate,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "INT",
            _ = self.terminate.recv() => "TERM",
        }
    }

    fn exit_code(name: &str) -> u8 {
        128 + if name == "INT" { 2 } else { 15 }
    }
}

/// Runs the command in its own process group. A signal then reaches the command only through us,
/// and the watchdog can end the whole group if this program is killed.
async fn supervise(mut command: Command, signals: &mut Signals) -> Result<ExitStatus> {
    let program = command
        .as_std()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let mut child = command
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {program}"))?;
    let leader = child.id().context("the command has no pid")?;
    let _watchdog = Watchdog::over_group(leader).context("starting the watchdog")?;
    let name = tokio::select! {
        status = child.wait() => return status.context("waiting for the command"),
        name = signals.next() => name,
    };
    signal_group(leader, name).ok();
    let patience = tokio::time::sleep(Duration::from_secs(10));
    tokio::select! {
        status = child.wait() => return status.context("waiting for the command"),
        _ = signals.next() => {}
        () = patience => {}
    }
    signal_group(leader, "KILL").ok();
    child.wait().await.context("waiting for the command")
}

/// Returns the exit code that a shell would report. It is the command's own code, or 128 plus the
/// number of the signal that ended the command.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args> {
        Args::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn everything_after_the_dashes_is_the_command() {
        let args = parse("run --postgres --dir /x -- cargo test -- --nats").unwrap();
        assert!(args.postgres && !args.nats);
        assert_eq!(args.dir, Some(PathBuf::from("/x")));
        assert_eq!(
            args.command,
            ["cargo", "test", "--", "--nats"].map(OsString::from)
        );
    }

    #[test]
    fn mistakes_are_refused() {
        for line in [
            "",
            "run",
            "run --postgres",
            "run --mysql -- x",
            "start -- x",
            "run --dir",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
