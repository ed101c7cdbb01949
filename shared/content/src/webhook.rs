//! Signatures of the calls that a spreadsheet or a program makes (CMS-4). A signature is the
//! HMAC-SHA256 of the timestamp, a full stop and the raw body, in lower-case hex. Each casino has
//! its own key.

use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use seven_domain::{CasinoId, HashKeys};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// The header with the time at which the call was signed, in seconds since the Unix epoch.
pub const TIMESTAMP_HEADER: &str = "x-webhook-timestamp";
pub const SIGNATURE_HEADER: &str = "x-webhook-signature";
/// Maximum difference between a call's timestamp and our clock, in seconds.
pub const WINDOW_SECONDS: i64 = 300;

/// Why a call is refused before its content is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the headers x-webhook-timestamp and x-webhook-signature are missing")]
    Missing,
    #[error("x-webhook-timestamp is not a number of seconds since 1970")]
    Timestamp,
    #[error("the call was signed more than 300 seconds ago, or in the future; sign it again")]
    Stale,
    #[error("the signature does not match; check the casino's id and key in the editor's settings")]
    Signature,
}

/// Returns the casino's key as text. Raising `version` makes a new key and invalidates the previous
/// one.
pub fn key(keys: &HashKeys, casino: &CasinoId, version: u32) -> SecretString {
    hex::encode(keys.seal(&format!("content-webhook:{casino}:{version}"))).into()
}

/// Returns the signature of a call.
pub fn sign(key: &SecretString, timestamp: &str, body: &[u8]) -> String {
    hex::encode(mac(key, timestamp, body))
}

/// Checks a call's signature and age, and returns when it was signed.
///
/// # Errors
/// Returns why the call is refused; the caller may be told.
pub fn verify(
    key: &SecretString,
    (timestamp, signature): (Option<&str>, Option<&str>),
    body: &[u8],
    now: DateTime<Utc>,
) -> Result<DateTime<Utc>, Refusal> {
    let at = age((timestamp, signature), now)?;
    let (timestamp, signature) = (timestamp.unwrap_or_default(), signature.unwrap_or_default());
    let theirs = hex::decode(signature).unwrap_or_default();
    if bool::from(mac(key, timestamp, body).as_slice().ct_eq(&theirs)) {
        Ok(at)
    } else {
        Err(Refusal::Signature)
    }
}

/// Checks that both headers are present and that the timestamp is recent. Returns the timestamp,
/// which is not verified yet.
///
/// # Errors
/// As [`verify`], except for a wrong signature.
pub fn age(
    (timestamp, signature): (Option<&str>, Option<&str>),
    now: DateTime<Utc>,
) -> Result<DateTime<Utc>, Refusal> {
    let (Some(timestamp), Some(_)) = (timestamp, signature) else {
        return Err(Refusal::Missing);
    };
    let seconds = timestamp.parse().map_err(|_| Refusal::Timestamp)?;
    let at = DateTime::from_timestamp(seconds, 0).ok_or(Refusal::Timestamp)?;
    if (now - at).abs() > TimeDelta::seconds(WINDOW_SECONDS) {
        return Err(Refusal::Stale);
    }
    Ok(at)
}

fn mac(key: &SecretString, timestamp: &str, body: &[u8]) -> Vec<u8> {
    let key = key.expose_secret().as_bytes();
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use seven_domain::HashKey;

    use super::*;

    fn keys() -> HashKeys {
        HashKeys::new(HashKey {
            id: 1,
            secret: "a secret of these tests".into(),
        })
    }

    fn casino(id: &str) -> CasinoId {
        id.parse().unwrap()
    }

    #[test] // CMS-4
    fn only_a_fresh_call_with_the_casinos_own_key_and_body_is_taken() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let ours = key(&keys(), &casino("casino_a"), 1);
        let call = |key: &SecretString, at: i64, signed: &str, sent: &str| {
            let at = at.to_string();
            let signature = sign(key, &at, signed.as_bytes());
            let headers = (Some(at.as_str()), Some(signature.as_str()));
            verify(&ours, headers, sent.as_bytes(), now).map(|at| at.timestamp())
        };
        let second = now.timestamp();
        assert_eq!(call(&ours, second, "{}", "{}"), Ok(second));
        assert_eq!(call(&ours, second - 300, "{}", "{}"), Ok(second - 300));
        assert_eq!(call(&ours, second - 301, "{}", "{}"), Err(Refusal::Stale));
        assert_eq!(call(&ours, second + 301, "{}", "{}"), Err(Refusal::Stale));
        assert_eq!(call(&ours, second, "{}", "{ }"), Err(Refusal::Signature));
        for other in [
            key(&keys(), &casino("casino_b"), 1),
            key(&keys(), &casino("casino_a"), 2),
        ] {
            assert_eq!(call(&other, second, "{}", "{}"), Err(Refusal::Signature));
        }
        for (headers, refusal) in [
            ((None, None), Refusal::Missing),
            ((Some("1"), None), Refusal::Missing),
            ((Some("soon"), Some("00")), Refusal::Timestamp),
            ((Some("1800000000"), Some("no hex")), Refusal::Signature),
        ] {
            assert_eq!(verify(&ours, headers, b"{}", now), Err(refusal));
        }
    }
}
