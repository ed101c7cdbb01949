//! Logging in: a password, then a second factor. Failures are counted; after too many, logins are
//! refused without a check. A login with an unknown name takes as long as one with a known name
//! (D26).

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use serde_json::json;
use seven_domain::{AuditEvent, LinkPurpose, OperatorId, OperatorStatus};
use seven_store::{
    Store, Tx,
    audit::Entry,
    operators::{Account, Session},
};

use crate::{
    Token,
    account::changed,
    factor::Factor,
    lockout::{Failures, MOST_PER_ACCOUNT, MOST_PER_PAIR, WINDOW_MINUTES},
    oidc::Identity,
    password::{self, Weak},
    token::hash_of,
};

/// The session that a successful login began.
#[derive(Debug)]
pub struct Let {
    pub token: Token,
    /// Whether the login is complete; false if the second factor is still missing.
    pub complete: bool,
}

/// Why a login was refused. A wrong name and a wrong password give the same reason.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("the address or the password is wrong")]
    Wrong,
    #[error("too many wrong logins; wait {WINDOW_MINUTES} minutes")]
    TooMany,
    #[error("the code is wrong or was used")]
    WrongCode,
    #[error("this link was used, has expired or was replaced; ask for another one")]
    DeadLink,
    #[error("the password is weak")]
    Weak(Vec<Weak>),
    #[error(transparent)]
    Hashing(#[from] password::Failed),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

/// Checks address and password, and begins a session. `from` is the caller's address;
/// `second_factor` is false if the fleet's settings require no second factor.
///
/// # Errors
/// Refuses a wrong address or password, and counts the failure.
pub async fn with_password(
    store: &Store,
    email: &str,
    password: SecretString,
    from: &str,
    second_factor: bool,
) -> Result<Let, Refused> {
    let email = email.trim().to_lowercase();
    let counted = Counted::new(&email, from);
    // Reads the failures only after this login has got its turn to compute a hash. In a burst of
    // logins, each login thus sees the failures of all logins that computed their hash before it.
    let turn = password::turn().await.ok_or(Refused::TooMany)?;
    let mut tx = store.staff().await?;
    let failures = counted.read(&mut tx).await?;
    let account = tx.account_by_email(&email).await?;
    tx.commit().await?;
    if failures.are_too_many() {
        return Err(Refused::TooMany);
    }
    let usable = account.filter(|account| account.status == OperatorStatus::Active);
    let hash = usable
        .as_ref()
        .and_then(|account| account.password_hash.clone());
    let right = password::verify(&turn, password, hash.clone()).await?;
    let mut tx = store.staff().await?;
    // The account may have been disabled or reset while the hash was computed.
    let account = match usable.filter(|_| right) {
        Some(account) => tx.account_locked(OperatorId(account.operator_id)).await?,
        None => None,
    };
    let same = |now: &Account| now.status == OperatorStatus::Active && now.password_hash == hash;
    let Some(account) = account.filter(same) else {
        counted.fail(&mut tx).await?;
        tx.commit().await?;
        return Err(Refused::Wrong);
    };
    // A person who has no second factor yet needs a link to set one up, and is refused until then.
    if second_factor && account.totp_key.is_none() {
        tx.commit().await?;
        return Err(Refused::Wrong);
    }
    if !second_factor {
        counted.clear(&mut tx).await?;
    }
    let token = begin(
        &mut tx,
        OperatorId(account.operator_id),
        !second_factor,
        None,
    )
    .await?;
    tx.commit().await?;
    Ok(Let {
        token,
        complete: !second_factor,
    })
}

/// Checks the second factor for a session whose password was right, and replaces the session by a
/// new, complete one.
///
/// # Errors
/// Refuses a wrong or used code, and counts it like a wrong password.
pub async fn with_code(
    store: &Store,
    token: &Token,
    code: &str,
    from: &str,
    now: DateTime<Utc>,
) -> Result<Token, Refused> {
    let mut tx = store.staff().await?;
    let session = tx.session(&token.hash(), true).await?;
    let Some(Session {
        operator,
        email,
        complete: false,
        ..
    }) = session
    else {
        return Err(Refused::Wrong);
    };
    let counted = Counted::new(&email, from);
    // The lock lets only one code per account be checked at a time, so that each check sees all
    // earlier failures.
    let account = tx.account_locked(operator).await?.ok_or(Refused::Wrong)?;
    if counted.read(&mut tx).await?.are_too_many() {
        tx.end_session(&token.hash()).await?;
        tx.commit().await?;
        return Err(Refused::TooMany);
    }
    let step = step(&account, code, now);
    let used = match step {
        Some(step) => tx.use_step(operator, step).await?,
        None => false,
    };
    if !used {
        counted.fail(&mut tx).await?;
        tx.commit().await?;
        return Err(Refused::WrongCode);
    }
    counted.clear(&mut tx).await?;
    tx.end_session(&token.hash()).await?;
    let token = begin(&mut tx, operator, true, None).await?;
    tx.commit().await?;
    Ok(token)
}

/// Logs in a person whom their casino's own login provider has authenticated. The first login binds
/// the account to that identity; from then on the provider alone checks password and second factor.
/// `provider` is the provider's name for the audit log; `casinos` are the casinos that use it.
///
/// # Errors
/// Refuses an address without an account, a disabled account, an account that also has roles at
/// other casinos, and an account that is bound to another identity.
pub async fn with_identity(
    store: &Store,
    identity: &Identity,
    provider: &str,
    casinos: &[String],
) -> Result<Token, Refused> {
    let mut tx = store.staff().await?;
    let found = match tx.account_by_email(&identity.email).await? {
        Some(account) => tx.account_locked(OperatorId(account.operator_id)).await?,
        None => None,
    };
    let account = found
        .filter(|account| account.status != OperatorStatus::Disabled)
        .ok_or(Refused::Wrong)?;
    let id = OperatorId(account.operator_id);
    if !tx.works_only_at(id, casinos).await? {
        return Err(Refused::Wrong);
    }
    match &account.oidc_subject {
        Some(bound) if *bound == identity.subject => {}
        Some(_) => return Err(Refused::Wrong),
        None => {
            if !tx.bind_identity(id, &identity.subject).await? {
                return Err(Refused::Wrong);
            }
            let detail = json!({ "identity": "bound", "provider": provider });
            changed(&mut tx, id, &actor(id), detail).await?;
        }
    }
    tx.activate(id).await?;
    let token = begin(&mut tx, id, true, Some(provider)).await?;
    tx.commit().await?;
    Ok(token)
}

/// Returns the account and the purpose of a link.
///
/// # Errors
/// Refuses a link that was used or has expired.
pub async fn link(store: &Store, token: &Token) -> Result<(Account, LinkPurpose), Refused> {
    let mut tx = store.staff().await?;
    let found = opened(&mut tx, token, false).await?;
    tx.commit().await?;
    Ok(found)
}

/// The values that a person enters on the page of a link; the link's purpose decides which are
/// needed.
#[derive(Debug)]
pub struct Entered {
    pub password: Option<SecretString>,
    /// The second factor's key that was shown, and the code that the person's app made from it.
    pub factor: Option<(Factor, String)>,
}

/// Uses a link up: sets the password, the second factor, or both. `needs_factor` says whether an
/// invitation requires a second factor.
///
/// # Errors
/// Refuses a weak password or a wrong code; the link then stays valid.
pub async fn use_link(
    store: &Store,
    token: &Token,
    entered: Entered,
    needs_factor: bool,
    now: DateTime<Utc>,
) -> Result<(), Refused> {
    let (account, purpose) = link(store, token).await?;
    let hash = match entered.password {
        Some(password) if purpose != LinkPurpose::SecondFactor => {
            password::check(&password, &account.email, &account.name).map_err(Refused::Weak)?;
            Some(password::hash(password).await?)
        }
        _ => None,
    };
    let factor = match entered.factor {
        Some((factor, code)) if sets_factor(&account, purpose) => {
            let step = factor.step_of(&code, seconds(now), 0);
            Some((factor, step.ok_or(Refused::WrongCode)?))
        }
        _ => None,
    };
    let must = needs_factor || purpose == LinkPurpose::SecondFactor;
    if must && sets_factor(&account, purpose) && factor.is_none() {
        return Err(Refused::WrongCode);
    }
    if hash.is_none() && purpose != LinkPurpose::SecondFactor {
        return Err(Refused::Weak(vec![Weak::Short]));
    }
    let mut tx = store.staff().await?;
    let (account, purpose) = opened(&mut tx, token, true).await?;
    let id = OperatorId(account.operator_id);
    if let Some(hash) = &hash {
        tx.set_password(id, hash).await?;
    }
    if let Some((factor, step)) = &factor {
        tx.set_factor(id, Some(factor.bytes()), *step).await?;
    }
    let detail =
        json!({ "link": purpose, "password": hash.is_some(), "second_factor": factor.is_some() });
    changed(&mut tx, id, &actor(id), detail).await?;
    tx.commit().await?;
    Ok(())
}

/// Returns whether a link sets up a second factor. If the account has none, a link for a password
/// also sets one up: without it, the person could not log in.
pub fn sets_factor(account: &Account, purpose: LinkPurpose) -> bool {
    purpose != LinkPurpose::Password || account.totp_key.is_none()
}

/// Ends a session.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn out(store: &Store, token: &Token) -> seven_store::Result<()> {
    let mut tx = store.staff().await?;
    tx.end_session(&token.hash()).await?;
    tx.commit().await
}

