//! Talks to a casino's own login provider (OpenID Connect). Reads the provider's addresses and
//! keys, and exchanges a code for an ID token (RFC 6749 with PKCE, RFC 7636).

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use reqwest::{Client, RequestBuilder, header::CONTENT_TYPE, redirect::Policy};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, de::DeserializeOwned};
use seven_settings::{Console, Oidc};
use seven_staff::{
    Token,
    oidc::{Expected, Identity, Keys, Refusal, domain, verify},
};
use sha2::{Digest, Sha256};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use url::{Url, form_urlencoded};

/// Maximum time to wait for a provider. It is short, because a person waits for the answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// How long a provider's addresses and keys are cached. Caching keys is safe: a provider publishes
/// new keys before it signs with them.
const KNOWN_FOR: Duration = Duration::from_secs(3_600);
/// If a token names an unknown key, the keys are read again, but only if the cached keys are at
/// least this old.
const KEYS_AGAIN: Duration = Duration::from_secs(60);
/// Pause after a failed read of a provider's addresses and keys. During the pause, callers get the
/// cached addresses and keys, or an error at once.
const RESTS_FOR: Duration = Duration::from_secs(5);
/// Maximum size of a provider's answer, in bytes.
const MOST_BYTES: usize = 256 * 1024;

/// Why a login at a provider failed. The messages name no person.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the provider did not answer")]
    Away(#[from] reqwest::Error),
    #[error("the provider answered with status {0}")]
    Status(u16),
    #[error("the provider takes too long, or failed a moment ago")]
    Slow,
    #[error("the provider's answer cannot be read, or is too long")]
    Unreadable,
    #[error("the provider's document is of another issuer, or names addresses without https")]
    Document,
    #[error(transparent)]
    Token(#[from] Refusal),
    #[error("the address is in none of the provider's domains")]
    Domain,
}

/// The login providers of `[console.oidc]`, by id.
#[derive(Debug, Default)]
pub(crate) struct Providers(BTreeMap<String, Provider>);

#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) settings: Oidc,
    /// The redirect URI, to which the provider sends people back.
    pub(crate) redirect: Url,
    secret: SecretString,
    client: Client,
    memory: Mutex<Memory>,
}

/// The provider's last known addresses and keys, and when reading them last failed.
#[derive(Debug, Default)]
struct Memory {
    known: Option<Known>,
    failed_at: Option<Instant>,
}

/// The provider's addresses and keys.
#[derive(Debug, Clone)]
struct Known {
    document: Document,
    keys: Keys,
    read_at: Instant,
}

/// The fields of a provider's document (OpenID Connect Discovery 1.0) that a login needs.
#[derive(Debug, Clone, Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    jwks_uri: Url,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
}

/// The random values of one login, which the browser keeps in a cookie until the person comes back.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) state: Token,
    pub(crate) nonce: Token,
    pub(crate) verifier: Token,
}

impl Attempt {
    pub(crate) fn draw() -> Self {
        let mut random = rand::rng();
        Self {
            state: Token::draw(&mut random),
            nonce: Token::draw(&mut random),
            verifier: Token::draw(&mut random),
        }
    }
}

impl Providers {
    /// # Errors
    /// Fails when a client secret is missing or no HTTP client can be made.
    pub(crate) fn new(console: &Console) -> std::io::Result<Self> {
        let mut providers = BTreeMap::new();
        for (id, settings) in &console.oidc {
            let mut redirect = console.public_url.clone();
            redirect.set_path(&format!("/login/with/{id}/done"));
            let secret = console.oidc_client_secret(id).ok_or_else(|| {
                std::io::Error::other(format!(
                    "setting console.oidc_client_secrets has no entry {id}=...; the provider's page \
                     of the application shows the secret"
                ))
            })?;
            let client = Client::builder()
                .timeout(DEADLINE)
                .redirect(Policy::none())
                .build()
                .map_err(std::io::Error::other)?;
            let provider = Provider {
                settings: settings.clone(),
                redirect,
                secret,
                client,
                memory: Mutex::default(),
            };
            providers.insert(id.clone(), provider);
        }
        Ok(Self(providers))
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Provider> {
        self.0.get(id)
    }

    /// Returns id and name of each provider.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(id, provider)| (&**id, &*provider.settings.name))
    }
}

impl Provider {
    /// Returns the address at which the person logs in.
    ///
    /// # Errors
    /// Fails when the provider's document cannot be read.
    pub(crate) async fn address(&self, attempt: &Attempt) -> Result<Url, Error> {
        let mut address = self.known(None).await?.document.authorization_endpoint;
        let challenge = Sha256::digest(attempt.verifier.expose());
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("scope", "openid email")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", self.redirect.as_str())
            .append_pair("state", &attempt.state.expose())
            .append_pair("nonce", &attempt.nonce.expose())
            .append_pair("code_challenge", &BASE64_URL_SAFE_NO_PAD.encode(challenge))
            .append_pair("code_challenge_method", "S256");
        Ok(address)
    }

