//! Verifies webhook signatures (D1): Ed25519 over `{timestamp}|{raw body}`. The timestamp must be
//! within 300 s of the current time.

use base64::{Engine, prelude::BASE64_STANDARD};
use ed25519_dalek::{Signature, VerifyingKey};

pub const SIGNATURE_HEADER: &str = "telnyx-signature-ed25519";
pub const TIMESTAMP_HEADER: &str = "telnyx-timestamp";
pub const TOLERANCE_SECONDS: u64 = 300;

/// The reason why a call is not accepted as coming from Telnyx. The variants are in the order of
/// the checks. `Display` writes the body of our HTTP response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("Missing signature headers")]
    MissingHeaders,
    #[error("Invalid timestamp")]
    InvalidTimestamp,
    #[error("Webhook timestamp expired")]
    Expired,
    #[error("Invalid webhook signature")]
    InvalidSignature,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error(
        "a Telnyx public key is not base64 of 32 bytes; copy it from Mission Control, Keys & Credentials"
    )]
    Malformed,
    #[error("no Telnyx public key is configured; without one every webhook would be refused")]
    None,
}

/// The accepted public keys: the current one first, then further keys during a rotation.
#[derive(Debug, Clone)]
pub struct Verifier {
    keys: Vec<VerifyingKey>,
}

impl Verifier {
    /// Creates a verifier from public keys, each the base64 of 32 raw bytes.
    pub fn new<S: AsRef<str>>(keys: &[S]) -> Result<Self, KeyError> {
        if keys.is_empty() {
            return Err(KeyError::None);
        }
        let keys = keys
            .iter()
            .map(|k| parse_key(k.as_ref()))
            .collect::<Result<_, _>>()?;
        Ok(Self { keys })
    }

    /// Checks a call's headers and raw body at the time `now` (Unix seconds). The signature covers
    /// the timestamp exactly as the header spells it.
    pub fn verify(
        &self,
        timestamp: Option<&str>,
        signature: Option<&str>,
        body: &[u8],
        now: i64,
    ) -> Result<(), Refusal> {
        self.verify_body(&Head::parse(timestamp, signature, now)?, body)
    }

    /// Checks the raw body of a call whose headers [`Head::parse`] accepted.
    pub fn verify_body(&self, head: &Head<'_>, body: &[u8]) -> Result<(), Refusal> {
        let mut signed = Vec::with_capacity(head.timestamp.len() + 1 + body.len());
        signed.extend_from_slice(head.timestamp.as_bytes());
        signed.push(b'|');
        signed.extend_from_slice(body);
        if self
            .keys
            .iter()
            .any(|key| key.verify_strict(&signed, &head.signature).is_ok())
        {
            Ok(())
        } else {
            Err(Refusal::InvalidSignature)
        }
    }
}

/// The signature headers of a call, well-formed and recent. They are checked before the body is
/// read. A caller without valid headers thus cannot make us wait for a body.
#[derive(Debug)]
pub struct Head<'a> {
    timestamp: &'a str,
    signature: Signature,
}

impl<'a> Head<'a> {
    /// Checks the form of the headers, and that the timestamp is recent. `now` is in Unix seconds.
    pub fn parse(
        timestamp: Option<&'a str>,
        signature: Option<&str>,
        now: i64,
    ) -> Result<Self, Refusal> {
        let (Some(timestamp), Some(signature)) = (timestamp, signature) else {
            return Err(Refusal::MissingHeaders);
        };
        if timestamp.is_empty() || !timestamp.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Refusal::InvalidTimestamp);
        }
        let at: i64 = timestamp.parse().map_err(|_| Refusal::InvalidTimestamp)?;
        if now.abs_diff(at) > TOLERANCE_SECONDS {
            return Err(Refusal::Expired);
        }
        let bytes = BASE64_STANDARD
            .decode(signature)
            .map_err(|_| Refusal::InvalidSignature)?;
        let signature = Signature::from_slice(&bytes).map_err(|_| Refusal::InvalidSignature)?;
        Ok(Self {
            timestamp,
            signature,
        })
    }
}

