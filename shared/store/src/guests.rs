//! Guests and their one conversation per channel.

use chrono::{DateTime, Utc};
use seven_domain::{
    Address, Channel, ConsentTier, ConversationId, GuestHash, GuestId, GuestStatus, Language,
    PhoneE164,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Result, Tx,
    casinos::{Casino, Document},
    outbound::Recipient,
};

/// The guest and conversation that a text belongs to.
#[derive(Debug, Clone)]
pub struct Party {
    pub guest_id: GuestId,
    pub conversation_id: ConversationId,
    pub language: Option<Language>,
    /// Whether this text created the guest.
    pub new: bool,
    pub status: GuestStatus,
    pub consent_tier: ConsentTier,
    /// Whether the guest was opted out, read before the conversation was locked.
    pub stopped: bool,
    /// Whether the guest was asked if they want no more texts, and has not answered yet (D20).
    pub asked: bool,
    /// Whether the phone is the verified phone of one of the casino's staff; its texts are not a
    /// guest's (D28).
    pub staff: bool,
    /// Texts that the guest wrote until this time were erased and must not be stored again.
    pub erased_until: Option<DateTime<Utc>>,
    /// When the guest's previous text was received.
    pub last_inbound_at: Option<DateTime<Utc>>,
}

impl Party {
    pub fn recipient(&self) -> Recipient {
        Recipient {
            conversation_id: self.conversation_id,
            guest_id: self.guest_id,
        }
    }
}

/// Legal duties toward a new guest, by the laws of the US states to which the guest's number may
/// belong.
#[derive(Debug, Clone, Default)]
pub struct GuestLaw {
    pub disclosure_required: bool,
    pub disclosure_law: Option<String>,
}

/// Ids to use when the guest or the conversation is new.
#[derive(Debug, Clone, Copy)]
pub struct NewIds {
    pub guest: GuestId,
    pub conversation: ConversationId,
}

#[derive(FromRow)]
struct Met {
    guest_id: Uuid,
    language: Option<Language>,
    status: GuestStatus,
    consent_tier: ConsentTier,
    new: bool,
    conversation_id: Uuid,
    stopped: bool,
    asked: bool,
    staff: bool,
    erased_until: Option<DateTime<Utc>>,
    last_inbound_at: Option<DateTime<Utc>>,
    #[sqlx(flatten)]
    document: Document,
}

/// Returns the address in a guest's row: a phone or a visitor's id, of which a row has exactly one.
pub(crate) fn address(phone: Option<String>, visitor: Option<Uuid>) -> Result<Address> {
    match (phone, visitor) {
        (Some(phone), _) => Ok(Address::Phone(phone.parse()?)),
        (None, Some(visitor)) => Ok(Address::Visitor(visitor)),
        (None, None) => Err(sqlx::Error::Decode("a guest has no address".into()).into()),
    }
}

/// Takes no lock on the guest's row: a transaction always locks the conversation first.
const MEET: &str = include_str!("../sql/meet.sql");

impl Tx {
    /// Finds or creates the guest, the conversation (locked) and the suppression row.
    pub async fn party(
        &mut self,
        phone: &PhoneE164,
        hash: &GuestHash,
        number: &PhoneE164,
        channel: Channel,
        new: NewIds,
        law: &GuestLaw,
    ) -> Result<Party> {
        let address = Address::Phone(phone.clone());
        self.meet(&address, hash, number.as_str(), channel, new, law)
            .await
            .map(|(party, _)| party)
    }

    /// Works like [`Tx::party`] for any address, and also returns the bound casino, in one round
    /// trip. `number` is the casino's number that the guest wrote to; empty for a channel without
    /// numbers.
    pub async fn meet(
        &mut self,
        address: &Address,
        hash: &GuestHash,
        number: &str,
        channel: Channel,
        new: NewIds,
        law: &GuestLaw,
    ) -> Result<(Party, Casino)> {
        let casino = self.casino_str();
        // If another transaction is adding the same guest, the statement does not see that guest
        // yet. The next run of the statement does.
        for _ in 0..3 {
            let held = self.held_document();
            let met: Option<Met> = sqlx::query_as(MEET)
                .bind(&casino)
                .bind(hash.key_id)
                .bind(&hash.bytes[..])
                .bind(address.phone().map(PhoneE164::as_str))
                .bind(new.guest.0)
                .bind(new.conversation.0)
                .bind(channel)
                .bind(number)
                .bind(law.disclosure_required)
                .bind(&law.disclosure_law)
                .bind(held.as_ref().map(|held| held.version))
                .bind(address.visitor())
                .fetch_optional(self.conn())
                .await?;
            if let Some(met) = met {
                let party = Party {
                    guest_id: GuestId(met.guest_id),
                    conversation_id: ConversationId(met.conversation_id),
                    language: met.language,
                    new: met.new,
                    status: met.status,
                    consent_tier: met.consent_tier,
                    stopped: met.stopped,
                    asked: met.asked,
                    staff: met.staff,
                    last_inbound_at: met.last_inbound_at,
                    erased_until: met.erased_until,
                };
                return Ok((party, self.casino_of(met.document, held)?));
            }
        }
        Err(sqlx::Error::RowNotFound.into())
    }

    /// Returns the guest with this phone hash, if any.
    pub async fn guest_by_hash(&mut self, hash: &GuestHash) -> Result<Option<GuestId>> {
        let id: Option<Uuid> =
            sqlx::query_scalar("select guest_id from guests where key_id = $1 and phone_hash = $2")
                .bind(hash.key_id)
                .bind(&hash.bytes[..])
                .fetch_optional(self.conn())
                .await?;
        Ok(id.map(GuestId))
    }

    /// Returns the guest's address; `None` if the guest was erased.
    pub async fn address_of(&mut self, guest: GuestId) -> Result<Option<Address>> {
        let row: Option<(Option<String>, Option<Uuid>)> =
            sqlx::query_as("select phone, visitor_id from guests where guest_id = $1")
                .bind(guest.0)
                .fetch_optional(self.conn())
                .await?;
        row.map(|(phone, visitor)| address(phone, visitor))
            .transpose()
    }

    /// Returns the keyed hash of a guest.
    pub async fn hash_of(&mut self, guest: GuestId) -> Result<Option<GuestHash>> {
        let row: Option<(i16, Vec<u8>)> =
            sqlx::query_as("select key_id, phone_hash from guests where guest_id = $1")
                .bind(guest.0)
                .fetch_optional(self.conn())
                .await?;
        Ok(row.and_then(|(key_id, hash)| {
            Some(GuestHash {
                key_id,
                bytes: hash.try_into().ok()?,
            })
        }))
    }

    /// Records that the guest wrote a cry for help. For the rest of the session, replies then
    /// mention no gambling and make no offers (SEC-28).
    pub async fn note_cry(
        &mut self,
        conversation: ConversationId,
        at: DateTime<Utc>,
    ) -> Result<()> {
        sqlx::query(
            "update conversations set cried_at = greatest(cried_at, $2) where conversation_id = $1",
        )
        .bind(conversation.0)
        .bind(at)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Records that the guest wrote a cry for help about gambling: they never get a proactive text
    /// again (CONV-14).
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
