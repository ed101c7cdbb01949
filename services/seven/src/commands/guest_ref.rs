//! How a command names a guest: phone, guest id, keyed hash, or `-` for a phone on stdin, which leaves no trace in the process list.

use std::str::FromStr;

use anyhow::{Context, Result};
use seven_domain::{CasinoId, GuestHash, GuestId, Invalid, PhoneE164};
use seven_runtime::Fleet;

#[derive(Debug, Clone)]
pub enum GuestRef {
    Phone(PhoneE164),
    Id(GuestId),
    Hash(GuestHash),
    Stdin,
}

impl FromStr for GuestRef {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        if let Some(hash) = text.strip_prefix("hmac:").and_then(hash) {
            return Ok(Self::Hash(hash));
        }
        text.parse().map(Self::Phone).or_else(|_: Invalid| text.parse().map(Self::Id)).map_err(|_: Invalid| {
            Invalid::new(
                "guest",
                "unreadable",
                "a phone (+18605550142), a guest id, hmac:<key>:<hex>, or - for a phone on stdin",
            )
        })
    }
}

fn hash(rest: &str) -> Option<GuestHash> {
    let (key_id, hex) = rest.split_once(':')?;
    Some(GuestHash { key_id: key_id.parse().ok()?, bytes: hex::decode(hex).ok()?.try_into().ok()? })
}

impl GuestRef {
    /// The keyed hash under which everything about the guest stands. The guest need not have a row.
    pub async fn hash(&self, fleet: &Fleet, casino: &CasinoId) -> Result<GuestHash> {
        match self {
            Self::Hash(hash) => Ok(*hash),
            Self::Phone(phone) => Ok(fleet.keys.hash(casino, phone)),
            Self::Stdin => {
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).context("reading the guest's phone from stdin")?;
                Ok(fleet.keys.hash(casino, &line.trim().parse::<PhoneE164>()?))
            }
            Self::Id(id) => {
                let mut tx = fleet.store.bind(casino).await?;
                let hash = tx.hash_of(*id).await?;
                tx.commit().await?;
                hash.with_context(|| format!("{casino} has no guest {id}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        assert!(matches!("+18605550142".parse(), Ok(GuestRef::Phone(_))));
        assert!(matches!("-".parse(), Ok(GuestRef::Stdin)));
        assert!(matches!("01931234-5678-7abc-8def-0123456789ab".parse(), Ok(GuestRef::Id(_))));
        let hash = format!("hmac:1:{}", "ab".repeat(32));
        assert!(matches!(hash.parse(), Ok(GuestRef::Hash(h)) if h.tag() == hash));
        assert!("8605550142".parse::<GuestRef>().is_err());
        assert!("hmac:1:abcd".parse::<GuestRef>().is_err());
    }
}
