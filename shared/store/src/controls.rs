//! Operators' switches (D14): which are on, who set them and why. Guest texts that arrive during a
//! pause stay open; when the pause ends, recent ones are answered and old ones closed. Switches are
//! never cached: the pre-send check and every turn read them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use seven_domain::{AuditEvent, CasinoId};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, Tx, audit::Entry};

/// Switches of a casino or the fleet; [`Switch::as_str`] returns their names in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Switch {
    /// Only safety texts are sent, and no turn is made.
    Outbound,
    /// No text that is not an answer is sent.
    Proactive,
    /// No turn is made; queued texts are sent.
    Agents,
    /// No turn is made; each guest who writes gets the holding text once.
    SafeMode,
    /// Nothing is sent at all, safety texts included.
    Kill,
}

/// A switch that is on.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize)]
pub struct Standing {
    /// The casino concerned; empty for every casino.
    pub casino_id: String,
    pub name: String,
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

/// Selects the names of the switches that are on for the bound casino: its own, the fleet's, or
/// safe mode set by its document (`safe_mode.enabled`).
macro_rules! switched {
    () => {
        "select name from controls union all select name from fleet_controls union all select 'safe_mode' from casinos where safe_mode"
    };
}
pub(crate) use switched;

// === impl Switch ===

impl Switch {
    pub const ALL: [Self; 5] = [Self::Outbound, Self::Proactive, Self::Agents, Self::SafeMode, Self::Kill];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Outbound => "pause_outbound",
            Self::Proactive => "pause_proactive",
            Self::Agents => "pause_agents",
            Self::SafeMode => "safe_mode",
            Self::Kill => "kill",
        }
    }

    pub(crate) fn named(names: &[String]) -> Vec<Self> {
        Self::ALL.into_iter().filter(|switch| names.iter().any(|name| name == switch.as_str())).collect()
    }

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

/// The actor of a change of switches, and the reason.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    pub by: &'a str,
    pub reason: &'a str,
}

const SWITCH_CASINO: &str =
    "insert into controls (casino_id, name, actor, reason) values ($1, $2, $3, $4) on conflict do nothing";
const SWITCH_FLEET: &str =
    "insert into fleet_controls (name, actor, reason) values ($1, $2, $3) on conflict do nothing";

impl Store {
    /// Sets switches for one casino, or for all casinos if none is named, and audits that in the
    /// same transaction. Returns the switches that changed; the others keep their actor and time.
    pub async fn switch(
        &self,
        casino: Option<&CasinoId>,
        switches: &[Switch],
        on: bool,
        order: Order<'_>,
    ) -> Result<Vec<Switch>> {
        let mut tx = self.bind(&casino.cloned().unwrap_or_else(CasinoId::unknown)).await?;
        let mut changed = Vec::new();
        for &switch in switches {
            let query = match (casino, on) {
                (Some(casino), true) => sqlx::query(SWITCH_CASINO)
                    .bind(casino.as_str())
                    .bind(switch.as_str())
                    .bind(order.by)
                    .bind(order.reason),
                (None, true) => sqlx::query(SWITCH_FLEET).bind(switch.as_str()).bind(order.by).bind(order.reason),
                (Some(_), false) => sqlx::query("delete from controls where name = $1").bind(switch.as_str()),
                (None, false) => sqlx::query("delete from fleet_controls where name = $1").bind(switch.as_str()),
            };
            if query.execute(tx.conn()).await?.rows_affected() == 0 {
                continue;
            }
            let scope = casino.map_or("every casino", CasinoId::as_str);
            let detail = serde_json::json!({ "switch": switch.as_str(), "scope": scope, "reason": order.reason });
            tx.audit(&Entry::of(switch.audited(on), order.by, switch.as_str(), detail)).await?;
            changed.push(switch);
        }
        tx.commit().await?;
        Ok(changed)
    }

    /// Returns the fleet's switches, which apply to every casino.
    pub async fn fleet_switches(&self) -> Result<Vec<Standing>> {
        let query = "select '' as casino_id, name, since, actor, reason from fleet_controls order by since";
        Ok(sqlx::query_as(query).fetch_all(&mut *self.fleet().await?).await?)
    }
}

impl Tx {
    /// Returns the bound casino's own switches.
    pub async fn own_switches(&mut self) -> Result<Vec<Standing>> {
        let query = "select casino_id, name, since, actor, reason from controls order by since";
        Ok(sqlx::query_as(query).fetch_all(self.conn()).await?)
    }

    /// Returns the switches that are on for the bound casino.
    pub async fn switched(&mut self) -> Result<Vec<Switch>> {
        let names: Vec<String> = sqlx::query_scalar(switched!()).fetch_all(self.conn()).await?;
        Ok(Switch::named(&names))
    }

    /// Returns whether this guest already got the holding text of the current safe mode.
    pub async fn told_of_safe_mode(&mut self, conversation: seven_domain::ConversationId) -> Result<bool> {
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
        Ok(Reopened { guests, texts, stale })
    }
}
