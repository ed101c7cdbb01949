//! A STOP that comes while many texts wait takes effect at once (D6, D7). After it, only its
//! confirmation is sent. The test prints the times, and the benchmark judges them.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, Utc};
use futures::future::join_all;
use seven_carrier_sim::Text;
use seven_domain::{Channel, MessageClass, PhoneE164};
use seven_store::{
    guests::{GuestLaw, NewIds},
    outbound::{NewOutbound, Origin, Queued},
};
use tokio::time::sleep;

use crate::harness::{House, Wanted, house, until};

const TEXTS: usize = 4;

/// Returns the number of guests: 100, or 500 with `./scripts/test --long`. The effect of STOP is
/// promised for 500 guests.
fn guests() -> usize {
    if std::env::var_os("SEVEN_LONG").is_some() {
        500
    } else {
        100
    }
}

fn phone(n: usize) -> String {
    format!("+1{}55501{:02}", 201 + n / 100, n % 100)
}

async fn queue(house: &House, n: usize) -> Vec<Queued> {
    let fleet = &house.stack.fleet;
    let phone: PhoneE164 = phone(n).parse().unwrap();
    let guest = fleet.keys.hash(house.casino(), &phone);
    let new = NewIds {
        guest: fleet.ids.next(),
        conversation: fleet.ids.next(),
    };
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let number = &house.config.operational.telnyx_phone_number;
    let party = tx
        .party(
            &phone,
            &guest,
            number,
            Channel::Sms,
            new,
            &GuestLaw::default(),
        )
        .await
        .unwrap();
    let mut queued = Vec::new();
    for part in 0..TEXTS {
        let text = NewOutbound::new(
            fleet.ids.next(),
            party.recipient(),
            Origin::Canned {
                inbound: fleet.ids.next(),
                key: "test",
            },
            MessageClass::Reply,
            format!("Text {part} of a long story."),
            Duration::from_secs(1_800),
        );
        queued.extend(tx.queue(&text).await.unwrap());
    }
    tx.commit().await.unwrap();
    queued
}

/// Returns, for each guest, when the STOP was answered 2xx, and how many milliseconds the answer
/// took.
fn answered(house: &House) -> HashMap<String, (DateTime<Utc>, u64)> {
    let inbound = house.stack.sim.ledger().snapshot().inbound;
    let times = inbound.into_iter().filter_map(|text| {
        let attempt = text
            .delivery
            .attempts
            .iter()
            .find(|a| a.status.is_some_and(|s| s < 300))?;
        let at =
            attempt.at + chrono::TimeDelta::milliseconds(i64::try_from(attempt.millis).unwrap());
        Some((text.from, (at, attempt.millis)))
    });
    times.collect()
}

#[tokio::test(flavor = "multi_thread")] // SEC-12, SEC-18, SEC-19, SEC-94
async fn stop_is_effective_while_texts_wait() {
    // The casino sends 25 texts a second, so that texts still wait after the STOPs.
    let mut casino: serde_json::Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
    casino["operational"]["number_kind"] = "long_code".into();
    casino["operational"]["campaign_segments_per_second"] = 25.into();
    let documents = (casino.to_string(), seven_packs::demo::CONTENT.to_owned());
    let house = house(
        "stop_load",
        Wanted {
            casino: Some(documents),
            ..Wanted::default()
        },
    )
    .await;
    let guests = guests();
    let queued: Vec<Queued> = join_all((0..guests).map(|n| queue(&house, n)))
        .await
        .concat();
    assert_eq!(queued.len(), guests * TEXTS);
    let fleet = house.stack.fleet.clone();
    let signals = join_all(
        queued
            .chunks(100)
            .map(|some| fleet.signal_queued(house.casino(), some, None, "")),
    );
    signals
        .await
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    until("texts are leaving", Duration::from_secs(20), || async {
        house.stack.sim.ledger().snapshot().outbound.len() > 5
    })
    .await;
    for n in 0..guests {
        let stop = Text {
            from: phone(n),
            text: Some("STOP".into()),
            ..Text::default()
        };
        house.stack.sim.text(stop).unwrap();
        sleep(Duration::from_millis(40)).await;
    }
    until(
        "every STOP is answered",
        Duration::from_secs(60),
        || async { answered(&house).len() == guests },
    )
    .await;
    until(
        "nothing waits any more",
        Duration::from_secs(120),
        || async {
            house.count("outbound", "queued").await + house.count("outbound", "sending").await == 0
        },
    )
    .await;
    let stops = answered(&house);
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let claims: Vec<(String, DateTime<Utc>)> = sqlx::query_as(
        "select g.phone, a.called_at from send_attempts a join outbound_messages o using (outbound_id) join guests g using (guest_id) where o.class = 'reply'",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    pool.close().await;
    let late: Vec<_> = claims
        .iter()
        .filter(|(phone, claimed)| *claimed > stops[phone].0)
        .collect();
    assert!(
        late.is_empty(),
        "{} claims after the STOP's answer, such as {:?}",
        late.len(),
        late.first()
    );
    let confirmations = house.number(
        "select count(*) from outbound_messages where kind = 'opt_out_confirmation' and state in ('sent', 'delivered')",
    );
    let drained = house
        .number(
            "select count(*) from outbound_messages where class = 'reply' and state = 'suppressed'",
        )
        .await;
    let mut millis: Vec<u64> = stops.values().map(|(_, millis)| *millis).collect();
    millis.sort_unstable();
    eprintln!(
        "STOP under load: webhook to suppression p50 {} ms, p99 {} ms, worst {} ms; {} texts had \
         left, {drained} were drained, {} confirmed",
        millis[guests / 2],
        millis[guests * 99 / 100],
        millis[guests - 1],
        claims.len(),
        confirmations.await,
    );
    assert_eq!(
        i64::try_from(claims.len()).unwrap() + drained,
        i64::try_from(guests * TEXTS).unwrap()
    );
    house.stop().await;
}
