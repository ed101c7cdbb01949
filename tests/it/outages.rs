//! Tests outages of Redis, NATS and Postgres (D2, D3, D7, D16). Nothing that was acknowledged is
//! lost. Nothing is sent twice, or after a STOP. Texts that wait make no dead letters.

use std::{collections::BTreeSet, time::Duration};

use async_nats::jetstream::{self, consumer::DeliverPolicy};
use seven::wiring::{self, Nats};
use seven_bus::topology::{consumer_name, stream_of};
use seven_domain::Stage;
use seven_settings::Worker;
use seven_testkit::{Postgres, Scratch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{
    drain::terminated,
    harness::{House, Wanted, house, house_on, until},
};

const GATE: &str = "compliance-gate";
const QUESTION: &str = "where is nonna salvia?";

fn guest(n: usize) -> String {
    format!("+147555501{n:02}")
}

pub(crate) fn ask_all(house: &House, guests: std::ops::Range<usize>) {
    for n in guests {
        house.text(&guest(n), QUESTION);
    }
}

/// Asserts that every guest has exactly one answer and no text twice, and that no dead letter is
/// open.
pub(crate) async fn each_answered_once(house: &House, guests: std::ops::Range<usize>) {
    for n in guests {
        let texts = house.texts_to(&guest(n));
        let answers = texts.iter().filter(|t| t.contains("Nonna Salvia")).count();
        assert_eq!(answers, 1, "guest {n}: {texts:?}");
        assert_eq!(
            texts.len(),
            texts.iter().collect::<BTreeSet<_>>().len(),
            "guest {n}: {texts:?}"
        );
    }
    assert_eq!(
        house.count("dead", "open").await,
        0,
        "dead letters from mere waiting"
    );
}

pub(crate) async fn stored(house: &House, texts: i64) {
    until("all texts are stored", Duration::from_secs(20), || async {
        house.number("select count(*) from inbound_messages").await >= texts
    })
    .await;
}

#[tokio::test] // SMS-6, PROD-4
async fn redis_flushed_and_killed_costs_nothing() {
    let house = house(
        "out_redis",
        Wanted {
            scale: 0.2,
            ..Wanted::default()
        },
    )
    .await;
    ask_all(&house, 0..10);
    house.redis.kill().unwrap();
    ask_all(&house, 10..20);
    stored(&house, 20).await;
    house.redis.restart().await.unwrap(); // comes back empty: everything it knew is flushed
    ask_all(&house, 20..30);
    house.settle(30).await;
    each_answered_once(&house, 0..30).await;
    house.stop().await;
}

#[tokio::test] // D3: Redis may add a refusal, never a permission
async fn redis_restored_from_an_older_snapshot_permits_nothing() {
    let house = house(
        "out_snapshot",
        Wanted {
            scale: 0.2,
            ..Wanted::default()
        },
    )
    .await;
    house.text(&guest(0), QUESTION);
    house.settle(1).await;
    save(&house).await;
    house.text(&guest(0), "STOP");
    house.settle(2).await;
    let before = house.texts_to(&guest(0)).len();
    house.redis.kill().unwrap();
    // The snapshot contains neither the STOP nor the work that was finished after it was saved.
    house.redis.restart().await.unwrap();
    house.text(&guest(0), QUESTION);
    house.text(&guest(1), QUESTION);
    house.settle(4).await;
    assert_eq!(
        house.texts_to(&guest(0)).len(),
        before,
        "nothing after STOP"
    );
    each_answered_once(&house, 1..2).await;
    house.stop().await;
}

async fn save(house: &House) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let address = house
        .redis
        .url()
        .trim_start_matches("redis://")
        .trim_end_matches('/')
        .to_owned();
    let mut connection = tokio::net::TcpStream::connect(address.split('/').next().unwrap())
        .await
        .unwrap();
    connection.write_all(b"SAVE\r\n").await.unwrap();
    let mut answer = [0; 5];
    connection.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"+OK\r\n");
}

