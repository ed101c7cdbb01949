//! The interactive run. Prints the addresses of all pages and folders, then runs a handset in the
//! terminal and serves handsets to the browser.

use std::{io::IsTerminal, time::Instant};

use anyhow::Result;
use seven::out;
use seven_carrier_sim::{Entry, Text};
use seven_settings::Worker;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::{House, console, house, observe, options::Dev};
use crate::dev::sent_texts;

const GUEST: &str = "+18605550142";
/// Guest of the second handset.
const OTHER_GUEST: &str = "+12035550117";
const SUGGESTIONS: [&str; 3] = [
    "What restaurants are open tonight?",
    "¿A qué hora abre el spa?",
    "Any shows this weekend?",
];

pub(super) async fn run(dev: &Dev) -> Result<()> {
    let started = Instant::now();
    let workers = [&Worker::ALL[..], &[Worker::Console, Worker::WebGateway]].concat();
    let house = house(dev, &workers, false).await?;
    let password = console::password(&house.stack).await?;
    let prometheus = match (&dev.observe, &house.stack.ops_url) {
        (Some(rules), Some(ops)) => Some(observe::start(rules, &house.dir, ops).await?),
        _ => None,
    };
    welcome(&house, started, prometheus.as_ref(), &password)?;
    let talked = tokio::select! {
        talked = talk(&house) => talked,
        _ = tokio::signal::ctrl_c() => Ok(()),
        () = terminated() => Ok(()),
    };
    out!("Stopping.");
    drop(prometheus);
    house.close().await?;
    talked
}

fn welcome(
    house: &House,
    started: Instant,
    prometheus: Option<&observe::Prometheus>,
    password: &str,
) -> Result<()> {
    let stack = &house.stack;
    out!(
        "{} is up after {:.1} s: {}.",
        house.config.prompts.casino_name_display,
        started.elapsed().as_secs_f64(),
        fleet_line()
    );
    out!(
        "It talks to the carrier simulator on this machine; a real carrier is refused until \
         helplines and sending laws are verified."
    );
    out!();
    out!(
        "  Handset    {}/#{GUEST}   of guest {GUEST} (or type here)",
        stack.sim.url()
    );
    out!(
        "  Another    {}/#{OTHER_GUEST}   of guest {OTHER_GUEST}, for a second tab",
        stack.sim.url()
    );
    out!(
        "  Console    {}   log in as {} with {password}",
        stack.console_url.as_deref().unwrap_or("(none)"),
        console::EMAIL
    );
    out!(
        "  Website    {}   the casino's chat",
        stack.web_urls.first().map_or("(none)", String::as_str)
    );
    out!(
        "  Status     ./target/debug/seven status   and {}/metrics",
        stack.ops_url.as_deref().unwrap_or("(none)")
    );
    if let Some(prometheus) = prometheus {
        out!(
            "  Prometheus {}   (alerts: {0}/api/v1/alerts)",
            prometheus.url
        );
    }
    out!("  Log        {}", house.dir.join("seven.log").display());
    let model = &stack.settings.model;
    if model.is_hosted() {
        out!(
            "  Model      {}; ./target/debug/seven model check   tries it",
            model.name
        );
    }
    out!("  Try        text STOP to see it stop");
    out!(
        "  Data       {} and Postgres in {}",
        house.dir.display(),
        house.servers.postgres.data_dir()?.display()
    );
    out!("  Leave      Ctrl-C (or Ctrl-D); the data stays for the next start");
    Ok(())
}

fn fleet_line() -> &'static str {
    "ingress, gate, swarm, envelope, sender, scheduler, console and web gateway"
}

async fn talk(house: &House) -> Result<()> {
    if !std::io::stdin().is_terminal() {
        return std::future::pending().await;
    }
    out!();
    for (n, text) in (1..).zip(SUGGESTIONS) {
        out!("  {n}  {text}");
    }
    out!();
    let mut typed = BufReader::new(tokio::io::stdin()).lines();
    let mut news = house.stack.sim.ledger().subscribe();
    loop {
        tokio::select! {
            line = typed.next_line() => match line? {
                None => return Ok(()),
                Some(line) => send(house, line.trim())?,
            },
            news = news.recv() => match news {
                Ok(news) if news.guest == GUEST && matches!(
                    &news.entry,
                    Entry::Status { status, .. } if status == "sent"
                ) => show(house).await?,
                Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
                Err(tokio::sync::broadcast::error::RecvError::Closed) => return Ok(()),
            },
        }
    }
}

fn send(house: &House, line: &str) -> Result<()> {
    let text = match line {
        "" => return Ok(()),
        "1" | "2" | "3" => SUGGESTIONS[usize::from(line.as_bytes()[0] - b'1')],
        other => other,
    };
    house.stack.sim.text(Text {
        from: GUEST.to_owned(),
        text: Some(text.to_owned()),
        ..Text::default()
    })?;
    Ok(())
}

/// Prints the newest text to our guest, with its delay, size and path.
async fn show(house: &House) -> Result<()> {
    let texts = sent_texts(&house.stack, &house.config.casino_id).await?;
    if let Some(text) = texts.iter().rev().find(|t| t.to == GUEST) {
        let path = if text.agent == "gate" {
            "ingress > gate > sender".to_owned()
        } else {
            format!(
                "ingress > gate > swarm ({}) > envelope > sender",
                text.agent
            )
        };
        out!("  <  {}", text.text);
        out!(
            "     {:.1} s, {} segment(s) {}, {path}",
            text.elapsed_ms as f64 / 1000.0,
            text.segments,
            text.encoding
        );
    }
    Ok(())
}

async fn terminated() {
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}