/// Returns the name of an operator in the audit log.
pub fn actor(id: OperatorId) -> String {
    format!("operator:{id}")
}

async fn opened(
    tx: &mut Tx,
    token: &Token,
    spend: bool,
) -> Result<(Account, LinkPurpose), Refused> {
    let link = tx.link(&token.hash(), spend).await?;
    let link = link.ok_or(Refused::DeadLink)?;
    let account = tx.account(OperatorId(link.operator_id)).await?;
    Ok((account.ok_or(Refused::DeadLink)?, link.purpose))
}

fn step(account: &Account, code: &str, now: DateTime<Utc>) -> Option<i64> {
    Factor::read(account.totp_key.as_deref()?)?.step_of(code, seconds(now), account.totp_step)
}

fn seconds(now: DateTime<Utc>) -> u64 {
    u64::try_from(now.timestamp()).unwrap_or_default()
}

/// Begins a session with a new token. A token that was planted in the browser before the login thus
/// never becomes valid.
async fn begin(
    tx: &mut Tx,
    operator: OperatorId,
    complete: bool,
    provider: Option<&str>,
) -> seven_store::Result<Token> {
    let token = Token::draw(&mut rand::rng());
    tx.put_session(&token.hash(), operator, complete).await?;
    if complete {
        let (event, subject) = (AuditEvent::OperatorLoggedIn, operator.to_string());
        let detail = provider.map_or(json!({}), |provider| json!({ "provider": provider }));
        tx.audit(&Entry::of(event, &actor(operator), &subject, detail))
            .await?;
    }
    Ok(token)
}

