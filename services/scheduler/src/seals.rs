//! Seals finished days of each casino's audit log at night, and checks earlier seals (D43).

use chrono::TimeDelta;
use serde_json::{Value, json};
use seven_domain::CaseSeverity;
use seven_runtime::{Error, Fleet, counted};
use seven_staff::audit::{Sealed, check_seal, seal};
use seven_store::Tx;
use uuid::Uuid;

use crate::nightly::compliance_case;

/// A day of the audit log is sealed this long after its end. An entry has the time at which its
/// transaction began, but appears only when the transaction commits.
const SEAL_AFTER: TimeDelta = TimeDelta::hours(3);
/// Maximum number of days that one night seals; a casino's first night may have many.
const SEALED_A_NIGHT: i64 = 31;
/// Number of the newest seals that each night checks again.
const CHECKED_SEALS: i64 = 31;

/// Checks the newest seals of the audit log, then seals the finished days.
pub(crate) async fn seal_days(fleet: &Fleet, tx: &mut Tx) -> Result<Value, Error> {
    let now = fleet.clock.now();
    let mut broken = 0;
    for seal in tx.seals(CHECKED_SEALS).await? {
        if let Sealed::Broken(seal) = check_seal(tx, seal.day).await? {
            broken += 1;
            // The case's id is derived from the seal, so that later nights do not open a second
            // case.
            let id = seal
                .sha256
                .get(..32)
                .and_then(|hex| Uuid::try_parse(hex).ok());
            let case = compliance_case(
                id.unwrap_or_else(|| fleet.ids.uuid()),
                None,
                "audit_seal_broken",
                CaseSeverity::Sev0,
                Some(450),
                Some(15),
            );
            counted::open_case(tx, &case).await?;
        }
    }
    let today = (now - SEAL_AFTER).date_naive();
    let days = tx.unsealed_days(today, SEALED_A_NIGHT).await?;
    for day in &days {
        seal(tx, *day, now).await?;
    }
    Ok(json!({ "sealed": days.len(), "broken": broken }))
}
