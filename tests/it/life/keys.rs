//! A worker does not start if its guest-hash key matches no stored guest. With such a key it would
//! not find the guests' opt-outs either (docs/rotation.md).

use std::{process::Stdio, time::Duration};

use seven_settings::Worker;

use crate::{
    drain::terminated,
    harness::{GUEST, House, Wanted, house, until},
};

const GATE: &str = "compliance-gate";

/// Runs a gate with this setting, asserts that it exits with code 1, and returns its stderr.
async fn refused(house: &House, setting: (&str, &str)) -> String {
    let gate = house.process_with(&[GATE], &[setting], Stdio::piped());
    let output = tokio::time::timeout(Duration::from_secs(60), gate.wait_with_output())
        .await
        .expect("it runs")
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test] // SEC-131
async fn a_worker_with_another_guest_hash_key_does_not_start() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::ComplianceGate)
        .collect();
    let house = house(
        "hash_key",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    let another = (
        "SEVEN_GUEST_HASH__SECRET",
        "another secret of this fleet, of 32 characters",
    );
    // Before any guest is stored, any key is accepted.
    let gate = house.process_with(&[GATE], &[another], Stdio::null());
    until("it works", Duration::from_secs(30), || async {
        house
            .number("select count(*) from workers where worker = 'compliance-gate'")
            .await
            == 1
    })
    .await;
    assert_eq!(terminated(gate).await.1, Some(0));

    let gate = house.process(GATE, None);
    house.text(GUEST, "STOP");
    house.settle(1).await;
    assert_eq!(terminated(gate).await.1, Some(0));
    let said = refused(&house, another).await;
    assert!(
        said.contains("guest_hash.secret is not the one")
            && said.contains("no opt-out would be found"),
        "{said}"
    );
    let said = refused(&house, ("SEVEN_GUEST_HASH__ID", "2")).await;
    assert!(
        said.contains("guest_hash.id is not that of the key") && said.contains("which is 1"),
        "{said}"
    );
    let gate = house.process(GATE, None);
    house.text("+18605550143", "where is nonna salvia?");
    house.settle(2).await;
    assert_eq!(terminated(gate).await.1, Some(0));
    house.stop().await;
}
