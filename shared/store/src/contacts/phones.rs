//! Contacts who are told by text: the code that verifies the phone, and a STOP from that phone.

use std::time::Duration;

use serde_json::json;
use seven_domain::{AuditEvent, GuestId, OutboundId};
use sqlx::FromRow;
use uuid::Uuid;

use super::DueNotice;
use crate::{Result, Tx, audit::Entry, outbound::Recipient};

/// Number of times that one code may be tried; after that, the phone needs a new code.
const MOST_TRIES: i32 = 5;

/// The result of trying a phone's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeTried {
    Verified,
    Wrong,
    /// The code has expired or was tried too often, or there is none.
    Dead,
}

/// A contact that ended because its phone asked for no more texts.
#[derive(Debug, Clone, FromRow)]
pub struct EndedPhone {
    pub contact_id: Uuid,
    pub name: String,
}

impl Tx {
    /// Records the keyed hash of the code that is sent to a contact's phone.
    pub async fn put_contact_code(
        &mut self,
        contact: Uuid,
        to: Recipient,
        hash: &[u8],
        good_for: Duration,
    ) -> Result<()> {
        sqlx::query(
            "update contacts set guest_id = $2, conversation_id = $3, code_hash = $4, code_until = now() + make_interval(secs => $5), code_tries = 0
             where contact_id = $1 and ended_at is null",
        )
        .bind(contact)
        .bind(to.guest_id.0)
        .bind(to.conversation_id.0)
        .bind(hash)
        .bind(good_for.as_secs_f64())
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Tries a code that the person `by` entered. The right code verifies the phone and cannot be
    /// used again.
    pub async fn try_contact_code(
        &mut self,
        contact: Uuid,
        hash: &[u8],
        by: &str,
    ) -> Result<CodeTried> {
        let tried: Option<bool> = sqlx::query_scalar(
            "update contacts set code_tries = code_tries + 1,
               verified_at = case when code_hash = $2 then now() else verified_at end,
               reached_at = case when code_hash = $2 then now() else reached_at end,
               code_until = case when code_hash = $2 then now() else code_until end
             where contact_id = $1 and ended_at is null and code_until > now() and code_tries < $3
             returning code_hash = $2",
        )
        .bind(contact)
        .bind(hash)
        .bind(MOST_TRIES)
        .fetch_optional(self.conn())
        .await?;
        match tried {
            Some(true) => {
                self.note_contact(contact, json!({ "verified": true }), by)
                    .await?;
                Ok(CodeTried::Verified)
            }
            Some(false) => Ok(CodeTried::Wrong),
            None => Ok(CodeTried::Dead),
        }
    }

    /// Returns how many texts of this kind were created for the phone in the last 24 hours.
    pub async fn staff_texts_today(&mut self, guest: GuestId, kind: &str) -> Result<i64> {
        Ok(sqlx::query_scalar(
            "select count(*) from outbound_messages where guest_id = $1 and class = 'staff' and created_at > now() - interval '1 day' and kind = $2",
        )
        .bind(guest.0)
        .bind(kind)
        .fetch_one(self.conn())
        .await?)
    }

    /// Ends the contacts of a phone that asked for no more texts.
    pub async fn end_contacts_of(
        &mut self,
        guest: GuestId,
        actor: &str,
    ) -> Result<Vec<EndedPhone>> {
        let ended: Vec<EndedPhone> = sqlx::query_as(
            "update contacts set ended_at = now(), ended_by = 'STOP', address = '' where guest_id = $1 and ended_at is null returning contact_id, name",
        )
        .bind(guest.0)
        .fetch_all(self.conn())
        .await?;
        for contact in &ended {
            let (subject, detail) = (contact.contact_id.to_string(), json!({ "stopped": true }));
            self.audit(&Entry::of(
                AuditEvent::ContactChanged,
                actor,
                &subject,
                detail,
            ))
            .await?;
        }
        Ok(ended)
    }

    /// Records the text that carries a claimed notice; the notice is due again after `wait`.
    /// Returns false if the notice already has a text, or if another scheduler has claimed the
    /// notice since.
    pub async fn put_notice_text(
        &mut self,
        due: &DueNotice,
        text: OutboundId,
        wait: Duration,
    ) -> Result<bool> {
        let done = sqlx::query(
            "update case_notices set outbound_id = $2, next_at = now() + make_interval(secs => $4)
             where notice_id = $1 and tries = $3 and outbound_id is null",
        )
        .bind(due.notice_id)
        .bind(text.0)
        .bind(due.tries)
        .bind(wait.as_secs_f64())
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }
}
