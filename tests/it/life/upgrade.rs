//! Tests old and new releases together (PROD-27). Workers run on an older or newer database, or are
//! replaced one by one under load.

use std::{process::Stdio, time::Duration};

use seven_settings::Worker;
use tokio::time::sleep;

use crate::{
    drain::terminated,
    harness::{GUEST, Wanted, house, until},
};

#[tokio::test] // PROD-27
async fn workers_refuse_an_older_database_and_run_on_a_newer_one() {
    let house = house(
        "schema",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    assert_eq!(house.seven(&["migrate", "--check"], "").await.code, 0);
    house
        .as_owner("insert into _sqlx_migrations (version, description, success, checksum, execution_time) values (9999, 'later', true, '', 0)")
        .await;
    let gate = house.process("compliance-gate", None);
    until(
        "a worker works on a newer database",
        Duration::from_secs(30),
        || async {
            house
                .number("select count(*) from workers where worker = 'compliance-gate'")
                .await
                == 1
        },
    )
    .await;
    assert_eq!(terminated(gate).await.1, Some(0));
    let rolled_back = house.seven(&["migrate"], "").await;
    assert_eq!(
        rolled_back.code, 0,
        "a build that was rolled back has nothing to apply: {rolled_back:?}"
    );

    let newest = seven_store::schema::needed();
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    sqlx::query("delete from _sqlx_migrations where version in ($1, 9999)")
        .bind(newest)
        .execute(&pool)
        .await
        .unwrap();
    let output = house
        .process_with(&["compliance-gate"], &[], Stdio::piped())
        .wait_with_output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1) && said.contains("run seven migrate"),
        "{said}"
    );
    let check = house.seven(&["migrate", "--check"], "").await;
    assert!(
        check.code == 1 && check.out.contains(&format!("would apply  {newest:04}")),
        "{check:?}"
    );
    house.stop().await;
}

#[tokio::test] // PROD-27, DEP-15
async fn a_house_answers_while_its_workers_are_replaced_one_after_another() {
    const GUESTS: usize = 36;
    // Each process gets few connections, because two processes of each worker may share the tests'
    // database server.
    let extra = "postgres.connections = 4".to_owned();
    // At this scale ingress runs again before the provider repeats a failed webhook. At a smaller
    // scale the provider would give up too early. The text would then be found only a minute later,
    // in the provider's records.
    let house = house(
        "rolling",
        Wanted {
            workers: Vec::new(),
            extra,
            scale: 0.4,
            ..Wanted::default()
        },
    )
    .await;
    let mut workers: Vec<_> = Worker::ALL
        .map(|worker| (worker.name(), house.process(worker.name(), None)))
        .into();
    house.ingress_up().await;
    let guest = |n: usize| format!("+186055503{n:02}");
    let writing = async {
        for n in 0..GUESTS {
            house.text(&guest(n), "where is nonna salvia?");
            sleep(Duration::from_millis(250)).await;
        }
    };
    let replacing = async {
        for (name, worker) in &mut workers {
            // Starts the new worker before the old one stops, as a Deployment does. Ingress has
            // only one port here, so the old one stops first, and the provider repeats its call.
            let ingress = *name == Worker::IngressWebhook.name();
            let early = (!ingress).then(|| house.process(name, None));
            let heir = match early {
                None => {
                    stop(worker).await;
                    house.process(name, None)
                }
                Some(heir) => {
                    sleep(Duration::from_millis(500)).await;
                    stop(worker).await;
                    heir
                }
            };
            *worker = heir;
            sleep(Duration::from_millis(500)).await;
        }
    };
    tokio::join!(writing, replacing);
    house
        .settle_within(i64::try_from(GUESTS).unwrap(), Duration::from_secs(90))
        .await;
    for n in 0..GUESTS {
        let answers = house
            .texts_to(&guest(n))
            .iter()
            .filter(|text| text.contains("Nonna Salvia"))
            .count();
        assert_eq!(answers, 1, "guest {n}: {:?}", house.texts_to(&guest(n)));
    }
    assert_eq!(house.count("dead", "open").await, 0);
    assert_eq!(house.texts_to(GUEST).len(), 0);
    house.stop().await;
}

/// Stops a worker, and asserts that it exits with 0 within 15 s.
async fn stop(worker: &mut tokio::process::Child) {
    let kill = format!("kill -TERM {}", worker.id().unwrap());
    assert!(
        std::process::Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
    let status = tokio::time::timeout(Duration::from_secs(15), worker.wait())
        .await
        .expect("not gone")
        .unwrap();
    assert_eq!(status.code(), Some(0));
}
