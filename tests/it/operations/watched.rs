//! The scheduler's checks skip casinos that need no check (D13). One check looks at casinos that
//! sent texts recently. Another looks at casinos with a row that failed for good. A third looks at
//! casinos that were not compared with the provider's records recently.

use std::time::Duration;

use seven_domain::CasinoId;
use seven_settings::Worker;
use seven_store::{Store, SweepPlan};

use super::{BRIEF, OTHER};
use crate::harness::{GUEST, Wanted, house, until};

const HOUR: Duration = Duration::from_secs(3_600);

#[tokio::test] // SEC-94, SMS-52, D5, D17
async fn a_watch_looks_at_casinos_where_something_happened() {
    // The house has no scheduler, because the scheduler would resolve the alert and file letters.
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::Scheduler)
        .collect();
    let house = house(
        "watched",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    house.add_other().await;
    let store = &house.stack.fleet.store;
    let (here, other) = (house.casino().clone(), CasinoId::trusted(OTHER).unwrap());
    assert_eq!(
        store.sending_or_alerted(HOUR, &[]).await.unwrap(),
        [],
        "nobody wrote yet"
    );
    house.text(GUEST, BRIEF);
    house.settle(1).await;
    assert_eq!(
        store.sending_or_alerted(HOUR, &[]).await.unwrap(),
        std::slice::from_ref(&here)
    );
    house
        .as_owner("update send_attempts set started_at = started_at - interval '2 hours'")
        .await;
    assert_eq!(
        store.sending_or_alerted(HOUR, &[]).await.unwrap(),
        std::slice::from_ref(&here),
        "found out about just now"
    );
    house.as_owner("set session_replication_role = replica; update outbound_messages set sent_at = sent_at - interval '2 hours'").await;
    assert_eq!(store.sending_or_alerted(HOUR, &[]).await.unwrap(), []);
    assert_eq!(
        store.sending_or_alerted(3 * HOUR, &[]).await.unwrap(),
        std::slice::from_ref(&here)
    );

    let alert = "insert into alerts (alert_id, key, name, casino_id, severity, summary, standing) values (gen_random_uuid(), 'k', 'carrier_block', 'amber_lake', 'critical', 's', true)";
    house.as_owner(alert).await;
    assert_eq!(
        store
            .sending_or_alerted(HOUR, &["carrier_block"])
            .await
            .unwrap(),
        std::slice::from_ref(&other)
    );
    assert_eq!(
        store.sending_or_alerted(HOUR, &["another"]).await.unwrap(),
        []
    );
    house
        .as_owner("update alerts set resolved_at = now()")
        .await;
    assert_eq!(
        store
            .sending_or_alerted(HOUR, &["carrier_block"])
            .await
            .unwrap(),
        []
    );

    assert_eq!(store.with_dead_rows().await.unwrap(), []);
    for (died, ended) in [
        (
            "update inbound_messages set disposition = 'parked', closed_at = now()",
            "closed_at",
        ),
        (
            "update turns set state = 'parked', created_at = now()",
            "created_at",
        ),
        (
            "update outbound_messages set state = 'failed', ended_at = now()",
            "ended_at",
        ),
    ] {
        let table = died.split(' ').nth(1).unwrap();
        // Switches off the triggers that restrict changes of state, which are not tested here.
        house
            .as_owner(&format!("set session_replication_role = replica; {died}"))
            .await;
        assert_eq!(
            store.with_dead_rows().await.unwrap(),
            std::slice::from_ref(&here),
            "{table}"
        );
        let back = format!(
            "set session_replication_role = replica; update {table} set {ended} = now() - interval '4 days'"
        );
        house.as_owner(&back).await;
        assert_eq!(
            store.with_dead_rows().await.unwrap(),
            [],
            "{table}, too long ago"
        );
    }

    let claims = "insert into reconciliations (casino_id, provider, claimed_at) values ('amber_lake', 'stranger', now() - interval '10 minutes')";
    house.as_owner(claims).await;
    assert_eq!(
        store.unreconciled("stranger", HOUR).await.unwrap(),
        [here.clone()].into()
    );
    assert_eq!(
        store.unreconciled("stranger", HOUR / 10).await.unwrap(),
        [here, other].into()
    );
    house.stop().await;
}

