//! web-gateway: serves guests of the casinos' websites (D32, D33). It stores a guest's message as
//! ingress stores a text, and shows the host's replies once they are delivered. It decides nothing.

mod app;
mod call;
mod chat;
mod frames;
mod live;
mod message;
mod mutant;
mod pages;
mod problem;
mod property;
mod routes;
mod session;
mod stream;
mod widget;
mod words;

use std::{sync::Arc, time::Duration};

use seven_http::{Connections, Crowd, Waits};
use seven_runtime::{Fleet, Proxies};
use seven_settings::{Settings, Web};
use tokio::net::TcpListener;

use crate::{app::App, live::Live};

pub use session::{Denied, Keys, MOST_TOKEN_BYTES, Session, TokenKey};

/// No key to sign sessions is configured.
#[derive(Debug, thiserror::Error)]
#[error(
    "setting web.token_key is missing: a random text of 32 characters or more, the same for all \
     gateways"
)]
pub struct NoTokenKey;

/// Serves until the fleet's shutdown; each open stream then gets a last frame that says goodbye.
///
/// # Errors
/// Fails when no key for sessions is configured.
pub async fn run(
    fleet: Fleet,
    settings: &Settings,
    listener: TcpListener,
) -> Result<(), NoTokenKey> {
    let web = &settings.web;
    let proxies = Proxies(settings.ingress.trusted_proxies.clone());
    let waits = Waits {
        all: web.connections,
        of_one: web.connections_per_address,
    };
    let limits = Connections {
        most: web.connections,
        idle: waits,
        head: Duration::from_secs(web.head_seconds),
        unread: Some(Duration::from_secs(web.unread_seconds)),
    };
    let app = Arc::new(App {
        keys: keys(web).ok_or(NoTokenKey)?,
        live: Live::default(),
        proxies: proxies.clone(),
        bodies: Crowd::new(waits),
        web: web.clone(),
        fleet: fleet.clone(),
    });
    tracing::info!(url = %web.public_url, "web gateway");
    let hearing = tokio::spawn(live::hear(fleet.clone(), app.live.clone()));
    let looking = tokio::spawn(live::look(fleet.clone(), app.live.clone()));
    let shutdown = fleet.shutdown.clone();
    seven_http::serve(listener, routes::router(app), proxies, limits, shutdown).await;
    hearing.abort();
    looking.abort();
    Ok(())
}

/// Returns the keys of sessions; `None` if there is no key to sign with.
fn keys(web: &Web) -> Option<Keys> {
    let key = |id: &str, secret: &secrecy::SecretString| TokenKey {
        id: id.to_owned(),
        secret: secret.clone(),
    };
    let former = web
        .former_token_key_id
        .as_ref()
        .zip(web.former_token_key.as_ref());
    Some(Keys {
        current: key(&web.token_key_id, web.token_key.as_ref()?),
        former: former
            .map(|(id, secret)| key(id, secret))
            .into_iter()
            .collect(),
    })
}