    /// Exchanges `code`, which the person brought back from the provider, for an ID token. Then
    /// verifies the person's identity.
    ///
    /// # Errors
    /// Fails when the provider does not answer, or when its token is invalid.
    pub(crate) async fn identity(
        &self,
        code: &str,
        attempt: &Attempt,
        now: chrono::DateTime<chrono::Utc>,
    ) -> Result<Identity, Error> {
        let known = self.known(None).await?;
        let token = self.exchange(&known.document, code, attempt).await?;
        let nonce = attempt.nonce.expose();
        let expected = Expected {
            issuer: &self.settings.issuer,
            client_id: &self.settings.client_id,
            nonce: &nonce,
            email_is_verified: self.settings.email_is_verified,
            now,
        };
        let mut identity = verify(&token, &known.keys, expected);
        if identity == Err(Refusal::UnknownKey) {
            let known = self.known(Some(KEYS_AGAIN)).await?;
            identity = verify(&token, &known.keys, expected);
        }
        let identity = identity?;
        let domains = &self.settings.domains;
        if !domains.iter().any(|one| one == domain(&identity.email)) {
            return Err(Error::Domain);
        }
        Ok(identity)
    }

    async fn exchange(
        &self,
        document: &Document,
        code: &str,
        attempt: &Attempt,
    ) -> Result<String, Error> {
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", self.redirect.as_str())
            .append_pair("code_verifier", &attempt.verifier.expose())
            .finish();
        // RFC 6749, 2.3.1: id and secret are encoded like form fields before they are joined.
        let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let (id, secret): (String, String) = (
            encoded(&self.settings.client_id),
            encoded(self.secret.expose_secret()),
        );
        let call = self
            .client
            .post(document.token_endpoint.clone())
            .basic_auth(id, Some(secret))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body);
        Ok(json::<Tokens>(&answer(call).await?)?.id_token)
    }

    /// Returns the provider's addresses and keys. Reads them again if they are older than `most`,
    /// or than `KNOWN_FOR` if `most` is `None`. One caller reads; the others wait for at most
    /// `DEADLINE`.
    async fn known(&self, most: Option<Duration>) -> Result<Known, Error> {
        let mut memory = timeout(DEADLINE, self.memory.lock())
            .await
            .map_err(|_| Error::Slow)?;
        let most = most.unwrap_or(KNOWN_FOR);
        let rests = memory.failed_at.is_some_and(|at| at.elapsed() < RESTS_FOR);
        match &memory.known {
            Some(known) if rests || known.read_at.elapsed() < most => return Ok(known.clone()),
            None if rests => return Err(Error::Slow),
            _ => {}
        }
        let read = timeout(DEADLINE, self.read()).await;
        match read.unwrap_or(Err(Error::Slow)) {
            Ok(known) => {
                *memory = Memory {
                    known: Some(known.clone()),
                    failed_at: None,
                };
                Ok(known)
            }
            Err(error) => {
                memory.failed_at = Some(Instant::now());
                memory.known.clone().ok_or(error)
            }
        }
    }

    async fn read(&self) -> Result<Known, Error> {
        let issuer = self.settings.issuer.trim_end_matches('/');
        let place = format!("{issuer}/.well-known/openid-configuration");
        let document: Document = json(&answer(self.client.get(place)).await?)?;
        // Plain HTTP is accepted only if the configured issuer uses it. The settings permit such an
        // issuer only on this machine.
        let scheme = self.settings.issuer.split(':').next();
        let endpoints = [
            &document.authorization_endpoint,
            &document.token_endpoint,
            &document.jwks_uri,
        ];
        let safe = |url: &Url| url.scheme() == "https" || Some(url.scheme()) == scheme;
        if document.issuer != self.settings.issuer || !endpoints.into_iter().all(safe) {
            return Err(Error::Document);
        }
        let keys = answer(self.client.get(document.jwks_uri.clone())).await?;
        let keys = Keys::read(&keys).ok_or(Error::Unreadable)?;
        Ok(Known {
            document,
            keys,
            read_at: Instant::now(),
        })
    }
}

/// Sends the request and reads the answer's body, up to `MOST_BYTES`.
async fn answer(call: RequestBuilder) -> Result<Vec<u8>, Error> {
    let mut answer = call.send().await.map_err(reqwest::Error::without_url)?;
    if !answer.status().is_success() {
        return Err(Error::Status(answer.status().as_u16()));
    }
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await? {
        body.extend_from_slice(&part);
        if body.len() > MOST_BYTES {
            return Err(Error::Unreadable);
        }
    }
    Ok(body)
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|_| Error::Unreadable)
}
