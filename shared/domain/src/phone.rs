//! Phone numbers, and the keyed hash that replaces them everywhere but in one column (D9).

use std::{fmt, str::FromStr};

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::{Address, CasinoId, Invalid};

/// A phone number in E.164: `+`, then 2 to 15 digits, the first not 0. `Debug` shows the last two
/// digits only.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PhoneE164(String);

impl PhoneE164 {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PhoneE164 {
    /// Returns whether the number is a short code with a plus before it. Carriers, banks and shops
    /// write from short codes. Guests do not: their numbers are longer.
    pub fn is_short_code(&self) -> bool {
        self.0.len() < 8
    }
}

impl FromStr for PhoneE164 {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let digits = text.strip_prefix('+').unwrap_or_default();
        let plausible = (2..=15).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && !digits.starts_with('0');
        if plausible {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new(
                "phone number",
                "not E.164",
                "`+` and 2 to 15 digits, such as +18605550100",
            ))
        }
    }
}

impl TryFrom<String> for PhoneE164 {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<PhoneE164> for String {
    fn from(phone: PhoneE164) -> Self {
        phone.0
    }
}

impl fmt::Debug for PhoneE164 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tail: String = self
            .0
            .chars()
            .skip(self.0.len().saturating_sub(2))
            .collect();
        write!(f, "PhoneE164(..{tail})")
    }
}

/// HMAC-SHA256 of casino and phone under the key `key_id`: identifies a guest where the phone
/// number must not appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GuestHash {
    pub key_id: i16,
    pub bytes: [u8; 32],
}

impl GuestHash {
    pub fn hex(&self) -> String {
        hex::encode(self.bytes)
    }

    /// Returns `hmac:<key id>:<hex>`, which identifies the guest in events and audit entries that
    /// outlive the guest's row.
    pub fn tag(&self) -> String {
        format!("hmac:{}:{}", self.key_id, self.hex())
    }

    /// Parses a [`GuestHash::tag`].
    pub fn from_tag(tag: &str) -> Option<Self> {
        let (key_id, hex) = tag.strip_prefix("hmac:")?.split_once(':')?;
        Some(Self {
            key_id: key_id.parse().ok()?,
            bytes: hex::decode(hex).ok()?.try_into().ok()?,
        })
    }
}

/// One hashing key; `id` is stored beside every hash so that keys can be rotated.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashKey {
    pub id: i16,
    pub secret: SecretString,
}

/// The hashing keys in use. So far there is only one, which creates all hashes.
#[derive(Debug, Clone)]
pub struct HashKeys {
    current: HashKey,
}

impl HashKeys {
    pub fn new(current: HashKey) -> Self {
        Self { current }
    }

    /// Returns a keyed seal of `what`. The seal protects the heads of consent chains (D8). Nobody
    /// can forge a head without the key, even with write access to the table.
    pub fn seal(&self, what: &str) -> [u8; 32] {
        let key = self.current.secret.expose_secret().as_bytes();
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
        // The input of a guest's hash begins with a casino's id, which contains no colon. A seal
        // therefore never has the same input as a guest's hash.
        mac.update(b"seal:v1:");
        mac.update(what.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// Returns the guest's hash at this casino. The casino is part of the input, so the hashes of
    /// two casinos cannot be matched.
    pub fn hash(&self, casino: &CasinoId, phone: &PhoneE164) -> GuestHash {
        self.hash_text(casino, phone.as_str())
    }

    /// Returns the hash of a guest's address. For a phone it is the same as [`HashKeys::hash`].
    pub fn hash_address(&self, casino: &CasinoId, address: &Address) -> GuestHash {
        self.hash_text(casino, &address.text())
    }

    fn hash_text(&self, casino: &CasinoId, address: &str) -> GuestHash {
        let key = self.current.secret.expose_secret().as_bytes();
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
        mac.update(casino.as_str().as_bytes());
        mac.update(b"|");
        mac.update(address.as_bytes());
        GuestHash {
            key_id: self.current.id,
            bytes: mac.finalize().into_bytes().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // DATA-1
    fn e164_is_strict() {
        for good in ["+18605550100", "+390236618300", "+12"] {
            assert!(good.parse::<PhoneE164>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "18605550100",
            "+",
            "+0123456",
            "+1860555010012345",
            "+1 860",
            "911",
            "tel:+1860",
            "+1860555O100",
        ] {
            assert!(bad.parse::<PhoneE164>().is_err(), "{bad}");
        }
    }

    #[test] // DATA-5
    fn debug_hides_the_number() {
        let phone: PhoneE164 = "+18605550142".parse().unwrap();
        assert_eq!(format!("{phone:?}"), "PhoneE164(..42)");
    }

    #[test] // DATA-9
    fn the_same_phone_hashes_apart_at_two_casinos() {
        let keys = HashKeys::new(HashKey {
            id: 1,
            secret: "k".into(),
        });
        let phone: PhoneE164 = "+18605550142".parse().unwrap();
        let a = keys.hash(&"a_b".parse().unwrap(), &phone);
        assert_eq!(a, keys.hash(&"a_b".parse().unwrap(), &phone));
        assert_ne!(a, keys.hash(&"a_c".parse().unwrap(), &phone));
    }
}
