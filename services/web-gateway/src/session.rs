//! The token of a guest's web session (WID-2, WID-3): a JWT signed with HS256. It contains the ids
//! of the visitor, the casino and the ticket, and nothing about the person.

use chrono::{DateTime, TimeDelta, Utc};
use jwt_compact::{
    AlgorithmExt, Claims, Header, TimeOptions, Token, UntrustedToken, ValidationError,
    alg::{Hs256, Hs256Key},
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use seven_domain::CasinoId;
use uuid::Uuid;

/// Maximum size of a token that is parsed, in bytes; our own tokens have about 500.
pub const MOST_TOKEN_BYTES: usize = 2_048;
/// How long a session is valid, in hours.
const SESSION_HOURS: i64 = 24;
/// Tolerance for the clocks of other gateways.
const LEEWAY: TimeDelta = TimeDelta::seconds(30);
const ISSUER: &str = "hey-seven";
const AUDIENCE: &str = "web-chat";
const CUSTOMER: &str = "customer";
/// Prefix of a visitor's name in a token; the visitor's id follows.
const ANONYMOUS: &str = "anon_";

/// A guest's session on the web.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub visitor: Uuid,
    pub casino: CasinoId,
    /// The id of the ticket, that is, of the conversation that the session reads and writes.
    pub ticket: Uuid,
}

/// A key that signs tokens, and the id by which tokens refer to it.
#[derive(Debug, Clone)]
pub struct TokenKey {
    pub id: String,
    /// The secret, of at least 32 bytes.
    pub secret: SecretString,
}

/// The keys of tokens: the current key signs; tokens of former keys are accepted until they expire.
#[derive(Debug, Clone)]
pub struct Keys {
    pub current: TokenKey,
    pub former: Vec<TokenKey>,
}

/// Why a token opens no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    #[error("the token has more than {MOST_TOKEN_BYTES} bytes")]
    TooLong,
    #[error("this is no token of a session")]
    Malformed,
    #[error("the token asks for something that is not known here")]
    Critical,
    #[error("the token names a key that is not in use")]
    UnknownKey,
    #[error("the token was not signed by this service")]
    Forged,
    #[error("the session has ended; a new one begins by itself")]
    Expired,
    #[error("the token is for another service")]
    Foreign,
    #[error("the token is of a person who is not a guest")]
    NotACustomer,
}

/// Header fields that our own tokens never have (RFC 7515, section 4.1.11). A token that has one of
/// them is refused.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Extra {
    #[serde(rename = "crit", default, skip_serializing_if = "Option::is_none")]
    critical: Option<Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Told {
    iss: String,
    aud: String,
    sub: String,
    role: String,
    tenant_id: String,
    ticket_id: Uuid,
}

impl Denied {
    /// Returns the HTTP status: 403 if the token's role is not a guest's, otherwise 401.
    pub fn status(self) -> u16 {
        match self {
            Self::NotACustomer => 403,
            _ => 401,
        }
    }
}

impl Keys {
    /// Signs the token of a session that begins now; `None` if the key cannot sign.
    pub fn issue(&self, session: &Session, now: DateTime<Utc>) -> Option<String> {
        let told = Told {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: format!("{ANONYMOUS}{}", session.visitor),
            role: CUSTOMER.to_owned(),
            tenant_id: session.casino.to_string(),
            ticket_id: session.ticket,
        };
        let header = Header::empty().with_key_id(&self.current.id);
        let claims = Claims::new(told)
            .set_duration_and_issuance(&clock(now), TimeDelta::hours(SESSION_HOURS));
        Hs256.token(&header, &claims, &self.current.key()).ok()
    }

    /// Verifies a token and returns its session.
    ///
    /// # Errors
    /// Returns why the token is refused. The client is told only whether the session has expired
    /// and whether the role was the reason.
    pub fn read(&self, token: &str, now: DateTime<Utc>) -> Result<Session, Denied> {
        if token.len() > MOST_TOKEN_BYTES {
            return Err(Denied::TooLong);
        }
        let token = UntrustedToken::<Extra>::try_from(token).map_err(|_| Denied::Malformed)?;
        let header = token.header();
        if header.other_fields.critical.is_some() {
            return Err(Denied::Critical);
        }
        let id = header.key_id.as_deref().ok_or(Denied::UnknownKey)?;
        let mut keys = std::iter::once(&self.current).chain(&self.former);
        let key = keys.find(|key| key.id == id).ok_or(Denied::UnknownKey)?;
        let read = Hs256.validator::<Told>(&key.key()).validate(&token);
        let read: Token<Told, Extra> = read.map_err(|error| match error {
            ValidationError::MalformedClaims(_) => Denied::Malformed,
            // This includes tokens with another algorithm or none.
            _ => Denied::Forged,
        })?;
        let claims = read.claims();
        let time = clock(now);
        claims
            .validate_expiration(&time)
            .map_err(|_| Denied::Expired)?;
        // We cannot have issued a token whose time of issue is still to come.
        if claims.issued_at.is_none_or(|at| at > now + LEEWAY) {
            return Err(Denied::Malformed);
        }
        session(&claims.custom)
    }
}

fn clock(now: DateTime<Utc>) -> TimeOptions<impl Fn() -> DateTime<Utc>> {
    TimeOptions::new(LEEWAY, move || now)
}

fn session(told: &Told) -> Result<Session, Denied> {
    if told.iss != ISSUER || told.aud != AUDIENCE {
        return Err(Denied::Foreign);
    }
    if told.role != CUSTOMER {
        return Err(Denied::NotACustomer);
    }
    let visitor = told.sub.strip_prefix(ANONYMOUS);
    let visitor = visitor.and_then(|id| id.parse().ok());
    Ok(Session {
        visitor: visitor.ok_or(Denied::Malformed)?,
        casino: told.tenant_id.parse().map_err(|_| Denied::Malformed)?,
        ticket: told.ticket_id,
    })
}

impl TokenKey {
    fn key(&self) -> Hs256Key {
        Hs256Key::new(self.secret.expose_secret())
    }
}

#[cfg(test)]
mod tests;
