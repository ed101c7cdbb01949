//! ingress-webhook: verifies the provider's signature (Telnyx: over the raw body; Twilio: over address and form) and answers 2xx only when the event is durable (D1, D2). Writes a
//! STOP's suppression before it answers (D7). Judges nothing else: the gate does.

mod accept;
mod answer;
mod app;
mod intake;
mod intruders;
mod limits;

use std::future::IntoFuture;

use seven_runtime::Fleet;
use tokio::net::TcpListener;

pub use app::{Twilio, Verifiers};
pub use intake::{Intake, intake, intake_form, intake_raw, word_in};
pub use limits::Limits;

/// Serves until the fleet's shutdown; requests in progress are finished.
pub async fn run(fleet: Fleet, verifiers: Verifiers, limits: Limits, listener: TcpListener) -> std::io::Result<()> {
    let shutdown = fleet.shutdown.clone();
    let app = app::router(fleet, verifiers, limits);
    let drained = shutdown.clone();
    let server =
        axum::serve(listener, app).with_graceful_shutdown(async move { shutdown.cancelled().await }).into_future();
    tokio::pin!(server);
    tokio::select! {
        served = &mut server => return served,
        () = drained.cancelled() => {}
    }
    // Idle keep-alive connections must not keep a drained worker alive.
    match tokio::time::timeout(std::time::Duration::from_secs(5), server).await {
        Ok(served) => served,
        Err(_) => Ok(()),
    }
}
