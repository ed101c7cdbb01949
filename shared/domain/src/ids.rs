//! Typed row ids: UUIDv7 with a kind, so that a guest's id cannot be passed where a turn's is
//! required.

use std::{fmt, str::FromStr};

use rand::RngCore;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{Clock, Invalid};

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }
        impl FromStr for $name {
            type Err = Invalid;
            fn from_str(text: &str) -> Result<Self, Invalid> {
                Uuid::parse_str(text)
                    .map(Self)
                    .map_err(|e| Invalid::new(stringify!($name), e.to_string(), "a UUID"))
            }
        }
    )+};
}

id! {
    /// One guest of one casino.
    GuestId,
    /// One conversation: a guest, a casino and a channel.
    ConversationId,
    /// One text a guest sent.
    InboundId,
    /// One turn of the host; equals the id of the oldest inbound text it answers (D4).
    TurnId,
    /// One text that we intend to send.
    OutboundId,
    /// One call of a provider's send API (D5).
    AttemptId,
    /// One offer made to a guest.
    OfferId,
    /// One dead letter (D17).
    DeadId,
    /// One campaign: a text to a list of guests.
    CampaignId,
    /// One person who works with the console or the commands (D26).
    OperatorId,
    /// One of a casino's own people, or a channel of theirs, that is told about cases (D28).
    ContactId,
}

impl OutboundId {
    /// Returns the id of a campaign's text to a guest. The same campaign and guest always give the
    /// same id, so that the text is queued only once. The id's timestamp is the campaign's.
    pub fn of_campaign(campaign: CampaignId, guest: GuestId) -> Self {
        let digest = Sha256::new()
            .chain_update(campaign.0.as_bytes())
            .chain_update(guest.0.as_bytes())
            .finalize();
        let mut entropy = [0u8; 10];
        entropy.copy_from_slice(&digest[..10]);
        let millis = campaign.0.as_u128() >> 80;
        Self(
            uuid::Builder::from_unix_timestamp_millis(
                u64::try_from(millis).unwrap_or_default(),
                &entropy,
            )
            .into_uuid(),
        )
    }
}

/// Generates new ids from the clock's time and the thread's random generator.
#[derive(Debug, Clone, Default)]
pub struct IdSource {
    clock: Clock,
}

impl IdSource {
    pub fn new(clock: Clock) -> Self {
        Self { clock }
    }

    /// Returns a new UUIDv7.
    pub fn uuid(&self) -> Uuid {
        let mut entropy = [0u8; 10];
        rand::rng().fill_bytes(&mut entropy);
        let millis = u64::try_from(self.clock.now().timestamp_millis()).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &entropy).into_uuid()
    }

    /// Returns a new id of the required kind.
    pub fn next<T: From<Uuid>>(&self) -> T {
        T::from(self.uuid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D5
    fn a_campaigns_text_has_one_id() {
        let ids = IdSource::default();
        let (campaign, other): (CampaignId, CampaignId) = (ids.next(), ids.next());
        let (guest, neighbour): (GuestId, GuestId) = (ids.next(), ids.next());
        let id = OutboundId::of_campaign(campaign, guest);
        assert_eq!(id, OutboundId::of_campaign(campaign, guest));
        assert_ne!(id, OutboundId::of_campaign(campaign, neighbour));
        assert_ne!(id, OutboundId::of_campaign(other, guest));
        assert_eq!(id.0.get_timestamp(), campaign.0.get_timestamp());
        assert_eq!(id.0.get_version_num(), 7);
    }
}
