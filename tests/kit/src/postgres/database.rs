//! Creates and drops databases, so that each test has its own.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::PostgresKind;
use crate::{
    binaries,
    server::{Server, blocking},
    watchdog,
};

impl Server<PostgresKind> {
    /// Returns the URL of another database of this server.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        let url = self.url();
        let (path, query) = url.split_once('?').unwrap_or((&url, ""));
        // Keeps the scheme and the address, and replaces the database's name, which follows them.
        let address = path.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{address}/{database}{mark}{query}")
    }

    /// Creates a database, empty or as a copy of `template`, and returns its URL. Nobody may be
    /// connected to the template. On a server that the whole run shares, the database is dropped
    /// when this process ends. Otherwise a thousand tests would fill the disk with 13 MB each.
    pub async fn create_database(&self, name: &str, template: Option<&str>) -> Result<String> {
        let template = template.unwrap_or("template0");
        check(name)?;
        check(template)?;
        self.run_sql(
            "postgres",
            format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\""),
        )
        .await?;
        if self.is_lent() {
            watchdog::run_afterwards(&psql(&self.url_of("postgres"), &drop_statement(name))?)
                .context("starting the shell that drops the database afterwards")?;
        }
        Ok(self.url_of(name))
    }

    /// Returns whether a database of this name exists.
    pub async fn has_database(&self, name: &str) -> Result<bool> {
        check(name)?;
        let found = self
            .run_sql(
                "postgres",
                format!("SELECT 1 FROM pg_database WHERE datname = '{name}'"),
            )
            .await?;
        Ok(found.trim() == "1")
    }

    /// Drops a database, even while clients are connected to it.
    pub async fn drop_database(&self, name: &str) -> Result<()> {
        check(name)?;
        self.run_sql("postgres", drop_statement(name))
            .await
            .map(drop)
    }

    /// Runs one statement as the superuser and returns the rows in psql's unaligned format.
    pub async fn run_sql(&self, database: &str, statement: String) -> Result<String> {
        let url = self.url_of(database);
        blocking(move || {
            let output = psql(&url, &statement)?
                .current_dir("/")
                .stdin(Stdio::null())
                .output()
                .context("running psql")?;
            if !output.status.success() {
                bail!(
                    "{statement}: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                );
            }
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        })
        .await
    }
}

fn drop_statement(name: &str) -> String {
    format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)")
}

/// Builds the `psql` command that runs one statement. It ignores settings of the user and the
/// machine.
fn psql(url: &str, statement: &str) -> Result<Command> {
    let mut psql = Command::new(binaries::postgres_bin()?.join("psql"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            psql.env_remove(name);
        }
    }
    psql.args(["-X", "-q", "-w", "-A", "-t", "-v", "ON_ERROR_STOP=1"])
        .args(["-d", url, "-c", statement]);
    Ok(psql)
}

/// Checks a name, because names are inserted into SQL statements.
fn check(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || name.len() > 63 || !name.chars().all(plain) {
        bail!("not a database name: {name:?} (a-z, 0-9 and _, at most 63)");
    }
    Ok(())
}
