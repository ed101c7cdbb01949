//! Telnyx's webhook signature (D1): Ed25519 over `{timestamp}|{raw body}`.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer as _, SigningKey};

pub(crate) const SIGNATURE_HEADER: &str = "telnyx-signature-ed25519";
pub(crate) const TIMESTAMP_HEADER: &str = "telnyx-timestamp";

/// Signs webhooks as Telnyx does.
pub struct Signer {
    key: SigningKey,
}

// === impl Signer ===

impl Signer {
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self {
            key: SigningKey::from_bytes(seed),
        }
    }

    /// Returns the public key: base64 of 32 bytes.
    pub fn public_key_b64(&self) -> String {
        STANDARD.encode(self.key.verifying_key().as_bytes())
    }

    /// Returns the value of `telnyx-signature-ed25519` for this timestamp text and exactly these
    /// body bytes.
    pub fn sign(&self, timestamp: &str, body: &[u8]) -> String {
        let mut message = Vec::with_capacity(timestamp.len() + 1 + body.len());
        message.extend_from_slice(timestamp.as_bytes());
        message.push(b'|');
        message.extend_from_slice(body);
        STANDARD.encode(self.key.sign(&message).to_bytes())
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.public_key_b64())
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signature, VerifyingKey};

    use super::*;

    fn verifies(key_b64: &str, message: &[u8], signature_b64: &str) -> bool {
        let key: [u8; 32] = STANDARD.decode(key_b64).unwrap().try_into().unwrap();
        let signature = Signature::from_slice(&STANDARD.decode(signature_b64).unwrap()).unwrap();
        VerifyingKey::from_bytes(&key)
            .unwrap()
            .verify_strict(message, &signature)
            .is_ok()
    }

    /// Checks that `verifies` accepts the test vector of specification 05, section 1.3. The next
    /// test applies `verifies` to our own signatures.
    #[test]
    fn the_published_vector_verifies_the_same_way() {
        let message = br#"1700000000|{"data":{"event_type":"message.received","id":"test-123"}}"#;
        let signature = "tMXRZyBL2gkwrgKp6CTDXTO/K+DVq0ZKEFB3tSdfBwqZGC3K/Hr7TCW+jY7RdWrAiKXEckI3tsHEpdz7lS/MDA==";
        assert!(verifies(
            "+7E99DXiiQXvceNX4nHm3Lbm5mqPWad5RhDr2ufuCik=",
            message,
            signature
        ));
    }

    #[test]
    fn signs_timestamp_bar_body_and_nothing_else() {
        let signer = Signer::from_seed(&[7; 32]);
        let signature = signer.sign("1700000000", b"{}");
        assert!(verifies(
            &signer.public_key_b64(),
            b"1700000000|{}",
            &signature
        ));
        assert!(!verifies(
            &signer.public_key_b64(),
            b"1700000001|{}",
            &signature
        ));
        assert!(!verifies(
            &signer.public_key_b64(),
            b"1700000000.{}",
            &signature
        ));
        assert!(!verifies(
            &signer.public_key_b64(),
            b"1700000000|{ }",
            &signature
        ));
    }

    #[test]
    fn debug_shows_no_secret() {
        let signer = Signer::from_seed(&[7; 32]);
        assert_eq!(
            format!("{signer:?}"),
            format!("Signer({})", signer.public_key_b64())
        );
    }
}
