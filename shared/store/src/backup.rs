//! The contents of a backup, counted and hashed, and the steps of a restore before and after
//! `pg_restore` (DEP-31, PROD-41, D5). Everything here uses the owner's connection, which sees
//! every casino.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId};
use sha2::{Digest as _, Sha256};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

use crate::{Error, Result, Store, Tx, audit::Entry, controls::Switch};

/// The actor with which a restore sets the fleet's switches. `seven resume` refuses to lift a
/// switch that has this actor.
pub const RESTORE: &str = "seven restore";
/// The actor that `seven recover` gives to the same switches, so that `seven resume` can lift them.
pub const RECOVER: &str = "seven recover";
/// Switches that a restore turns on and that stay on until an operator lifts them. The first holds
/// back every text, the second only texts that are not answers.
pub const PAUSED: [Switch; 2] = [Switch::Kill, Switch::Proactive];

/// The rows of one casino in one table: their number, and the SHA-256 of all of them in key order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    pub rows: u64,
    pub sha256: String,
}

/// Digests of one casino's rows that must be the same after a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub suppressions: Digest,
    pub consent_heads: Digest,
    pub due: Digest,
}

/// Contents of a database, as the manifest of a backup records them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// Version of the newest migration.
    pub schema: i64,
    /// Row counts by table, over all casinos.
    pub tables: BTreeMap<String, i64>,
    pub casinos: BTreeMap<String, Share>,
}

/// A consistent snapshot of the database: `pg_dump --snapshot` dumps exactly what is counted here.
/// The snapshot ends when this value is dropped.
#[derive(Debug)]
pub struct Snapshot {
    conn: PgConnection,
    /// Snapshot id for `pg_dump --snapshot`.
    pub id: String,
    /// `server_version_num`, such as 150008.
    pub server: i32,
}

// === impl Contents ===

impl Contents {
    /// Returns every difference between this database's contents and another's.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.schema != other.schema {
            found.push(format!(
                "the schema is {} and was {}",
                other.schema, self.schema
            ));
        }
        let tables: std::collections::BTreeSet<&String> =
            self.tables.keys().chain(other.tables.keys()).collect();
        for table in tables {
            let (was, is) = (self.tables.get(table), other.tables.get(table));
            if was != is {
                let rows =
                    |n: Option<&i64>| n.map_or("no table".to_owned(), |n| format!("{n} rows"));
                found.push(format!("{table}: {} and was {}", rows(is), rows(was)));
            }
        }
        let casinos: std::collections::BTreeSet<&String> =
            self.casinos.keys().chain(other.casinos.keys()).collect();
        for casino in casinos {
            match (self.casinos.get(casino), other.casinos.get(casino)) {
                (Some(was), Some(is)) => {
                    for (what, was, is) in [
                        ("suppressions", &was.suppressions, &is.suppressions),
                        ("consent heads", &was.consent_heads, &is.consent_heads),
                        ("due rows", &was.due, &is.due),
                    ] {
                        if was != is {
                            found.push(format!(
                                "{what} of {casino} differ ({} rows, {} before)",
                                is.rows, was.rows
                            ));
                        }
                    }
                }
                (Some(_), None) => found.push(format!("{casino} is missing")),
                (None, _) => found.push(format!("{casino} was not in the backup")),
            }
        }
        found
    }
}

// === impl Snapshot ===

impl Snapshot {
    /// Opens a snapshot.
    ///
    /// # Errors
    /// Fails when the database cannot be queried, or when row policies apply to the connection:
    /// such a backup would lack rows without any error.
    pub async fn take(owner: &SecretString) -> Result<Self> {
        let mut conn = PgConnection::connect(owner.expose_secret()).await?;
        let (server, sees_all): (i32, bool) = sqlx::query_as(
            "select current_setting('server_version_num')::int, rolsuper or rolbypassrls from pg_roles where rolname = current_user",
        )
        .fetch_one(&mut conn)
        .await?;
        if !sees_all {
            return Err(Error::BoundByPolicies);
        }
        // Rows are hashed as text, so times need a fixed time zone.
        sqlx::query("set timezone = 'UTC'")
            .execute(&mut conn)
            .await?;
        sqlx::query("begin isolation level repeatable read read only")
            .execute(&mut conn)
            .await?;
        let id = sqlx::query_scalar("select pg_export_snapshot()")
            .fetch_one(&mut conn)
            .await?;
        Ok(Self { conn, id, server })
    }

