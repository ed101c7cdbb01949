//! `./scripts/dev --break WHAT`: causes a failure while a guest waits for an answer, and counts the
//! texts that the guest got.

use std::{process::Stdio, time::Duration};

use anyhow::{Context, Result, ensure};
use seven::out;
use seven_carrier_sim::{Fault, Matcher, Plan, Rule, Text};
use seven_settings::Worker;
use tokio::{process::Child, time::sleep};

use super::options::Break;
use crate::dev::{Dev, House, house, sent_texts};

const GUEST: &str = "+18605550143";
const QUESTION: &str = "What restaurants are open tonight?";

pub async fn run(dev: &Dev, what: Break) -> Result<()> {
    let workers: Vec<Worker> = Worker::ALL
        .into_iter()
        .filter(|w| what != Break::KillSender || *w != Worker::OutboundSender)
        .collect();
    let house = house(dev, &workers, true).await?;
    let outcome = play(&house, what).await;
    let texts = sent_texts(&house.stack, &house.config.casino_id).await?;
    house.close().await?;
    outcome?;
    for text in &texts {
        out!("  <  {}", text.text);
    }
    let answers = texts.len();
    out!("The carrier was asked to deliver {answers} text(s) for one question.");
    let parts: std::collections::BTreeSet<_> = texts.iter().map(|t| &t.text).collect();
    ensure!(
        (1..=2).contains(&answers) && parts.len() == answers,
        "the promise did not hold: expected one answer, once"
    );
    ensure!(
        texts.iter().all(|t| !t.sources.is_empty()),
        "the promise did not hold: the answer came from no content"
    );
    out!("The promise held: answered once.");
    Ok(())
}

async fn play(house: &House, what: Break) -> Result<()> {
    match what {
        Break::Redis => {
            out!("Killing Redis, then texting: {QUESTION}");
            house.servers.redis.kill()?;
            ask(house)?;
            settle(house).await
        }
        Break::Nats => {
            out!("Killing NATS, then texting: {QUESTION}");
            house.servers.nats.kill()?;
            ask(house)?;
            sleep(Duration::from_secs(3)).await;
            out!("Starting NATS again; the webhook was answered from the spool.");
            house.servers.nats.restart().await?;
            settle(house).await
        }
        Break::Postgres => {
            out!("Killing Postgres, then texting: {QUESTION}");
            house.servers.postgres.kill()?;
            ask(house)?;
            sleep(Duration::from_secs(3)).await;
            out!("Starting Postgres again; the text waited on the bus.");
            house.servers.postgres.restart().await?;
            settle(house).await
        }
        Break::Telnyx429 => {
            out!("The carrier will answer 429 twice. Texting: {QUESTION}");
            let rule = Rule {
                matcher: Matcher::default(),
                fault: Fault::TooManyRequests,
                times: Some(2),
            };
            house.stack.sim.set_rules(Plan {
                rules: vec![rule],
                ..Plan::default()
            })?;
            ask(house)?;
            settle(house).await
        }
        Break::KillSender => kill_sender(house).await,
    }
}

async fn kill_sender(house: &House) -> Result<()> {
    let mut sender = sender_process(house)?;
    sleep(Duration::from_secs(1)).await;
    out!("Texting: {QUESTION}");
    ask(house)?;
    sleep(Duration::from_secs(3)).await;
    out!("Killing the sender (kill -9) while the answer waits out its typing delay.");
    sender.kill().await.context("killing the sender")?;
    sleep(Duration::from_secs(1)).await;
    out!("Starting another sender.");
    let mut second = sender_process(house)?;
    let settled = settle(house).await;
    second.kill().await.context("ending the second sender")?;
    settled
}

fn sender_process(house: &House) -> Result<Child> {
    let program = crate::product()?;
    tokio::process::Command::new(program)
        .args(["run", "outbound-sender", "--config"])
        .arg(&house.stack.config_file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .context("starting a sender")
}

fn ask(house: &House) -> Result<()> {
    house.stack.sim.text(Text {
        from: GUEST.to_owned(),
        text: Some(QUESTION.to_owned()),
        ..Text::default()
    })?;
    Ok(())
}

async fn settle(house: &House) -> Result<()> {
    ensure!(
        house.stack.settled(1, Duration::from_secs(90)).await?,
        "no answer within 90 s; the log says why"
    );
    Ok(())
}
