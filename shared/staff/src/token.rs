//! Random tokens of sessions and links. The database stores only their SHA-256, so that nobody can
//! log in with a copy of the database.

use std::fmt;

use rand::RngCore;
use sha2::{Digest, Sha256};

/// Length of a token: 256 bits, which nobody can guess.
const TOKEN_BYTES: usize = 32;

/// The token of a session or a link; as text it is 64 hex digits. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; TOKEN_BYTES]);

impl Token {
    /// Draws a token; `random` must be a cryptographic generator.
    pub fn draw(random: &mut impl RngCore) -> Self {
        let mut bytes = [0; TOKEN_BYTES];
        random.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// Parses a token; `None` unless the text has exactly the form of [`Token::expose`].
    pub fn read(text: &str) -> Option<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        let lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        (lower && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(Self(bytes))
    }

    /// Returns the token as text for the cookie or the link's address.
    pub fn expose(&self) -> String {
        hex::encode(self.0)
    }

    /// Returns the token's SHA-256, under which the database stores its row.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }

    /// Returns the token that the forms of this session carry. It is derived from the session's
    /// token, but the session's token cannot be computed from it.
    pub fn for_forms(&self) -> String {
        hex::encode(
            Sha256::new()
                .chain_update(b"seven forms")
                .chain_update(self.0)
                .finalize(),
        )
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Returns the hash under which failed logins of an account or an address are counted.
pub fn hash_of(what: &str) -> [u8; 32] {
    Sha256::digest(what.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_in_its_own_form_only() {
        let token = Token::draw(&mut rand::rng());
        let text = token.expose();
        assert_eq!(text.len(), 64);
        assert_eq!(Token::read(&text), Some(token.clone()));
        for other in [
            String::new(),
            text.to_uppercase() + "A",
            format!(" {text}"),
            text.chars().take(62).collect(),
            "A".repeat(64),
        ] {
            assert_eq!(Token::read(&other), None, "{other}");
        }
        assert_ne!(token, Token::draw(&mut rand::rng()));
        assert!(!format!("{token:?}").contains(&text));
        assert_ne!(token.for_forms(), text);
        assert_ne!(token.for_forms(), hex::encode(token.hash()));
    }
}
