//! The people of a casino who are told about its cases (D28). Each gets at most one notice per case
//! and level.

mod letters;
mod notices;
mod phones;

use chrono::{DateTime, NaiveTime, Utc};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::json;
use seven_domain::{
    AuditEvent, CaseSeverity, ContactChannel, ContactId, ConversationId, GuestId, Language,
};
use sqlx::FromRow;
use uuid::Uuid;

pub use self::{
    letters::DueLetter,
    notices::{CaseNotice, DueNotice, Raised, Told},
    phones::{CodeTried, EndedPhone},
};
use crate::{Result, Tx, audit::Entry, outbound::Recipient};

/// A contact to add.
#[derive(Debug, Clone)]
pub struct NewContact {
    pub contact_id: ContactId,
    pub name: String,
    pub channel: ContactChannel,
    /// The address of the chat webhook or the mailbox, or the phone's number. It is secret, because
    /// anyone who knows the address of a webhook can post there.
    pub address: SecretString,
    pub language: Language,
    /// The contact is told about cases that are at least this severe.
    pub severity: CaseSeverity,
    /// The first level of a case at which the contact is told, 1 to 3.
    pub level: i32,
    /// Whether the contact is told about every danger to life, at any level and any hour.
    pub security: bool,
    /// Whether notices may quote the guest.
    pub words: bool,
    /// Whether the contact gets the casino's figures each Monday.
    pub weekly: bool,
    /// Whether the contact gets a letter about each refused edit and, once a week, about the
    /// casino's content.
    pub content: bool,
    /// Whether the contact is told about outages, in which guests wait because our system fails.
    pub outages: bool,
    /// Quiet hours in the casino's time zone. They do not delay notices of sev0 cases, nor notices
    /// of dangers to life to a security contact. `None` means no quiet hours.
    pub quiet: Option<(NaiveTime, NaiveTime)>,
}

/// A contact as it is stored.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Contact {
    pub contact_id: Uuid,
    pub name: String,
    pub channel: ContactChannel,
    #[serde(skip)]
    #[sqlx(try_from = "String")]
    pub address: SecretString,
    pub language: Language,
    pub severity: CaseSeverity,
    pub level: i32,
    pub security: bool,
    pub words: bool,
    pub weekly: bool,
    pub content: bool,
    pub outages: bool,
    pub quiet_from: Option<NaiveTime>,
    pub quiet_to: Option<NaiveTime>,
    pub created_at: DateTime<Utc>,
    /// When the channel last took a notice; `None` when it never did.
    pub reached_at: Option<DateTime<Utc>>,
    /// When the phone's code was entered; `None` before that, and for other channels.
    pub verified_at: Option<DateTime<Utc>>,
    /// The guest and the conversation under which our texts to a contact's phone are stored. `None`
    /// for other channels, and before the first code was sent.
    #[serde(skip)]
    pub guest_id: Option<Uuid>,
    #[serde(skip)]
    pub conversation_id: Option<Uuid>,
}

impl Contact {
    /// Returns the recipient of texts to the contact's phone; `None` for other channels and before
    /// the first code was sent.
    pub fn recipient(&self) -> Option<Recipient> {
        Some(Recipient {
            conversation_id: ConversationId(self.conversation_id?),
            guest_id: GuestId(self.guest_id?),
        })
    }
}

const CONTACT: &str = "select contact_id, name, channel, address, language, severity, level, security, words, weekly, content, outages, quiet_from, quiet_to,
   created_at, reached_at, verified_at, guest_id, conversation_id from contacts where ended_at is null and ($1::uuid is null or contact_id = $1) order by level, name, contact_id";

impl Tx {
    /// Adds a contact, on behalf of a person. The contact is also told about cases that are already
    /// open.
    pub async fn add_contact(&mut self, new: &NewContact, by: &str) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into contacts (casino_id, contact_id, name, channel, address, language, severity, level, security, words, quiet_from,
               quiet_to, created_by, weekly, content, outages) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        )
        .bind(casino)
        .bind(new.contact_id.0)
        .bind(&new.name)
        .bind(new.channel)
        .bind(new.address.expose_secret())
        .bind(new.language)
        .bind(new.severity)
        .bind(new.level)
        .bind(new.security)
        .bind(new.words)
        .bind(new.quiet.map(|(from, _)| from))
        .bind(new.quiet.map(|(_, to)| to))
        .bind(by)
        .bind(new.weekly)
        .bind(new.content)
        .bind(new.outages)
        .execute(self.conn())
        .await?;
        let detail = json!({
            "added": new.channel, "level": new.level, "words": new.words, "weekly": new.weekly,
            "content": new.content, "outages": new.outages,
        });
        self.note_contact(new.contact_id.0, detail, by).await
    }

    /// Ends a contact, on behalf of a person. The contact gets no notice from now on, and the links
    /// in earlier notices stop working. Returns false if there is no such contact or it ended
    /// earlier.
    pub async fn end_contact(&mut self, contact: Uuid, by: &str) -> Result<bool> {
        let done = sqlx::query("update contacts set ended_at = now(), ended_by = $2, address = '', code_hash = null where contact_id = $1 and ended_at is null")
            .bind(contact)
            .bind(by)
            .execute(self.conn())
            .await?
            .rows_affected()
            == 1;
        if done {
            self.note_contact(contact, json!({ "ended": true }), by)
                .await?;
        }
        Ok(done)
    }

    async fn note_contact(
        &mut self,
        contact: Uuid,
        detail: serde_json::Value,
        by: &str,
    ) -> Result<()> {
        let subject = contact.to_string();
        self.audit(&Entry::of(AuditEvent::ContactChanged, by, &subject, detail))
            .await
    }

    /// Returns the contacts in the order in which they are told.
    pub async fn contacts(&mut self) -> Result<Vec<Contact>> {
        Ok(sqlx::query_as(CONTACT)
            .bind(None::<Uuid>)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns one contact; `None` when it was never added or has ended.
    pub async fn contact(&mut self, contact: Uuid) -> Result<Option<Contact>> {
        Ok(sqlx::query_as(CONTACT)
            .bind(Some(contact))
            .fetch_optional(self.conn())
            .await?)
    }

    /// Records that the contact's channel took a notice.
    pub async fn reached_contact(&mut self, contact: Uuid) -> Result<()> {
        sqlx::query("update contacts set reached_at = now() where contact_id = $1")
            .bind(contact)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}
