//! Measures how many signed webhooks ingress alone accepts, compared with a server that only
//! verifies signatures and publishes.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, ensure};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use futures::{StreamExt, stream};
use serde::Serialize;
use serde_json::json;
use seven_bus::{Outgoing, subject};
use seven_carrier_sim::{Delivery, Inbound, Signer};
use seven_domain::Stage;
use seven_providers::telnyx::signature::{SIGNATURE_HEADER, TIMESTAMP_HEADER, Verifier};
use seven_runtime::Fleet;
use seven_settings::{Settings, Worker};
use tokio::time::{Instant, sleep};

use super::ground::{Ground, Lay, casino_number, clear};
use crate::{processes::Process, stack::SIGNING_SEED};

/// Concurrent webhook calls.
const CALLERS: usize = 64;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Ingress {
    /// Webhooks answered 2xx per second.
    pub(super) per_second: f64,
    /// Webhooks per second of a server that only verifies the signature and publishes durably.
    pub(super) limit_per_second: f64,
    pub(super) ratio: f64,
}

/// A webhook call that is signed before the timing starts.
pub(super) struct Call {
    pub(super) body: Bytes,
    pub(super) timestamp: String,
    pub(super) signature: String,
}

pub(super) async fn measure(dir: &std::path::Path, webhooks: usize) -> Result<Ingress> {
    let lay = Lay {
        casinos: 1,
        as_in_production: false,
        receipts: false,
    };
    let mut best = [0.0f64; 2];
    // Measures the two servers alternately, twice each, so that other load on the machine affects
    // both alike.
    for round in 0..4 {
        let ground = Ground::lay(&dir.join(format!("ingress-{round}")), lay).await?;
        let config = ground.config.to_string_lossy().into_owned();
        let mut process = match round % 2 {
            0 => Process::worker(
                Worker::IngressWebhook,
                &ground.config,
                ground.log("ingress"),
            )?,
            _ => Process::tool(
                &["bench", "relay", "verify", "--config", &config],
                ground.log("verify"),
            )?,
        };
        let url = Settings::load(Some(&ground.config))?
            .ingress
            .listen
            .to_string();
        let url = format!("http://{url}/webhooks/telnyx");
        call_all(&ground.stack.fleet, &url, CALLERS * 4).await?;
        let per_second = call_all(&ground.stack.fleet, &url, webhooks).await?;
        best[round % 2] = best[round % 2].max(per_second);
        process.kill().await;
        let Ground {
            stack,
            servers,
            dir,
            ..
        } = ground;
        stack.stop().await?;
        clear(servers, &dir).await?;
    }
    let [per_second, limit_per_second] = best;
    Ok(Ingress {
        per_second,
        limit_per_second,
        ratio: per_second / limit_per_second,
    })
}

async fn call_all(fleet: &Fleet, url: &str, count: usize) -> Result<f64> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(5))
        .build()?;
    while client.post(url).send().await.is_err() {
        sleep(Duration::from_millis(50)).await;
    }
    let signer = Signer::from_seed(&SIGNING_SEED);
    let calls: Vec<Call> = (0..count)
        .map(|n| signed(fleet, &signer, n, "when does the pool open?"))
        .collect();
    let began = Instant::now();
    let answers = stream::iter(calls).map(|call| {
        let request = client
            .post(url)
            .header(SIGNATURE_HEADER, call.signature)
            .header(TIMESTAMP_HEADER, call.timestamp);
        async move {
            request
                .body(call.body)
                .send()
                .await
                .is_ok_and(|answer| answer.status().is_success())
        }
    });
    let good = answers
        .buffer_unordered(CALLERS)
        .filter(|good| futures::future::ready(*good))
        .count()
        .await;
    ensure!(
        good == count,
        "{} of {count} webhooks were not answered 2xx",
        count - good
    );
    Ok(count as f64 / began.elapsed().as_secs_f64())
}

/// Returns a signed webhook call that delivers the text `words` from guest `n`.
pub(super) fn signed(fleet: &Fleet, signer: &Signer, n: usize, words: &str) -> Call {
    let now = fleet.clock.now();
    let id = || fleet.ids.uuid();
    let text = Inbound {
        provider: "telnyx".to_owned(),
        event_id: id().to_string(),
        message_id: id().to_string(),
        from: format!("+1203555{:04}", n % 10_000),
        to: casino_number(0),
        text: Some(words.to_owned()),
        media: Vec::new(),
        encoding: "GSM-7".to_owned(),
        parts: 1,
        occurred_at: now,
        at: now,
        autoresponse_type: None,
        delivery: Delivery::new(id(), Vec::new()),
    };
    let data = json!({
        "event_type": "message.received", "id": text.event_id, "occurred_at": now,
        "payload": text.payload(),
        "record_type": "event",
    });
    let body = json!({ "data": data, "meta": { "attempt": 1, "delivered_to": "" } }).to_string();
    let timestamp = now.timestamp().to_string();
    Call {
        signature: signer.sign(&timestamp, body.as_bytes()),
        timestamp,
        body: body.into(),
    }
}

#[derive(Debug)]
struct Bare {
    fleet: Fleet,
    verifier: Verifier,
}

/// Runs the server with which ingress is compared: it only verifies signatures and publishes
/// durably.
pub(super) async fn bare(fleet: Fleet, settings: &Settings) -> Result<()> {
    let listener = tokio::net::TcpListener::bind(settings.ingress.listen)
        .await
        .context("listening for webhooks")?;
    let bare = Bare {
        fleet,
        verifier: Verifier::new(&settings.telnyx.public_keys)?,
    };
    let app = Router::new()
        .route("/webhooks/telnyx", post(take))
        .with_state(Arc::new(bare));
    axum::serve(listener, app).await.context("serving")
}

async fn take(State(bare): State<Arc<Bare>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let now = bare.fleet.clock.now().timestamp();
    if bare
        .verifier
        .verify(
            header(TIMESTAMP_HEADER),
            header(SIGNATURE_HEADER),
            &body,
            now,
        )
        .is_err()
    {
        return StatusCode::FORBIDDEN;
    }
    let Some(casino) = bare.fleet.roster.serving().pop() else {
        return StatusCode::SERVICE_UNAVAILABLE;
    };
    let key = bare.fleet.ids.uuid().to_string();
    let message = Outgoing {
        subject: subject(Stage::Gate, &casino, None),
        key: &key,
        copy: None,
        trace: "",
        payload: body,
    };
    match bare
        .fleet
        .bus
        .publish(&message, Duration::from_secs(2))
        .await
    {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}
