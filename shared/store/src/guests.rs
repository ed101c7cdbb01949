//! Guests and their one conversation per channel.

use seven_domain::{Channel, ConversationId, GuestHash, GuestId, Language, PhoneE164};
use uuid::Uuid;

use crate::{Result, Tx};

/// The guest and conversation a text belongs to.
#[derive(Debug, Clone)]
pub struct Party {
    pub guest_id: GuestId,
    pub conversation_id: ConversationId,
    pub language: Option<Language>,
    /// True when this text made us know the guest.
    pub new: bool,
    /// `active`, `warm`, `archived` or `pending_deletion`.
    pub status: String,
    pub consent_tier: String,
}

/// What the states of a new guest's number ask of us (SEC-53b).
#[derive(Debug, Clone, Default)]
pub struct GuestLaw {
    pub disclosure_required: bool,
    pub disclosure_law: Option<String>,
}

/// Ids to use when guest or conversation are new.
#[derive(Debug, Clone, Copy)]
pub struct NewIds {
    pub guest: GuestId,
    pub conversation: ConversationId,
}

impl Tx {
    /// Finds or creates the guest, the conversation and the suppression row.
    pub async fn party(
        &mut self,
        phone: &PhoneE164,
        hash: &GuestHash,
        number: &PhoneE164,
        channel: Channel,
        new: NewIds,
        law: &GuestLaw,
    ) -> Result<Party> {
        let casino = self.casino_str();
        let created = sqlx::query("insert into guests (casino_id, guest_id, phone, key_id, phone_hash, disclosure_required, disclosure_law) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing")
            .bind(&casino)
            .bind(new.guest.0)
            .bind(phone.as_str())
            .bind(hash.key_id)
            .bind(&hash.bytes[..])
            .bind(law.disclosure_required)
            .bind(&law.disclosure_law)
            .execute(self.conn())
            .await?;
        if created.rows_affected() == 1 {
            self.ensure_suppression_row(hash).await?;
        }
        // No lock on the guest's row: the conversation's is the first of a transaction's locks, always.
        let (guest_id, language, status, consent_tier): (Uuid, Option<String>, String, String) = sqlx::query_as(
            "select guest_id, language, status, consent_tier from guests where key_id = $1 and phone_hash = $2",
        )
        .bind(hash.key_id)
        .bind(&hash.bytes[..])
        .fetch_one(self.conn())
        .await?;
        let conversation_id: Uuid = sqlx::query_scalar(
            "insert into conversations (casino_id, conversation_id, guest_id, channel, casino_number) values ($1, $2, $3, $4, $5)
             on conflict (casino_id, guest_id, channel) do update set casino_number = excluded.casino_number
             returning conversation_id",
        )
        .bind(&casino)
        .bind(new.conversation.0)
        .bind(guest_id)
        .bind(channel.as_str())
        .bind(number.as_str())
        .fetch_one(self.conn())
        .await?;
        Ok(Party {
            guest_id: GuestId(guest_id),
            conversation_id: ConversationId(conversation_id),
            language: language.and_then(|l| l.parse().ok()),
            new: created.rows_affected() == 1,
            status,
            consent_tier,
        })
    }

    /// The guest whose phone hashes to this, if any.
    pub async fn guest_by_hash(&mut self, hash: &GuestHash) -> Result<Option<GuestId>> {
        let id: Option<Uuid> = sqlx::query_scalar("select guest_id from guests where key_id = $1 and phone_hash = $2")
            .bind(hash.key_id)
            .bind(&hash.bytes[..])
            .fetch_optional(self.conn())
            .await?;
        Ok(id.map(GuestId))
    }

    /// The keyed hash of a guest.
    pub async fn hash_of(&mut self, guest: GuestId) -> Result<Option<GuestHash>> {
        let row: Option<(i16, Vec<u8>)> = sqlx::query_as("select key_id, phone_hash from guests where guest_id = $1")
            .bind(guest.0)
            .fetch_optional(self.conn())
            .await?;
        Ok(row.and_then(|(key_id, hash)| Some(GuestHash { key_id, bytes: hash.try_into().ok()? })))
    }

    /// A guest who cried for help about gambling: no proactive text ever again (CONV-14).
    pub async fn mark_responsible_gaming(&mut self, guest: GuestId) -> Result<()> {
        sqlx::query(
            "update guests set responsible_gaming_at = coalesce(responsible_gaming_at, now()) where guest_id = $1",
        )
        .bind(guest.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