    pub async fn contents(&mut self) -> Result<Contents> {
        let schema = sqlx::query_scalar(
            "select coalesce(max(version), 0) from _sqlx_migrations where success",
        );
        let schema = schema.fetch_one(&mut self.conn).await?;
        let names: Vec<String> = sqlx::query_scalar(
            "select relname::text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1",
        )
        .fetch_all(&mut self.conn)
        .await?;
        let mut tables = BTreeMap::new();
        for name in names {
            let query = AssertSqlSafe(format!("select count(*) from \"{name}\""));
            tables.insert(
                name,
                sqlx::query_scalar(query).fetch_one(&mut self.conn).await?,
            );
        }
        let ids: Vec<String> = sqlx::query_scalar(
            "select casino_id from casinos union select casino_id from suppressions union select casino_id from consent_heads
             union select casino_id from due order by 1",
        )
        .fetch_all(&mut self.conn)
        .await?;
        let mut casinos = BTreeMap::new();
        for id in ids {
            let share = Share {
                suppressions: self
                    .digest("suppressions", "key_id, phone_hash", &id)
                    .await?,
                consent_heads: self
                    .digest("consent_heads", "key_id, phone_hash", &id)
                    .await?,
                due: self
                    .digest("due", "kind collate \"C\", row_id", &id)
                    .await?,
            };
            casinos.insert(id, share);
        }
        Ok(Contents {
            schema,
            tables,
            casinos,
        })
    }

    /// Hashes row by row, because the rows of a million guests do not fit into one value.
    async fn digest(&mut self, table: &str, key: &str, casino: &str) -> Result<Digest> {
        let query = format!(
            "select row_to_json(t)::text from \"{table}\" t where casino_id = $1 order by {key}"
        );
        let mut rows = sqlx::query(AssertSqlSafe(query))
            .bind(casino.to_owned())
            .fetch(&mut self.conn);
        let (mut hash, mut count) = (Sha256::new(), 0);
        while let Some(row) = rows.try_next().await? {
            let text: String = row.try_get(0)?;
            hash.update(text.as_bytes());
            hash.update(b"\n");
            count += 1;
        }
        Ok(Digest {
            rows: count,
            sha256: hex::encode(hash.finalize()),
        })
    }
}

/// Counts the tables, views and sequences in the database, of any owner.
///
/// # Errors
/// Fails when the database cannot be queried.
pub async fn tables_in(owner: &SecretString) -> Result<i64> {
    let mut conn = PgConnection::connect(owner.expose_secret()).await?;
    let tables = sqlx::query_scalar(
        "select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'",
    )
    .fetch_one(&mut conn)
    .await?;
    conn.close().await?;
    Ok(tables)
}

/// Creates the roles that a dump refers to but does not contain. Bars the workers from the
/// database, because no worker may read it before the fleet is paused.
///
/// # Errors
/// Fails when the connection may not create roles.
pub async fn shut(owner: &SecretString) -> Result<()> {
    let mut conn = PgConnection::connect(owner.expose_secret()).await?;
    for (role, how) in [
        ("seven_app", "login"),
        ("seven_console", "login"),
        ("seven_fleet", "nologin bypassrls"),
        ("seven_pinned", "nologin"),
    ] {
        let there: bool =
            sqlx::query_scalar("select exists (select from pg_roles where rolname = $1)")
                .bind(role)
                .fetch_one(&mut conn)
                .await?;
        if !there {
            sqlx::query(AssertSqlSafe(format!("create role {role} {how}")))
                .execute(&mut conn)
                .await?;
        }
    }
    sqlx::query("grant seven_app to seven_console")
        .execute(&mut conn)
        .await?;
    let database: String = sqlx::query_scalar("select quote_ident(current_database())")
        .fetch_one(&mut conn)
        .await?;
    sqlx::query(AssertSqlSafe(format!(
        "revoke connect on database {database} from public, seven_app, seven_console, seven_pinned"
    )))
    .execute(&mut conn)
    .await?;
    sqlx::query(
        "select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_roles r on r.rolname = a.usename
         where a.datname = current_database() and a.pid <> pg_backend_pid() and not r.rolsuper and a.usename <> current_user",
    )
    .execute(&mut conn)
    .await?;
    Ok(conn.close().await?)
}