#[tokio::test] // D3: Postgres is the truth, JetStream the fast path
async fn the_jetstream_directory_is_deleted_under_work_in_flight() {
    let house = house(
        "out_wiped",
        Wanted {
            scale: 0.3,
            ..Wanted::default()
        },
    )
    .await;
    ask_all(&house, 0..20);
    stored(&house, 20).await;
    house.nats.wipe_data().await.unwrap();
    house.nats.restart().await.unwrap();
    until("streams are back", Duration::from_secs(20), || async {
        house
            .stack
            .fleet
            .bus
            .consumers(Stage::Sender)
            .await
            .is_ok_and(|c| c.len() == 4)
    })
    .await;
    ask_all(&house, 20..30);
    house.settle_within(30, Duration::from_secs(60)).await;
    each_answered_once(&house, 0..30).await;
    house.stop().await;
}

// D2, D14: operators need their commands during an outage, and a process may have to start during
// one
#[tokio::test]
async fn who_can_do_without_the_bus_starts_without_it() {
    let house = house(
        "out_no_bus",
        Wanted {
            scale: 0.2,
            ..Wanted::default()
        },
    )
    .await;
    let casino = house.casino().to_string();
    house.text(&guest(9), QUESTION);
    house.settle(1).await;
    let of = guest(9);
    let whose = ["--guest", &of, "--casino", &casino, "--by", "Robin"];
    let taken = [
        &["conversation", "takeover"][..],
        &whose,
        &["--reason", "asked for"],
    ]
    .concat();
    assert_eq!(house.seven(&taken, "").await.code, 0);
    house.nats.kill().unwrap();
    // The command succeeds and says that the text is stored. If it failed, the operator would send
    // the text again, and the guest would get it twice.
    let said = house
        .seven(
            &[
                &["conversation", "say"][..],
                &whose,
                &["--text", "Robin here."],
            ]
            .concat(),
            "",
        )
        .await;
    assert!(
        said.code == 0 && said.err.contains("it is stored"),
        "{said:?}"
    );
    let order = [
        "--casino",
        &casino,
        "--by",
        "Robin",
        "--reason",
        "an outage",
    ];
    let paused = house
        .seven(&[&["pause", "--proactive"][..], &order].concat(), "")
        .await;
    assert!(
        paused.code == 0 && paused.out.contains("proactive"),
        "{paused:?}"
    );
    let status = house.seven(&["status"], "").await;
    assert!(
        status.code == 0 && status.out.contains("Robin") && status.out.contains("AWAY NATS"),
        "{status:?}"
    );
    let began = wiring::fleet(
        &house.stack.settings,
        Vec::new(),
        Nats::Wanted(Duration::ZERO),
        CancellationToken::new(),
    );
    let later = began.await.unwrap();
    assert!(!later.bus.ready().await);
    house.nats.restart().await.unwrap();
    until("it is connected", Duration::from_secs(10), || {
        later.bus.ready()
    })
    .await;
    assert_eq!(
        house
            .seven(&[&["resume", "--proactive"][..], &order].concat(), "")
            .await
            .code,
        0
    );
    ask_all(&house, 0..5);
    house.settle_within(6, Duration::from_secs(60)).await;
    each_answered_once(&house, 0..5).await;
    until("Robin is heard", Duration::from_secs(60), || async {
        house.said_to(&of).contains("Robin here.")
    })
    .await;
    assert_eq!(
        house
            .texts_to(&of)
            .iter()
            .filter(|text| text.contains("Robin here."))
            .count(),
        1
    );
    house.stop().await;
}

#[tokio::test] // D25: consumers lose their place with the server
async fn nats_restarts_under_work_in_flight_and_its_consumers_begin_where_work_is_left() {
    let house = house(
        "out_restarted",
        Wanted {
            scale: 0.3,
            ..Wanted::default()
        },
    )
    .await;
    ask_all(&house, 0..10);
    house.settle(10).await;
    let receipts = noted(&house, 10).await;
    ask_all(&house, 10..20);
    stored(&house, 20).await;
    house.nats.kill().unwrap();
    house.nats.restart().await.unwrap();
    until("consumers are back", Duration::from_secs(20), || async {
        let bus = &house.stack.fleet.bus;
        let here = async |stage| bus.consumers(stage).await.map_or(0, |all| all.len());
        (
            here(Stage::Gate).await,
            here(Stage::Receipts).await,
            here(Stage::Sender).await,
        ) == (1, 1, 4)
    })
    .await;
    let begun = begins(&house, Stage::Gate).await;
    assert!(
        (11..=21).contains(&begun),
        "at {begun}: not before what was noted, not after what was stored"
    );
    assert!(begins(&house, Stage::Receipts).await > receipts);
    ask_all(&house, 20..30);
    house.settle_within(30, Duration::from_secs(60)).await;
    each_answered_once(&house, 0..30).await;
    house.stop().await;
}

