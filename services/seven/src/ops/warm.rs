//! Warms up a worker before it reports ready, so that no guest waits for connections and tables
//! that are made at first use. Content is not read here, and no vendor is called.

use std::time::Duration;

use seven_domain::PhoneE164;
use seven_runtime::Fleet;
use seven_settings::Worker;

/// Time limit of the warm-up. After this time the worker begins anyway; `/health/ready` says which
/// store is missing.
const LIMIT: Duration = Duration::from_secs(8);
/// A phone number that is reserved for fiction, to warm up the lookup of area codes.
const NUMBER: &str = "+18605550100";

/// Warms up what the worker needs, for 8 s at most.
pub async fn warm_up(fleet: &Fleet, worker: Worker) {
    let began = tokio::time::Instant::now();
    let warmed = tokio::time::timeout(LIMIT, all(fleet, worker)).await;
    tracing::info!(millis = began.elapsed().as_millis(), "warmed up");
    if warmed.is_err() {
        tracing::error!(
            seconds = LIMIT.as_secs(),
            "warming up took too long; the worker begins without"
        );
    }
}

async fn all(fleet: &Fleet, worker: Worker) {
    let packs = fleet.packs.clone();
    let tables = tokio::task::spawn_blocking(move || {
        // The guardrails' automata take the longest to build, and only the gate uses them.
        if worker == Worker::ComplianceGate {
            for pack in packs.iter() {
                drop(pack.guardrails().decide("hello"));
            }
        }
        if worker == Worker::IngressWebhook {
            std::hint::black_box(seven_compliance::classify("hello"));
        }
        if let Ok(phone) = NUMBER.parse::<PhoneE164>() {
            drop(seven_compliance::jurisdiction::of(&phone, None));
        }
        seven_sms::measure("hello");
    });
    let (postgres, redis, tables) = tokio::join!(fleet.store.ready(), fleet.cache.ready(), tables);
    tracing::debug!(postgres, redis, tables = tables.is_ok(), "what was warmed");
}
