//! Reads `pg_catalog` and lists tables and functions through which one casino could see another's
//! rows.

use sqlx::{Executor, FromRow, Postgres};

/// Tables without a row policy, with the reason and their columns. The columns are listed so that
/// nobody adds a guest's data to such a table unnoticed.
pub(crate) const EXEMPT: &[(&str, &str, &[&str])] = &[
    (
        "routes",
        "ingress asks whose number it is before it knows the casino",
        &["number", "casino_id", "since", "retired_at"],
    ),
    (
        "former_routes",
        "whose a number was before its owner of today, asked at a STOP; numbers, casinos and times",
        &["number", "casino_id", "until"],
    ),
    (
        "handed_on_texts",
        "which of two casinos a text belongs to; numbers of casinos, the provider's ids and times",
        &["number", "message", "casino_id", "claimed_at"],
    ),
    (
        "due",
        "any scheduler claims for any casino; ids and times only",
        &["casino_id", "kind", "row_id", "due_at", "claimed_until"],
    ),
    (
        "fleet_controls",
        "switches for all casinos, read by every send",
        &["name", "version", "since", "actor", "reason"],
    ),
    (
        "provider_stops",
        "who may not be called now, read by every send: providers, casinos, codes and times",
        &[
            "provider",
            "casino_id",
            "error_code",
            "since",
            "until",
            "probe_at",
            "actor",
        ],
    ),
    (
        "alerts",
        "what a person has to know, written by every process: names, codes, counts and our own sentences",
        &[
            "alert_id",
            "key",
            "name",
            "casino_id",
            "provider",
            "code",
            "severity",
            "summary",
            "standing",
            "repeats",
            "first_at",
            "last_at",
            "ack_due_at",
            "acknowledged_at",
            "acknowledged_by",
            "resolved_at",
        ],
    ),
    (
        "alert_deliveries",
        "which channel is still to be told of an alert",
        &[
            "alert_id",
            "action",
            "channel",
            "tries",
            "next_at",
            "created_at",
            "delivered_at",
            "given_up_at",
            "last_error",
        ],
    ),
    (
        "fleet_flags",
        "flags for all casinos, read for every turn; a check keeps guests out of them",
        &["name", "rule", "version", "updated_at", "actor", "reason"],
    ),
    (
        "log_levels",
        "asked with every heartbeat; workers' names and times",
        &["worker", "level", "until_at", "actor"],
    ),
    (
        "outbound_transitions",
        "the moves of a text: law, not tenant data",
        &["from_state", "to_state", "why"],
    ),
    (
        "ack_floors",
        "where consumers begin again: casinos, stages, numbers and times",
        &["casino_id", "stage", "sequence", "acked_at", "stream_made"],
    ),
    (
        "workers",
        "who lives: processes and times",
        &[
            "instance",
            "worker",
            "version",
            "started_at",
            "seen_at",
            "login",
        ],
    ),
    (
        "send_policy",
        "the table of the pre-send check: law, not tenant data",
        &[
            "class",
            "lane",
            "when_suppressed",
            "when_paused",
            "when_killed",
            "when_state_missing",
            "quiet_hours",
            "least_tier",
            "needs_registration",
            "needs_exclusion_check",
            "needs_number_check",
            "cooldown",
            "cap",
            "cap_window",
            "when_provider_blocks",
            "most_risk",
            "answers_within",
        ],
    ),
    (
        "operators",
        "people who work for one casino or several; only the console's login reads them",
        &[
            "operator_id",
            "email",
            "name",
            "language",
            "status",
            "password_hash",
            "totp_key",
            "totp_step",
            "created_at",
            "created_by",
            "oidc_subject",
        ],
    ),
    (
        "operator_roles",
        "what an operator may do, where",
        &[
            "operator_id",
            "casino_id",
            "role",
            "granted_at",
            "granted_by",
            "ends_on",
        ],
    ),
    (
        "operator_sessions",
        "asked before it is known whose session it is; hashes, ids and times",
        &[
            "token_hash",
            "operator_id",
            "complete",
            "created_at",
            "seen_at",
            "ends_at",
        ],
    ),
    (
        "operator_keys",
        "asked before it is known whose key it is; hashes, ids, labels and times",
        &[
            "key_hash",
            "operator_id",
            "label",
            "created_by",
            "created_at",
            "ends_at",
            "used_at",
        ],
    ),
    (
        "operator_links",
        "asked before it is known whose link it is; hashes, ids and times",
        &[
            "token_hash",
            "operator_id",
            "purpose",
            "created_at",
            "created_by",
            "ends_at",
            "used_at",
        ],
    ),
    (
        "operator_failures",
        "asked before a login; hashes and times",
        &["account_hash", "address_hash", "at"],
    ),
    (
        "_sqlx_migrations",
        "the migrations' own",
        &[
            "version",
            "description",
            "installed_on",
            "success",
            "checksum",
            "execution_time",
        ],
    ),
];

