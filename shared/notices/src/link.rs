//! The signed link of a notice. It opens one case and lets its reader acknowledge it; any other
//! action requires a login. The token is not stored: it consists of the notice's id and our
//! signature.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use seven_domain::{CasinoId, HashKeys};
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// Validity of a link in hours, counted from the delivery of its notice.
pub const LINK_HOURS: i64 = 24;
/// Length of the signature in bytes: 128 bits cannot be guessed, and are short enough for a text.
const SEAL_BYTES: usize = 16;

fn seal(keys: &HashKeys, casino: &CasinoId, notice: Uuid) -> [u8; SEAL_BYTES] {
    let whole = keys.seal(&format!("case-notice:{casino}:{notice}"));
    let mut seal = [0; SEAL_BYTES];
    seal.copy_from_slice(&whole[..SEAL_BYTES]);
    seal
}

/// Returns the token of a notice's link: 43 characters that need no escaping.
pub fn link_token(keys: &HashKeys, casino: &CasinoId, notice: Uuid) -> String {
    let bytes = [*notice.as_bytes(), seal(keys, casino, notice)].concat();
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the notice to which this token belongs; `None` unless we signed the token for this
/// casino.
pub fn read_link(keys: &HashKeys, casino: &CasinoId, token: &str) -> Option<Uuid> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (id, theirs) = bytes.split_at_checked(SEAL_BYTES)?;
    let notice = Uuid::from_slice(id).ok()?;
    let ours = seal(keys, casino, notice);
    bool::from(ours.ct_eq(theirs)).then_some(notice)
}

#[cfg(test)]
mod tests {
    use seven_domain::HashKey;

    use super::*;

    fn keys(secret: &str) -> HashKeys {
        HashKeys::new(HashKey {
            id: 1,
            secret: secret.to_owned().into(),
        })
    }

    #[test] // D28
    fn a_token_opens_one_notice_of_one_casino() {
        let (ours, other) = (keys("a key of the test, long enough"), keys("another key"));
        let casino = CasinoId::trusted("silver_birch").unwrap();
        let second = CasinoId::trusted("red_maple").unwrap();
        let notice = Uuid::from_u128(7);
        let token = link_token(&ours, &casino, notice);
        assert_eq!(token.len(), 43);
        assert_eq!(read_link(&ours, &casino, &token), Some(notice));
        assert_eq!(read_link(&ours, &second, &token), None);
        assert_eq!(read_link(&other, &casino, &token), None);
        for at in 0..token.len() {
            let old = token.as_bytes()[at];
            let new = if old == b'A' { 'B' } else { 'A' };
            let forged = format!("{}{new}{}", &token[..at], &token[at + 1..]);
            assert_eq!(read_link(&ours, &casino, &forged), None, "{at}");
        }
        for odd in ["", "A", &token[..42], &format!("{token}A"), "..%2f"] {
            assert_eq!(read_link(&ours, &casino, odd), None, "{odd}");
        }
    }
}
