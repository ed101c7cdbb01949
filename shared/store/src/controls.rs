//! Operators' switches (D14): which are on, who set them and why. They are never cached: the
//! pre-send check and every turn read them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use seven_domain::{AuditEvent, CasinoId, text_enum};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, Tx, audit::Entry};

text_enum! {
    /// Switches of a casino or the fleet.
    Switch {
        /// Only safety texts are sent, and no turn is made.
        Outbound => "pause_outbound",
        /// Texts of the bulk lane, such as a campaign's, are not sent.
        Proactive => "pause_proactive",
        /// No turn is made; queued texts are sent.
        Agents => "pause_agents",
        /// No turn is made; each guest who writes gets the holding text once.
        SafeMode => "safe_mode",
        /// Nothing is sent at all, safety texts included.
        Kill => "kill",
    }
}

/// A switch that is on.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize)]
pub struct Standing {
    /// The casino concerned; empty for every casino.
    pub casino_id: String,
    pub name: Switch,
    pub since: DateTime<Utc>,
    pub actor: String,
    pub reason: String,
}

/// A guest's text that the end of a pause closes, because it is too old to be answered.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize)]
pub struct Stale {
    pub inbound_id: Uuid,
    pub conversation_id: Uuid,
    pub guest_id: Uuid,
    pub received_at: DateTime<Utc>,
}

/// Texts that the end of a pause reopens or closes as stale.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reopened {
    /// Number of guests whose texts are answered now, each in one turn.
    pub guests: i64,
    pub texts: i64,
    pub stale: Vec<Stale>,
}

/// Selects the switches that are on for the bound casino: its own and the fleet's. Safe mode may
/// also be set by the casino's document (`safe_mode.enabled`).
const SWITCHED: &str = "select name from controls union all select name from fleet_controls
     union all select 'safe_mode' from casinos where safe_mode";

// === impl Switch ===

impl Switch {
    /// Returns whether no turn may be made while the switch is on.
    pub fn silences_agents(self) -> bool {
        self != Self::Proactive
    }

    fn audited(self, on: bool) -> AuditEvent {
        match (self, on) {
            (Self::SafeMode, true) => AuditEvent::SafeModeActivated,
            (Self::SafeMode, false) => AuditEvent::SafeModeDeactivated,
            (_, true) => AuditEvent::SendingStopped,
            (_, false) => AuditEvent::SendingResumed,
        }
    }
}

/// The operator who changes something, such as a switch or a flag, and the reason.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    pub by: &'a str,
    pub reason: &'a str,
}

const SWITCH_CASINO: &str = "insert into controls (casino_id, name, actor, reason) values ($1, $2, $3, $4) on conflict do nothing";
const SWITCH_FLEET: &str =
    "insert into fleet_controls (name, actor, reason) values ($1, $2, $3) on conflict do nothing";

impl Store {
    /// Sets switches for one casino, or for all casinos if `casino` is `None`. Audits the change in
    /// the same transaction. Returns the switches that changed; the others keep their actor and
    /// time.
    pub async fn switch(
        &self,
        casino: Option<&CasinoId>,
        switches: &[Switch],
        on: bool,
        order: Order<'_>,
    ) -> Result<Vec<Switch>> {
        let mut tx = self
            .bind(&casino.cloned().unwrap_or_else(CasinoId::unknown))
            .await?;
        let changed = tx.switch(casino, switches, on, order).await?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Returns the fleet's switches, which apply to every casino.
    pub async fn fleet_switches(&self) -> Result<Vec<Standing>> {
        let query =
            "select '' as casino_id, name, since, actor, reason from fleet_controls order by since";
        Ok(sqlx::query_as(query)
            .fetch_all(&mut *self.fleet().await?)
            .await?)
    }
}

impl Tx {
    /// Does what [`Store::switch`] does, as a part of this transaction.
    pub async fn switch(
        &mut self,
        casino: Option<&CasinoId>,
        switches: &[Switch],
        on: bool,
        order: Order<'_>,
    ) -> Result<Vec<Switch>> {
        let mut changed = Vec::new();
        for &switch in switches {
            let query = match (casino, on) {
                (Some(casino), true) => sqlx::query(SWITCH_CASINO)
                    .bind(casino.as_str())
                    .bind(switch)
                    .bind(order.by)
                    .bind(order.reason),
                (None, true) => sqlx::query(SWITCH_FLEET)
                    .bind(switch)
                    .bind(order.by)
                    .bind(order.reason),
                (Some(_), false) => {
                    sqlx::query("delete from controls where name = $1").bind(switch)
                }
                (None, false) => {
                    sqlx::query("delete from fleet_controls where name = $1").bind(switch)
                }
            };
            if query.execute(self.conn()).await?.rows_affected() == 0 {
                continue;
            }
            let scope = casino.map_or("every casino", CasinoId::as_str);
            let detail = serde_json::json!({
                "switch": switch.as_str(),
                "scope": scope,
                "reason": order.reason,
            });
            self.audit(&Entry::of(
                switch.audited(on),
                order.by,
                switch.as_str(),
                detail,
            ))
            .await?;
            changed.push(switch);
        }
        Ok(changed)
    }

    /// Returns the bound casino's own switches.
    pub async fn own_switches(&mut self) -> Result<Vec<Standing>> {
        let query = "select casino_id, name, since, actor, reason from controls order by since";
        Ok(sqlx::query_as(query).fetch_all(self.conn()).await?)
    }

    /// Returns the switches that are on for the bound casino.
    pub async fn switched(&mut self) -> Result<Vec<Switch>> {
        Ok(sqlx::query_scalar(SWITCHED).fetch_all(self.conn()).await?)
    }

    /// Returns whether this guest already got the holding text of the current safe mode.
    pub async fn told_of_safe_mode(
        &mut self,
        conversation: seven_domain::ConversationId,
    ) -> Result<bool> {
        Ok(sqlx::query_scalar(
            "select exists (
               select 1 from outbound_messages o where o.conversation_id = $1 and o.class = 'holding' and o.state not in ('suppressed', 'expired')
                 and o.created_at >= (select min(since) from (
                   select since from controls where name = 'safe_mode' union all select since from fleet_controls where name = 'safe_mode'
                   union all select updated_at from casinos where safe_mode) s))",
        )
        .bind(conversation.0)
        .fetch_one(self.conn())
        .await?)
    }

    /// After a pause, closes open texts older than `useful` as stale and makes the others due for
    /// the next sweep. Texts held for a person are not touched.
    pub async fn reopen(&mut self, useful: Duration) -> Result<Reopened> {
        let stale = sqlx::query_as(
            "update inbound_messages set disposition = 'closed', reason = 'stale', closed_at = now()
             where disposition = 'open' and coalesce(released_at, stored_at) < now() - make_interval(secs => $1)
             returning inbound_id, conversation_id, guest_id, received_at",
        )
        .bind(useful.as_secs_f64())
        .fetch_all(self.conn())
        .await?;
        let (guests, texts): (i64, i64) = sqlx::query_as(
            "with due as (update inbound_messages set next_sweep_at = now() where disposition = 'open' returning conversation_id)
             select count(distinct conversation_id), count(*) from due",
        )
        .fetch_one(self.conn())
        .await?;
        Ok(Reopened {
            guests,
            texts,
            stale,
        })
    }
}
