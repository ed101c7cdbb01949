//! Tests conventions of the commands. An id may be shortened to a unique prefix, conversations are
//! listed by urgency, and tables fit a terminal.

use serde_json::Value;

use super::{OTHER, QUESTION};
use crate::harness::{GUEST, Wanted, house};

const CALM: &str = "+12035550117";
/// Number of leading characters of an id that hold its time in milliseconds.
const PREFIX: usize = 13;

fn id(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap().to_owned()
}

#[tokio::test] // SEC-104: what a person has to see first is at the top
async fn conversations_are_listed_by_urgency_and_show_their_texts() {
    let house = house("grammar_conversations", Wanted::default()).await;
    let casino = house.casino().as_str();
    house.text(GUEST, "I want to kill myself");
    house.settle(1).await;
    house.text(CALM, QUESTION);
    house.settle(2).await;
    let listed = house
        .rows(&["conversation", "list", "--casino", casino])
        .await;
    let states: Vec<&str> = listed
        .iter()
        .map(|row| row["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["escalated", "quiet"], "{listed:?}");
    let calm = id(&listed[1], "conversation_id");
    let whose = ["--casino", casino, "--by", "Robin"];
    let taken = [
        &["conversation", "takeover", &calm[..PREFIX]][..],
        &whose,
        &["--reason", "asked for"],
    ]
    .concat();
    assert_eq!(house.seven(&taken, "").await.code, 0);
    let listed = house
        .rows(&["conversation", "list", "--casino", casino, "--since", "1s"])
        .await;
    assert_eq!(
        (listed.len(), &listed[1]["state"]),
        (2, &Value::from("paused")),
        "both need a person: {listed:?}"
    );
    let released = [&["conversation", "release", &calm][..], &whose].concat();
    assert_eq!(house.seven(&released, "").await.code, 0);

    let show = ["conversation", "show", &calm[..PREFIX], "--casino", casino];
    let masked = house.seven(&show, "").await;
    assert!(
        masked.out.contains("guest  answered") && masked.out.contains("us     "),
        "{masked:?}"
    );
    assert!(
        !masked.out.contains("italian") && !masked.out.contains(&CALM[2..]),
        "{masked:?}"
    );
    let revealed = house.seven(&[&show[..], &["--reveal"]].concat(), "").await;
    assert!(
        revealed.out.contains(QUESTION) && revealed.out.contains("Nonna Salvia"),
        "{revealed:?}"
    );
    let audited = "select count(*) from audit_log where action = 'personal_data_revealed'";
    assert_eq!(house.number(audited).await, 1);
    house.stop().await;
}

#[tokio::test] // DATA-46: a prefix finds ids of the given casino alone
async fn a_unique_prefix_names_a_row_and_an_ambiguous_one_lists_the_candidates() {
    let house = house("grammar_prefixes", Wanted::default()).await;
    house.add_other().await;
    let casino = house.casino().as_str();
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    house.text(CALM, "HELP");
    house.settle(2).await;
    let texts = house.rows(&["message", "list", "--casino", casino]).await;
    let turns = house.rows(&["turn", "list", "--casino", casino]).await;
    let (text, turn) = (
        id(texts.last().unwrap(), "outbound_id"),
        id(&turns[0], "turn_id"),
    );
    for (command, prefix) in [("message", &text[..18]), ("turn", &turn[..PREFIX])] {
        let shown = house
            .seven(&[command, "show", prefix, "--casino", casino], "")
            .await;
        assert!(
            shown.code == 0 && shown.out.contains(prefix),
            "{command}: {shown:?}"
        );
        let elsewhere = house
            .seven(&[command, "show", prefix, "--casino", OTHER], "")
            .await;
        assert!(
            elsewhere.code == 1 && elsewhere.err.contains("begins with"),
            "{command}: {elsewhere:?}"
        );
    }
    let why = house
        .seven(&["why", "--text", &turn[..PREFIX], "--casino", casino], "")
        .await;
    assert!(why.code == 0 && why.out.contains("turn by"), "{why:?}");
    let ambiguous = house
        .seven(&["message", "show", &text[..4], "--casino", casino], "")
        .await;
    assert!(
        ambiguous.code == 1 && ambiguous.err.contains("several outbound texts"),
        "{ambiguous:?}"
    );
    assert!(
        texts
            .iter()
            .all(|row| ambiguous.err.contains(&id(row, "outbound_id"))),
        "{ambiguous:?}"
    );
    let unknown = house
        .seven(&["message", "show", "ffff", "--casino", casino], "")
        .await;
    assert!(
        unknown.code == 1 && unknown.err.contains("no outbound texts"),
        "{unknown:?}"
    );
    house.stop().await;
}

#[tokio::test]
async fn status_names_its_fleet_and_fits_a_terminal() {
    let house = house("grammar_status", Wanted::default()).await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let config = house.stack.config_file.to_string_lossy().into_owned();
    for args in [
        &["status"][..],
        &["message", "list", "--casino", house.casino().as_str()],
    ] {
        let mut command = tokio::process::Command::new(crate::harness::binary());
        let said = command
            .args(["--config", &config])
            .args(args)
            .env("COLUMNS", "80")
            .output()
            .await
            .unwrap();
        let out = String::from_utf8(said.stdout).unwrap();
        let body = out.lines().skip(usize::from(args[0] == "status"));
        assert!(
            body.clone().all(|line| line.chars().count() <= 80) && body.count() < 24,
            "{out}"
        );
        assert!(
            args[0] != "status" || out.starts_with(&format!("Fleet: {config}, ")),
            "{out}"
        );
    }
    house.stop().await;
}
