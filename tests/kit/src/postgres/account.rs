//! Finds the account under which Postgres runs, because Postgres refuses to run as root.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

use crate::binaries::on_path;

/// The account that runs the server and its tools.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Account {
    Ours,
    /// Used when we are root: everything runs as the user `postgres`, with these ids.
    Postgres {
        uid: u32,
        gid: u32,
    },
}

impl Account {
    pub(crate) fn find() -> Result<Self> {
        if id(&["-u"])? != 0 {
            return Ok(Self::Ours);
        }
        let missing = "Postgres refuses to run as root, and this machine has no user `postgres`";
        let uid = id(&["-u", "postgres"]).context(missing)?;
        let gid = id(&["-g", "postgres"]).context(missing)?;
        on_path("setpriv").context(
            "found no setpriv (Debian: util-linux), which runs Postgres as its own user",
        )?;
        Ok(Self::Postgres { uid, gid })
    }

    /// Builds a command that runs `program` under this account in `/`, without our `PG*` variables.
    pub(crate) fn command(self, program: &Path) -> Command {
        let mut command = match self {
            Self::Ours => Command::new(program),
            Self::Postgres { .. } => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid=postgres", "--regid=postgres", "--init-groups"])
                    .arg(program);
                command
            }
        };
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null());
        command
    }
}

fn id(args: &[&str]) -> Result<u32> {
    let output = Command::new("id")
        .args(args)
        .stdin(Stdio::null())
        .output()
        .context("running id")?;
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .with_context(|| format!("reading `id {}`", args.join(" ")))
}
