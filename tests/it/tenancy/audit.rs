//! The audit log is append-only (SEC-66): for every role, for its owner, and for a superuser.

use sqlx::{AssertSqlSafe, PgConnection, PgPool};

use super::{Database, database};

const CASINO: &str = "a_casino";
const CHANGES: [&str; 3] = [
    "update audit_log set actor = 'nobody'",
    "delete from audit_log",
    "truncate audit_log",
];

async fn one_entry(db: &Database) {
    let mut tx = db.app.begin().await.unwrap();
    bind(&mut tx).await;
    sqlx::query("insert into audit_log (casino_id, actor, action, subject) values ($1, 'test', 'test.entry', 'x')")
        .bind(CASINO)
        .execute(&mut *tx)
        .await
        .unwrap();
    tx.commit().await.unwrap();
}

async fn bind(tx: &mut PgConnection) {
    sqlx::query("select set_config('app.casino', $1, true)")
        .bind(CASINO)
        .execute(tx)
        .await
        .unwrap();
}

/// Runs the SQL `before`, such as a change of role. Asserts that `change` is then refused.
async fn refused(owner: &PgPool, before: &str, change: &str) {
    let mut tx = owner.begin().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(before.to_owned()))
        .execute(&mut *tx)
        .await
        .unwrap();
    bind(&mut tx).await;
    let error = sqlx::query(AssertSqlSafe(change.to_owned()))
        .execute(&mut *tx)
        .await
        .expect_err(&format!("{before}: {change} went through"));
    let code = error
        .as_database_error()
        .and_then(|e| e.code())
        .unwrap_or_default();
    assert_eq!(code, "42501", "{before}: {change}: {error}");
    tx.rollback().await.unwrap();
}

#[tokio::test] // SEC-62, SEC-66, SEC-161
async fn no_role_changes_or_deletes_an_audit_entry() {
    let db = database("audit").await;
    one_entry(&db).await;
    let roles: Vec<String> = sqlx::query_scalar("select rolname::text from pg_roles order by 1")
        .fetch_all(&db.owner)
        .await
        .unwrap();
    for needed in ["seven_app", "seven_fleet", "postgres", "pg_write_all_data"] {
        assert!(
            roles.iter().any(|role| role == needed),
            "{needed} is not among {roles:?}"
        );
    }
    for change in CHANGES {
        for role in &roles {
            refused(&db.owner, &format!("set local role \"{role}\""), change).await;
        }
        // Creates a role that owns the table but is not a superuser.
        let owner = format!("it_owner_{}", uuid::Uuid::new_v4().simple());
        let before = format!(
            "create role {owner}; grant usage, create on schema public to {owner}; alter table audit_log owner to {owner}; set local role {owner}"
        );
        refused(&db.owner, &before, change).await;
    }
    let left: Vec<String> = sqlx::query_scalar("select actor from audit_log")
        .fetch_all(&db.owner)
        .await
        .unwrap();
    assert_eq!(left, ["test"]);
}

#[tokio::test] // SEC-66: the workers may add, and see what they added
async fn the_workers_append_to_the_audit_log() {
    let db = database("append").await;
    one_entry(&db).await;
    one_entry(&db).await;
    let mut tx = db.app.begin().await.unwrap();
    bind(&mut tx).await;
    let entries: i64 = sqlx::query_scalar("select count(*) from audit_log")
        .fetch_one(&mut *tx)
        .await
        .unwrap();
    assert_eq!(entries, 2);
}
