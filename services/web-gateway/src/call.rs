//! Reads the caller from a call: address, origin, language and session.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    body::Body,
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use serde::de::DeserializeOwned;
use seven_cache::{Limit, LimitVerdict};
use seven_domain::{Address, CasinoConfig, CasinoId, GuestHash, Language};
use seven_http::{Peer, network, read_body};
use seven_sse::Cursor;
use url::Url;

use crate::{
    app::{App, Shared},
    mutant,
    problem::Problem,
    session::Session,
    words,
};

/// The period to which the limit of calls per address applies.
const WINDOW: Duration = Duration::from_secs(60);
/// The query parameter with the token, for clients that cannot set headers (WID-3).
const TOKEN: &str = "token";

/// The caller's network address and headers.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    peer: Peer,
    pub(crate) headers: HeaderMap,
}

/// A guest whose token is valid, with the session that it names.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    pub(crate) session: Session,
    pub(crate) hash: GuestHash,
}

impl FromRequestParts<Shared> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        let peer = <Extension<Peer> as FromRequestParts<Shared>>::from_request_parts(parts, app);
        let Extension(peer) = peer.await.map_err(|_| Problem::Internal)?;
        Ok(Self {
            peer,
            headers: parts.headers.clone(),
        })
    }
}

impl Caller {
    fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn language(&self) -> Language {
        words::preferred(self.header(header::ACCEPT_LANGUAGE).unwrap_or_default())
    }

    pub(crate) fn accepts(&self, kind: &str) -> bool {
        let accepted = self.header(header::ACCEPT).unwrap_or_default();
        accepted.split(',').any(|one| one.trim().starts_with(kind))
    }

    /// Returns the place at which the client's last stream broke off, from `Last-Event-ID`; `None`
    /// without that header.
    ///
    /// # Errors
    /// Fails when the value is not a frame id of our streams.
    pub(crate) fn last_event(&self) -> Result<Option<Cursor>, Problem> {
        let Some(last) = self.headers.get("last-event-id") else {
            return Ok(None);
        };
        if mutant::forgets_place() {
            return Ok(None);
        }
        let cursor = last.to_str().ok().and_then(|last| last.parse().ok());
        cursor.map(Some).ok_or_else(|| {
            Problem::Invalid("`Last-Event-ID` must be the id of a frame, such as 3:120".into())
        })
    }

    /// Checks that the calling page may open the casino's chat. Programs send no origin; if
    /// `must_name` is true, calls without an origin are refused.
    pub(crate) fn check_origin(
        &self,
        app: &App,
        config: &CasinoConfig,
        must_name: bool,
    ) -> Result<(), Problem> {
        let Some(origin) = self.headers.get(header::ORIGIN) else {
            return if must_name {
                Err(Problem::ForeignOrigin)
            } else {
                Ok(())
            };
        };
        let origin = origin.to_str().unwrap_or_default();
        let ours = origin == app.web.public_url.origin().ascii_serialization();
        let domains = config.operational.web_domains();
        if ours || domains.is_ok_and(|domains| domains.allow(origin)) {
            Ok(())
        } else {
            Err(Problem::ForeignOrigin)
        }
    }

    /// Counts a call against the limit of its network address; all gateways share this limit.
    /// `call` identifies the call, so that a repeated call counts once.
    pub(crate) async fn count(
        &self,
        app: &App,
        casino: &CasinoId,
        call: &str,
    ) -> Result<(), Problem> {
        let Some(address) = app.proxies.client(self.peer.0, &self.headers) else {
            return Ok(());
        };
        let limit = Limit {
            key: format!("web:{}", network(address)),
            fleet: true,
            most: app.web.requests_per_minute,
            window: WINDOW,
        };
        match app.fleet.cache.count_text(casino, call, &[limit]).await {
            LimitVerdict::Within => Ok(()),
            LimitVerdict::Over { .. } => Err(Problem::TooMany {
                retry_after: WINDOW,
            }),
        }
    }

    /// Reads the body and parses it as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(
        &self,
        app: &App,
        body: Body,
    ) -> Result<T, Problem> {
        let client = app.proxies.client(self.peer.0, &self.headers);
        let time = Duration::from_secs(app.web.request_seconds);
        let body = read_body(&app.bodies, client, &self.headers, body, time).await?;
        serde_json::from_slice(&body).map_err(|error| Problem::Invalid(error.to_string()))
    }
}

impl FromRequestParts<Shared> for Guest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        let token = token_of(parts).ok_or(Problem::NoToken)?;
        let session = app.keys.read(&token, app.fleet.clock.now())?;
        Ok(Self {
            hash: hash_of(app, &session),
            session,
        })
    }
}

/// Returns the token of a call: from the `Authorization` header, or else from the query.
fn token_of(parts: &Parts) -> Option<String> {
    let header = parts.headers.get(header::AUTHORIZATION);
    let bearer = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    if let Some(token) = bearer {
        return Some(token.to_owned());
    }
    // The parser needs a complete URL, so a host is added; it has no effect.
    let whole = format!("http://localhost{}", parts.uri.path_and_query()?);
    let url = Url::parse(&whole).ok()?;
    let mut pairs = url.query_pairs();
    pairs.find_map(|(name, value)| (name == TOKEN).then(|| value.into_owned()))
}

pub(crate) fn hash_of(app: &App, session: &Session) -> GuestHash {
    let address = Address::Visitor(session.visitor);
    app.fleet.keys.hash_address(&session.casino, &address)
}

/// Returns the configuration of an active casino.
pub(crate) async fn casino_of(app: &App, casino: &CasinoId) -> Result<Arc<CasinoConfig>, Problem> {
    if !app.fleet.roster.serving().contains(casino) {
        return Err(Problem::NoCasino);
    }
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    row.map(|row| row.config).ok_or(Problem::NoCasino)
}

/// Checks that the session's casino is active and that the caller's page may open its chat.
pub(crate) async fn admit(app: &App, guest: &Guest, caller: &Caller) -> Result<(), Problem> {
    let config = casino_of(app, &guest.session.casino).await?;
    caller.check_origin(app, &config, false)
}

/// Returns the casino that the call names, or else the casino that the gateway's settings name.
pub(crate) fn named(app: &App, casino: Option<CasinoId>) -> Result<CasinoId, Problem> {
    let own = || app.web.casino.as_deref()?.parse().ok();
    casino.or_else(own).ok_or_else(|| {
        Problem::Invalid("`casino` is missing, and the gateway has none of its own".into())
    })
}
