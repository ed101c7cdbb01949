//! Many dead letters are listed in pages, and replayed by processes that are stopped and killed. No
//! dead letter is replayed twice or lost (D17).

use std::{collections::HashSet, process::Stdio, time::Duration};

use prost::Message;
use serde_json::Value;
use seven_bus::{events::InboundText, subject};
use seven_domain::{Channel, DeadState, Stage};
use seven_store::dead::{Filter, NewDead};
use sqlx::AssertSqlSafe;
use tokio::process::{Child, Command};

use super::{Output, QUESTION};
use crate::harness::{House, Wanted, binary, house, until};

/// Returns the number of dead letters: 10,000 with `SEVEN_LONG` (`./scripts/test --long`).
fn letters() -> usize {
    if std::env::var_os("SEVEN_LONG").is_some() {
        10_000
    } else {
        200
    }
}

/// Returns the phone of guest `n`, in the fictional exchange 555.
fn guest(n: usize) -> String {
    format!("+1203555{n:04}")
}

/// Makes a dead letter of a guest's text. The text is five seconds old, and failed in the gate
/// before it was stored.
pub(crate) fn letter(house: &House, n: usize, from: &str, text: &str) -> NewDead {
    let fleet = &house.stack.fleet;
    let now = fleet.clock.now() - Duration::from_secs(5);
    let event = InboundText {
        provider: "telnyx".into(),
        provider_message_id: format!("dead-{n}"),
        event_id: format!("event-{n}"),
        from: from.to_owned(),
        to: house
            .config
            .operational
            .telnyx_phone_number
            .as_str()
            .to_owned(),
        text: text.to_owned(),
        occurred_at: now.timestamp_millis(),
        received_at: now.timestamp_millis(),
        channel: "sms".into(),
        ..InboundText::default()
    };
    NewDead {
        dead_id: fleet.ids.next(),
        stage: Stage::Gate,
        reason: "failed".into(),
        error: "a test made it".into(),
        attempts: 5,
        subject: subject(Stage::Gate, house.casino(), None),
        message_key: event.event_id.clone(),
        payload: event.encode_to_vec(),
        stream_seq: None,
        guest: Some(fleet.keys.hash(house.casino(), &from.parse().unwrap())),
        channel: Some(Channel::Sms),
        announced_at: now,
        trace: String::new(),
    }
}

pub(crate) async fn file(house: &House, letters: &[NewDead]) {
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    for letter in letters {
        tx.file_dead(letter).await.unwrap();
    }
    tx.commit().await.unwrap();
}

/// Starts `seven dead replay` of all open letters, as a process that can be killed.
fn replaying(house: &House, rate: &str, failpoint: Option<&str>) -> Child {
    let mut command = Command::new(binary());
    command.args([
        "dead",
        "replay",
        "--yes",
        "--by",
        "ana",
        "--rate",
        rate,
        "--casino",
        house.casino().as_str(),
    ]);
    command.arg("--config").arg(&house.stack.config_file);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(failpoint) = failpoint {
        command.env("SEVEN_FAILPOINT", failpoint);
    }
    command.spawn().unwrap()
}

