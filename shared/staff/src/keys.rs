//! Keys of programs that act in an operator's name. Programs need them because they cannot show a
//! second factor, and because a session ends with the shift.

use serde_json::json;
use seven_domain::{OperatorId, OperatorStatus};
use seven_store::{Store, operators::Session};

use crate::{Token, account::changed};

/// Maximum lifetime of a key, in days.
pub const MOST_DAYS: i32 = 366;
/// Maximum length of a label, in characters.
const MOST_LABEL: usize = 40;

/// Why a key was not made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "a label has 1 to {MOST_LABEL} characters a-z, 0-9, - and _, and begins with a letter or digit"
    )]
    Label,
    #[error("a key is good for 1 to {MOST_DAYS} days")]
    Days,
    #[error("another key has this label; `seven operator key revoke` ends it")]
    Taken,
    #[error("there is no such operator")]
    Unknown,
    #[error("the account is not active; a person has to set it up or enable it first")]
    NotActive,
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

/// Creates a key that is valid for this many days, and returns it.
///
/// # Errors
/// Fails when the account is unknown or not active, or the label or the number of days is invalid.
pub async fn add(
    store: &Store,
    operator: OperatorId,
    (label, days): (&str, i32),
    by: &str,
) -> Result<Token, Error> {
    check(label, days)?;
    let mut tx = store.staff().await?;
    let account = tx.account(operator).await?.ok_or(Error::Unknown)?;
    if account.status != OperatorStatus::Active {
        return Err(Error::NotActive);
    }
    let key = Token::draw(&mut rand::rng());
    if !tx.put_key(&key.hash(), operator, label, days, by).await? {
        return Err(Error::Taken);
    }
    let detail = json!({ "key": label, "days": days });
    changed(&mut tx, operator, by, detail).await?;
    tx.commit().await?;
    Ok(key)
}

fn check(label: &str, days: i32) -> Result<(), Error> {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    let begins = label.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || label.len() > MOST_LABEL || !label.chars().all(fine) {
        return Err(Error::Label);
    }
    if !(1..=MOST_DAYS).contains(&days) {
        return Err(Error::Days);
    }
    Ok(())
}

/// Revokes the key with this label. Returns false if there is none.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn revoke(store: &Store, label: &str, by: &str) -> Result<bool, Error> {
    let mut tx = store.staff().await?;
    let whose = tx.end_key(label).await?;
    if let Some(operator) = whose {
        changed(&mut tx, operator, by, json!({ "key_revoked": label })).await?;
    }
    tx.commit().await?;
    Ok(whose.is_some())
}

/// Returns a session of the operator in whose name this key acts. `None` if the key has ended or
/// does not exist.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn session(store: &Store, key: &Token) -> seven_store::Result<Option<Session>> {
    let mut tx = store.staff().await?;
    let session = tx.session_of_key(&key.hash()).await?;
    tx.commit().await?;
    Ok(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_plain_word_and_a_key_ends() {
        for (label, days) in [("crm", 1), ("crm-2_b", MOST_DAYS), ("2", 90)] {
            assert!(check(label, days).is_ok(), "{label} {days}");
        }
        for label in ["", "Crm", "-crm", "a b", "caf\u{e9}", &"a".repeat(41)] {
            assert!(matches!(check(label, 90), Err(Error::Label)), "{label}");
        }
        for days in [-1, 0, MOST_DAYS + 1] {
            assert!(matches!(check("crm", days), Err(Error::Days)), "{days}");
        }
    }
}
