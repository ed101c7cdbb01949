//! A stand-in, over real HTTP, for a casino's own login. It is an OpenID provider with discovery,
//! keys, code flow with PKCE and signed ID tokens. It refuses what real providers refuse. On
//! demand, its tokens hold false claims.
//!
//! The keys in `identity/` were made for this double and sign nothing else.

use std::{
    collections::HashMap,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result};
use axum::{
    Json, Router,
    extract::{Query, RawForm, State},
    http::{HeaderMap, StatusCode, header::LOCATION},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use ring::{
    digest::{SHA256, digest},
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

pub const CLIENT_ID: &str = "seven console";
pub const CLIENT_SECRET: &str = "a+secret:with%signs";

const KEYS: [&[u8]; 2] = [
    include_bytes!("identity/first.der"),
    include_bytes!("identity/second.der"),
];

/// Changes the header and the claims of an ID token before it is signed, so that the token lies.
pub type Lie = fn(header: &mut Value, claims: &mut Value);

/// A running provider; dropping it stops it.
#[derive(Debug)]
pub struct Provider {
    address: SocketAddr,
    desk: Arc<Mutex<Desk>>,
    serving: JoinHandle<()>,
}

#[derive(Debug)]
struct Desk {
    issuer: String,
    /// Id and email address of the person who logs in.
    person: (String, String),
    lie: Option<Lie>,
    /// Index in [`KEYS`] of the key that signs the tokens.
    signs: usize,
    /// Index in [`KEYS`] of the key whose id the tokens name.
    named: usize,
    /// Indices in [`KEYS`] of the keys that the key set lists.
    shown: Vec<usize>,
    /// The parameters of each authorization request, keyed by the code that was given out for the
    /// request. A used code is removed.
    codes: HashMap<String, HashMap<String, String>>,
    given: usize,
    calls: Vec<&'static str>,
}

type Shared = Arc<Mutex<Desk>>;

impl Provider {
    /// Starts on a free port of this machine. The issuer's URL names `localhost`, which browsers
    /// treat as a different site from 127.0.0.1.
    ///
    /// # Errors
    /// Fails when no port can be bound.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.context("binding the provider's double")?;
        let address = listener.local_addr().context("reading the double's port")?;
        let desk = Arc::new(Mutex::new(Desk {
            issuer: format!("http://localhost:{}", address.port()),
            person: ("p-1".to_owned(), "ana@silverbirch.example".to_owned()),
            lie: None,
            signs: 0,
            named: 0,
            shown: vec![0],
            codes: HashMap::new(),
            given: 0,
            calls: Vec::new(),
        }));
        let app = Router::new()
            .route("/.well-known/openid-configuration", get(document))
            .route("/keys", get(keys))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(Arc::clone(&desk));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, app).await {
                tracing::error!(%error, "the provider's double ended");
            }
        });
        Ok(Self {
            address,
            desk,
            serving,
        })
    }

    #[must_use]
    pub fn issuer(&self) -> String {
        lock(&self.desk).issuer.clone()
    }

    /// Returns the settings `console.oidc.silver` for this provider, as dotted keys.
    #[must_use]
    pub fn settings(&self) -> String {
        let issuer = self.issuer();
        format!(
            "console.oidc_client_secrets = [\"silver={CLIENT_SECRET}\"]\n\
             console.oidc.silver.name = \"Silver Birch\"\nconsole.oidc.silver.issuer = \"{issuer}\"\n\
             console.oidc.silver.client_id = \"{CLIENT_ID}\"\n\
             console.oidc.silver.domains = [\"silverbirch.example\"]\n\
             console.oidc.silver.casinos = [\"silver_birch\"]\n"
        )
    }

    /// Lets another person log in from now on.
    pub fn person(&self, id: &str, email: &str) {
        lock(&self.desk).person = (id.to_owned(), email.to_owned());
    }

    pub fn lie(&self, lie: Option<Lie>) {
        lock(&self.desk).lie = lie;
    }

    /// Signs with the second key from now on; `shown` says whether the key set lists it.
    pub fn rotate(&self, shown: bool) {
        let mut desk = lock(&self.desk);
        (desk.signs, desk.named) = (1, 1);
        if shown {
            desk.shown = vec![0, 1];
        }
    }

    /// Signs with the second key under the id of the first, as a forger would; `false` signs with
    /// the first key again.
    pub fn forge(&self, forges: bool) {
        let mut desk = lock(&self.desk);
        desk.signs = usize::from(forges);
        desk.named = 0;
    }

    /// Returns the names of the endpoints that were called so far, in order: `document`, `keys`,
    /// `authorize`, `token`.
    #[must_use]
    pub fn calls(&self) -> Vec<&'static str> {
        lock(&self.desk).calls.clone()
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn document(State(desk): State<Shared>) -> Json<Value> {
    let mut desk = lock(&desk);
    desk.calls.push("document");
    let issuer = &desk.issuer;
    Json(json!({
        "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }))
}

async fn keys(State(desk): State<Shared>) -> Json<Value> {
    let mut desk = lock(&desk);
    desk.calls.push("keys");
    let key = |n: &usize| {
        let pair = pair(*n).ok()?;
        let public: PublicKeyComponents<Vec<u8>> = pair.public().into();
        let [n, e] = [public.n, public.e].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
        let id = id_of(&n);
        Some(json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "kid": id, "n": n, "e": e }))
    };
    let mut keys: Vec<Value> = desk.shown.iter().filter_map(key).collect();
    // Adds a key of another type, because real providers list such keys too.
    keys.push(json!({ "kty": "EC", "crv": "P-256", "kid": "other", "x": "AA", "y": "AA" }));
    Json(json!({ "keys": keys }))
}

/// Returns a key's id: the first eight characters of its modulus.
fn id_of(modulus: &str) -> String {
    modulus.chars().take(8).collect()
}

fn pair(n: usize) -> Result<RsaKeyPair> {
    RsaKeyPair::from_pkcs8(KEYS[n]).map_err(|error| anyhow::anyhow!("{error}"))
}

/// Logs the current person in without asking for anything, and redirects the browser back with a
/// code.
async fn authorize(
    State(desk): State<Shared>,
    Query(asked): Query<HashMap<String, String>>,
) -> Response {
    let mut desk = lock(&desk);
    desk.calls.push("authorize");
    let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let right = of("response_type") == "code"
        && of("client_id") == CLIENT_ID
        && of("code_challenge_method") == "S256"
        && of("scope").split(' ').any(|scope| scope == "openid");
    if !right {
        return StatusCode::BAD_REQUEST.into_response();
    }
    desk.given += 1;
    let code = format!("code+{}", desk.given);
    let back = format!(
        "{}?code=code%2B{}&state={}",
        of("redirect_uri"),
        desk.given,
        of("state")
    );
    desk.codes.insert(code, asked);
    (StatusCode::FOUND, [(LOCATION, back)]).into_response()
}

async fn token(State(desk): State<Shared>, headers: HeaderMap, RawForm(body): RawForm) -> Response {
    let mut desk = lock(&desk);
    desk.calls.push("token");
    let wrong =
        |error: &str| (StatusCode::BAD_REQUEST, Json(json!({ "error": error }))).into_response();
    let given = headers
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    // The client's id and secret are form-encoded before they are joined (RFC 6749, 2.3.1).
    let ours = BASE64_STANDARD.encode("seven+console:a%2Bsecret%3Awith%25signs");
    if given != Some(&format!("Basic {ours}")) {
        return (
            StatusCode::UNAUTHORIZED,
            Json(json!({ "error": "invalid_client" })),
        )
            .into_response();
    }
    let form: HashMap<String, String> = form(&body);
    let of = |name: &str| form.get(name).map_or("", String::as_str);
    let Some(asked) = desk.codes.remove(of("code")) else {
        return wrong("invalid_grant");
    };
    let challenge = digest(&SHA256, of("code_verifier").as_bytes());
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(challenge);
    if of("grant_type") != "authorization_code"
        || asked.get("redirect_uri").map(String::as_str) != Some(of("redirect_uri"))
        || asked.get("code_challenge") != Some(&challenge)
    {
        return wrong("invalid_grant");
    }
    match desk.signed(asked.get("nonce").map_or("", String::as_str)) {
        Ok(token) => Json(json!({
            "access_token": "unused", "token_type": "Bearer", "expires_in": 300, "id_token": token,
        }))
        .into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn form(body: &[u8]) -> HashMap<String, String> {
    url::form_urlencoded::parse(body).into_owned().collect()
}

impl Desk {
    fn signed(&self, nonce: &str) -> Result<String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let named = pair(self.named)?;
        let public: PublicKeyComponents<Vec<u8>> = named.public().into();
        let pair = pair(self.signs)?;
        let id = id_of(&BASE64_URL_SAFE_NO_PAD.encode(public.n));
        let mut header = json!({ "alg": "RS256", "typ": "JWT", "kid": id });
        let (subject, email) = &self.person;
        let mut claims = json!({
            "iss": self.issuer, "sub": subject, "aud": CLIENT_ID, "exp": now + 300, "iat": now,
            "nonce": nonce, "email": email, "email_verified": true,
        });
        if let Some(lie) = self.lie {
            lie(&mut header, &mut claims);
        }
        let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(
            &RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            signed.as_bytes(),
            &mut signature,
        )
        .map_err(|error| anyhow::anyhow!("{error}"))?;
        Ok(format!(
            "{signed}.{}",
            BASE64_URL_SAFE_NO_PAD.encode(signature)
        ))
    }
}
