//! Feature flags (DEP-23, DEP-25): a casino's own flag overrides the fleet's. Every change is
//! audited and versioned.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use seven_domain::{AuditEvent, CasinoId, flags::Rule};
use sqlx::FromRow;

use crate::{Result, Store, Tx, audit::Entry, controls::Order};

/// A flag with its current rule.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Flag {
    /// The casino; empty for the fleet's flag, which applies to casinos that have no flag of this
    /// name.
    pub casino_id: String,
    pub name: String,
    pub rule: Value,
    pub version: i64,
    pub updated_at: DateTime<Utc>,
    pub actor: String,
    pub reason: String,
}

impl Store {
    /// Sets a flag of one casino, or of the fleet if `casino` is `None`. If `rule` is `None`,
    /// removes the flag. Returns false if there was nothing to remove.
    pub async fn put_flag(
        &self,
        casino: Option<&CasinoId>,
        name: &str,
        rule: Option<&Rule>,
        order: Order<'_>,
    ) -> Result<bool> {
        let mut tx = self
            .bind(&casino.cloned().unwrap_or_else(CasinoId::unknown))
            .await?;
        let Order { by, reason } = order;
        let document = rule.map(|rule| json!(rule));
        let query = match (casino, &document) {
            (Some(casino), Some(rule)) => sqlx::query(
                "insert into flags (name, rule, actor, reason, casino_id) values ($1, $2, $3, $4, $5)
                 on conflict (casino_id, name) do update set rule = excluded.rule, actor = excluded.actor, reason = excluded.reason,
                   version = flags.version + 1, updated_at = now()",
            )
            .bind(name)
            .bind(rule)
            .bind(by)
            .bind(reason)
            .bind(casino.as_str()),
            (None, Some(rule)) => sqlx::query(
                "insert into fleet_flags (name, rule, actor, reason) values ($1, $2, $3, $4)
                 on conflict (name) do update set rule = excluded.rule, actor = excluded.actor, reason = excluded.reason,
                   version = fleet_flags.version + 1, updated_at = now()",
            )
            .bind(name)
            .bind(rule)
            .bind(by)
            .bind(reason),
            (Some(_), None) => sqlx::query("delete from flags where name = $1").bind(name),
            (None, None) => sqlx::query("delete from fleet_flags where name = $1").bind(name),
        };
        let changed = query.execute(tx.conn()).await?.rows_affected() == 1;
        let scope = casino.map_or("every casino", CasinoId::as_str);
        let detail = json!({ "flag": name, "rule": document, "scope": scope, "reason": reason });
        tx.audit(&Entry::of(AuditEvent::FlagChanged, by, name, detail))
            .await?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Returns the fleet's flags.
    pub async fn fleet_flags(&self) -> Result<Vec<Flag>> {
        let query = "select '' as casino_id, name, rule, version, updated_at, actor, reason from fleet_flags order by name";
        Ok(sqlx::query_as(query)
            .fetch_all(&mut *self.fleet().await?)
            .await?)
    }
}

impl Tx {
    /// Returns the bound casino's own flags.
    pub async fn own_flags(&mut self) -> Result<Vec<Flag>> {
        let query = "select casino_id, name, rule, version, updated_at, actor, reason from flags order by name";
        Ok(sqlx::query_as(query).fetch_all(self.conn()).await?)
    }
}

/// Parses the rules. A rule that cannot be parsed is left out; the casino's document then decides
/// instead (DEP-28).
pub(crate) fn read(rules: BTreeMap<String, Value>) -> BTreeMap<String, Rule> {
    let read = |(name, rule): (String, Value)| match serde_json::from_value(rule) {
        Ok(rule) => Some((name, rule)),
        Err(error) => {
            tracing::error!(
                flag = name,
                %error,
                "a flag cannot be read; the casino's document decides"
            );
            None
        }
    };
    rules.into_iter().filter_map(read).collect()
}