/// Hashes of the account and of the caller's address, under which failed logins are counted.
struct Counted {
    account: [u8; 32],
    address: [u8; 32],
}

impl Counted {
    fn new(email: &str, from: &str) -> Self {
        Self {
            account: hash_of(email),
            address: hash_of(from),
        }
    }

    async fn read(&self, tx: &mut Tx) -> seven_store::Result<Failures> {
        let (of_pair, of_account, of_address) = tx
            .failed_logins(&self.account, &self.address, WINDOW_MINUTES)
            .await?;
        Ok(Failures {
            of_pair,
            of_account,
            of_address,
        })
    }

    async fn fail(&self, tx: &mut Tx) -> seven_store::Result<()> {
        tx.put_failed_login(&self.account, &self.address).await?;
        let now = self.read(tx).await?;
        if now.of_pair == MOST_PER_PAIR || now.of_account == MOST_PER_ACCOUNT {
            let (event, subject) = (AuditEvent::OperatorLockedOut, hex::encode(self.account));
            let detail = json!({ "minutes": WINDOW_MINUTES, "all_addresses": now.of_account >= MOST_PER_ACCOUNT });
            tx.audit(&Entry::of(event, "console", &subject, detail))
                .await?;
        }
        Ok(())
    }

    async fn clear(&self, tx: &mut Tx) -> seven_store::Result<()> {
        tx.clear_failed_logins(&self.account, &self.address).await
    }
}
