//! Checks whether this process has the key under which a casino's guests are stored. With a
//! different key, none of their rows would be found, not even their opt-outs.

use seven_domain::{GuestHash, HashKeys};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, guests::address};

/// Result of comparing a process's key with the casino's guests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMatch {
    /// The casino has no guest yet.
    Nobody,
    /// The newest guest is found with our key.
    Ours,
    /// The key id is the same, but the secret differs.
    AnotherSecret,
    /// The guests are stored under this other key id.
    AnotherId(i16),
}

#[derive(FromRow)]
struct Newest {
    phone: Option<String>,
    visitor_id: Option<Uuid>,
    key_id: i16,
    phone_hash: Vec<u8>,
}

// === impl KeyMatch ===

impl KeyMatch {
    fn by(theirs: GuestHash, ours: GuestHash) -> Self {
        if theirs.key_id != ours.key_id {
            Self::AnotherId(theirs.key_id)
        } else if theirs.bytes == ours.bytes {
            Self::Ours
        } else {
            Self::AnotherSecret
        }
    }
}

impl Tx {
    /// Returns whether these keys find the newest guest of the bound casino. The newest guest has
    /// the highest id, because ids grow with time.
    ///
    /// # Errors
    /// Fails when Postgres does not answer, or a row's address or hash is malformed.
    pub async fn found_with(&mut self, keys: &HashKeys) -> Result<KeyMatch> {
        let newest: Option<Newest> = sqlx::query_as(
            "select phone, visitor_id, key_id, phone_hash from guests order by guest_id desc limit 1",
        )
        .fetch_optional(self.conn())
        .await?;
        let Some(newest) = newest else {
            return Ok(KeyMatch::Nobody);
        };
        let (address, key_id) = (address(newest.phone, newest.visitor_id)?, newest.key_id);
        let bytes = newest
            .phone_hash
            .try_into()
            .map_err(|_: Vec<u8>| sqlx::Error::Decode("a hash is 32 bytes".into()))?;
        Ok(KeyMatch::by(
            GuestHash { key_id, bytes },
            keys.hash_address(self.casino(), &address),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SEC-131
    fn only_the_same_id_and_secret_find_a_guest() {
        let hash = |key_id, byte| GuestHash {
            key_id,
            bytes: [byte; 32],
        };
        assert_eq!(KeyMatch::by(hash(1, 7), hash(1, 7)), KeyMatch::Ours);
        assert_eq!(
            KeyMatch::by(hash(1, 7), hash(1, 8)),
            KeyMatch::AnotherSecret
        );
        assert_eq!(KeyMatch::by(hash(1, 7), hash(2, 7)), KeyMatch::AnotherId(1));
    }
}
