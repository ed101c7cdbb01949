//! The operations listener of a process: `/metrics`, `/health`, `/health/live`, `/health/ready`.
//! It is private: no path here may be reachable from outside the fleet.
//!
//! Answers come from the last background check: a request here asks no store and no vendor. A model
//! never makes a worker unready. If the address is already in use, the worker logs an error and
//! runs without the listener, because serving guests matters more.

mod health;
mod warm;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Json, Router,
    extract::State,
    http::{
        HeaderMap, StatusCode,
        header::{ACCEPT, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
    routing::get,
};
use seven_runtime::Fleet;
use seven_settings::Worker;
use seven_telemetry::metrics;
use tokio::{net::TcpListener, task::JoinHandle};

use self::health::Health;

pub use warm::warm_up;

/// Content type of Prometheus's text format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Content type of OpenMetrics, the format that can carry trace ids.
const OPEN: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The listener and the task that checks the stores; dropping this ends both.
#[derive(Debug)]
pub struct Ops {
    health: Arc<Health>,
    address: Option<SocketAddr>,
    tasks: Vec<JoinHandle<()>>,
}

impl Ops {
    /// Binds the listener. From then on the process answers as alive but not ready.
    pub async fn bind(listen: SocketAddr, workers: &[Worker]) -> Self {
        let process = &metrics().process;
        process
            .build
            .with_label_values(&[env!("CARGO_PKG_VERSION"), env!("SEVEN_COMMIT")])
            .set(1);
        for worker in workers {
            process.runs.with_label_values(&[worker.name()]).set(1);
        }
        let health = Arc::new(Health::new(workers.to_vec()));
        let mut ops = Self {
            health,
            address: None,
            tasks: Vec::new(),
        };
        match TcpListener::bind(listen).await {
            Ok(listener) => {
                ops.address = listener.local_addr().ok();
                let served = axum::serve(listener, router(Arc::clone(&ops.health)));
                ops.tasks
                    .push(tokio::spawn(async move { drop(served.await) }));
                tracing::info!(url = ops.url(), "metrics and health");
            }
            Err(error) => {
                tracing::error!(
                    %listen,
                    %error,
                    "no metrics and no health answers from this worker, which works all the same; give it another address (ops.listen, SEVEN_OPS__LISTEN)"
                );
            }
        }
        ops
    }

    /// Returns the listener's URL, `http://address`.
    pub fn url(&self) -> Option<String> {
        self.address.map(|address| format!("http://{address}"))
    }

    /// Starts checking the fleet's stores, until the fleet's shutdown.
    pub fn watch(&mut self, fleet: &Fleet) {
        self.tasks
            .push(tokio::spawn(Arc::clone(&self.health).watch(fleet.clone())));
    }

    /// Marks the workers as serving: the process is ready as soon as its stores answer.
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
        .route("/metrics", get(figures))
        .route("/health", get(report))
        .route(
            "/health/live",
            get(|| async { Json(serde_json::json!({ "status": "alive" })) }),
        )
        .route("/health/ready", get(ready))
        .with_state(health)
}

async fn figures(headers: HeaderMap) -> Response {
    let accept = headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or_default();
    if prefers_open(accept) {
        return ([(CONTENT_TYPE, OPEN)], seven_telemetry::render_open()).into_response();
    }
    ([(CONTENT_TYPE, TEXT)], seven_telemetry::render()).into_response()
}

/// Returns whether this `Accept` header prefers `OpenMetrics` to plain text.
fn prefers_open(accept: &str) -> bool {
    let quality = |wanted: &str| {
        let asked = accept.split(',').filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let named = parts.next()?.eq_ignore_ascii_case(wanted);
            let quality = parts
                .find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok())
                .unwrap_or(1.0);
            named.then_some(quality)
        });
        asked.fold(0.0, f32::max)
    };
    let open = quality("application/openmetrics-text");
    open > 0.0 && open >= quality("text/plain")
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
    let status = if good {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // OBS-28
    fn openmetrics_is_for_who_asks_for_it() {
        for (accept, open) in [
            ("application/openmetrics-text", true),
            // The headers that Prometheus 2 and 3 send.
            (
                "application/openmetrics-text;version=1.0.0;q=0.75,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1",
                true,
            ),
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6, text/plain;version=0.0.4;q=0.3",
                true,
            ),
            ("text/plain;version=0.0.4", false),
            ("application/openmetrics-text;q=0.1,text/plain", false),
            ("application/openmetrics-text;q=0", false),
            ("text/html,*/*;q=0.8", false),
            ("", false),
        ] {
            assert_eq!(prefers_open(accept), open, "{accept}");
        }
    }
}