/// Waits until the database records that the gate acknowledged `texts` texts and that a receipt was
/// acknowledged. Returns the stream sequence of the last acknowledged receipt.
async fn noted(house: &House, texts: u64) -> u64 {
    let floor = async |stage| {
        house
            .stack
            .fleet
            .store
            .ack_floor(house.casino(), stage)
            .await
            .unwrap()
    };
    until(
        "what was acknowledged is noted",
        Duration::from_secs(20),
        || async {
            floor(Stage::Gate)
                .await
                .is_some_and(|floor| floor.sequence == texts)
                && floor(Stage::Receipts).await.is_some()
        },
    )
    .await;
    floor(Stage::Receipts).await.unwrap().sequence
}

/// Returns the sequence number at which the stage's consumer starts reading the stream.
async fn begins(house: &House, stage: Stage) -> u64 {
    let client = async_nats::connect(house.nats.url()).await.unwrap();
    let stream = jetstream::new(client)
        .get_stream(stream_of(stage))
        .await
        .unwrap();
    let consumer = stream
        .consumer_info(consumer_name(stage, house.casino(), None))
        .await
        .unwrap();
    match consumer.config.deliver_policy {
        DeliverPolicy::ByStartSequence { start_sequence } => start_sequence,
        other => panic!("{other:?}"),
    }
}

#[tokio::test] // D25: what ingress acknowledged and no gate stored stands on the bus alone
async fn texts_that_nobody_stored_outlive_the_bus_and_its_consumers() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::ComplianceGate)
        .collect();
    let house = house(
        "out_unstored",
        Wanted {
            scale: 0.3,
            workers,
            ..Wanted::default()
        },
    )
    .await;
    let gate = house.process(GATE, None);
    ask_all(&house, 0..10);
    house.settle(10).await;
    noted(&house, 10).await;
    assert_eq!(terminated(gate).await.1, Some(0));
    ask_all(&house, 10..20);
    until("all are on the bus", Duration::from_secs(20), || async {
        house
            .stack
            .fleet
            .bus
            .lag(Stage::Gate)
            .await
            .is_ok_and(|lags| lags.iter().any(|lag| lag.pending == 10))
    })
    .await;
    house.nats.kill().unwrap();
    house.nats.restart().await.unwrap();
    until(
        "the gate's consumer is back",
        Duration::from_secs(20),
        || async {
            house
                .stack
                .fleet
                .bus
                .consumers(Stage::Gate)
                .await
                .is_ok_and(|all| all.len() == 1)
        },
    )
    .await;
    assert_eq!(begins(&house, Stage::Gate).await, 11);
    let gate = house.process(GATE, None);
    house.settle_within(20, Duration::from_secs(60)).await;
    each_answered_once(&house, 0..20).await;
    assert_eq!(terminated(gate).await.1, Some(0));
    house.stop().await;
}

#[tokio::test] // D2: the spool
async fn nats_is_down_while_webhooks_arrive() {
    let house = house(
        "out_nats",
        Wanted {
            scale: 0.3,
            ..Wanted::default()
        },
    )
    .await;
    ask_all(&house, 0..5);
    house.nats.kill().unwrap();
    ask_all(&house, 5..25);
    until(
        "the webhooks are answered from the spool",
        Duration::from_secs(20),
        || async { house.number("select count(*) from spool").await >= 20 },
    )
    .await;
    house.nats.restart().await.unwrap();
    ask_all(&house, 25..30);
    house.settle_within(30, Duration::from_secs(60)).await;
    each_answered_once(&house, 0..30).await;
    house.stop().await;
}