fn parse_key(text: &str) -> Result<VerifyingKey, KeyError> {
    let bytes = BASE64_STANDARD
        .decode(text.trim())
        .map_err(|_| KeyError::Malformed)?;
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| KeyError::Malformed)?;
    VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The published test vector of spec 05, section 1.3.
    const KEY: &str = "+7E99DXiiQXvceNX4nHm3Lbm5mqPWad5RhDr2ufuCik=";
    const TIMESTAMP: &str = "1700000000";
    const BODY: &[u8] = br#"{"data":{"event_type":"message.received","id":"test-123"}}"#;
    const SIGNATURE: &str =
        "tMXRZyBL2gkwrgKp6CTDXTO/K+DVq0ZKEFB3tSdfBwqZGC3K/Hr7TCW+jY7RdWrAiKXEckI3tsHEpdz7lS/MDA==";

    fn verify(
        timestamp: Option<&str>,
        signature: Option<&str>,
        body: &[u8],
        now: i64,
    ) -> Result<(), Refusal> {
        Verifier::new(&[KEY])
            .unwrap()
            .verify(timestamp, signature, body, now)
    }

    #[test] // SMS-2, SMS-3, SEC-2, SEC-4
    fn the_published_vector_holds_for_exactly_its_window() {
        for (now, good) in [
            (1_700_000_000, true),
            (1_699_999_700, true),
            (1_700_000_300, true),
            (1_699_999_699, false),
            (1_700_000_301, false),
        ] {
            let outcome = verify(Some(TIMESTAMP), Some(SIGNATURE), BODY, now);
            assert_eq!(
                outcome,
                if good { Ok(()) } else { Err(Refusal::Expired) },
                "{now}"
            );
        }
    }

    #[test] // SMS-3, SEC-3: the order of checks
    fn each_refusal_has_its_reason() {
        let now = 1_700_000_000;
        assert_eq!(
            verify(None, Some(SIGNATURE), BODY, now),
            Err(Refusal::MissingHeaders)
        );
        assert_eq!(
            verify(Some(TIMESTAMP), None, BODY, now),
            Err(Refusal::MissingHeaders)
        );
        for odd in [
            "",
            "abc",
            "123abc",
            "-1700000000",
            "1700000000.0",
            " 1700000000",
            "+1700000000",
            "99999999999999999999",
        ] {
            assert_eq!(
                verify(Some(odd), Some(SIGNATURE), BODY, now),
                Err(Refusal::InvalidTimestamp),
                "{odd}"
            );
        }
        for odd in [
            "",
            "!!!!",
            "AAAA",
            &SIGNATURE[..86],
            &format!("{SIGNATURE}\n"),
            &SIGNATURE.replace('t', "u"),
        ] {
            assert_eq!(
                verify(Some(TIMESTAMP), Some(odd), BODY, now),
                Err(Refusal::InvalidSignature),
                "{odd}"
            );
        }
        // The header's exact text is signed, so the same number in another format fails.
        assert_eq!(
            verify(Some("01700000000"), Some(SIGNATURE), BODY, now),
            Err(Refusal::InvalidSignature)
        );
        assert_eq!(
            verify(Some(TIMESTAMP), Some(SIGNATURE), b"{}", now),
            Err(Refusal::InvalidSignature)
        );
    }

    #[test] // SMS-5, SEC-5
    fn a_rotation_accepts_both_keys() {
        let other = BASE64_STANDARD.encode(
            ed25519_dalek::SigningKey::from_bytes(&[7; 32])
                .verifying_key()
                .as_bytes(),
        );
        let both = Verifier::new(&[other.as_str(), KEY]).unwrap();
        assert_eq!(
            both.verify(Some(TIMESTAMP), Some(SIGNATURE), BODY, 1_700_000_000),
            Ok(())
        );
        let new_only = Verifier::new(&[other]).unwrap();
        assert_eq!(
            new_only.verify(Some(TIMESTAMP), Some(SIGNATURE), BODY, 1_700_000_000),
            Err(Refusal::InvalidSignature)
        );
    }

    #[test]
    fn no_key_is_an_error_not_a_pass() {
        assert!(Verifier::new::<&str>(&[]).is_err());
        assert!(Verifier::new(&["AAAA"]).is_err());
    }
}
