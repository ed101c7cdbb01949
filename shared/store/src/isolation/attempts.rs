//! Attempts to read and write other casinos' rows of one table. Each attempt runs in its own
//! transaction, which is rolled back.

use seven_domain::CasinoId;
use sqlx::{
    AssertSqlSafe, Connection, PgConnection, Postgres, Row, Transaction, postgres::PgQueryResult,
};

use crate::Result;

/// SQLSTATE of a refusal by a row policy, a missing right or an append-only table.
const DENIED: &str = "42501";

/// Returns every attempt that succeeded although the database should have refused it.
pub(super) async fn on(
    conn: &mut PgConnection,
    table: &str,
    casino: &CasinoId,
    others: &[CasinoId],
) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    if found(
        conn,
        "",
        &format!("select exists (select from \"{table}\")"),
    )
    .await?
    {
        problems.push("rows are read without a casino".to_owned());
    }
    let strangers =
        format!("select exists (select from \"{table}\" where casino_id <> '{casino}')");
    if found(conn, casino.as_str(), &strangers).await? {
        problems.push(format!("rows of others are read as {casino}"));
    }
    for other in others {
        problems.extend(writes(conn, table, casino, other).await?);
    }
    Ok(problems)
}

/// Returns whether a login can read another casino's rows by binding that casino; a pinned login
/// must not.
pub(super) async fn bound_to_another(
    conn: &mut PgConnection,
    table: &str,
    other: &CasinoId,
) -> Result<bool> {
    found(
        conn,
        other.as_str(),
        &format!("select exists (select from \"{table}\")"),
    )
    .await
}

async fn writes(
    conn: &mut PgConnection,
    table: &str,
    casino: &CasinoId,
    other: &CasinoId,
) -> Result<Vec<String>> {
    // The database checks the policy before the constraints on the other columns. If the policy
    // does not refuse this incomplete row, it would not refuse a complete one either.
    let attempts = [
        (
            "added",
            format!("insert into \"{table}\" (casino_id) values ('{other}')"),
            false,
        ),
        (
            "changed",
            format!("update \"{table}\" set casino_id = casino_id where casino_id = '{other}'"),
            true,
        ),
        (
            "deleted",
            format!("delete from \"{table}\" where casino_id = '{other}'"),
            true,
        ),
        (
            "given away",
            format!(
                "update \"{table}\" set casino_id = '{other}' where ctid = (select ctid from \"{table}\" limit 1)"
            ),
            true,
        ),
    ];
    let mut problems = Vec::new();
    for (what, statement, none_is_good) in attempts {
        let mut tx = conn.begin().await?;
        bind(&mut tx, casino.as_str()).await?;
        let outcome = sqlx::query(AssertSqlSafe(statement))
            .execute(&mut *tx)
            .await;
        tx.rollback().await?;
        if let Some(how) = worked(outcome, none_is_good)? {
            problems.push(format!("rows of {other} could be {what} ({how})"));
        }
    }
    Ok(problems)
}

/// Returns how an attempt succeeded; `None` if it was refused or there was no row to write.
fn worked(
    outcome: Result<PgQueryResult, sqlx::Error>,
    none_is_good: bool,
) -> Result<Option<String>> {
    match outcome {
        Ok(done) if none_is_good && done.rows_affected() == 0 => Ok(None),
        Ok(done) => Ok(Some(format!("{} row(s)", done.rows_affected()))),
        Err(sqlx::Error::Database(error)) if error.code().is_some_and(|code| code == DENIED) => {
            Ok(None)
        }
        // The policy let the row pass, and only a constraint refused it.
        Err(sqlx::Error::Database(error))
            if error.code().is_some_and(|code| code.starts_with("23")) =>
        {
            Ok(Some("only a constraint stood against it".to_owned()))
        }
        Err(other) => Err(other.into()),
    }
}

async fn found(conn: &mut PgConnection, casino: &str, question: &str) -> Result<bool> {
    let mut tx = conn.begin().await?;
    bind(&mut tx, casino).await?;
    let row = sqlx::query(AssertSqlSafe(question.to_owned()))
        .fetch_one(&mut *tx)
        .await?;
    tx.rollback().await?;
    Ok(row.try_get(0)?)
}

pub(super) async fn bind(tx: &mut Transaction<'_, Postgres>, casino: &str) -> Result<()> {
    sqlx::query("select set_config('app.casino', $1, true), set_config('lock_timeout', '5s', true), set_config('statement_timeout', '60s', true)")
        .bind(casino)
        .execute(&mut **tx)
        .await?;
    Ok(())
}