#[tokio::test] // D3, D23
async fn what_waits_after_a_store_was_away_is_swept_at_once() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::Scheduler)
        .collect();
    let house = house(
        "hastened",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, BRIEF);
    house.settle(1).await;
    // `hasten` considers only rows whose next sweep comes within `base`. An hour is so long that
    // the test's result does not depend on the speed of the machine.
    let plan = SweepPlan {
        base: HOUR,
        longest: HOUR,
    };
    let store = Store::new(&house.stack.settings.postgres.url, 1, plan).unwrap();
    assert_eq!(
        store.hasten(Duration::ZERO).await.unwrap(),
        0,
        "all is done"
    );
    let before = "set session_replication_role = replica; ";
    for (back, waited) in [
        (
            "update inbound_messages set disposition = 'open', stored_at = now() - interval '10 minutes', next_sweep_at = now() + interval '30 minutes'",
            "stored_at",
        ),
        (
            "update turns set state = 'drafted', created_at = now() - interval '10 minutes', next_sweep_at = now() + interval '30 minutes'",
            "created_at",
        ),
        (
            "update outbound_messages set state = 'queued', not_before = now() - interval '10 minutes', next_sweep_at = now() + interval '30 minutes'",
            "not_before",
        ),
    ] {
        let table = back.split(' ').nth(1).unwrap();
        house.as_owner(&format!("{before}{back}")).await;
        assert_eq!(
            store.hasten(HOUR).await.unwrap(),
            0,
            "{table} waits for a moment only, by {waited}"
        );
        assert_eq!(store.hasten(HOUR / 10).await.unwrap(), 1, "{table}");
        assert_eq!(
            house
                .number(&format!(
                    "select count(*) from {table} where next_sweep_at <= now()"
                ))
                .await,
            1
        );
        assert_eq!(store.hasten(HOUR / 10).await.unwrap(), 0, "{table} once");
        house
            .as_owner(&format!(
                "{before}update {table} set sweeps = 1, next_sweep_at = now() + interval '30 \
                 minutes'"
            ))
            .await;
        assert_eq!(
            store.hasten(HOUR / 10).await.unwrap(),
            0,
            "{table} was swept before"
        );
        let later = "sweeps = 0, next_sweep_at = now() + interval '2 hours'";
        house
            .as_owner(&format!("{before}update {table} set {later}"))
            .await;
        assert_eq!(
            store.hasten(HOUR / 10).await.unwrap(),
            0,
            "{table} was put off"
        );
    }
    house.stop().await;
}

#[tokio::test] // D3, D23
async fn the_scheduler_sweeps_at_once_when_the_bus_comes_back() {
    // No swarm takes the signal, and the regular first sweep is 45 s away, which is longer than
    // this test waits.
    let workers = vec![
        Worker::IngressWebhook,
        Worker::ComplianceGate,
        Worker::Scheduler,
    ];
    let house = house(
        "hastens",
        Wanted {
            workers,
            scale: 3.0,
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, BRIEF);
    let waiting = "select count(*) from inbound_messages where disposition = 'open' and sweeps = 0 and next_sweep_at > now()";
    until("it is stored", Duration::from_secs(20), || async {
        house.number(waiting).await == 1
    })
    .await;
    house.nats.kill().unwrap();
    house.nats.restart().await.unwrap();
    until("it is swept", Duration::from_secs(25), || async {
        house.number(waiting).await == 0
    })
    .await;
    house.stop().await;
}

#[tokio::test] // SEC-94, D7: a STOP at one casino says nothing of the same guest at another
async fn what_left_after_a_stop_is_told_for_the_casino_it_was_said_to() {
    let house = house("after_stop", Wanted::default()).await;
    house.add_other().await;
    let store = &house.stack.fleet.store;
    house.text(GUEST, BRIEF);
    house.text_to_other(GUEST, BRIEF);
    house.settle(2).await;
    house.text(GUEST, "STOP");
    house.settle(3).await;
    assert_eq!(
        store.sent_after_stop(HOUR).await.unwrap(),
        [],
        "the answer left before, the confirmation may go out"
    );
    house
        .as_owner("update suppressions set recorded_at = recorded_at - interval '1 minute'")
        .await;
    let late = store.sent_after_stop(HOUR).await.unwrap();
    assert!(
        matches!(&late[..], [(casino, _)] if casino == house.casino()),
        "one answer of one casino: {late:?}"
    );
    house
        .as_owner("update send_attempts set started_at = started_at - interval '2 hours'")
        .await;
    assert_eq!(
        store.sent_after_stop(HOUR).await.unwrap(),
        [],
        "too long ago"
    );
    house.stop().await;
}
