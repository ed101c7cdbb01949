//! The life of a fleet: casinos isolated by the database, backup and restore, and upgrades while it
//! runs.

mod apart;
mod backup;
mod keys;
mod upgrade;

use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::harness::{House, binary};

impl House {
    /// Starts a worker as a process with these arguments and environment variables. `errors` gets
    /// its stderr.
    pub(crate) fn process_with(
        &self,
        arguments: &[&str],
        environment: &[(&str, &str)],
        errors: Stdio,
    ) -> Child {
        let mut command = Command::new(binary());
        command
            .arg("run")
            .args(arguments)
            .arg("--config")
            .arg(&self.stack.config_file);
        command
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors);
        command.kill_on_drop(true).spawn().unwrap()
    }

    /// Runs a statement as the database's owner and returns the number of changed rows.
    pub(crate) async fn as_owner(&self, statement: &str) -> u64 {
        let pool = sqlx::PgPool::connect(&self.database_url).await.unwrap();
        let done = sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
            .execute(&pool)
            .await
            .unwrap();
        pool.close().await;
        done.rows_affected()
    }
}
