//! Passwords: the rules for new ones, their hash (argon2id) and the check at a login.
//!
//! The rules follow NIST SP 800-63B-4: a password must be long, needs no particular kinds of
//! characters, and must not be one that attackers try first.

use argon2::{Argon2, PasswordHash, PasswordHasher, PasswordVerifier};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Minimum and maximum length of a password, in characters.
pub const FEWEST_CHARACTERS: usize = 12;
pub const MOST_CHARACTERS: usize = 128;

/// Maximum number of hashes that are computed at the same time; each takes 19 MiB and a core.
const AT_ONCE: usize = 2;
static HASHING: Semaphore = Semaphore::const_new(AT_ONCE);
/// Maximum number of callers that wait for their turn to hash. Further callers are refused, so that
/// a flood of logins cannot use up memory.
const MOST_WAITING: usize = 32;
static WAITING: Semaphore = Semaphore::const_new(MOST_WAITING);

/// A password that begins with one of these is refused, because attackers try them first.
const GUESSED: [&str; 8] = [
    "password", "passwort", "contrase", "123456", "qwerty", "letmein", "welcome", "casino",
];

/// A hash that no password has, with the usual parameters. If a login has an unknown name, its
/// password is checked against this hash. Such a login then takes as long as one with a known name.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$c2V2ZW4tbm9ib2R5ISE$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Why a new password is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Weak {
    #[error("use at least {FEWEST_CHARACTERS} characters; a few words are easy to remember")]
    Short,
    #[error("use at most {MOST_CHARACTERS} characters")]
    Long,
    #[error("it must not contain your name or address")]
    Personal,
    #[error("it is one of the first that attackers try")]
    Guessed,
}

/// The hash could not be computed.
#[derive(Debug, thiserror::Error)]
#[error("hashing a password failed")]
pub struct Failed;

/// A permit to compute one hash.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "held for its drop")] SemaphorePermit<'static>);

/// Waits for a permit to compute a hash; `None` if too many callers already wait.
pub async fn turn() -> Option<Turn> {
    let waiting = WAITING.try_acquire().ok()?;
    let turn = HASHING.acquire().await.ok()?;
    drop(waiting);
    Some(Turn(turn))
}

/// Checks a new password for the person with this address and name.
///
/// # Errors
/// Returns every reason why it is refused.
pub fn check(password: &SecretString, email: &str, name: &str) -> Result<(), Vec<Weak>> {
    let text = password.expose_secret().to_lowercase();
    let characters = text.chars().count();
    let mailbox = email.split('@').next().unwrap_or_default();
    let personal = [mailbox]
        .into_iter()
        .chain(name.split_whitespace())
        .map(str::to_lowercase)
        .any(|part| part.chars().count() > 3 && text.contains(&part));
    let distinct = text.chars().collect::<std::collections::BTreeSet<_>>();
    let guessed = distinct.len() < 5 || GUESSED.iter().any(|start| text.trim().starts_with(start));
    let found: Vec<Weak> = [
        (characters < FEWEST_CHARACTERS, Weak::Short),
        (characters > MOST_CHARACTERS, Weak::Long),
        (personal, Weak::Personal),
        (guessed && characters >= FEWEST_CHARACTERS, Weak::Guessed),
    ]
    .into_iter()
    .filter_map(|(bad, weak)| bad.then_some(weak))
    .collect();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Hashes a password with a fresh salt and returns a PHC string. Waits for a permit first.
///
/// # Errors
/// Fails when there is not enough memory, or too many callers already wait.
pub async fn hash(password: SecretString) -> Result<String, Failed> {
    let salt: [u8; 16] = rand::random();
    let _turn = turn().await.ok_or(Failed)?;
    beside(move || {
        let hash: PasswordHash = Argon2::default()
            .hash_password_with_salt(password.expose_secret().as_bytes(), &salt)
            .map_err(|_| Failed)?;
        Ok(hash.to_string())
    })
    .await
}

/// Returns whether the password has this hash; the caller must hold a permit. If `hash` is `None`,
/// returns false after the same amount of work.
///
/// # Errors
/// Fails when there is not enough memory.
pub async fn verify(
    _: &Turn,
    password: SecretString,
    hash: Option<String>,
) -> Result<bool, Failed> {
    beside(move || {
        let against = hash.as_deref().unwrap_or(NOBODY);
        let right = Argon2::default()
            .verify_password(password.expose_secret().as_bytes(), against)
            .is_ok();
        Ok(right && hash.is_some())
    })
    .await
}

async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failed> + Send + 'static,
) -> Result<T, Failed> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Failed)?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(password: &str) -> Result<(), Vec<Weak>> {
        check(&password.into(), "maria.lopez@example.com", "Maria Lopez")
    }

    #[test]
    fn a_new_password_is_long_and_neither_personal_nor_guessed() {
        assert_eq!(checked("four green boats"), Ok(()));
        assert_eq!(checked("olvidé el paraguas azul"), Ok(()));
        for (password, problems) in [
            ("short", vec![Weak::Short]),
            ("", vec![Weak::Short]),
            ("maria", vec![Weak::Short, Weak::Personal]),
            ("LOPEZ and the boats", vec![Weak::Personal]),
            ("aaaaaaaaaaaaaaaa", vec![Weak::Guessed]),
            ("Password and more 1", vec![Weak::Guessed]),
        ] {
            assert_eq!(checked(password), Err(problems), "{password}");
        }
        assert_eq!(checked(&"ab c1 2de".repeat(15)), Err(vec![Weak::Long]));
    }

    #[tokio::test]
    async fn only_the_password_itself_passes() {
        let made = hash("four green boats".into()).await.unwrap();
        assert!(
            made.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{made}"
        );
        let verified = |password: &str, hash: Option<&str>| {
            let (password, hash) = (password.into(), hash.map(str::to_owned));
            async move { verify(&turn().await.unwrap(), password, hash).await }
        };
        assert!(verified("four green boats", Some(&made)).await.unwrap());
        for (password, hash) in [
            ("four green boat", Some(made.as_str())),
            ("", Some(made.as_str())),
            ("four green boats", None),
            ("four green boats", Some("")),
            ("four green boats", Some("$argon2id$broken")),
        ] {
            assert!(!verified(password, hash).await.unwrap(), "{hash:?}");
        }
    }

    #[test] // SEC: an unknown name costs what a known one costs
    fn the_hash_of_nobody_has_the_parameters_of_real_ones() {
        let nobody = PasswordHash::new(NOBODY).unwrap();
        let real: PasswordHash = Argon2::default()
            .hash_password_with_salt(b"x", &[7; 16])
            .unwrap();
        assert_eq!(nobody.params, real.params);
        assert_eq!(nobody.algorithm, real.algorithm);
        assert_eq!(nobody.version, real.version);
    }
}
