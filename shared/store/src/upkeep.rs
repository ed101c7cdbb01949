//! Recurring work of operators, as recorded in the fleet's audit log: rotations of secrets
//! (SEC-131), backups (DEP-31), and drills of a recovery (DEP-33).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use seven_domain::{AuditEvent, CasinoId};

use crate::{Result, Store};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upkeep {
    /// When this database was set up. Work that was never recorded is treated as if it was last
    /// done at this time.
    pub begun: DateTime<Utc>,
    /// When each secret was last recorded as rotated, by its name in the settings.
    pub rotated: BTreeMap<String, DateTime<Utc>>,
    pub backed_up: Option<DateTime<Utc>>,
    /// When a drill last passed.
    pub drilled: Option<DateTime<Utc>>,
    /// The earliest due date of an incident review that is still missing (OBS-19).
    pub review_due: Option<DateTime<Utc>>,
}

impl Store {
    pub async fn upkeep(&self) -> Result<Upkeep> {
        let mut tx = self.bind(&CasinoId::unknown()).await?;
        let begun =
            sqlx::query_scalar("select coalesce(min(installed_on), now()) from _sqlx_migrations")
                .fetch_one(tx.conn())
                .await?;
        let noted: Vec<(String, String, DateTime<Utc>)> = sqlx::query_as(
            "select action, subject, max(at) from audit_log
             where action in ($1, $2) or action = $3 and detail->'passed' = 'true' group by action, subject",
        )
        .bind(AuditEvent::SecretRotated)
        .bind(AuditEvent::BackedUp)
        .bind(AuditEvent::RecoveryDrilled)
        .fetch_all(tx.conn())
        .await?;
        tx.commit().await?;
        let review_due = self
            .incidents()
            .await?
            .iter()
            .filter_map(|incident| incident.review_due)
            .min();
        let mut upkeep = Upkeep {
            begun,
            rotated: BTreeMap::new(),
            backed_up: None,
            drilled: None,
            review_due,
        };
        for (action, subject, at) in noted {
            match action.parse() {
                Ok(AuditEvent::BackedUp) => upkeep.backed_up = upkeep.backed_up.max(Some(at)),
                Ok(AuditEvent::RecoveryDrilled) => upkeep.drilled = upkeep.drilled.max(Some(at)),
                _ => drop(upkeep.rotated.insert(subject, at)),
            }
        }
        Ok(upkeep)
    }
}
