//! Accounts of operators: adds and invites people, gives them roles, and disables accounts.
//! Commands and the console call these functions.

use chrono::NaiveDate;
use serde_json::{Value, json};
use seven_domain::{AuditEvent, CasinoId, Language, LinkPurpose, OperatorId, OperatorStatus, Role};
use seven_store::{Store, Tx, audit::Entry, operators::NewOperator};

use crate::Token;

/// Hours for which the link of an invitation is valid. The link of a reset is valid for
/// `RESET_HOURS`.
const INVITATION_HOURS: i32 = 72;
const RESET_HOURS: i32 = 2;
/// Maximum length of an address and of a name, in characters.
const MOST_EMAIL_CHARACTERS: usize = 254;
const MOST_NAME_CHARACTERS: usize = 80;

/// A person to add.
#[derive(Debug, Clone)]
pub struct Invitation {
    pub email: String,
    pub name: String,
    pub language: Language,
    pub role: Role,
    /// The casino at which the person has the role; `None` means every casino.
    pub casino: Option<CasinoId>,
    /// The role's last day, in UTC; `None` for a role without an end.
    pub ends_on: Option<NaiveDate>,
}

/// Why a field of an invitation is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("an e-mail address has one @ with a name before and a domain after it")]
    Email,
    #[error("a name has 1 to {MOST_NAME_CHARACTERS} characters")]
    Name,
    #[error("this address has an account")]
    Taken,
    #[error("an auditor's role needs its last day, at the earliest today")]
    End,
}

/// Why an account was not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", listed(.0))]
    Problems(Vec<Problem>),
    #[error("there is no such operator")]
    Unknown,
    #[error("the account is disabled; enable it first")]
    Disabled,
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

fn listed(problems: &[Problem]) -> String {
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    all.join("; ")
}

impl Invitation {
    /// Returns the invitation as it is stored (trimmed, address in lower case), or all its
    /// problems.
    fn checked(mut self) -> Result<Self, Vec<Problem>> {
        self.email = self.email.trim().to_lowercase();
        self.name = self.name.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut problems = Vec::new();
        if !is_address(&self.email) {
            problems.push(Problem::Email);
        }
        let characters = self.name.chars().count();
        if characters == 0
            || characters > MOST_NAME_CHARACTERS
            || self.name.chars().any(char::is_control)
        {
            problems.push(Problem::Name);
        }
        if !ends_well(self.role, self.ends_on) {
            problems.push(Problem::End);
        }
        if problems.is_empty() {
            Ok(self)
        } else {
            Err(problems)
        }
    }
}

fn ends_well(role: Role, ends_on: Option<NaiveDate>) -> bool {
    role != Role::Auditor || ends_on.is_some()
}

/// Returns whether the text has the form of a mail address. Only sending the invitation shows
/// whether the address receives mail.
fn is_address(text: &str) -> bool {
    let plain = text.chars().count() <= MOST_EMAIL_CHARACTERS
        && text.chars().all(|c| !c.is_whitespace() && !c.is_control());
    let parts: Vec<&str> = text.split('@').collect();
    plain
        && matches!(parts.as_slice(), [name, domain] if !name.is_empty() && domain.contains('.')
            && domain.split('.').all(|label| !label.is_empty()))
}

/// Adds a person with one role and returns the token of their invitation.
///
/// # Errors
/// Returns every problem of the fields; nothing is stored then.
pub async fn add(
    store: &Store,
    id: OperatorId,
    invitation: Invitation,
    by: &str,
) -> Result<Token, Error> {
    let Invitation {
        email,
        name,
        language,
        role,
        casino,
        ends_on,
    } = invitation.checked().map_err(Error::Problems)?;
    let mut tx = store.staff().await?;
    let new = NewOperator {
        operator_id: id,
        email: &email,
        name: &name,
        language: language.as_str(),
        by,
    };
    if !tx.add_operator(&new).await? {
        return Err(Error::Problems(vec![Problem::Taken]));
    }
    tx.grant_role(id, (casino.as_ref(), role), ends_on, by)
        .await?;
    let token = Token::draw(&mut rand::rng());
    let purpose = LinkPurpose::Invitation;
    tx.put_link(&token.hash(), id, purpose, INVITATION_HOURS, by)
        .await?;
    let detail = json!({ "added": true, "role": role, "casino": casino, "ends_on": ends_on });
    changed(&mut tx, id, by, detail).await?;
    tx.commit().await?;
    Ok(token)
}

/// Gives the person a role whose last day is `ends_on` (UTC). Returns false if nothing changed.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn give_role_until(
    store: &Store,
    id: OperatorId,
    grant: (Option<&CasinoId>, Role),
    ends_on: NaiveDate,
    by: &str,
) -> Result<bool, Error> {
    change_role(store, id, grant, (true, Some(ends_on)), by).await
}

