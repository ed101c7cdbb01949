//! Measures how rates, latency and memory change with more casinos and with more stored guests.

use std::path::Path;

use anyhow::{Context, Result};
use secrecy::ExposeSecret;
use serde::Serialize;
use seven::out;
use tokio::time::Instant;

use super::{
    ground::{Ground, Lay, casino_number},
    measure::Percentiles,
    options::Bench,
    pipeline::{Running, fleet_processes},
};

const CASINOS: [usize; 4] = [1, 10, 100, 500];
const GUESTS: [usize; 3] = [1_000, 100_000, 1_000_000];
/// Texts per second of each latency run. The rate is the same for all, so that the results are
/// comparable.
const RATE: f64 = 40.0;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Growth {
    pub(super) casinos: Vec<Point>,
    pub(super) guests: Vec<Point>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Point {
    pub(super) casinos: usize,
    /// Guests stored before the measurement's first text.
    pub(super) guests: usize,
    /// Answers per second when the guests write to all casinos in turn.
    pub(super) per_second: f64,
    /// Answers per second when all guests write to one casino.
    pub(super) per_second_at_one: f64,
    /// Latency at [`RATE`] texts a second.
    pub(super) at_rate: Percentiles,
    /// Seconds from the start of the processes to the first answer.
    pub(super) seconds_to_first_answer: f64,
    /// Resident memory of our processes together after the first answer, in bytes.
    pub(super) resident: u64,
    /// Resident memory that each casino beyond the first adds, in bytes; `None` for a point with
    /// one casino.
    pub(super) resident_per_casino: Option<u64>,
    pub(super) resident_nats: u64,
    pub(super) resident_postgres: u64,
}

pub(super) async fn measure(dir: &Path, bench: &Bench) -> Result<Growth> {
    let mut casinos: Vec<Point> = Vec::new();
    for count in CASINOS {
        out!("growth: {count} casinos");
        let dir = dir.join(format!("casinos-{count}"));
        let mut point = Box::pin(point(&dir, bench, count, 0))
            .await
            .with_context(|| format!("{count} casinos"))?;
        if let Some(one) = casinos.first() {
            let more = point.resident.saturating_sub(one.resident);
            point.resident_per_casino = Some(more / (count as u64 - 1));
        }
        casinos.push(point);
    }
    let mut guests = Vec::new();
    for count in GUESTS {
        out!("growth: {count} stored guests");
        let dir = dir.join(format!("guests-{count}"));
        guests.push(
            Box::pin(point(&dir, bench, 1, count))
                .await
                .with_context(|| format!("{count} guests"))?,
        );
    }
    Ok(Growth { casinos, guests })
}

async fn point(dir: &Path, bench: &Bench, casinos: usize, guests: usize) -> Result<Point> {
    let ground = Ground::lay(
        dir,
        Lay {
            casinos,
            as_in_production: false,
            receipts: false,
        },
    )
    .await?;
    if guests > 0 {
        store_guests(&ground, guests).await?;
    }
    let bench = Bench {
        casinos,
        ..bench.clone()
    };
    let started = Instant::now();
    let processes = fleet_processes(&ground)?;
    let running = Running { ground, processes };
    running.first_answer().await?;
    let seconds_to_first_answer = started.elapsed().as_secs_f64();
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    let rest = running.taken();
    let servers = ["nats", "redis", "postgres", "load and carrier"];
    let resident = rest
        .iter()
        .filter(|(name, _)| !servers.contains(&name.as_str()))
        .map(|(_, t)| t.resident_bytes)
        .sum();
    let of = |name: &str| rest.get(name).map_or(0, |taken| taken.resident_bytes);
    let (resident_nats, resident_postgres) = (of("nats"), of("postgres"));
    running.introduce(&bench).await?;
    let (all, _) = running.saturate(&bench).await?;
    let one = Bench {
        casinos: 1,
        ..bench
    };
    // With several casinos, some guests have not written to the first casino yet. Each guest writes
    // to it once here, so that the measurement contains no first contact.
    running.introduce(&one).await?;
    let (at_one, _) = running.saturate(&one).await?;
    let at_rate = running.at(&one, RATE).await?.from_accepted;
    running.end().await?;
    Ok(Point {
        casinos,
        guests,
        per_second: all.per_second,
        per_second_at_one: at_one.per_second,
        at_rate,
        seconds_to_first_answer,
        resident,
        resident_per_casino: None,
        resident_nats,
        resident_postgres,
    })
}

/// Returns the outer and the inner padded key of HMAC in hex (RFC 2104). Postgres needs both to
/// hash phone numbers as the fleet does.
fn blocks(secret: &str) -> [String; 2] {
    [0x5c, 0x36].map(|pad| {
        let mut block = [pad; 64];
        block
            .iter_mut()
            .zip(secret.bytes())
            .for_each(|(at, byte)| *at = byte ^ pad);
        hex::encode(block)
    })
}

/// Stores guests of the first casino who each wrote twice and were answered. They only fill the
/// tables; the measurements use other guests.
pub(super) async fn store_guests(ground: &Ground, count: usize) -> Result<()> {
    let casino = ground
        .casinos
        .first()
        .context("a ground without a casino")?;
    let number = casino_number(0);
    let key = ground.stack.settings.hash_key()?;
    let [outer, inner] = blocks(key.secret.expose_secret());
    ground
        .sql(&format!(
            "set session_replication_role = replica; \
             create temporary table stored as select n, gen_random_uuid() as guest, gen_random_uuid() as conversation, \
               sha256('\\x{outer}'::bytea || sha256('\\x{inner}'::bytea || convert_to('{casino}|+1' || (3000000000 + n), 'UTF8'))) as hash \
               from generate_series(1, {count}) as n; \
             insert into guests (casino_id, guest_id, phone, key_id, phone_hash, language, disclosed_at) \
               select '{casino}', guest, '+1' || (3000000000 + n), 1, hash, 'en', now() from stored; \
             insert into conversations (casino_id, conversation_id, guest_id, casino_number) \
               select '{casino}', conversation, guest, '{number}' from stored; \
             insert into suppressions (casino_id, key_id, phone_hash, state, as_of, event_id) \
               select '{casino}', 1, hash, 'clear', now(), 'stored' from stored; \
             insert into inbound_messages (casino_id, inbound_id, conversation_id, guest_id, provider, provider_message_id, \
               event_id, body, occurred_at, received_at, verdict, disposition, closed_at, next_sweep_at, trace) \
               select '{casino}', gen_random_uuid(), conversation, guest, 'telnyx', gen_random_uuid()::text, 'stored', \
               'when does the pool open?', now(), now(), 'pass', 'answered', now(), now(), '' \
               from stored, generate_series(1, 2); \
             analyze guests; analyze conversations; analyze suppressions; analyze inbound_messages"
        ))
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use seven_domain::{HashKey, HashKeys};
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn stored_guests_are_hashed_as_the_fleet_does() {
        let secret = "development only: hashes of guests on this machine";
        let [outer, inner] = blocks(secret).map(|block| hex::decode(block).unwrap());
        let within = Sha256::digest([&inner[..], b"bench_0|+13000000001"].concat());
        let hash = Sha256::digest([&outer[..], &within[..]].concat());
        let keys = HashKeys::new(HashKey {
            id: 1,
            secret: secret.into(),
        });
        let ours = keys.hash(
            &"bench_0".parse().unwrap(),
            &"+13000000001".parse().unwrap(),
        );
        assert_eq!(hash[..], ours.bytes);
    }
}
