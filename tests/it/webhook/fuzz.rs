//! Sends 5,000 events that were changed after signing, and 5,000 events whose structure was changed
//! before signing. Each gets the right answer, and the later stages handle all that ingress
//! accepts. The environment variable `SEVEN_FUZZ_SEED` repeats a run with its printed seed.

mod bend;

use std::{collections::BTreeMap, time::Duration};

use futures::StreamExt as _;
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use seven_carrier_sim::{Fault, Matcher, Plan, Rule};
use seven_domain::Stage;
use seven_settings::Worker;

use super::{
    all_published,
    caller::{Answer, Caller, SIGNATURE, TIMESTAMP},
    dead, front,
};
use crate::harness::{GUEST, House, Wanted, house, until};

const EVENTS: usize = 5_000;
const IN_FLIGHT: usize = 32;

fn random(name: &str) -> StdRng {
    let seed = std::env::var("SEVEN_FUZZ_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(rand::random::<u64>);
    eprintln!("{name}: SEVEN_FUZZ_SEED={seed}");
    StdRng::seed_from_u64(seed)
}

/// An event whose time, signature or body was changed after it was signed; `what` names the change.
struct Bent {
    at: String,
    signature: String,
    body: Vec<u8>,
    what: &'static str,
}

fn bent_after_signing(
    call: &Caller,
    random: &mut StdRng,
    true_ones: &[(String, String, Vec<u8>)],
) -> Bent {
    let (at, signature, body) = &true_ones[random.random_range(0..true_ones.len())];
    loop {
        let mut bent = Bent {
            at: at.clone(),
            signature: signature.clone(),
            body: body.clone(),
            what: "",
        };
        let place = random.random_range(0..body.len());
        bent.what = match random.random_range(0..8) {
            0 => {
                bent.body[place] ^= 1 << random.random_range(0..8);
                "a bit of the body"
            }
            1 => {
                bent.body.remove(place);
                "a byte less"
            }
            2 => {
                bent.body.insert(place, random.random());
                "a byte more"
            }
            3 => {
                bent.body.truncate(place);
                "cut short"
            }
            4 => {
                let other = random.random_range(0..body.len());
                bent.body.swap(place, other);
                "two bytes changed places"
            }
            5 => {
                let near = call.now() + random.random_range(-200..200_i64);
                bent.at = near.to_string();
                "another second of the window"
            }
            6 => {
                let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
                let mut signature = bent.signature.into_bytes();
                let place = random.random_range(0..86);
                signature[place] = alphabet[random.random_range(0..64)];
                bent.signature = String::from_utf8(signature).unwrap();
                "a character of the signature"
            }
            _ => {
                bent.signature
                    .clone_from(&true_ones[random.random_range(0..true_ones.len())].1);
                "another event's signature"
            }
        };
        if (&bent.at, &bent.signature, &bent.body) != (at, signature, body) {
            return bent;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)] // SMS-2, SMS-3
async fn five_thousand_events_bent_after_signing_are_all_refused() {
    let house = house("webhook_bent", front()).await;
    let (call, mut random) = (Caller::of(&house), random("bent after signing"));
    let at = call.now().to_string();
    let true_ones: Vec<_> = (0..50)
        .map(|n| {
            let body = call
                .received(
                    &format!("t{n}"),
                    GUEST,
                    "What restaurants are open tonight?",
                )
                .to_string()
                .into_bytes();
            (at.clone(), call.sign(&at, &body), body)
        })
        .collect();
    let bent: Vec<_> = (0..EVENTS)
        .map(|_| bent_after_signing(&call, &mut random, &true_ones))
        .collect();
    let wrong = Answer::error(401, "Invalid webhook signature");
    let mut answers = futures::stream::iter(&bent)
        .map(async |bent| {
            let answer = call
                .post_with(
                    &call.url,
                    &[(TIMESTAMP, &bent.at), (SIGNATURE, &bent.signature)],
                    &bent.body,
                )
                .await;
            (bent, answer)
        })
        .buffer_unordered(IN_FLIGHT);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    while let Some((bent, answer)) = answers.next().await {
        assert_eq!(
            answer,
            wrong,
            "{}: {}",
            bent.what,
            String::from_utf8_lossy(&bent.body)
        );
        *counts.entry(bent.what).or_default() += 1;
    }
    eprintln!("{counts:?}");
    assert_eq!((counts.len(), counts.values().sum::<usize>()), (8, EVENTS));
    assert_eq!(all_published(&house).await, [0, 0, 0]);
    let (at, signature, body) = &true_ones[0];
    assert_eq!(
        call.post_with(&call.url, &[(TIMESTAMP, at), (SIGNATURE, signature)], body)
            .await,
        Answer::accepted(),
        "unbent it is good"
    );
    house.stop().await;
}

/// Waits until the stages gate and receipts have handled everything that ingress accepted.
async fn digested(house: &House) {
    until(
        "gate and receipts are done",
        Duration::from_secs(60),
        async || {
            for stage in [Stage::Gate, Stage::Receipts] {
                if !house
                    .stack
                    .fleet
                    .bus
                    .lag(stage)
                    .await
                    .unwrap()
                    .iter()
                    .all(|lag| lag.pending == 0 && lag.in_flight == 0)
                {
                    return false;
                }
            }
            true
        },
    )
    .await;
}

// SMS-2, SMS-6: no body causes a 5xx, and no later stage fails on a body that ingress accepted
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_signed_events_of_bent_structure_each_find_their_place() {
    let workers = vec![Worker::IngressWebhook, Worker::Scheduler];
    let mut house = house(
        "webhook_structure",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    // Confirmations and notices are sent, but the carrier sends no receipts for them. Receipts of
    // our own texts would change the counts below.
    let silent = Rule {
        matcher: Matcher::default(),
        fault: Fault::LostReceipt,
        times: None,
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: vec![silent],
            ..Plan::default()
        })
        .unwrap();
    let (call, mut random) = (Caller::of(&house), random("bent structure"));
    let bodies: Vec<_> = (0..EVENTS)
        .map(|n| bend::event(&call, &mut random, n))
        .collect();
    let mut answers = futures::stream::iter(&bodies)
        .map(async |body| (body, call.post(body).await))
        .buffer_unordered(IN_FLIGHT);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    while let Some((body, answer)) = answers.next().await {
        assert_eq!(
            answer.code,
            200,
            "{answer:?}: {}",
            String::from_utf8_lossy(body)
        );
        let what = answer.body["reason"]
            .as_str()
            .unwrap_or_else(|| answer.status());
        *counts.entry(what.to_owned()).or_default() += 1;
    }
    eprintln!("{counts:?}");
    let count = |what: &str| counts.get(what).copied().unwrap_or_default();
    let letters: u64 = [
        "unreadable",
        "unknown_number",
        "number_not_e164",
        "odd_sender",
    ]
    .into_iter()
    .map(|reason| {
        assert!(count(reason) > 0, "{reason} never occurred: {counts:?}");
        count(reason)
    })
    .sum();
    assert!(count("accepted") > 0 && count("ignored") > 0, "{counts:?}");
    assert_eq!(
        count("accepted") + count("ignored") + letters,
        5_000,
        "and no other answer: {counts:?}"
    );

    let [ingress, receipt, buried] = all_published(&house).await;
    assert!(
        ingress > 0 && receipt > 0,
        "texts and receipts both got through"
    );
    assert_eq!(
        (ingress + receipt, buried),
        (count("accepted"), letters),
        "accepted is on the bus, once"
    );
    // The later stages start only after ingress has answered all calls, because in this process
    // they share ingress's connections to Postgres.
    for worker in [Worker::ComplianceGate, Worker::OutboundSender] {
        house.stack.spawn(worker, None).await.unwrap();
    }
    digested(&house).await;
    until(
        "every letter is filed",
        Duration::from_secs(30),
        async || dead(&house).await >= i64::try_from(letters).unwrap(),
    )
    .await;
    assert_eq!(
        house
            .number("select count(*) from dead_letters where stage <> 'ingress'")
            .await,
        0,
        "no stage chokes on what ingress let through"
    );
    assert_eq!(dead(&house).await, i64::try_from(letters).unwrap());
    assert_eq!(
        house.number("select count(*) from inbound_messages").await,
        i64::try_from(ingress).unwrap(),
        "each text is stored"
    );
    assert_eq!(house.number("select count(*) from spool").await, 0);
    house.stop().await;
}