#[tokio::test] // D7, D16: three minutes at scale 0.05
async fn postgres_is_away_for_three_scaled_minutes() {
    let scratch = Scratch::new("out_postgres_server").unwrap();
    // This server writes commits to disk: the test kills it, and no acknowledged text may be lost.
    let postgres = Postgres::start(scratch.path(), false).await.unwrap();
    let url = postgres.create_database("away", None).await.unwrap();
    // At this scale the carrier retries long enough for ingress to acknowledge each webhook.
    let house = house_on(
        "out_postgres",
        Wanted {
            scale: 0.05,
            ..Wanted::default()
        },
        url,
    )
    .await;
    ask_all(&house, 0..10);
    stored(&house, 5).await;
    postgres.kill().unwrap();
    ask_all(&house, 10..20);
    let quitter = guest(3);
    house.text(&quitter, "STOP");
    sleep(Duration::from_secs(9)).await;
    let sent_before = house.texts_to(&quitter).len();
    postgres.restart().await.unwrap();
    house.settle_within(21, Duration::from_secs(60)).await;
    let after: Vec<_> = house.texts_to(&quitter).split_off(sent_before);
    assert!(
        after.len() == 1 && after[0].contains("START"),
        "only the confirmation after STOP: {after:?}"
    );
    each_answered_once(&house, 0..3).await;
    each_answered_once(&house, 4..20).await;
    house.stop().await;
    postgres.wipe_data().await.unwrap();
}

#[tokio::test] // D14, PROD-53: what an operator sees and is told while the database is away
async fn commands_say_what_stands_and_what_was_not_done_without_postgres() {
    let scratch = Scratch::new("out_commands_server").unwrap();
    let postgres = Postgres::start(scratch.path(), false).await.unwrap();
    let url = postgres.create_database("away", None).await.unwrap();
    let house = house_on(
        "out_commands",
        Wanted {
            scale: 0.3,
            ..Wanted::default()
        },
        url,
    )
    .await;
    let casino = house.casino().to_string();
    let order = ["--casino", &casino, "--by", "Robin", "--reason", "a drill"];
    assert_eq!(
        house
            .seven(&[&["pause", "--proactive"][..], &order].concat(), "")
            .await
            .code,
        0
    );
    postgres.kill().unwrap();

    let status = house.seven(&["status"], "").await;
    assert_eq!((status.code, status.err.as_str()), (0, ""), "{status:?}");
    let paused = format!("ON: pause_proactive for {casino}, as the workers were told last");
    for told in [
        "AWAY Postgres: ",
        "no connection within 1 s",
        "Workers: compliance-gate 1 alive",
        "Workers: scheduler 1 alive",
        &paused,
        "Bus: nothing waits.",
    ] {
        assert!(status.out.contains(told), "{told}: {status:?}");
    }
    let document = house.seven(&["status", "--json"], "").await;
    let document: serde_json::Value = serde_json::from_str(&document.out).unwrap();
    assert_eq!(document["away"][0]["store"], "Postgres", "{document}");
    assert_eq!(
        document["mirrored"][0]["paused"],
        serde_json::json!(["pause_proactive"]),
        "{document}"
    );

    for (command, says) in [
        ("pause", "nothing was paused"),
        ("resume", "nothing was resumed"),
    ] {
        let said = house.seven(&[&[command][..], &order].concat(), "").await;
        assert_eq!(
            (said.code, said.out.as_str(), said.err.lines().count()),
            (1, "", 1),
            "{said:?}"
        );
        assert!(
            said.err.contains(says) && said.err.contains("Postgres does not answer"),
            "{said:?}"
        );
        let reasons =
            said.err.matches("refused").count() + said.err.matches("No such file").count();
        assert!(reasons <= 1, "a reason is given once: {said:?}");
    }
    postgres.restart().await.unwrap();
    let resumed = house.seven(&[&["resume"][..], &order].concat(), "").await;
    assert!(
        resumed.code == 0 && resumed.out.contains("Off for") && resumed.out.contains("proactive"),
        "{resumed:?}"
    );
    house.stop().await;
    postgres.wipe_data().await.unwrap();
}
