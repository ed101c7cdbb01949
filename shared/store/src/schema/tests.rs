//! Checks that migrations only add: during an upgrade, workers of the previous release run on the
//! newer schema (PROD-27).

use super::*;

/// First migration that is checked. Earlier migrations are older than the first release, so no
/// released worker ever ran without them.
const FIRST: i64 = 16;

/// Harmless changes that are not pure additions: version, beginning of the statement, reason.
const ALLOWED: &[(i64, &str, &str)] = &[
    (
        17,
        "revoke create on schema public",
        "no worker has ever made anything there",
    ),
    (
        35,
        "alter table escalations drop constraint escalations_source_check",
        "the check is replaced by one that allows more",
    ),
    (
        35,
        "alter table escalations add constraint escalations_source_check",
        "the check allows all that it allowed before",
    ),
    (
        40,
        "alter table contacts drop constraint contacts_channel_check",
        "the check is replaced by one that allows more",
    ),
    (
        40,
        "alter table contacts add constraint contacts_channel_check",
        "the check allows all that it allowed before",
    ),
    (
        61,
        "alter table contact_letters drop constraint contact_letters_kind_check",
        "the check is replaced by one that allows more",
    ),
    (
        61,
        "alter table contact_letters add constraint contact_letters_kind_check",
        "the check allows all that it allowed before",
    ),
    (
        65,
        "alter table contact_letters drop constraint contact_letters_kind_check",
        "the check is replaced by one that allows more",
    ),
    (
        65,
        "alter table contact_letters add constraint contact_letters_kind_check",
        "the check allows all that it allowed before",
    ),
    (
        67,
        "alter table operator_roles drop constraint operator_roles_role_check",
        "the check is replaced by one that allows more",
    ),
    (
        67,
        "alter table operator_roles add constraint operator_roles_role_check",
        "the check allows all that it allowed before",
    ),
    (
        67,
        "alter table operator_roles add constraint operator_roles_auditor_ends",
        "an older worker knows no auditors",
    ),
    (
        46,
        "alter table guests add constraint guests_address",
        "an older worker leaves the new column null",
    ),
];

/// Returns the statements of a migration, in lower case, without comments, and with one space
/// between words. A `;` between two `$$` does not end a statement.
fn statements(sql: &str) -> Vec<String> {
    let plain: Vec<&str> = sql
        .lines()
        .map(|line| line.split_once("--").map_or(line, |(code, _)| code))
        .collect();
    let mut found = vec![String::new()];
    for (n, part) in plain.join("\n").split("$$").enumerate() {
        let inside = n % 2 == 1;
        let mut pieces = if inside {
            vec![part]
        } else {
            part.split(';').collect()
        }
        .into_iter();
        let last = found.last_mut().unwrap();
        last.push_str(pieces.next().unwrap_or_default());
        found.extend(pieces.map(str::to_owned));
    }
    let tidy = found.iter().map(|text| {
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase()
    });
    tidy.filter(|text| !text.is_empty()).collect()
}

/// Returns the changes in a statement that would break an older worker.
fn breaks(statement: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (words, what) in [
        ("drop table", "drops a table"),
        ("drop column", "drops a column"),
        ("drop function", "drops a function"),
        ("drop view", "drops a view"),
        (
            "drop constraint",
            "drops a constraint that an older worker may name",
        ),
        ("drop policy", "drops a row policy"),
        ("drop schema", "drops a schema"),
        ("drop role", "drops a role"),
        (" rename ", "renames"),
        (
            " set not null",
            "forbids null where an older worker may write it",
        ),
        (
            "add constraint",
            "adds a rule an older worker does not know",
        ),
        ("truncate ", "empties a table"),
        ("revoke ", "takes a right away"),
    ] {
        if statement.contains(words)
            && !(words == "revoke "
                && statement.contains("from public")
                && statement.contains("function"))
        {
            found.push(what);
        }
    }
    if statement.contains("alter column") && statement.contains(" type ") {
        found.push("changes a type");
    }
    // Split at the columns, so that one column's default is not taken for another's.
    for column in statement.split("add column").skip(1) {
        let column = column.split(", add ").next().unwrap_or(column);
        if column.contains("not null") && !column.contains("default") {
            found.push("adds a column that an older worker's rows would lack");
        }
    }
    found
}

#[test] // PROD-27, PROD-31
fn migrations_since_the_first_release_only_add() {
    let mut problems = Vec::new();
    for migration in MIGRATIONS
        .iter()
        .filter(|migration| migration.version >= FIRST)
    {
        for statement in statements(migration.sql.as_str()) {
            let allowed = ALLOWED.iter().any(|(version, begins, why)| {
                *version == migration.version && statement.starts_with(begins) && !why.is_empty()
            });
            if !allowed {
                let what = breaks(&statement);
                problems.extend(
                    what.iter()
                        .map(|what| format!("{:04} {what}: {statement}", migration.version)),
                );
            }
        }
    }
    assert!(
        problems.is_empty(),
        "expand first, contract a release later (docs/upgrade.md):\n{}",
        problems.join("\n")
    );
}

#[test]
fn every_allowance_is_used() {
    for (version, begins, _) in ALLOWED {
        let migration = MIGRATIONS
            .iter()
            .find(|migration| migration.version == *version)
            .unwrap();
        assert!(
            statements(migration.sql.as_str())
                .iter()
                .any(|s| s.starts_with(begins)),
            "{version}: {begins}"
        );
    }
}

#[test] // PROD-27
fn what_older_workers_stumble_over_is_found() {
    for (sql, what) in [
        ("alter table guests drop column phone;", "drops a column"),
        ("DROP  TABLE\n turns;", "drops a table"),
        (
            "alter table guests rename column phone to number;",
            "renames",
        ),
        (
            "alter table turns alter column tries type bigint;",
            "changes a type",
        ),
        (
            "alter table turns alter column reason set not null;",
            "forbids null where an older worker may write it",
        ),
        (
            "alter table turns add column a text default 'x', add column b text not null;",
            "adds a column that an older worker's rows would lack",
        ),
        (
            "alter table turns add constraint c check (tries > 0);",
            "adds a rule an older worker does not know",
        ),
        (
            "revoke select on turns from seven_app;",
            "takes a right away",
        ),
    ] {
        let found: Vec<_> = statements(sql)
            .iter()
            .flat_map(|statement| breaks(statement))
            .collect();
        assert!(found.contains(&what), "{sql}: {found:?}");
    }
    for good in [
        "create table a (b text not null); -- drop table a",
        "alter table turns add column a text, add column b int not null default 0;",
        "create index a on turns (agent);",
        "revoke all on function f() from public;",
        "do $$ begin create role a; exception when others then null; end $$; grant select on turns to a;",
    ] {
        let found: Vec<_> = statements(good)
            .iter()
            .flat_map(|statement| breaks(statement))
            .collect();
        assert!(found.is_empty(), "{good}: {found:?}");
    }
}

#[test] // PROD-27
fn a_database_stands_older_same_or_newer() {
    let ours: Vec<i64> = MIGRATIONS
        .iter()
        .map(|migration| migration.version)
        .collect();
    assert_eq!(Standing::of(&ours), Standing::Same);
    assert_eq!(Standing::of(&[]), Standing::Older(0));
    assert_eq!(
        Standing::of(&ours[..ours.len() - 1]),
        Standing::Older(ours[ours.len() - 2])
    );
    let newer = [ours, vec![needed() + 1]].concat();
    assert_eq!(Standing::of(&newer), Standing::Newer(needed() + 1));
}
