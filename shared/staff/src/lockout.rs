//! The limits for failed logins. The limit for one account from one address is lower than the limit
//! for the account from all addresses. A stranger who guesses is therefore refused before the
//! account's owner is.

/// Maximum failed logins from one address at one account within [`WINDOW_MINUTES`].
pub const MOST_PER_PAIR: i64 = 5;
/// Maximum failed logins at one account from all addresses within [`WINDOW_MINUTES`].
pub const MOST_PER_ACCOUNT: i64 = 50;
/// Maximum failed logins from one address at all accounts within [`WINDOW_MINUTES`]. It is high
/// because all staff of a casino may share one address; it stops a machine that guesses names.
pub const MOST_PER_ADDRESS: i64 = 100;
pub const WINDOW_MINUTES: i32 = 15;

/// Numbers of failed logins within [`WINDOW_MINUTES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Failures {
    pub of_pair: i64,
    pub of_account: i64,
    pub of_address: i64,
}

impl Failures {
    /// Returns whether a login must be refused without a check of its password or code.
    pub fn are_too_many(self) -> bool {
        self.of_pair >= MOST_PER_PAIR
            || self.of_account >= MOST_PER_ACCOUNT
            || self.of_address >= MOST_PER_ADDRESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D26
    fn five_of_a_pair_fifty_of_an_account_or_a_hundred_of_an_address_are_too_many() {
        let failures = |(of_pair, of_account, of_address)| Failures {
            of_pair,
            of_account,
            of_address,
        };
        for (few, many) in [
            ((4, 4, 4), (5, 5, 5)),
            ((0, 49, 0), (0, 50, 0)),
            ((4, 49, 99), (4, 49, 100)),
        ] {
            assert!(!failures(few).are_too_many(), "{few:?}");
            assert!(failures(many).are_too_many(), "{many:?}");
        }
    }
}
