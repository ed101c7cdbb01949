//! Fills every tenant table with rows of two casinos. Tests what a transaction that is bound to one
//! casino can do to the other casino's rows.

use sqlx::{AssertSqlSafe, FromRow, PgConnection, PgPool};

use super::{catalog::tenant_tables, database};

const OURS: &str = "a_casino";
const OTHER: &str = "b_casino";

#[derive(FromRow)]
struct Column {
    name: String,
    kind: String,
    check: Option<String>,
}

/// Builds an `insert` of one row of `casino`. The columns come from `pg_catalog`, so a new table
/// needs no change here.
pub(crate) async fn insert_of(owner: &PgPool, table: &str, casino: &str) -> String {
    let columns: Vec<Column> = sqlx::query_as(
        "select a.attname::text as name, format_type(a.atttypid, null) as kind,
                (select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = a.attrelid and k.contype = 'c' and k.conkey = array[a.attnum] limit 1) as check
         from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
           and a.attnotnull and not a.atthasdef and a.attidentity = '' order by a.attnum",
    )
    .bind(table)
    .fetch_all(owner)
    .await
    .unwrap();
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    let values: Vec<String> = columns
        .iter()
        .map(|c| value_for(table, c, casino))
        .collect();
    format!(
        "insert into {table} ({}) values ({})",
        names.join(", "),
        values.join(", ")
    )
}

fn value_for(table: &str, column: &Column, casino: &str) -> String {
    if column.name == "casino_id" {
        return format!("'{casino}'");
    }
    // Uses the first value that the column's CHECK lists.
    if let Some(word) = column
        .check
        .as_deref()
        .and_then(|check| check.split('\'').nth(1))
    {
        return format!("'{word}'");
    }
    match column.kind.as_str() {
        "text" => "'x'",
        "uuid" => "gen_random_uuid()",
        "smallint" | "integer" | "bigint" | "numeric" | "double precision" => "1",
        "timestamp with time zone" | "date" => "now()",
        "boolean" => "false",
        "jsonb" => "'{}'",
        "bytea" => "'\\x00'",
        kind if kind.ends_with("[]") => "'{}'",
        kind => panic!(
            "{table}.{}: say here what a value of type {kind} looks like",
            column.name
        ),
    }
    .to_owned()
}

/// Fills every tenant table with one row for each of the two casinos. Foreign keys are switched
/// off, so that each table can be filled alone.
pub(crate) async fn fill(owner: &PgPool, tables: &[String]) {
    let mut tx = owner.begin().await.unwrap();
    sqlx::query("set local session_replication_role = replica")
        .execute(&mut *tx)
        .await
        .unwrap();
    for table in tables {
        for casino in [OURS, OTHER] {
            let insert = insert_of(owner, table, casino).await;
            sqlx::query(AssertSqlSafe(insert.clone()))
                .execute(&mut *tx)
                .await
                .unwrap_or_else(|e| panic!("{insert}: {e}"));
        }
    }
    tx.commit().await.unwrap();
}

/// The outcome of a statement: the rows it touched, or its refusal.
#[derive(Debug, PartialEq)]
enum Did {
    Rows(u64),
    /// SQLSTATE 42501: a row policy or a missing right.
    Refused,
}

/// Runs one statement in a transaction that is bound to the casino `binding`, or to none, and rolls
/// it back.
async fn under(app: &PgPool, binding: Option<&str>, statement: &str) -> Did {
    let mut tx = app.begin().await.unwrap();
    if let Some(casino) = binding {
        bind(&mut tx, casino).await;
    }
    let did = match sqlx::query(AssertSqlSafe(statement.to_owned()))
        .execute(&mut *tx)
        .await
    {
        Ok(done) => Did::Rows(done.rows_affected()),
        Err(error) => {
            let code = error
                .as_database_error()
                .and_then(|e| e.code())
                .unwrap_or_default();
            assert_eq!(code, "42501", "{statement}: {error}");
            Did::Refused
        }
    };
    tx.rollback().await.unwrap();
    did
}

