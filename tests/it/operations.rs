//! Operations while the fleet runs: operators add casinos, run several schedulers and replay dead
//! letters, and commands report the true state.

mod careful;
mod cli;
mod dead;
pub(crate) mod dead_many;
mod dead_masked;
mod dead_poison;
mod dead_unannounced;
mod explain;
mod grammar;
mod watched;

use std::{collections::HashSet, process::Stdio, time::Duration};

use futures::future::join_all;
use seven_bus::{Floor, topology::Start};
use seven_carrier_sim::{Fault, Matcher, Plan, Rule, Text};
use seven_domain::Stage;
use seven_settings::Worker;
use tokio::{io::AsyncWriteExt, process::Command, time::Instant};

use crate::harness::{GUEST, House, Wanted, binary, house, until};

/// The second casino of these tests. Its only venue is one that the demo casino does not have.
pub(crate) const OTHER: &str = "amber_lake";
pub(crate) const OTHER_NUMBER: &str = "+18605550101";
const OTHER_VENUE: &str = "Larch Table";

/// Returns the second casino's document: the demo's, with another name and number.
pub(crate) fn other_document() -> String {
    let mut document: serde_json::Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
    document["casino_id"] = OTHER.into();
    document["prompts"]["casino_name_display"] = "Amber Lake Lodge".into();
    document["operational"]["telnyx_phone_number"] = OTHER_NUMBER.into();
    document["operational"]["contact_phone"] = "1-860-555-0188".into();
    document.to_string()
}

fn other_content() -> String {
    let mut content: serde_json::Value = serde_json::from_str(seven_packs::demo::CONTENT).unwrap();
    let items = content["items"].as_array_mut().unwrap();
    items.retain(|item| item["name"] == "Nonna Salvia");
    assert_eq!(items.len(), 1, "the demo still has its Italian venue");
    items[0]["name"] = OTHER_VENUE.into();
    content.to_string()
}

