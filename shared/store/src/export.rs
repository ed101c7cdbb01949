//! Export of all data about one guest, for the guest (SEC-76).

use serde_json::Value;
use seven_domain::GuestHash;

use crate::{Result, Tx};

impl Tx {
    /// Returns all data about the guest as one document. For a deleted guest, returns what is kept:
    /// suppression, consent chain and audit entries.
    pub async fn export_guest(&mut self, guest: &GuestHash) -> Result<Value> {
        Ok(sqlx::query_scalar(EXPORT)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(guest.tag())
            .fetch_one(self.conn())
            .await?)
    }

    /// Returns the trace ids of the guest's texts and audit entries, for deleting them in the trace
    /// backend (OBS-38). After the guest's deletion, only those of the audit entries remain.
    pub async fn guest_traces(&mut self, guest: &GuestHash) -> Result<Vec<String>> {
        Ok(sqlx::query_scalar(
            "with g as (select guest_id from guests where key_id = $1 and phone_hash = $2)
             select distinct split_part(trace, '-', 2) as id from (
               select trace from inbound_messages join g using (guest_id) union all
               select trace from outbound_messages join g using (guest_id) union all
               select trace from turns join g using (guest_id) union all
               select trace from audit_log where guest_hash = $3) all_of_it
             where split_part(trace, '-', 2) <> '' order by 1",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .bind(guest.tag())
        .fetch_all(self.conn())
        .await?)
    }
}

const EXPORT: &str = include_str!("../sql/export_guest.sql");
