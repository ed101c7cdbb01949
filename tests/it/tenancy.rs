//! One casino never sees another's rows (D9). The tests read the tables from `pg_catalog`, so that
//! a table added later is tested too.

mod audit;
mod catalog;
mod rows;

use secrecy::SecretString;
use seven_store::Store;
use seven_testkit::Postgres;
use sqlx::{AssertSqlSafe, PgPool, postgres::PgPoolOptions};

use self::catalog::{EXEMPT, function_problems, problems, tenant_tables};

/// Returns the names of the tables without a row policy, which are listed in [`EXEMPT`].
pub(crate) fn exempt() -> Vec<&'static str> {
    EXEMPT.iter().map(|(name, ..)| *name).collect()
}

/// A new migrated database, with one pool for its owner (a superuser) and one for the workers'
/// role.
pub(crate) struct Database {
    pub(crate) owner: PgPool,
    pub(crate) app: PgPool,
}

pub(crate) async fn database(name: &str) -> Database {
    let postgres = Postgres::for_tests().await.unwrap();
    let url = postgres
        .create_database(
            &format!("tenancy_{name}_{}", uuid::Uuid::new_v4().simple()),
            None,
        )
        .await
        .unwrap();
    Store::migrate(&SecretString::from(url.clone()))
        .await
        .unwrap();
    let pool = async |url: &str| {
        PgPoolOptions::new()
            .max_connections(2)
            .connect(url)
            .await
            .unwrap()
    };
    Database {
        app: pool(&url.replacen("postgres@", "seven_app@", 1)).await,
        owner: pool(&url).await,
    }
}

#[tokio::test] // SEC-80, SEC-81, DEP-18
async fn every_table_is_bound_to_its_casino_or_on_the_short_list() {
    let db = database("catalog").await;
    let found = problems(&db.owner).await;
    assert!(found.is_empty(), "{found:#?}");
    assert!(
        tenant_tables(&db.owner).await.len() >= 14,
        "the walk found too little to mean anything"
    );
    for (table, ..) in EXEMPT {
        let there: bool = sqlx::query_scalar("select to_regclass('public.' || $1) is not null")
            .bind(table)
            .fetch_one(&db.owner)
            .await
            .unwrap();
        assert!(there, "{table} is on the short list but gone");
    }
}

/// Careless changes of the schema, each with the beginning of the complaint it must cause.
const CARELESS: &[(&str, &str)] = &[
    (
        "create table fresh (casino_id text not null, note text)",
        "fresh: row security is not enabled",
    ),
    (
        "create table fresh (casino_id text not null); alter table fresh enable row level security; create policy p on fresh using (casino_id = seven_tenant()) with check (casino_id = seven_tenant()); create policy pinned_tenant on fresh as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))",
        "fresh: row security is not forced",
    ),
    (
        "create table fresh (casino_id text not null); alter table fresh enable row level security; alter table fresh force row level security; create policy pinned_tenant on fresh as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))",
        "fresh: no policy for all commands",
    ),
    (
        "create table fresh (casino_id text not null); alter table fresh enable row level security; alter table fresh force row level security; create policy p on fresh using (true) with check (casino_id = seven_tenant()); create policy pinned_tenant on fresh as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))",
        "fresh: policy p reads by",
    ),
    (
        "create table fresh (casino_id text not null); alter table fresh enable row level security; alter table fresh force row level security; create policy p on fresh using (casino_id = seven_tenant()) with check (true); create policy pinned_tenant on fresh as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))",
        "fresh: policy p writes by",
    ),
    (
        "create policy backdoor on guests for select using (true)",
        "guests: policy backdoor reads by",
    ),
    (
        "drop policy pinned_tenant on guests",
        "guests: no policy holds a pinned login",
    ),
    (
        "alter policy pinned_tenant on guests using (true)",
        "guests: no policy holds a pinned login",
    ),
    ("create table fresh (note text)", "fresh: no casino_id"),
    (
        "create table fresh (casino_id text)",
        "fresh: casino_id may be null",
    ),
    (
        "alter table guests no force row level security",
        "guests: row security is not forced",
    ),
    (
        "alter table routes add column guest_phone text",
        "routes: its columns are not those the short list knows",
    ),
    (
        "create view everyone as select * from guests",
        "everyone: not a plain table",
    ),
    (
        "create schema aside; create table aside.fresh (casino_id text not null)",
        "aside.fresh: outside the schema public",
    ),
    (
        "grant truncate on guests to seven_app",
        "guests: seven_app may TRUNCATE",
    ),
];