async fn ended(child: Child) -> Output {
    let output = tokio::time::timeout(Duration::from_secs(600), child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Output {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

async fn replayed(house: &House) -> i64 {
    house.count("dead", "replayed").await
}

/// Returns the number of messages in the gate's stream, to which each replay adds one.
async fn published(house: &House) -> u64 {
    let js = async_nats::jetstream::new(async_nats::connect(house.nats.url()).await.unwrap());
    js.get_stream("INGRESS")
        .await
        .unwrap()
        .get_info()
        .await
        .unwrap()
        .state
        .messages
}

#[tokio::test] // D17, PROD-35, AGENT-77
async fn a_replay_that_is_stopped_and_killed_replays_each_letter_once_and_loses_none() {
    let many = letters();
    // Raises the limits, because the usual limits would stop so many texts at once.
    let mut document: Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
    document["limits"]["casino_texts_per_minute"] = 1_000_000.into();
    let casino = Some((document.to_string(), seven_packs::demo::CONTENT.to_owned()));
    let house = house(
        "dead_stopped",
        Wanted {
            casino,
            extra: "limits.fleet_texts_per_minute = 1000000\n".to_owned(),
            ..Wanted::default()
        },
    )
    .await;
    let letters: Vec<_> = (0..many)
        .map(|n| letter(&house, n, &guest(n), QUESTION))
        .collect();
    file(&house, &letters).await;

    // The command is killed after the claim and before the publish, so the letter is still open.
    assert_eq!(
        ended(replaying(&house, "1000/s", Some("dead.after_claim:40")))
            .await
            .code,
        -1
    );
    assert_eq!((replayed(&house).await, published(&house).await), (39, 39));
    assert_eq!(
        house
            .number("select count(*) from dead_letters where claim is not null and state = 'open'")
            .await,
        1
    );
    // The command is killed after the publish and before it marks the letter. The letter is
    // therefore still open, although JetStream has the message.
    assert_eq!(
        ended(replaying(&house, "1000/s", Some("dead.after_publish:40")))
            .await
            .code,
        -1
    );
    assert_eq!((replayed(&house).await, published(&house).await), (78, 79));

    // The command is killed with SIGKILL at an arbitrary point.
    let mut killed = replaying(&house, "40/s", None);
    until(
        "some more are replayed",
        Duration::from_secs(20),
        || async { replayed(&house).await >= 90 },
    )
    .await;
    killed.kill().await.unwrap();

    // After Ctrl-C the command ends between two letters and reports how many are left.
    let stopped = replaying(&house, "40/s", None);
    until(
        "some more are replayed",
        Duration::from_secs(20),
        || async { replayed(&house).await >= 120 },
    )
    .await;
    let kill = format!("kill -INT {}", stopped.id().unwrap());
    assert!(
        std::process::Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
    let said = ended(stopped).await;
    let (done, left) = (replayed(&house).await, house.count("dead", "open").await);
    assert_eq!(said.code, 130, "{said:?}");
    assert!(
        said.out
            .contains(&format!("stopped, {left} left as they are")),
        "{left} {said:?}"
    );
    assert!(left > 0 && done + left == many as i64, "{done} {left}");
    let listed = house
        .seven(
            &[
                "dead",
                "list",
                "--casino",
                house.casino().as_str(),
                "--most",
                "20000",
                "--json",
            ],
            "",
        )
        .await;
    assert_eq!(
        listed.out.lines().count() as i64,
        left,
        "the rest is still listed"
    );

    // Two operators replay the remaining letters at once. Each letter is replayed by one of them.
    let (ana, ben) = tokio::join!(
        ended(replaying(&house, "1000/s", None)),
        ended(replaying(&house, "1000/s", None))
    );
    assert_eq!(
        (ana.code, ben.code, replayed(&house).await),
        (0, 0, many as i64),
        "{ana:?} {ben:?}"
    );
    assert_eq!(
        published(&house).await,
        many as u64,
        "none was published twice"
    );
    house
        .settle_within(many as i64, Duration::from_secs(600))
        .await;
    assert_eq!(
        house.number("select count(*) from turns").await,
        many as i64
    );
    let audited = "select count(*) from audit_log where action = 'dead_letter_handled' and actor = 'ana' and detail->>'did' = 'replay'";
    assert_eq!(
        house.number(audited).await,
        many as i64,
        "one audit entry for each"
    );

    // Replays all letters again; every guest has the answer already.
    let texts = house.stack.sim.ledger().snapshot().outbound.len();
    let args = [
        "dead",
        "replay",
        "--casino",
        house.casino().as_str(),
        "--state",
        "replayed",
        "--rate",
        "1000",
        "--yes",
        "--by",
        "ana",
    ];
    let again = house.seven(&args, "").await;
    assert!(
        again.code == 0
            && again
                .out
                .contains(&format!("Replayed {many} dead letter(s).")),
        "{again:?}"
    );
    assert_eq!(published(&house).await, 2 * many as u64);
    until(
        "the gate has seen all of them",
        Duration::from_secs(600),
        || async {
            house
                .stack
                .fleet
                .bus
                .lag(Stage::Gate)
                .await
                .unwrap()
                .iter()
                .all(|lag| lag.pending == 0 && lag.in_flight == 0)
        },
    )
    .await;
    house
        .settle_within(many as i64, Duration::from_secs(600))
        .await;
    assert_eq!(
        house.stack.sim.ledger().snapshot().outbound.len(),
        texts,
        "replayed twice, sent once"
    );
    assert_eq!(
        house.number("select count(*) from turns").await,
        many as i64
    );
    house.stop().await;
}

const MANY: usize = 10_000;

fn ids(said: &Output) -> Vec<String> {
    assert_eq!(said.code, 0, "{}", said.err);
    let id = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["dead_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    said.out.lines().map(id).collect()
}

#[tokio::test] // PROD-35
async fn ten_thousand_letters_are_listed_in_pages_and_found_by_every_filter() {
    let house = house(
        "dead_many",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let casino = house.casino().as_str().to_owned();
    let owner = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    // Groups of ten letters have the same time, so that some pages end within a group. No letter of
    // the group may be lost between two pages.
    let insert = format!(
        "insert into dead_letters (casino_id, dead_id, stage, reason, first_error, last_error, attempts, subject, message_key, payload, trace,
           first_at, last_at, state)
         select '{casino}', gen_random_uuid(), case when n % 4 = 0 then 'swarm' else 'gate' end, 'failed', 'first', 'Error number ' || n % 100, 1,
           'x', n::text, convert_to(repeat('x', 2000), 'UTF8'), '', now() - interval '1 minute' * (n / 10), now() - interval '1 minute' * (n / 10),
           case when n % 10 = 0 then 'replayed' else 'open' end
         from generate_series(0, {}) n",
        MANY - 1
    );
    sqlx::query(AssertSqlSafe(insert))
        .execute(&owner)
        .await
        .unwrap();
    let guest = letter(&house, 1, "+18605550142", "hi");
    file(&house, std::slice::from_ref(&guest)).await;

    let dead = async |args: &[&str]| {
        house
            .seven(
                &[&["dead", "list", "--json"], args].concat(),
                "+18605550142\n",
            )
            .await
    };
    let all = ids(&dead(&["--casino", &casino, "--state", "all", "--most", "20000"]).await);
    assert_eq!(all.len(), MANY + 1);
    for (args, wanted) in [
        (&["--all-casinos", "--most", "20000"][..], MANY * 9 / 10 + 1),
        (
            &["--most", "20000", "--stage", "swarm"],
            MANY / 4 - MANY / 20,
        ),
        (
            &["--most", "20000", "--error", "ERROR NUMBER 77"],
            MANY / 100,
        ),
        (&["--most", "20000", "--state", "replayed"], MANY / 10),
        (
            &["--most", "20000", "--since", "30s", "--error", "error"],
            9,
        ),
        (
            &["--most", "20000", "--until", "990m", "--error", "error"],
            90,
        ),
        (&["--guest", "-"], 1),
        (&["--unknown"], 0),
        (&["--state", "discarded"], 0),
    ] {
        assert_eq!(ids(&dead(args).await).len(), wanted, "{args:?}");
    }

    // All pages together list every letter once and in order.
    let (mut seen, mut after) = (Vec::new(), None::<String>);
    loop {
        let mut args = vec![
            "dead", "list", "--casino", &casino, "--state", "all", "--most", "3333",
        ];
        if let Some(after) = &after {
            args.extend(["--after", after]);
        }
        let page = house.seven(&args, "").await;
        assert_eq!(page.code, 0, "{}", page.err);
        let known: HashSet<&str> = all.iter().map(String::as_str).collect();
        seen.extend(
            page.out
                .split_whitespace()
                .filter(|word| known.contains(word))
                .map(str::to_owned),
        );
        after = page
            .out
            .trim_end()
            .rsplit_once("more: --after ")
            .map(|(_, cursor)| cursor.to_owned());
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, all);
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let open = Filter {
        state: Some(DeadState::Open),
        ..Filter::default()
    };
    assert_eq!(
        tx.dead_count(&open).await.unwrap() as usize,
        MANY * 9 / 10 + 1
    );
    house.stop().await;
}