/// Makes `seven_fleet`, which cannot log in, the owner of the functions that work across casinos.
/// After a restore, their owner is the role that restored them.
///
/// # Errors
/// Fails when the database cannot be queried.
pub async fn give_functions(owner: &SecretString) -> Result<()> {
    let mut conn = PgConnection::connect(owner.expose_secret()).await?;
    let functions: Vec<String> = sqlx::query_scalar(
        "select p.oid::regprocedure::text from pg_proc p where p.prosecdef and p.pronamespace = 'public'::regnamespace",
    )
    .fetch_all(&mut conn)
    .await?;
    for function in functions {
        sqlx::query(AssertSqlSafe(format!(
            "alter function {function} owner to seven_fleet"
        )))
        .execute(&mut conn)
        .await?;
    }
    Ok(conn.close().await?)
}

/// Numbers of texts, turns and campaigns that were unfinished at the backup and that the restore
/// ended or paused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Halted {
    /// Number of texts that were queued at the backup. The restore ends them: they may have been
    /// sent since, and no text is sent twice (D5).
    pub texts: u64,
    /// Number of turns that were drafted but not queued yet; they may have been sent since, too.
    pub turns: u64,
    /// Number of guests' texts that waited for the host or a person; they may have been answered
    /// since.
    pub waiting: u64,
    pub campaigns: u64,
}

/// Pauses a restored fleet, records that in the audit log, and admits the workers, all in one
/// transaction.
///
/// # Errors
/// Fails when the database cannot be queried; the workers then stay barred.
pub async fn pause_and_open(
    owner: &SecretString,
    by: &str,
    detail: &serde_json::Value,
) -> Result<Halted> {
    let mut conn = PgConnection::connect(owner.expose_secret()).await?;
    let mut tx = conn.begin().await?;
    for switch in PAUSED {
        // If another actor had set the switch, the restore becomes its actor, so that
        // `seven resume` refuses to lift it.
        sqlx::query(
            "insert into fleet_controls (name, actor, reason) values ($1, $2, $3)
             on conflict (name) do update set actor = excluded.actor, reason = excluded.reason, since = now(), version = fleet_controls.version + 1",
        )
        .bind(switch)
        .bind(RESTORE)
        .bind("restored from a backup; seven recover, then seven resume")
        .execute(&mut *tx)
        .await?;
    }
    let texts = sqlx::query(
        "update outbound_messages set state = 'expired', reason = 'restored', ended_at = now() where state = 'queued'",
    )
    .execute(&mut *tx)
    .await?
    .rows_affected();
    let turns = sqlx::query(
        "update turns set state = 'cancelled', reason = 'restored' where state = 'drafted'",
    )
    .execute(&mut *tx)
    .await?
    .rows_affected();
    let waiting = sqlx::query(
        "update inbound_messages set disposition = 'closed', reason = 'restored', closed_at = now() where disposition in ('open', 'held')",
    )
    .execute(&mut *tx)
    .await?
    .rows_affected();
    let campaigns = sqlx::query("update campaigns set state = 'paused' where state = 'running'")
        .execute(&mut *tx)
        .await?
        .rows_affected();
    sqlx::query("insert into audit_log (casino_id, actor, action, severity, subject, detail) values ('_unknown', $1, 'restored', 'critical', 'database', $2)")
        .bind(by)
        .bind(json!({
            "backup": detail,
            "texts_ended": texts,
            "turns_ended": turns,
            "texts_closed": waiting,
            "campaigns_paused": campaigns,
        }))
        .execute(&mut *tx)
        .await?;
    let database: String = sqlx::query_scalar("select quote_ident(current_database())")
        .fetch_one(&mut *tx)
        .await?;
    let open =
        format!("grant connect on database {database} to seven_app, seven_console, seven_pinned");
    sqlx::query(AssertSqlSafe(open)).execute(&mut *tx).await?;
    tx.commit().await?;
    conn.close().await?;
    Ok(Halted {
        texts,
        turns,
        waiting,
        campaigns,
    })
}