/// The condition under which a pinned login may add an audit entry that belongs to no casino.
const NOTED: &str = "(casino_id = '_unknown'::text)";

/// The condition of the additional, restrictive policy that confines a pinned login to its casino.
const HELD: &str = "seven_may(casino_id)";

/// The condition that every permissive policy must have; the only exception is [`NOTED`].
const BOUND: &str = "(casino_id = seven_tenant())";

#[derive(FromRow)]
struct Relation {
    name: String,
    /// Name of the table, with its schema unless that is `public`.
    full_name: String,
    schema: String,
    plain: bool,
    enabled: bool,
    forced: bool,
    columns: Vec<String>,
    casino_not_null: Option<bool>,
    app_rights: Vec<String>,
    policies: Vec<String>,
}

const RELATIONS: &str = "
select c.relname::text as name, n.nspname::text as schema, c.relkind in ('r', 'p') as plain,
       case when n.nspname = 'public' then c.relname::text else n.nspname || '.' || c.relname end as full_name,
       c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
       (select array_agg(a.attname::text order by a.attnum) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
       (select a.attnotnull from pg_attribute a where a.attrelid = c.oid and a.attname = 'casino_id' and not a.attisdropped) as casino_not_null,
       (select coalesce(array_agg(r), '{}') from unnest(array['TRUNCATE', 'REFERENCES', 'TRIGGER']) r where has_table_privilege('seven_app', c.oid, r)) as app_rights,
       (select coalesce(array_agg(concat_ws('|', p.polname, p.polcmd, p.polpermissive, coalesce(pg_get_expr(p.polqual, c.oid), 'nothing'),
                                            coalesce(pg_get_expr(p.polwithcheck, c.oid), 'nothing'),
                                            (select string_agg(r::regrole::text, ',') from unnest(p.polroles) r))), '{}')
          from pg_policy p where p.polrelid = c.oid) as policies
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
order by 1";

/// Returns every way in which a relation is not bound to its casino.
pub(crate) async fn problems<'c>(db: impl Executor<'c, Database = Postgres>) -> Vec<String> {
    let relations: Vec<Relation> = sqlx::query_as(RELATIONS).fetch_all(db).await.unwrap();
    relations.iter().flat_map(complaints).collect()
}

/// Returns the tables that must be bound to a casino: all except those in [`EXEMPT`].
pub(crate) async fn tenant_tables<'c>(db: impl Executor<'c, Database = Postgres>) -> Vec<String> {
    let relations: Vec<Relation> = sqlx::query_as(RELATIONS).fetch_all(db).await.unwrap();
    relations
        .into_iter()
        .map(|r| r.name)
        .filter(|name| EXEMPT.iter().all(|(exempt, ..)| exempt != name))
        .collect()
}

fn complaints(relation: &Relation) -> Vec<String> {
    let mut found = Vec::new();
    let mut complain = |bad: bool, what: &str| {
        if bad {
            found.push(format!("{}: {what}", relation.full_name));
        }
    };
    if relation.schema != "public" {
        complain(true, "outside the schema public");
        return found;
    }
    complain(
        !relation.app_rights.is_empty(),
        &format!(
            "seven_app may {}, which no row policy stops",
            relation.app_rights.join(", ")
        ),
    );
    if let Some((.., columns)) = EXEMPT.iter().find(|(name, ..)| *name == relation.name) {
        complain(
            relation.columns != *columns,
            "its columns are not those the short list knows",
        );
        return found;
    }
    if !relation.plain {
        complain(
            true,
            "not a plain table; a view reads with its owner's rights",
        );
        return found;
    }
    match relation.casino_not_null {
        None => {
            complain(true, "no casino_id, and not on the short list");
            return found;
        }
        Some(not_null) => complain(!not_null, "casino_id may be null"),
    }
    if !relation.casino_not_null.unwrap_or(false) {
        return found;
    }
    if !relation.enabled {
        complain(true, "row security is not enabled");
        return found;
    }
    complain(!relation.forced, "row security is not forced");
    let policies: Vec<Vec<&str>> = relation
        .policies
        .iter()
        .map(|policy| policy.split('|').collect())
        .collect();
    complain(
        !policies.iter().any(|p| p[1] == "*" && p[2] == "t"),
        "no policy for all commands",
    );
    complain(
        !policies
            .iter()
            .any(|p| p[1] == "*" && p[2] == "f" && p[3] == HELD && p[5] == "seven_pinned"),
        "no policy holds a pinned login to its casino",
    );
    // Permissive policies are joined by OR, so one that is too wide opens the whole table.
    for policy in policies.iter().filter(|p| p[2] == "t") {
        complain(
            policy[3] != BOUND && policy[1] != "a",
            &format!("policy {} reads by {}", policy[0], policy[3]),
        );
        complain(
            policy[4] != BOUND
                && !matches!(policy[1], "r" | "d")
                && !(relation.name == "audit_log" && policy[1] == "a" && policy[4] == NOTED),
            &format!("policy {} writes by {}", policy[0], policy[4]),
        );
    }
    found
}

