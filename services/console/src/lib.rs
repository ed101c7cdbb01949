//! console: the pages for the casinos' own people (D27). The HTML is rendered on the server. When
//! the stream hints that something changed, a page fetches its parts again. The pages call the same
//! functions as the operators' commands.

mod access;
mod app;
mod assets;
mod chart;
mod fault;
mod frame;
mod guard;
mod hints;
mod lists;
mod pages;
mod provider;
mod readings;
mod uploads;
mod words;

use std::{net::SocketAddr, sync::Arc};

use axum::Router;
use seven_runtime::{Fleet, Proxies};
use seven_settings::Settings;
use seven_staff::contacts::Reach;
use tokio::net::TcpListener;

use self::{
    app::{App, Read, Shared},
    hints::Hints,
    provider::Providers,
};

/// Serves until the fleet's shutdown. The fleet's store must use the console's own database login.
///
/// # Errors
/// Fails when the listener fails.
pub async fn run(fleet: Fleet, settings: &Settings, listener: TcpListener) -> std::io::Result<()> {
    let shutdown = fleet.shutdown.clone();
    let app = Arc::new(App {
        hints: Hints::default(),
        read: Read::default(),
        uploads: uploads::uploads(),
        // Only the scheduler may read the mail server's address. If a sender address is configured,
        // a mail server is configured, too.
        reach: Reach {
            local: settings.notices.local,
            mail: settings.notices.mail_from.is_some(),
        },
        providers: Providers::new(&settings.console)?,
        console: settings.console.clone(),
        prices: settings.cost.clone(),
        proxies: Proxies(settings.ingress.trusted_proxies.clone()),
        fleet,
    });
    tracing::info!(url = %app.console.public_url, "console");
    let hearing = tokio::spawn(hints::hear(Arc::clone(&app)));
    let service = router(app).into_make_service_with_connect_info::<SocketAddr>();
    let served = axum::serve(listener, service)
        .with_graceful_shutdown(shutdown.cancelled_owned())
        .await;
    hearing.abort();
    served
}

fn router(app: Shared) -> Router {
    guard::around(pages::routes(), &app)
        .merge(assets::routes())
        .merge(pages::admin::routes())
        .with_state(app)
}