impl Tx {
    /// Ends the work on texts that were received before `restored_at`, because the fleet may have
    /// answered them before its database was lost (D5). Expires the queued answers to these texts,
    /// except answers to crises and emergencies. Closes those texts that are open or held. Returns
    /// the numbers of answers and of texts.
    pub async fn end_answers_of_before(
        &mut self,
        restored_at: DateTime<Utc>,
    ) -> Result<(u64, u64)> {
        let answers = sqlx::query(
            "update outbound_messages o set state = 'expired', reason = 'restored', ended_at = now() from inbound_messages i
             where o.inbound_id = i.inbound_id and i.received_at < $1 and o.state = 'queued'
               and o.class not in ('crisis', 'emergency')",
        )
        .bind(restored_at)
        .execute(self.conn())
        .await?
        .rows_affected();
        let texts = sqlx::query(
            "update inbound_messages set disposition = 'closed', reason = 'restored', closed_at = now()
             where received_at < $1 and disposition in ('open', 'held')",
        )
        .bind(restored_at)
        .execute(self.conn())
        .await?
        .rows_affected();
        Ok((answers, texts))
    }
}

impl Store {
    /// Records in the audit log that a backup was made.
    pub async fn note_backup(&self, by: &str, detail: serde_json::Value) -> Result<()> {
        let mut tx = self.bind(&CasinoId::unknown()).await?;
        tx.audit(&Entry::of(AuditEvent::BackedUp, by, "database", detail))
            .await?;
        tx.commit().await
    }

    /// Returns the time of the backup from which this database was last restored; `None` if it was
    /// never restored.
    pub async fn restored_from(&self) -> Result<Option<DateTime<Utc>>> {
        let mut tx = self.bind(&CasinoId::unknown()).await?;
        let made_at: Option<Option<String>> = sqlx::query_scalar(
            "select detail->'backup'->>'made_at' from audit_log where action = 'restored' order by at desc limit 1",
        )
        .fetch_optional(tx.conn())
        .await?;
        tx.commit().await?;
        Ok(made_at
            .flatten()
            .and_then(|at| DateTime::parse_from_rfc3339(&at).ok())
            .map(|at| at.to_utc()))
    }

    /// Returns when this database was last restored from a backup; `None` if it never was.
    pub async fn restored_at(&self) -> Result<Option<DateTime<Utc>>> {
        let mut tx = self.bind(&CasinoId::unknown()).await?;
        let at = sqlx::query_scalar("select max(at) from audit_log where action = 'restored'")
            .fetch_one(tx.conn())
            .await?;
        tx.commit().await?;
        Ok(at)
    }

    /// Allows an operator to lift the switches that the restore set, and audits that. Returns false
    /// if no switch has the restore as its actor.
    pub async fn note_recovery(&self, by: &str, detail: serde_json::Value) -> Result<bool> {
        let mut tx = self.bind(&CasinoId::unknown()).await?;
        let held = sqlx::query(
            "update fleet_controls set actor = $1, reason = 'recovered; waits for an operator' where actor = $2",
        )
        .bind(RECOVER)
        .bind(RESTORE)
        .execute(tx.conn())
        .await?
        .rows_affected();
        tx.audit(&Entry::of(AuditEvent::Recovered, by, "database", detail))
            .await?;
        tx.commit().await?;
        Ok(held > 0)
    }
}