/// Columns that a SECURITY DEFINER function may return: ids, casinos, times, counts and states.
const RETURNED: &[(&str, &str)] = &[
    ("casino_id", "text"),
    ("status", "text"),
    ("state", "text"),
    ("what", "text"),
    ("lane", "text"),
    ("trace", "text"),
    // The casino's phone numbers, and the names of the switches that are set for it.
    ("numbers", "text[]"),
    ("paused", "text[]"),
    ("config_version", "bigint"),
    ("content_version", "bigint"),
    ("n", "bigint"),
    ("row_id", "uuid"),
    ("conversation_id", "uuid"),
    ("outbound_id", "uuid"),
    ("spool_id", "uuid"),
    // For each stage, the time since which its oldest row has been waiting.
    ("swarm_at", "timestamp with time zone"),
    ("envelope_at", "timestamp with time zone"),
    ("sender_at", "timestamp with time zone"),
    // `class` is a text's class. The next three columns belong to an outage: `kind`, `since` (when
    // the first guest began to wait), and `is_open` (whether the outage is recorded as open).
    ("class", "text"),
    ("kind", "text"),
    ("since", "timestamp with time zone"),
    ("is_open", "boolean"),
    // Severity of cases, a step in their handling, and the 95th percentile of the time until that
    // step.
    ("severity", "text"),
    ("step", "text"),
    ("p95_seconds", "double precision"),
];

#[derive(FromRow)]
struct Function {
    name: String,
    owner_logs_in: bool,
    public: bool,
    search_path: bool,
    returns: String,
    columns: Vec<String>,
}

const FUNCTIONS: &str = "
select p.proname::text as name, o.rolcanlogin as owner_logs_in, has_function_privilege('public', p.oid, 'execute') as public,
       'search_path=public, pg_temp' = any(coalesce(p.proconfig, '{}')) as search_path, format_type(p.prorettype, null) as returns,
       (select coalesce(array_agg(a.name || ' ' || format_type(a.type, null)), '{}')
          from unnest(p.proargnames, p.proallargtypes, p.proargmodes) a(name, type, mode) where a.mode in ('t', 'o', 'b')) as columns
from pg_proc p join pg_roles o on o.oid = p.proowner join pg_namespace n on n.oid = p.pronamespace
where p.prosecdef and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'";

/// Returns every way in which a SECURITY DEFINER function returns or permits too much.
pub(crate) async fn function_problems<'c>(
    db: impl Executor<'c, Database = Postgres>,
) -> Vec<String> {
    let functions: Vec<Function> = sqlx::query_as(FUNCTIONS).fetch_all(db).await.unwrap();
    let mut found = Vec::new();
    for f in functions {
        let allowed = |column: &String| {
            RETURNED
                .iter()
                .any(|(name, kind)| *column == format!("{name} {kind}"))
        };
        found.extend(
            f.columns
                .iter()
                .filter(|c| !allowed(c))
                .map(|column| format!("{} returns {column}", f.name)),
        );
        if f.columns.is_empty() && f.returns != "void" {
            found.push(format!("{} returns {}", f.name, f.returns));
        }
        if f.public {
            found.push(format!("{} may be executed by PUBLIC", f.name));
        }
        if !f.search_path {
            found.push(format!("{} does not fix its search_path", f.name));
        }
        if f.owner_logs_in {
            found.push(format!("{} runs as a role that logs in", f.name));
        }
    }
    found
}
