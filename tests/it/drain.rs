//! After SIGTERM a worker finishes or returns its messages and exits with 0 within 10 s (D16).

use std::time::Duration;

use seven_settings::Worker;
use tokio::{process::Child, time::Instant};

use crate::harness::{GUEST, Wanted, house, until};

pub(crate) async fn terminated(mut worker: Child) -> (Duration, Option<i32>) {
    let began = Instant::now();
    // Uses the `kill` that is built into the shell, because a minimal machine has no program of
    // this name.
    let kill = format!("kill -TERM {}", worker.id().unwrap());
    assert!(
        std::process::Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
    let status = tokio::time::timeout(Duration::from_secs(10), worker.wait())
        .await
        .expect("not gone after 10 s")
        .unwrap();
    (began.elapsed(), status.code())
}

#[tokio::test]
async fn a_sender_that_holds_a_typing_delay_hands_it_back() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|w| *w != Worker::OutboundSender)
        .collect();
    let house = house(
        "drain_sender",
        Wanted {
            workers,
            scale: 1.0,
            ..Wanted::default()
        },
    )
    .await;
    let sender = house.process("outbound-sender", None);
    house.text(GUEST, "where is nonna salvia?");
    until(
        "the sender holds the answer",
        Duration::from_secs(15),
        || async {
            let lag = house
                .stack
                .fleet
                .bus
                .lag(seven_domain::Stage::Sender)
                .await
                .unwrap();
            lag.iter().any(|l| l.in_flight > 0)
        },
    )
    .await;
    let (took, code) = terminated(sender).await;
    assert_eq!(code, Some(0), "drained after {took:?}");
    let _heir = house.process("outbound-sender", None);
    house.settle(1).await;
    let answers = house
        .texts_to(GUEST)
        .iter()
        .filter(|t| t.contains("Nonna Salvia"))
        .count();
    assert_eq!(answers, 1, "{:?}", house.texts_to(GUEST));
    house.stop().await;
}

#[tokio::test]
async fn every_worker_exits_zero_when_told_to_stop() {
    let house = house(
        "drain_all",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let names = [
        "ingress-webhook",
        "compliance-gate",
        "agent-swarm",
        "persona-envelope",
        "outbound-sender",
        "scheduler",
    ];
    let workers = names.map(|name| (name, house.process(name, None)));
    house.ingress_up().await;
    house.text(GUEST, "where is nonna salvia?");
    house.settle(1).await;
    for (name, worker) in workers {
        let (took, code) = terminated(worker).await;
        assert_eq!(code, Some(0), "{name} after {took:?}");
    }
    house.stop().await;
}
