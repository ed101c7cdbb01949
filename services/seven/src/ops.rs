//! The operations listener of a process: `/metrics`, `/health`, `/health/live`, `/health/ready` (PROD-52, PROD-53, C-32). Private: no path
//! here may be reached from outside the fleet.
//!
//! Answers come from what a task looked up before; no request makes a call, none asks a vendor, and no model makes a worker unready.
//! An address that is taken costs the listener, not the worker: guests come first, and whoever misses the figures sees the line in the log.

mod health;
mod warm;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::get,
};
use seven_runtime::Fleet;
use seven_telemetry::metrics;
use tokio::{net::TcpListener, task::JoinHandle};

use self::health::Health;
use crate::wiring::Worker;

pub use warm::warm_up;

/// Prometheus's text format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The listener and the task that looks after the stores; both end with this.
#[derive(Debug)]
pub struct Ops {
    health: Arc<Health>,
    address: Option<SocketAddr>,
    tasks: Vec<JoinHandle<()>>,
}

impl Ops {
    /// Answers from now on: alive, not ready.
    pub async fn bind(listen: SocketAddr, workers: &[Worker]) -> Self {
        let process = &metrics().process;
        process.build.with_label_values(&[env!("CARGO_PKG_VERSION"), env!("SEVEN_COMMIT")]).set(1);
        for worker in workers {
            process.runs.with_label_values(&[worker.name()]).set(1);
        }
        let health = Arc::new(Health::new(workers.to_vec()));
        let mut ops = Self { health, address: None, tasks: Vec::new() };
        match TcpListener::bind(listen).await {
            Ok(listener) => {
                ops.address = listener.local_addr().ok();
                let served = axum::serve(listener, router(Arc::clone(&ops.health)));
                ops.tasks.push(tokio::spawn(async move { drop(served.await) }));
                tracing::info!(url = ops.url(), "metrics and health");
            }
            Err(error) => {
                tracing::error!(%listen, %error, "no metrics and no health answers from this worker, which works all the same; give it another address (ops.listen, SEVEN_OPS__LISTEN)");
            }
        }
        ops
    }

    /// Where it listens: `http://address`.
    pub fn url(&self) -> Option<String> {
        self.address.map(|address| format!("http://{address}"))
    }

    /// Looks after the fleet's stores until its shutdown.
    pub fn watch(&mut self, fleet: &Fleet) {
        self.tasks.push(tokio::spawn(Arc::clone(&self.health).watch(fleet.clone())));
    }

    /// The workers are at work: ready as soon as their stores are.
    pub fn serving(&self) {
        self.health.serve();
    }
}

impl Drop for Ops {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

fn router(health: Arc<Health>) -> Router {
    Router::new()
        .route("/metrics", get(|| async { ([(CONTENT_TYPE, TEXT)], seven_telemetry::render()) }))
        .route("/health", get(report))
        .route("/health/live", get(|| async { Json(serde_json::json!({ "status": "alive" })) }))
        .route("/health/ready", get(ready))
        .with_state(health)
}

async fn ready(State(health): State<Arc<Health>>) -> Response {
    let (ready, body) = health.ready();
    answer(ready, body)
}

async fn report(State(health): State<Arc<Health>>) -> Response {
    let (well, body) = health.report();
    answer(well, body)
}

fn answer(good: bool, body: serde_json::Value) -> Response {
    let status = if good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}
