//! A stand-in for Telnyx and Twilio in development, tests and load tests. It delivers signed
//! webhooks, accepts sends, emits receipts, injects a carrier's faults, and records everything in a
//! ledger.
//!
//! The simulator calls only the webhook URLs that it is given, and sends no real text. It knows
//! nothing of casinos, consent or content. With `block_on_stop`, it blocks a guest after STOP, as
//! Telnyx does.

mod api;
mod control;
mod core;
mod dialect;
mod error;
mod explain;
mod handset;
mod inbound;
mod ledger;
mod line;
mod lock;
mod measure;
mod outbound;
mod receipts;
mod record;
mod rules;
mod settings;
mod signing;
mod telnyx_error;
mod twilio;
mod twilio_error;
mod twilio_webhook;
mod webhook;

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::DropGuard;

pub use crate::{
    error::Error,
    inbound::{Text, Texted},
    ledger::{Ledger, News, Snapshot},
    record::{Attempt, Delivery, DeliveryState, Entry, Inbound, Outbound, Receipt, Refusal},
    rules::{Fault, Faults, Matcher, Plan, Rule, RuleBook, Sending},
    settings::Explain,
    settings::{Settings, TwilioSide},
    signing::Signer,
};

/// Time that `shutdown` waits for open connections and webhook calls before it drops them.
const DRAIN: Duration = Duration::from_secs(2);

/// A running simulator. Dropping it stops the simulator at once, without waiting for open calls.
#[derive(Debug)]
pub struct Sim {
    core: Arc<core::Core>,
    addr: SocketAddr,
    server: JoinHandle<()>,
    _stop: DropGuard,
}

/// Binds the listener (port 0 is allowed) and serves until [`Sim::shutdown`] or drop.
pub async fn start(settings: Settings) -> anyhow::Result<Sim> {
    let listen = settings.listen;
    let core = Arc::new(core::Core::new(settings)?);
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|source| Error::Bind { listen, source })?;
    let addr = listener
        .local_addr()
        .map_err(|source| Error::Bind { listen, source })?;
    let app = api::router()
        .merge(twilio::router())
        .merge(control::router())
        .merge(handset::router())
        .merge(explain::router())
        .with_state(core.clone());
    let make = app.into_make_service_with_connect_info::<line::Cut>();
    let stop = core.stop.clone();
    let serve = axum::serve(line::Lines(listener), make)
        .with_graceful_shutdown(stop.clone().cancelled_owned());
    let server = core.tasks.spawn(async move {
        if let Err(error) = serve.await {
            tracing::error!(%error, "carrier simulator stopped serving");
        }
    });
    tracing::info!(%addr, "carrier simulator listens");
    Ok(Sim {
        core,
        addr,
        server,
        _stop: stop.drop_guard(),
    })
}

/// Runs the simulator until `shutdown` completes.
pub async fn run(settings: Settings, shutdown: impl Future<Output = ()>) -> anyhow::Result<()> {
    let sim = start(settings).await?;
    shutdown.await;
    sim.shutdown().await;
    Ok(())
}

// === impl Sim ===

impl Sim {
    /// Returns the address on which the simulator listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the API base URL for a sender's settings, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Returns the public key that verifies webhooks: 32 bytes in base64, as Telnyx's portal shows
    /// it.
    pub fn public_key_b64(&self) -> String {
        self.core.signer.public_key_b64()
    }

    /// Returns the Twilio account that a sender has to be configured with.
    pub fn twilio(&self) -> &TwilioSide {
        &self.core.settings.twilio
    }

    pub fn ledger(&self) -> &Ledger {
        &self.core.ledger
    }

    /// Replaces the fault rules, as `PUT /sim/rules` does.
    pub fn set_rules(&self, plan: Plan) -> Result<(), Error> {
        self.core.set_rules(plan)
    }

    /// Sends a guest's text, as `POST /sim/inbound` does. Delivery continues in the background.
    pub fn text(&self, text: Text) -> Result<Texted, Error> {
        inbound::accept(&self.core, text).map(|accepted| accepted.texted)
    }

    /// Stops listening, waits up to two seconds for open calls to end, then drops them.
    pub async fn shutdown(self) {
        let Self { core, server, .. } = self;
        core.stop.cancel();
        core.tasks.close();
        if tokio::time::timeout(DRAIN, core.tasks.wait())
            .await
            .is_err()
        {
            server.abort();
        }
    }
}