/// A command's output and exit code; the code is -1 if a signal ended the command.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs this build's `seven` with these arguments and this input.
pub(crate) async fn seven(args: &[&str], stdin: &[u8]) -> Output {
    let mut command = Command::new(binary());
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // Keeps the command away from a fleet that `./scripts/dev` runs on this machine.
    command.env("SEVEN_DEV_DIR", "/nonexistent");
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // Ignores an error, because a command that does not read its input may have ended already.
    drop(pipe.write_all(stdin).await);
    drop(pipe);
    let patience = if std::env::var_os("SEVEN_LONG").is_some() {
        600
    } else {
        20
    };
    let output = tokio::time::timeout(Duration::from_secs(patience), child.wait_with_output())
        .await
        .expect("the command hangs")
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Output {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

impl House {
    /// Runs an operators' command against this house.
    pub(crate) async fn seven(&self, args: &[&str], stdin: &str) -> Output {
        let config = self.stack.config_file.to_string_lossy();
        seven(&[&["--config", &*config], args].concat(), stdin.as_bytes()).await
    }

    /// Runs a command and returns its JSON lines.
    pub(crate) async fn rows(&self, args: &[&str]) -> Vec<serde_json::Value> {
        let said = self.seven(&[args, &["--json"]].concat(), "").await;
        assert_eq!(said.code, 0, "{args:?}: {said:?}");
        said.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Writes a file for a command to read.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.scratch.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// Adds the second casino with its content, as an operator would: from another process.
    pub(crate) async fn add_other(&self) {
        let (document, content) = (
            self.file("other.json", &other_document()),
            self.file("other-content.json", &other_content()),
        );
        for args in [
            &["casino", "add", &document, "--by", "test"][..],
            &[
                "content", "load", "--casino", OTHER, &content, "--by", "test",
            ],
        ] {
            let said = self.seven(args, "").await;
            assert_eq!(said.code, 0, "{args:?}: {said:?}");
        }
    }

    fn text_to_other(&self, from: &str, text: &str) {
        let text = Text {
            from: from.to_owned(),
            to: Some(OTHER_NUMBER.to_owned()),
            text: Some(text.to_owned()),
            ..Text::default()
        };
        self.stack.sim.text(text).unwrap();
    }

    /// Returns all texts that a guest got from this number, joined.
    fn said_from(&self, number: &str, guest: &str) -> String {
        let texts = self
            .sent_to(guest)
            .into_iter()
            .filter(|sent| sent.from.as_deref() == Some(number));
        texts
            .filter_map(|sent| sent.text)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

const QUESTION: &str = "any italian place?";
/// A question whose answer fits one text.
const BRIEF: &str = "where is nonna salvia?";

// D13: onboarding and the scheduler's repair may both find that a consumer is missing. Each then
// tries to create the consumer with its own start time
#[tokio::test]
async fn a_consumer_that_somebody_else_made_meanwhile_stays_as_it_is() {
    let house = house(
        "operations_both_create",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let (bus, casino) = (&house.stack.fleet.bus, house.casino());
    bus.remove_consumers(casino).await.unwrap();
    let create = async |start| {
        bus.create_consumer(Stage::Gate, casino, None, start)
            .await
            .unwrap()
    };
    assert!(create(Start::At(house.stack.fleet.clock.now())).await);
    assert!(!create(Start::All).await);
    bus.onboard(casino).await.unwrap();
    // If the second message was acknowledged and the first one was not, the acknowledgement floor
    // is before all messages.
    let found = bus
        .ensure_streams()
        .await
        .unwrap()
        .found(Stage::Gate)
        .unwrap();
    let floor = Floor {
        sequence: 0,
        acked_at: house.stack.fleet.clock.now(),
        stream_made: found.made,
    };
    assert_eq!(
        bus.after(Stage::Gate, floor, found).await.unwrap(),
        Start::All
    );
    house.stop().await;
}

#[tokio::test] // DEP-21
async fn a_casino_added_while_the_fleet_runs_answers_within_five_seconds() {
    let house = house("ops_added", Wanted::default()).await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    house.add_other().await;
    let added = Instant::now();
    house.text_to_other("+18605550143", QUESTION);
    until("the new casino answers", Duration::from_secs(5), || async {
        house
            .said_from(OTHER_NUMBER, "+18605550143")
            .contains(OTHER_VENUE)
    })
    .await;
    eprintln!("answered {:?} after the casino was there", added.elapsed());
    house.settle(2).await;
    assert!(
        !house.said_to("+18605550143").contains("Nonna Salvia"),
        "from its own content only"
    );
    assert!(!house.said_to(GUEST).contains(OTHER_VENUE));
    house.stop().await;
}

#[tokio::test] // SMS-16
async fn stop_at_one_casino_leaves_the_same_phones_other_casino_alone() {
    let house = house("ops_stop_one", Wanted::default()).await;
    house.add_other().await;
    let own = house
        .config
        .operational
        .telnyx_phone_number
        .as_str()
        .to_owned();
    house.text(GUEST, QUESTION);
    house.text_to_other(GUEST, QUESTION);
    house.settle(2).await;
    house.text(GUEST, "STOP");
    house.settle(3).await;
    let before = house.sent_to(GUEST).len();
    house.text_to_other(GUEST, "what are its hours?");
    house.text(GUEST, "what are its hours?");
    house.settle(5).await;
    let after = house.sent_to(GUEST).split_off(before);
    assert!(
        !after.is_empty()
            && after
                .iter()
                .all(|sent| sent.from.as_deref() == Some(OTHER_NUMBER)),
        "only the other casino goes on: {after:?}"
    );
    assert!(
        house
            .said_from(&own, GUEST)
            .contains("you are unsubscribed")
    );
    assert!(
        !house
            .said_from(OTHER_NUMBER, GUEST)
            .contains("unsubscribed")
    );
    house.stop().await;
}

const GUESTS: i64 = 12;

#[tokio::test] // SMS-6, SMS-9
async fn two_schedulers_at_once_double_nothing() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|w| *w != Worker::AgentSwarm)
        .collect();
    let mut house = house(
        "ops_schedulers",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    house.stack.spawn(Worker::Scheduler, None).await.unwrap();
    // The carrier refuses one send in three with a temporary error, so that those texts come back
    // as due rows.
    let rule = |nth| Rule {
        matcher: Matcher {
            nth: Some(nth),
            ..Matcher::default()
        },
        fault: Fault::Error("40006".to_owned()),
        times: None,
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: (1..=GUESTS as u32).step_by(3).map(rule).collect(),
            ..Plan::default()
        })
        .unwrap();
    for n in 0..GUESTS {
        house.text(&format!("+120355501{:02}", 40 + n), QUESTION);
    }
    // No worker takes the signals, so both schedulers sweep the rows. Together they must sweep each
    // row at most once per interval.
    until("every text was swept", Duration::from_secs(10), || async {
        house
            .number("select count(*) from inbound_messages where sweeps > 0")
            .await
            == GUESTS
    })
    .await;
    let early = "select count(*) from inbound_messages where sweeps > floor(log(2, 1 + extract(epoch from clock_timestamp() - stored_at) / 1.5))";
    assert_eq!(
        house.number(early).await,
        0,
        "a row was swept twice in one interval"
    );
    house.stack.spawn(Worker::AgentSwarm, None).await.unwrap();
    house.settle(GUESTS).await;
    assert_eq!(house.number("select count(*) from turns").await, GUESTS);
    assert!(
        house
            .number("select count(*) from outbound_messages where tries > 0")
            .await
            > 0,
        "no text came back as a due row"
    );
    assert_eq!(
        house
            .number(
                "select count(*) from outbound_messages where state not in ('sent', 'delivered')"
            )
            .await,
        0
    );
    let sent = house.stack.sim.ledger().snapshot().outbound.len();
    assert_eq!(
        i64::try_from(sent).unwrap(),
        house.number("select count(*) from outbound_messages").await,
        "each text at the carrier once"
    );
    assert_eq!(
        house.number("select count(*) from due").await,
        0,
        "no due row is left over"
    );
    assert_eq!(house.count("dead", "open").await, 0);
    house.stop().await;
}

const ROWS: usize = 40;

#[tokio::test] // SMS-6: eight schedulers at the same instant, each row for one of them
async fn rounds_at_the_same_instant_share_the_rows() {
    let workers = vec![Worker::IngressWebhook, Worker::ComplianceGate];
    let house = house(
        "ops_rounds",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    for n in 0..ROWS {
        house.text(&format!("+120355501{n:02}"), QUESTION);
    }
    let store = &house.stack.fleet.store;
    until("the texts are stored", Duration::from_secs(15), || async {
        house.count("inbound", "open").await == ROWS as i64
    })
    .await;
    let owner = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    for round in 1..=3 {
        sqlx::raw_sql(
            "update inbound_messages set next_sweep_at = now(); delete from due;
             insert into due select casino_id, 'send', inbound_id, now() from inbound_messages",
        )
        .execute(&owner)
        .await
        .unwrap();
        let sweeps =
            join_all((0..8).map(|_| store.sweep(Stage::Swarm, Duration::from_secs(600), 200)))
                .await;
        let swept: Vec<_> = sweeps
            .into_iter()
            .flat_map(Result::unwrap)
            .map(|row| row.row_id)
            .collect();
        let claims = join_all((0..8).map(|_| {
            store.claim_due(
                seven_store::due::Kinds::Signals,
                200,
                Duration::from_secs(30),
            )
        }))
        .await;
        let claimed: Vec<_> = claims
            .into_iter()
            .flat_map(Result::unwrap)
            .map(|row| row.row_id)
            .collect();
        for (what, rows) in [("swept", swept), ("claimed", claimed)] {
            let distinct: HashSet<_> = rows.iter().collect();
            assert_eq!(
                (rows.len(), distinct.len()),
                (ROWS, ROWS),
                "round {round}: rows {what}, and how many of them are different"
            );
        }
    }
    house.stop().await;
}
