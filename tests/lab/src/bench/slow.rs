//! Measures how long ingress takes to accept a guest's STOP while strangers send their requests
//! slowly.

use std::{net::SocketAddr, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, stream};
use serde::Serialize;
use seven_carrier_sim::Signer;
use seven_providers::telnyx::signature::{SIGNATURE_HEADER, TIMESTAMP_HEADER};
use seven_settings::{Settings, Worker};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{Instant, interval, sleep},
};

use super::{
    ground::{Ground, Lay, clear},
    ingress::{Call, signed},
    measure::{Percentiles, percentiles},
};
use crate::{processes::Process, stack::SIGNING_SEED};

const SENDERS: usize = 1_800;
const STOPS: usize = 600;
/// Time between two STOPs.
const GAP: Duration = Duration::from_millis(50);
/// Time between two bytes of a slow sender.
const TRICKLE: Duration = Duration::from_secs(1);
const GOAL_MS: f64 = 500.0;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Slow {
    pub(super) senders: usize,
    pub(super) stops: usize,
    /// Milliseconds from the call with a STOP to ingress's 2xx answer, without slow senders.
    pub(super) alone: Percentiles,
    /// Milliseconds from the call with a STOP to ingress's 2xx answer, while slow senders are
    /// connected.
    pub(super) beside: Percentiles,
    pub(super) p99_goal: f64,
}

/// The way in which a slow sender occupies ingress. The sender connects again when ingress closes
/// the connection.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// No signature, and a body that arrives byte by byte.
    Unsigned,
    /// Headers like a provider's, with a forged signature, and a body that arrives byte by byte.
    Forged,
    /// A request head that arrives byte by byte.
    Head,
}

impl Slow {
    pub(super) fn met(&self) -> bool {
        self.beside.p99 < self.p99_goal
    }
}

pub(super) async fn measure(dir: &Path) -> Result<Slow> {
    let lay = Lay {
        casinos: 1,
        as_in_production: false,
        receipts: false,
    };
    let ground = Ground::lay(&dir.join("slow"), lay).await?;
    let mut process = Process::worker(
        Worker::IngressWebhook,
        &ground.config,
        ground.log("ingress"),
    )?;
    let listen = Settings::load(Some(&ground.config))?.ingress.listen;
    while TcpStream::connect(listen).await.is_err() {
        sleep(GAP).await;
    }
    let alone = stops(&ground, listen).await.context("STOPs alone")?;
    let now = ground.stack.fleet.clock.now().timestamp().to_string();
    let mut senders = JoinSet::new();
    for n in 0..SENDERS {
        let kind = [Kind::Unsigned, Kind::Forged, Kind::Head][n % 3];
        senders.spawn(waste(listen, kind, now.clone()));
    }
    // Waits until all slow senders have begun.
    sleep(TRICKLE * 3).await;
    let beside = stops(&ground, listen)
        .await
        .context("STOPs beside slow senders")?;
    senders.shutdown().await;
    process.kill().await;
    let Ground {
        stack,
        servers,
        dir,
        ..
    } = ground;
    stack.stop().await?;
    clear(servers, &dir).await?;
    Ok(Slow {
        senders: SENDERS,
        stops: STOPS,
        alone,
        beside,
        p99_goal: GOAL_MS,
    })
}

/// Sends STOPs at a steady rate, each from a different guest and over its own connection.
async fn stops(ground: &Ground, listen: SocketAddr) -> Result<Percentiles> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .timeout(Duration::from_secs(20));
    let client = client.build()?;
    let signer = Signer::from_seed(&SIGNING_SEED);
    let mut due = interval(GAP);
    let mut calls = Vec::with_capacity(STOPS);
    for n in 0..STOPS {
        due.tick().await;
        let Call {
            body,
            timestamp,
            signature,
        } = signed(&ground.stack.fleet, &signer, n, "STOP");
        let call = client
            .post(format!("http://{listen}/webhooks/telnyx"))
            .body(body);
        let call = call
            .header(SIGNATURE_HEADER, signature)
            .header(TIMESTAMP_HEADER, timestamp);
        calls.push(tokio::spawn(async move {
            let began = Instant::now();
            let good = call
                .send()
                .await
                .is_ok_and(|answer| answer.status().is_success());
            good.then(|| began.elapsed())
        }));
    }
    let took: Vec<_> = stream::iter(calls)
        .then(|call| async { call.await.ok().flatten() })
        .collect()
        .await;
    let good: Vec<Duration> = took.into_iter().flatten().collect();
    ensure!(
        good.len() == STOPS,
        "{} of {STOPS} STOPs were not answered 2xx",
        STOPS - good.len()
    );
    Ok(percentiles(good))
}

async fn waste(listen: SocketAddr, kind: Kind, now: String) {
    loop {
        if let Ok(stream) = TcpStream::connect(listen).await {
            trickle(stream, kind, &now).await.ok();
        }
        sleep(TRICKLE / 10).await;
    }
}

/// Sends one byte at a time until ingress closes the connection.
async fn trickle(mut stream: TcpStream, kind: Kind, now: &str) -> std::io::Result<()> {
    let forged = format!(
        "{TIMESTAMP_HEADER}: {now}\r\n{SIGNATURE_HEADER}: {}==\r\n",
        "A".repeat(86)
    );
    let head = "POST /webhooks/telnyx HTTP/1.1\r\nhost: ingress\r\ncontent-length: 60000\r\n";
    let begun = match kind {
        Kind::Unsigned => format!("{head}\r\n"),
        Kind::Forged => format!("{head}{forged}\r\n"),
        Kind::Head => format!("{head}x-slow: "),
    };
    stream.write_all(begun.as_bytes()).await?;
    let mut answer = [0; 256];
    loop {
        tokio::select! {
            read = stream.read(&mut answer) => {
                if read? == 0 {
                    return Ok(());
                }
            }
            () = sleep(TRICKLE) => stream.write_all(b"x").await?,
        }
    }
}
