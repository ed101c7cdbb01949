//! `./scripts/dev --doctor`: checks this machine and runs no fleet. Each server is found, started
//! on a free port, and stopped after it has answered.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use seven::out;
use seven_testkit::{Nats, Postgres, Redis, Scratch};

pub(super) async fn run() -> Result<()> {
    let scratch = Scratch::new("doctor")?;
    let mut failed = 0;
    failed += report(
        "nats-server 2.12.3 or newer",
        Box::pin(check_nats(&scratch)),
    )
    .await;
    failed += report("redis-server", check_redis(&scratch)).await;
    failed += report("postgres", check_postgres(&scratch)).await;
    ensure!(
        failed == 0,
        "{failed} check(s) failed; `./scripts/dev` installs what is missing"
    );
    out!("Everything seven dev needs is here.");
    Ok(())
}

async fn report(what: &str, check: impl Future<Output = Result<String>>) -> u32 {
    let started = Instant::now();
    match check.await {
        Ok(found) => {
            out!(
                "ok    {what}: {found} ({:.1} s)",
                started.elapsed().as_secs_f64()
            );
            0
        }
        Err(error) => {
            out!("FAIL  {what}: {error:#}");
            1
        }
    }
}

async fn check_nats(scratch: &Scratch) -> Result<String> {
    let server = Nats::start(&scratch.path().join("nats")).await?;
    let limits = seven_bus::topology::Limits::default();
    let bus = seven_bus::Bus::connect(&seven_bus::Settings {
        url: server.url(),
        access: seven_bus::Access::default(),
        limits,
        instance: "doctor".into(),
    })
    .await?;
    bus.ensure_streams().await.context("creating streams")?;
    server.stop().await?;
    Ok("starts, keeps streams, stops".into())
}

async fn check_redis(scratch: &Scratch) -> Result<String> {
    let server = Redis::start(&scratch.path().join("redis")).await?;
    server.stop().await?;
    Ok("starts, answers, stops".into())
}

async fn check_postgres(scratch: &Scratch) -> Result<String> {
    let server = Postgres::start(&scratch.path().join("postgres"), true).await?;
    let url = server.create_database("doctor", None).await?;
    seven_store::Store::migrate(&url.into()).await?;
    server.stop().await?;
    Ok("starts, takes the migrations, stops".into())
}