async fn bind(tx: &mut PgConnection, casino: &str) {
    sqlx::query("select set_config('app.casino', $1, true)")
        .bind(casino)
        .execute(tx)
        .await
        .unwrap();
}

#[tokio::test] // SEC-80, RAG-19, CMS-16, DATA-63, DEP-17
async fn a_binding_reads_and_writes_nothing_of_another_casino() {
    let db = database("rows").await;
    let tables = tenant_tables(&db.owner).await;
    fill(&db.owner, &tables).await;
    for table in &tables {
        let theirs = format!("where casino_id = '{OTHER}'");
        assert_eq!(
            under(&db.app, Some(OURS), &format!("select 1 from {table}")).await,
            Did::Rows(1),
            "{table}: its own row, and only that"
        );
        for statement in [
            format!("select 1 from {table} {theirs}"),
            format!("select 1 from {table} {theirs} for update"),
            format!("update {table} set casino_id = casino_id {theirs}"),
            format!("delete from {table} {theirs}"),
        ] {
            let did = under(&db.app, Some(OURS), &statement).await;
            assert!(
                matches!(did, Did::Rows(0) | Did::Refused),
                "{statement}: {did:?}"
            );
        }
        for statement in [
            insert_of(&db.owner, table, OTHER).await,
            format!("update {table} set casino_id = '{OTHER}'"),
            format!("truncate {table} cascade"),
        ] {
            assert_eq!(
                under(&db.app, Some(OURS), &statement).await,
                Did::Refused,
                "{statement}"
            );
        }
    }
    unharmed(&db.owner, &tables).await;
}

#[tokio::test] // SEC-80, SEC-81, WID-23
async fn no_binding_reads_and_writes_nothing() {
    let db = database("unbound").await;
    let tables = tenant_tables(&db.owner).await;
    fill(&db.owner, &tables).await;
    // After a bound transaction, the setting `app.casino` of a pooled connection is an empty
    // string.
    for binding in [None, Some(""), Some("%"), Some("c_casino")] {
        for table in &tables {
            assert_eq!(
                under(&db.app, binding, &format!("select 1 from {table}")).await,
                Did::Rows(0),
                "{table} under {binding:?}"
            );
            for statement in [
                format!("update {table} set casino_id = casino_id"),
                format!("delete from {table}"),
            ] {
                let did = under(&db.app, binding, &statement).await;
                assert!(
                    matches!(did, Did::Rows(0) | Did::Refused),
                    "{statement} under {binding:?}: {did:?}"
                );
            }
            assert_eq!(
                under(&db.app, binding, &insert_of(&db.owner, table, OURS).await).await,
                Did::Refused,
                "{table} under {binding:?}"
            );
        }
    }
    unharmed(&db.owner, &tables).await;
}

#[tokio::test] // SEC-80: a binding ends with its transaction, on the same connection
async fn a_binding_does_not_outlive_its_transaction() {
    let db = database("after").await;
    let tables = tenant_tables(&db.owner).await;
    fill(&db.owner, &tables).await;
    let mut connection = db.app.acquire().await.unwrap();
    for end in ["commit", "rollback"] {
        sqlx::raw_sql("begin")
            .execute(&mut *connection)
            .await
            .unwrap();
        bind(&mut connection, OURS).await;
        let bound: i64 = sqlx::query_scalar("select count(*) from guests")
            .fetch_one(&mut *connection)
            .await
            .unwrap();
        sqlx::raw_sql(end).execute(&mut *connection).await.unwrap();
        let after: i64 = sqlx::query_scalar("select count(*) from guests")
            .fetch_one(&mut *connection)
            .await
            .unwrap();
        assert_eq!((bound, after), (1, 0), "after {end}");
    }
}

async fn unharmed(owner: &PgPool, tables: &[String]) {
    for table in tables {
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!(
            "select casino_id from {table} order by 1"
        )))
        .fetch_all(owner)
        .await
        .unwrap();
        assert_eq!(rows, [OURS, OTHER], "{table}");
    }
}
