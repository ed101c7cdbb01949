//! Tests a STOP and a claim at the same moment. The later of the two waits for the commit of the
//! earlier, so no claim commits after the STOP (D6, D7).

use std::{sync::Arc, time::Duration};

use chrono::Utc;
use rand::Rng;
use seven_domain::{MessageClass, OutboundId, Queue};
use seven_settings::Worker;
use seven_store::{consent::method, presend_check::Refusal, suppressions::Word};
use tokio::time::{Instant, sleep};

use super::bench::Bench;
use crate::harness::until;

const WORD: Word<'static> = Word {
    method: method::STOP_KEYWORD,
    provider_knows: true,
};

/// Returns whether a session of this database waits for a lock.
async fn somebody_waits(bench: &Bench) -> bool {
    sqlx::query_scalar(
        "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')",
    )
    .fetch_one(&bench.owner)
    .await
    .unwrap()
}

#[tokio::test] // SMS-16, SEC-12
async fn a_claim_waits_for_a_stop_in_progress_and_then_sees_it() {
    let bench = Arc::new(Bench::new("race_stop_first").await);
    let guest = bench.guest().await;
    let outbound = bench.queue(&guest, MessageClass::Reply).await;
    let mut stop = bench.bind().await;
    stop.stop(&guest.hash, Utc::now(), "event", WORD)
        .await
        .unwrap();
    let claim = tokio::spawn({
        let (bench, check) = (Arc::clone(&bench), bench.check_of(outbound));
        async move {
            let mut tx = bench.bind().await;
            let verdict = tx.presend_check(&check).await.unwrap();
            tx.commit().await.unwrap();
            verdict.err()
        }
    });
    until(
        "the claim waits for the STOP",
        Duration::from_secs(5),
        || somebody_waits(&bench),
    )
    .await;
    assert!(!claim.is_finished(), "the claim did not wait");
    stop.commit().await.unwrap();
    assert_eq!(claim.await.unwrap(), Some(Refusal::Suppressed));
}

#[tokio::test] // SMS-16, SEC-12
async fn a_stop_waits_for_a_claim_in_progress() {
    let bench = Arc::new(Bench::new("race_claim_first").await);
    let guest = bench.guest().await;
    let outbound = bench.queue(&guest, MessageClass::Reply).await;
    let mut claim = bench.bind().await;
    assert!(
        claim
            .presend_check(&bench.check_of(outbound))
            .await
            .unwrap()
            .is_ok()
    );
    let stop = tokio::spawn({
        let (bench, hash) = (Arc::clone(&bench), guest.hash);
        async move {
            let mut tx = bench.bind().await;
            tx.stop(&hash, Utc::now(), "event", WORD).await.unwrap();
            tx.commit().await.unwrap();
        }
    });
    until(
        "the STOP waits for the claim",
        Duration::from_secs(5),
        || somebody_waits(&bench),
    )
    .await;
    assert!(
        !stop.is_finished(),
        "the STOP did not wait: it would have been answered before this send"
    );
    claim.commit().await.unwrap();
    stop.await.unwrap();
}

#[tokio::test] // D16: texts of a casino share a transaction, but not each other's trouble
async fn a_row_that_somebody_holds_delays_its_guest_alone() {
    let bench = Bench::with("race_held", vec![Worker::OutboundSender]).await;
    let (held, free) = (bench.guest().await, bench.guest().await);
    let texts = [
        bench.queue(&held, MessageClass::Reply).await,
        bench.queue(&free, MessageClass::Reply).await,
    ];
    let state = async |text: OutboundId| -> String {
        let query =
            sqlx::query_scalar("select state from outbound_messages where outbound_id = $1");
        query.bind(text.0).fetch_one(&bench.owner).await.unwrap()
    };
    let mut hold = bench.owner.begin().await.unwrap();
    let row = sqlx::query("select 1 from suppressions where phone_hash = $1 for update");
    row.bind(&held.hash.bytes[..])
        .execute(&mut *hold)
        .await
        .unwrap();
    let (bus, casino) = (&bench.house.stack.fleet.bus, bench.house.casino());
    for text in texts {
        bus.signal_outbound(casino, text.0, Queue::Reply, None, "")
            .await
            .unwrap();
    }
    let gone = async |text| ["sent", "delivered"].contains(&state(text).await.as_str());
    until(
        "the other guest's text is sent",
        Duration::from_secs(30),
        || gone(texts[1]),
    )
    .await;
    assert_eq!(state(texts[0]).await, "queued");
    hold.rollback().await.unwrap();
    until(
        "the guest's own text is sent",
        Duration::from_secs(30),
        || gone(texts[0]),
    )
    .await;
    bench.house.stop().await;
}

const ROUNDS: u32 = 150;

/// The times at which a commit began and was done.
struct Committing {
    began: Instant,
    done: Instant,
}

// SMS-16, SEC-12: no claim commits after the STOP committed, and the two never deadlock
#[tokio::test]
async fn claims_and_stops_in_any_order_never_send_after_a_stop() {
    let bench = Arc::new(Bench::new("race_rounds").await);
    let (mut sent, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let guest = bench.guest().await;
        let outbound = bench.queue(&guest, MessageClass::Reply).await;
        let [stop_after, claim_after, hold] =
            std::array::from_fn(|_| Duration::from_micros(rand::rng().random_range(0..3_000)));
        let stop = tokio::spawn({
            let (bench, hash, conversation) =
                (Arc::clone(&bench), guest.hash, guest.party.conversation_id);
            async move {
                sleep(stop_after).await;
                let mut tx = bench.bind().await;
                tx.stop(&hash, Utc::now(), "event", WORD).await.unwrap();
                // Every other round also cancels the text, as the gate does after a STOP.
                if round % 2 == 0 {
                    tx.cancel_unsent(conversation, "guest_opted_out")
                        .await
                        .unwrap();
                }
                commit(tx).await
            }
        });
        let claim = tokio::spawn({
            let (bench, check) = (Arc::clone(&bench), bench.check_of(outbound));
            async move {
                sleep(claim_after).await;
                let mut tx = bench.bind().await;
                let verdict = tx.presend_check(&check).await.unwrap();
                sleep(hold).await;
                (verdict.err(), commit(tx).await)
            }
        });
        let stop = stop.await.unwrap();
        match claim.await.unwrap() {
            (None, claim) => {
                sent += 1;
                assert!(
                    claim.began < stop.done,
                    "round {round}: the claim began to commit {:?} after the STOP was durable",
                    claim.began - stop.done
                );
            }
            (Some(Refusal::Suppressed | Refusal::NotQueued), _) => refused += 1,
            (Some(other), _) => panic!("round {round}: {other:?}"),
        }
    }
    eprintln!("{ROUNDS} rounds: {sent} claims before the STOP, {refused} after it");
    assert!(
        sent > 5 && refused > 5,
        "both orders must occur: {sent} sent, {refused} refused"
    );
}

async fn commit(tx: seven_store::Tx) -> Committing {
    let began = Instant::now();
    tx.commit().await.unwrap();
    Committing {
        began,
        done: Instant::now(),
    }
}