#[tokio::test] // SEC-80
async fn a_careless_change_of_the_schema_is_found() {
    let db = database("careless").await;
    for (change, complaint) in CARELESS {
        let mut tx = db.owner.begin().await.unwrap();
        sqlx::raw_sql(*change).execute(&mut *tx).await.unwrap();
        let found = problems(&mut *tx).await;
        assert!(
            found.len() == 1 && found[0].starts_with(complaint),
            "{change}\nwanted: {complaint}\nfound: {found:#?}"
        );
        tx.rollback().await.unwrap();
    }
}

#[tokio::test] // SEC-80
async fn the_workers_role_owns_nothing_and_bypasses_nothing() {
    let db = database("roles").await;
    let attributes: (bool, bool, bool, bool, bool) =
        sqlx::query_as("select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication from pg_roles where rolname = 'seven_app'")
            .fetch_one(&db.owner)
            .await
            .unwrap();
    assert_eq!(
        attributes,
        (false, false, false, false, false),
        "superuser, bypassrls, createrole, createdb, replication"
    );
    for (question, query) in [
        (
            "owned by seven_app",
            "select relname::text from pg_class where relowner = 'seven_app'::regrole
                                union all select proname::text from pg_proc where proowner = 'seven_app'::regrole
                                union all select nspname::text from pg_namespace where nspowner = 'seven_app'::regrole",
        ),
        (
            "a role seven_app can become",
            "select rolname::text from pg_roles where rolname <> 'seven_app' and pg_has_role('seven_app', oid, 'member')",
        ),
        (
            "a login role beside superusers that bypasses row security",
            "select l.rolname::text from pg_roles l where l.rolcanlogin and not l.rolsuper and exists (
            select from pg_roles b where b.rolbypassrls and pg_has_role(l.oid, b.oid, 'member'))",
        ),
    ] {
        let found: Vec<String> = sqlx::query_scalar(query).fetch_all(&db.owner).await.unwrap();
        assert!(found.is_empty(), "{question}: {found:?}");
    }
    for role in ["seven_fleet", "postgres"] {
        assert!(
            sqlx::query(AssertSqlSafe(format!("set role {role}")))
                .execute(&db.app)
                .await
                .is_err(),
            "seven_app became {role}"
        );
    }
}

#[tokio::test] // SEC-81
async fn functions_across_casinos_return_ids_times_and_counts_only() {
    let db = database("functions").await;
    let found = function_problems(&db.owner).await;
    assert!(found.is_empty(), "{found:#?}");
    let walked: i64 = sqlx::query_scalar(
        "select count(*) from pg_proc where prosecdef and pronamespace = 'public'::regnamespace",
    )
    .fetch_one(&db.owner)
    .await
    .unwrap();
    assert!(walked >= 4, "the walk found {walked} functions");
    let returns = |columns: &str| {
        format!(
            "create function leak() returns {columns} language sql security definer set search_path = public, pg_temp as 'select 1'"
        )
    };
    for (change, complaint) in [
        (
            "set check_function_bodies = off; ".to_owned()
                + returns("table (phone text)").as_str()
                + "; revoke all on function leak() from public",
            "leak returns phone text",
        ),
        (
            "set check_function_bodies = off; ".to_owned()
                + returns("table (state bytea)").as_str()
                + "; revoke all on function leak() from public",
            "leak returns state bytea",
        ),
        (
            "set check_function_bodies = off; ".to_owned()
                + returns("setof guests").as_str()
                + "; revoke all on function leak() from public",
            "leak returns guests",
        ),
        (returns("int"), "leak may be executed by PUBLIC"),
        (
            "create function leak() returns int language sql security definer as 'select 1'; revoke all on function leak() from public".to_owned(),
            "leak does not fix its search_path",
        ),
    ] {
        let mut tx = db.owner.begin().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(change.clone())).execute(&mut *tx).await.unwrap();
        let found = function_problems(&mut *tx).await;
        assert!(
            found.iter().any(|problem| problem.starts_with(complaint)),
            "{change}\nwanted: {complaint}\nfound: {found:#?}"
        );
        tx.rollback().await.unwrap();
    }
}
