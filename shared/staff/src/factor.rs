//! The second factor: codes of six digits that change every 30 s (TOTP, RFC 6238, SHA-1).

use std::fmt;

use rand::RngCore;
use totp_rs::{Builder, Secret, Totp};

/// The issuer that an authenticator app shows.
const ISSUER: &str = "Hey Seven";
/// Length of a key in bytes, as RFC 4226 recommends.
const KEY_BYTES: usize = 20;
/// Number of time steps before and after the current one whose codes are accepted, because clocks
/// differ.
const SKEW_STEPS: u16 = 1;

/// The key that a person's authenticator app shares with us. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Factor([u8; KEY_BYTES]);

impl Factor {
    pub fn draw(random: &mut impl RngCore) -> Self {
        let mut key = [0; KEY_BYTES];
        random.fill_bytes(&mut key);
        Self(key)
    }

    /// Reads a stored key; `None` if the bytes do not have a key's length.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the time step of a code entered at `now` (Unix seconds); `None` if the code is
    /// wrong. Also returns `None` if the step is not later than `used`, the step of the last
    /// accepted code. This way no code is accepted twice.
    pub fn step_of(&self, code: &str, now: u64, used: i64) -> Option<i64> {
        let digits: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let step = i64::try_from(self.totp("-").check(&digits, now)?).ok()?;
        (step > used).then_some(step)
    }

    /// Returns the code at this time, in Unix seconds.
    pub fn code_at(&self, now: u64) -> String {
        self.totp("-").generate(now).to_string()
    }

    /// Returns the key as a person types it into an app: groups of four letters.
    pub fn spelled(&self) -> String {
        let letters = Secret::from(self.0).to_base32();
        let groups: Vec<&str> = letters
            .as_bytes()
            .chunks(4)
            .filter_map(|group| std::str::from_utf8(group).ok())
            .collect();
        groups.join(" ")
    }

    /// Returns the `otpauth` address that the QR code for apps contains.
    pub fn address(&self, account: &str) -> String {
        self.totp(account).to_url().unwrap_or_default()
    }

    fn totp(&self, account: &str) -> Totp {
        Builder::new()
            .with_secret(Secret::from(self.0))
            .with_skew(SKEW_STEPS)
            .with_account_name(account.replace(':', " "))
            .with_issuer(Some(ISSUER))
            .build_noncompliant()
    }
}

impl fmt::Debug for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Factor(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // RFC 6238, appendix B
    fn codes_are_the_standards() {
        let factor = Factor(*b"12345678901234567890");
        for (now, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (2_000_000_000, "279037"),
        ] {
            assert_eq!(factor.code_at(now), code);
            assert_eq!(factor.step_of(code, now, 0), i64::try_from(now / 30).ok());
        }
    }

    #[test]
    fn a_code_counts_once_and_for_a_step_around_now() {
        let factor = Factor(*b"12345678901234567890");
        let step = factor.step_of("287 082", 59, 0).unwrap();
        assert_eq!(factor.step_of("287082", 59, step), None);
        assert_eq!(factor.step_of("287082", 59 + 30, 0), Some(step));
        assert_eq!(factor.step_of("287082", 59 + 61, 0), None);
        for wrong in ["", "28708", "2870820", "abcdef", "287083"] {
            assert_eq!(factor.step_of(wrong, 59, 0), None, "{wrong}");
        }
    }

    #[test]
    fn the_address_and_the_spelled_key_are_what_apps_read() {
        let factor = Factor(*b"12345678901234567890");
        assert_eq!(factor.spelled(), "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ");
        let address = factor.address("maria@example.com");
        assert!(address.starts_with("otpauth://totp/"), "{address}");
        assert!(
            address.contains("secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"),
            "{address}"
        );
        assert!(!format!("{factor:?}").contains("GEZD"));
    }
}
