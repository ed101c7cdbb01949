//! Checks of the login and the tables against the database's catalog.

use sqlx::{FromRow, PgConnection};

use super::{FLEET_TABLES, Finding, LOGIN_PREFIX};
use crate::Result;

/// The only condition that a permissive row policy may have, apart from [`NOTED`].
const BOUND: &str = "(casino_id = seven_tenant())";

/// Condition of the one other policy that is allowed. It lets a pinned login add audit entries that
/// belong to no casino.
const NOTED: &str = "(casino_id = '_unknown'::text)";

#[derive(Debug, FromRow)]
pub(super) struct Table {
    pub(super) name: String,
    enabled: bool,
    forced: bool,
    /// Whether a restrictive policy confines a pinned login to its casino, even if the login binds
    /// another one.
    held: bool,
    /// Rights of the login on the table that no row policy restricts, such as TRUNCATE.
    rights: Vec<String>,
    /// Permissive policies, each written as `command|read condition|write condition`. Postgres
    /// joins the conditions of several policies by OR.
    policies: Vec<String>,
}

const TABLES: &str = include_str!("../../sql/isolation_tables.sql");

pub(super) async fn tables(conn: &mut PgConnection) -> Result<Vec<Table>> {
    Ok(sqlx::query_as(TABLES).fetch_all(conn).await?)
}

pub(super) fn fleet_tables(tables: &[Table]) -> Finding {
    let truncates: Vec<String> = tables
        .iter()
        .filter(|table| table.is_fleet() && !table.rights.is_empty())
        .map(|table| format!("{}: the login may {}", table.name, table.rights.join(", ")))
        .collect();
    Finding::of(
        "fleet tables",
        &truncates,
        format!(
            "{} tables hold no guest's data and have no casino",
            FLEET_TABLES.len()
        ),
    )
}

// === impl Table ===

impl Table {
    pub(super) fn is_fleet(&self) -> bool {
        FLEET_TABLES.contains(&self.name.as_str())
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut complain = |bad: bool, what: String| {
            if bad {
                problems.push(what);
            }
        };
        complain(!self.enabled, "row security is not enabled".into());
        complain(!self.forced, "row security is not forced".into());
        complain(
            !self.held,
            "no policy holds a pinned login to its casino".into(),
        );
        complain(
            !self.rights.is_empty(),
            format!(
                "the login may {}, which no row policy stops",
                self.rights.join(", ")
            ),
        );
        for policy in &self.policies {
            let mut parts = policy.splitn(3, '|');
            let (command, reads, writes) = (parts.next(), parts.next(), parts.next());
            complain(
                command != Some("a") && reads != Some(BOUND),
                format!("a policy reads by {}", reads.unwrap_or("?")),
            );
            let noted = self.name == "audit_log" && command == Some("a") && writes == Some(NOTED);
            complain(
                !matches!(command, Some("r" | "d")) && writes != Some(BOUND) && !noted,
                format!("a policy writes by {}", writes.unwrap_or("?")),
            );
        }
        problems
    }
}

/// Queries that must return no rows. Each has the verb for the problem if there are rows, the
/// query, and the finding if there are none.
const EMPTY: &[(&str, &str, &str)] = &[
    (
        "owns",
        "select relname::text from pg_class where relowner = session_user::regrole
         union all select proname::text from pg_proc where proowner = session_user::regrole
         union all select nspname::text from pg_namespace where nspowner = session_user::regrole",
        "the login owns nothing",
    ),
    (
        "may become",
        "select r.rolname::text from pg_roles r where r.rolname <> session_user and pg_has_role(session_user, r.oid, 'member')
           and (r.rolsuper or r.rolbypassrls or exists (select from pg_class c where c.relowner = r.oid and c.relnamespace = 'public'::regnamespace))",
        "the login can become nobody who bypasses a row policy or owns a table",
    ),
    (
        "may create in",
        "select nspname::text from pg_namespace where nspname !~ '^pg_' and has_schema_privilege(oid, 'create')",
        "the login can create nothing in the database",
    ),
];

pub(super) async fn login(conn: &mut PgConnection) -> Result<Vec<Finding>> {
    let (name, powers): (String, Vec<String>) = sqlx::query_as(
        "select session_user::text, array_remove(array[case when rolsuper then 'superuser' end, case when rolbypassrls then 'bypassrls' end,
           case when rolcreaterole then 'createrole' end, case when rolcreatedb then 'createdb' end, case when rolreplication then 'replication' end], null)
         from pg_roles where rolname = session_user",
    )
    .fetch_one(&mut *conn)
    .await?;
    let problems: Vec<String> = powers
        .iter()
        .map(|power| format!("{name} is {power}"))
        .collect();
    let mut findings = vec![Finding::of(
        "login",
        &problems,
        format!("{name} bypasses no row policy and makes no roles"),
    )];
    for (what, query, good) in EMPTY {
        let found: Vec<String> = sqlx::query_scalar(*query).fetch_all(&mut *conn).await?;
        let problems: Vec<String> = found
            .iter()
            .map(|other| format!("{name} {what} {other}"))
            .collect();
        findings.push(Finding::of("login", &problems, *good));
    }
    let strays: Vec<String> = sqlx::query_scalar(
        "select rolname::text from pg_roles where rolcanlogin and not rolsuper and not starts_with(rolname::text, $1)
           and pg_has_role(oid, 'seven_pinned', 'member')",
    )
    .bind(LOGIN_PREFIX)
    .fetch_all(conn)
    .await?;
    let problems: Vec<String> = strays
        .iter()
        .map(|name| format!("{name} has the rights of a pinned login without being pinned"))
        .collect();
    findings.push(Finding::of(
        "logins",
        &problems,
        "every login of one casino is pinned by its name",
    ));
    Ok(findings)
}