/// Gives the person a role without an end, or takes one away. Returns false if nothing changed.
///
/// # Errors
/// Refuses an auditor's role without an end; fails when Postgres does not answer.
pub async fn set_role(
    store: &Store,
    id: OperatorId,
    grant: (Option<&CasinoId>, Role),
    on: bool,
    by: &str,
) -> Result<bool, Error> {
    if on && !ends_well(grant.1, None) {
        return Err(Error::Problems(vec![Problem::End]));
    }
    change_role(store, id, grant, (on, None), by).await
}

async fn change_role(
    store: &Store,
    id: OperatorId,
    grant: (Option<&CasinoId>, Role),
    (on, ends_on): (bool, Option<NaiveDate>),
    by: &str,
) -> Result<bool, Error> {
    let (casino, role) = grant;
    let mut tx = store.staff().await?;
    let done = if on {
        tx.grant_role(id, grant, ends_on, by).await?
    } else {
        tx.revoke_role(id, casino, role).await?
    };
    if done {
        let detail = json!({ "role": role, "casino": casino, "granted": on, "ends_on": ends_on });
        changed(&mut tx, id, by, detail).await?;
    }
    tx.commit().await?;
    Ok(done)
}

/// Disables the account, or enables it again. Disabling it ends its sessions, links and keys.
/// Returns false if nothing changed.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn set_disabled(
    store: &Store,
    id: OperatorId,
    disabled: bool,
    by: &str,
) -> Result<bool, Error> {
    let mut tx = store.staff().await?;
    let done = tx.set_disabled(id, disabled).await?;
    if done {
        changed(&mut tx, id, by, json!({ "disabled": disabled })).await?;
    }
    tx.commit().await?;
    Ok(done)
}

/// Unbinds the account from the person's identity at their casino's own login provider, and ends
/// the account's sessions. The next login at the provider binds the account again. Returns false if
/// the account was not bound.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn forget_identity(store: &Store, id: OperatorId, by: &str) -> Result<bool, Error> {
    let mut tx = store.staff().await?;
    let done = tx.forget_identity(id).await?;
    if done {
        changed(&mut tx, id, by, json!({ "identity": "forgotten" })).await?;
    }
    tx.commit().await?;
    Ok(done)
}

/// Makes a link for setting a new password or second factor, and returns its token. A reset of the
/// second factor ends the person's sessions. The person cannot log in until they use the link.
///
/// # Errors
/// Fails when the account does not exist or is disabled.
pub async fn reset(
    store: &Store,
    id: OperatorId,
    purpose: LinkPurpose,
    by: &str,
) -> Result<Token, Error> {
    let mut tx = store.staff().await?;
    let account = tx.account(id).await?.ok_or(Error::Unknown)?;
    if account.status == OperatorStatus::Disabled {
        return Err(Error::Disabled);
    }
    let hours = match purpose {
        LinkPurpose::Invitation => INVITATION_HOURS,
        LinkPurpose::Password => RESET_HOURS,
        LinkPurpose::SecondFactor => {
            tx.set_factor(id, None, 0).await?;
            RESET_HOURS
        }
    };
    let token = Token::draw(&mut rand::rng());
    tx.put_link(&token.hash(), id, purpose, hours, by).await?;
    changed(&mut tx, id, by, json!({ "link": purpose })).await?;
    tx.commit().await?;
    Ok(token)
}

/// Writes the change of an account to the audit log.
pub(crate) async fn changed(
    tx: &mut Tx,
    id: OperatorId,
    by: &str,
    detail: Value,
) -> seven_store::Result<()> {
    let subject = id.to_string();
    let event = AuditEvent::OperatorChanged;
    tx.audit(&Entry::of(event, by, &subject, detail)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invitation(email: &str, name: &str) -> Invitation {
        Invitation {
            email: email.into(),
            name: name.into(),
            language: Language::En,
            role: Role::Host,
            casino: None,
            ends_on: None,
        }
    }

    #[test]
    fn all_problems_of_an_invitation_are_named_at_once() {
        let fine = invitation(" Ana.Ruiz@Example.COM ", "  Ana   Ruiz ").checked();
        let fine = fine.unwrap();
        assert_eq!(
            (&*fine.email, &*fine.name),
            ("ana.ruiz@example.com", "Ana Ruiz")
        );
        assert_eq!(
            invitation("ana", " ").checked().unwrap_err(),
            [Problem::Email, Problem::Name]
        );
        for bad in ["", "@", "a@b", "a@b.", "a b@c.de", "a@b@c.de", "@c.de"] {
            assert_eq!(
                invitation(bad, "Ana").checked().unwrap_err(),
                [Problem::Email],
                "{bad}"
            );
        }
        assert!(invitation("a@b.de", &"x".repeat(81)).checked().is_err());
        let auditor = |ends_on| Invitation {
            role: Role::Auditor,
            ends_on,
            ..invitation("a@b.de", "Ina")
        };
        assert_eq!(auditor(None).checked().unwrap_err(), [Problem::End]);
        assert!(
            auditor(NaiveDate::from_ymd_opt(2027, 1, 31))
                .checked()
                .is_ok()
        );
    }
}
