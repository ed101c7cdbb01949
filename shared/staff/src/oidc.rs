//! Verifies the ID token of a casino's own login provider (OpenID Connect Core 1.0, 3.1.3.7),
//! without I/O. Only the algorithm RS256 is accepted, because a token that could choose its
//! algorithm could weaken its own check.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use serde::{Deserialize, de::DeserializeOwned};

/// Maximum difference between the provider's clock and ours.
const SKEW: TimeDelta = TimeDelta::seconds(60);
/// Maximum age of a token. It is short, because a token is made for a login that is in progress.
const MOST_AGE: TimeDelta = TimeDelta::minutes(10);

/// The claims that a token must have for this login.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub nonce: &'a str,
    /// Whether the mail address counts as verified if the token does not say whether it is.
    pub email_is_verified: bool,
    pub now: DateTime<Utc>,
}

/// The person whom the provider has authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The issuer, and the person's id at the issuer, which never changes.
    pub subject: String,
    /// The mail address in lower case; the provider has verified it.
    pub email: String,
}

/// Why a token was refused. The messages name no person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the ID token cannot be read")]
    Form,
    #[error("the ID token is not signed with RS256")]
    Algorithm,
    #[error("the ID token's key is not among the provider's")]
    UnknownKey,
    #[error("the ID token's signature is wrong")]
    Signature,
    #[error("the ID token is of another issuer")]
    Issuer,
    #[error("the ID token is for another client")]
    Audience,
    #[error("the ID token is over, or its time is wrong")]
    Time,
    #[error("the ID token is for another login")]
    Nonce,
    #[error("the ID token has no e-mail address that the provider verified")]
    Email,
}

/// The provider's public RSA keys (RFC 7517). Keys of other kinds are ignored.
#[derive(Debug, Clone, Default)]
pub struct Keys(Vec<Key>);

#[derive(Debug, Clone)]
struct Key {
    id: Option<String>,
    public: RsaPublicKeyComponents<Vec<u8>>,
}

#[derive(Deserialize)]
struct Listed {
    keys: Vec<ListedKey>,
}

#[derive(Deserialize)]
struct ListedKey {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: i64,
    iat: i64,
    nonce: Option<String>,
    email: Option<String>,
    email_verified: Option<Verified>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// The claim `email_verified`, which some providers write as text instead of a boolean.
#[derive(Deserialize)]
#[serde(untagged)]
enum Verified {
    Is(bool),
    Text(String),
}

impl Keys {
    /// Parses a JWK set; `None` if the text is not one.
    pub fn read(json: &[u8]) -> Option<Self> {
        let listed: Listed = serde_json::from_slice(json).ok()?;
        let keys = listed.keys.into_iter().filter_map(|key| {
            let fits = key.kty == "RSA"
                && key.usage.is_none_or(|usage| usage == "sig")
                && key.alg.is_none_or(|alg| alg == "RS256");
            let public = RsaPublicKeyComponents {
                n: part(&key.n?)?,
                e: part(&key.e?)?,
            };
            fits.then_some(Key {
                id: key.kid,
                public,
            })
        });
        Some(Self(keys.collect()))
    }

    fn find(&self, id: Option<&str>) -> Option<&Key> {
        match (id, &*self.0) {
            (Some(_), keys) => keys.iter().find(|key| key.id.as_deref() == id),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

/// Verifies a token against the provider's keys and the claims expected by the login in progress.
///
/// # Errors
/// Returns the first fault that is found.
pub fn verify(token: &str, keys: &Keys, expected: Expected<'_>) -> Result<Identity, Refusal> {
    let (signed, signature) = token.rsplit_once('.').ok_or(Refusal::Form)?;
    let (head, body) = signed.split_once('.').ok_or(Refusal::Form)?;
    let header: Header = json(head)?;
    if header.alg != "RS256" {
        return Err(Refusal::Algorithm);
    }
    let signature = part(signature).ok_or(Refusal::Form)?;
    let key = keys.find(header.kid.as_deref());
    key.ok_or(Refusal::UnknownKey)?
        .public
        .verify(&RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &signature)
        .map_err(|_| Refusal::Signature)?;
    checked(json(body)?, expected)
}

fn checked(claims: Claims, expected: Expected<'_>) -> Result<Identity, Refusal> {
    let Expected {
        issuer,
        client_id,
        nonce,
        email_is_verified,
        now,
    } = expected;
    if claims.iss != issuer {
        return Err(Refusal::Issuer);
    }
    let (is_ours, is_shared) = match &claims.aud {
        Audience::One(one) => (one == client_id, false),
        Audience::Many(many) => (many.iter().any(|one| one == client_id), many.len() > 1),
    };
    let party = claims.azp.as_deref();
    if !is_ours || party.map_or(is_shared, |party| party != client_id) {
        return Err(Refusal::Audience);
    }
    let at = |seconds| DateTime::from_timestamp(seconds, 0).ok_or(Refusal::Time);
    let (made, over) = (at(claims.iat)?, at(claims.exp)?);
    if over <= now - SKEW || made > now + SKEW || made < now - MOST_AGE {
        return Err(Refusal::Time);
    }
    if claims.nonce.as_deref() != Some(nonce) {
        return Err(Refusal::Nonce);
    }
    let is_verified = match claims.email_verified {
        Some(Verified::Is(is)) => is,
        Some(Verified::Text(text)) => text == "true",
        None => email_is_verified,
    };
    let email = claims.email.filter(|_| is_verified).ok_or(Refusal::Email)?;
    Ok(Identity {
        subject: format!("{issuer} {}", claims.sub),
        email: email.trim().to_lowercase(),
    })
}

fn part(text: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    let bytes = part(text).ok_or(Refusal::Form)?;
    serde_json::from_slice(&bytes).map_err(|_| Refusal::Form)
}

/// Returns the domain of an address, after the last @.
pub fn domain(email: &str) -> &str {
    email.rsplit_once('@').map_or("", |(_, domain)| domain)
}
