//! Three NATS servers, as in production (D16). One of them may fail at any time, and all three may
//! fail at once.

use std::{ops::Range, time::Duration};

use async_nats::jetstream;
use seven_bus::topology::{consumer_name, stream_of};
use seven_domain::Stage;
use seven_testkit::{Nats, Postgres, Scratch};
use tokio::time::{Instant, sleep};

use crate::{
    harness::{House, Wanted, database_name, house_at, until},
    outages::{ask_all, each_answered_once},
};

/// Starts a fleet on three NATS servers. If `knows_all`, the fleet gets the addresses of all three;
/// otherwise only that of the first.
async fn clustered(unique: &str, knows_all: bool) -> (House, [Nats; 2]) {
    let scratch = Scratch::new(unique).unwrap();
    let [one, two, three] = Nats::start_cluster(scratch.path()).await.unwrap();
    let urls = match knows_all {
        true => [&one, &two, &three].map(Nats::url).join(", "),
        false => one.url(),
    };
    let wanted = Wanted {
        scale: 0.3,
        extra: "nats.replicas = 3\n".to_owned(),
        ..Wanted::default()
    };
    let postgres = Postgres::for_tests().await.unwrap();
    let database = postgres
        .create_database(&database_name(unique), None)
        .await
        .unwrap();
    (
        house_at(scratch, wanted, database, one, urls).await,
        [two, three],
    )
}

#[tokio::test] // D16
async fn each_of_three_servers_is_killed_in_turn_and_then_all_while_guests_write() {
    let (house, [two, three]) = clustered("cluster_turn", true).await;
    let servers = [&house.nats, &two, &three];
    for (n, server) in servers.into_iter().enumerate() {
        write_around(&house, n, || async { server.kill().unwrap() }).await;
        server.restart().await.unwrap();
        sleep(Duration::from_secs(3)).await;
    }
    write_around(&house, servers.len(), || async {
        for server in servers {
            server.kill().unwrap();
        }
        // Starts all servers together, because a single server cannot elect a leader.
        tokio::try_join!(house.nats.restart(), two.restart(), three.restart()).unwrap();
    })
    .await;
    each_answered_once(&house, 0..80).await;
    house.stop().await;
}

/// Runs round `n`: ten guests write, then `breaks` runs, then ten more guests write. Waits until
/// all guests are answered.
async fn write_around<F: Future<Output = ()>>(house: &House, n: usize, breaks: impl FnOnce() -> F) {
    let began = Instant::now();
    ask_all(house, n * 20..n * 20 + 10);
    breaks().await;
    ask_all(house, n * 20 + 10..n * 20 + 20);
    house
        .settle_within((n * 20 + 20).try_into().unwrap(), Duration::from_secs(90))
        .await;
    eprintln!("{n}: all answered after {:?}", began.elapsed());
}

/// Returns how long it takes until these guests, who all write now, are answered.
async fn answered(house: &House, guests: Range<usize>) -> Duration {
    let (began, all) = (Instant::now(), guests.end);
    ask_all(house, guests);
    house
        .settle_within(all.try_into().unwrap(), Duration::from_secs(120))
        .await;
    began.elapsed()
}

#[tokio::test] // D16: what was asked of the leader is not waited for in vain
async fn consumers_whose_leader_died_are_heard_though_the_fleet_is_connected_to_another_server() {
    let (house, [two, _three]) = clustered("cluster_leader", false).await;
    ask_all(&house, 0..5);
    house.settle_within(5, Duration::from_secs(60)).await;
    for stage in [Stage::Gate, Stage::Swarm, Stage::Envelope] {
        lead(&house, stage, &two).await;
    }
    sleep(Duration::from_secs(2)).await;
    two.kill().unwrap();
    // Within 8 s, the other servers elect a new leader. A worker that waits for the killed server's
    // answer instead could lose half a minute.
    sleep(Duration::from_secs(8)).await;
    let first = answered(&house, 5..15).await;
    // The same work without a killed leader shows how fast this machine is.
    let second = answered(&house, 15..25).await;
    assert!(
        first < second + Duration::from_secs(20),
        "{first:?} after the leader died, {second:?} otherwise"
    );
    each_answered_once(&house, 0..25).await;
    house.stop().await;
}

/// Makes this server the leader of a stage's consumer.
async fn lead(house: &House, stage: Stage, server: &Nats) {
    let client = async_nats::connect(house.nats.url()).await.unwrap();
    let js = jetstream::new(client.clone());
    let (name, url) = (consumer_name(stage, house.casino(), None), server.url());
    // Servers of this test are named by their ports.
    let port = url.rsplit(':').next().unwrap();
    until("it leads", Duration::from_secs(60), || async {
        let stream = js.get_stream(stream_of(stage)).await.unwrap();
        let leader = stream
            .consumer_info(&name)
            .await
            .ok()
            .and_then(|info| info.cluster?.leader);
        let leads = leader.is_some_and(|leader| leader.ends_with(port));
        if !leads {
            let subject = format!(
                "$JS.API.CONSUMER.LEADER.STEPDOWN.{}.{name}",
                stream_of(stage)
            );
            client.request(subject, "".into()).await.unwrap();
            sleep(Duration::from_millis(500)).await;
        }
        leads
    })
    .await;
}
