//! ingress-webhook: verifies the signature, writes a STOP's suppression (D7) and answers 2xx only
//! when the event is durable (D1, D2). The gate decides the rest.

mod accept;
mod answer;
mod app;
mod auth_failures;
mod call;
mod content;
mod limits;
mod mutant;

use seven_runtime::Fleet;
use tokio::net::TcpListener;

pub use app::{Twilio, Verifiers};
pub use limits::Limits;
pub use seven_runtime::Proxies;

/// Serves until the fleet's shutdown; calls in progress are finished.
pub async fn run(
    fleet: Fleet,
    verifiers: Verifiers,
    proxies: Proxies,
    limits: Limits,
    listener: TcpListener,
) {
    let shutdown = fleet.shutdown.clone();
    let app = app::router(fleet, verifiers, proxies.clone(), &limits);
    seven_http::serve(listener, app, proxies, limits.connections, shutdown).await;
}
