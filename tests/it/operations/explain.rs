//! Commands that show a running fleet: its state, the texts that it sent, and why it sent them.

use serde_json::Value;

use super::QUESTION;
use crate::harness::{GUEST, Wanted, house};

#[tokio::test] // DEP-21
async fn casino_list_shows_what_is_served() {
    let house = house(
        "cli_casinos",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let list = async || -> Vec<Value> {
        let said = house.seven(&["casino", "list", "--json"], "").await;
        assert_eq!(said.code, 0, "{said:?}");
        serde_json::from_str(&said.out).unwrap()
    };
    let casinos = list().await;
    assert_eq!(casinos.len(), 1, "{casinos:?}");
    assert_eq!(casinos[0]["casino"], "silver_birch");
    assert_eq!(casinos[0]["active"], true);
    assert_eq!(casinos[0]["numbers"], serde_json::json!(["+18605550100"]));
    assert_eq!(casinos[0]["content_version"], 1);
    house.add_other().await;
    let casino = async |arguments: &[&str]| {
        let who = ["--by", "O. Perator", "--reason", "test"];
        house
            .seven(&[&["casino"], arguments, &who].concat(), "")
            .await
    };
    let nobody = house.seven(&["casino", "suspend", "amber_lake"], "").await;
    assert!(
        nobody.code == 2 && nobody.err.contains("--by") && nobody.err.contains("--reason"),
        "{nobody:?}"
    );
    assert_eq!(casino(&["suspend", "amber_lake"]).await.code, 0);
    let told =
        "select count(*) from audit_log where actor = 'O. Perator' and detail->>'reason' = 'test'";
    assert_eq!(house.number(told).await, 1);
    let states: Vec<_> = list()
        .await
        .iter()
        .map(|c| {
            (
                c["casino"].as_str().unwrap().to_owned(),
                c["active"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        states,
        [
            ("amber_lake".to_owned(), false),
            ("silver_birch".to_owned(), true)
        ]
    );
    assert_eq!(casino(&["resume", "amber_lake"]).await.code, 0);
    let wrong = casino(&["remove", "amber_lake", "--confirm", "silver_birch"]).await;
    assert!(wrong.code == 1 && list().await.len() == 2, "{wrong:?}");
    assert_eq!(
        casino(&["remove", "amber_lake", "--confirm", "amber_lake"])
            .await
            .code,
        0
    );
    assert_eq!(list().await.len(), 1);
    let unknown = casino(&["suspend", "no_such"]).await;
    assert!(
        unknown.code == 1 && unknown.err.contains("no_such"),
        "{unknown:?}"
    );
    house.stop().await;
}

#[tokio::test] // CMS-24, CMS-28
async fn a_broken_content_file_names_each_problem_and_changes_nothing() {
    let house = house("cli_content", Wanted::default()).await;
    let mut content: Value = serde_json::from_str(seven_packs::demo::CONTENT).unwrap();
    content["items"][1]["details"]["hours"] = "whenever we feel like it".into();
    content["items"][2]["name"] = "".into();
    content["items"][2]["category"] = Value::Null;
    let last = content["items"].as_array().unwrap().len() - 1;
    content["items"][last]["id"] = "dining_001".into();
    let file = house.file("broken.json", &content.to_string());
    let said = house
        .seven(
            &[
                "content",
                "load",
                "--casino",
                house.casino().as_str(),
                &file,
                "--by",
                "test",
            ],
            "",
        )
        .await;
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.is_empty(), "{said:?}");
    for (row, field) in [
        (2, "details.hours"),
        (3, "name"),
        (3, "category"),
        (last + 1, "id"),
    ] {
        let start = format!("{file}:{row}:{field}: ");
        let line = said
            .err
            .lines()
            .find(|line| line.starts_with(&start))
            .unwrap_or_else(|| panic!("no line {start}\n{}", said.err));
        let (problem, fix) = line[start.len()..]
            .split_once("; ")
            .unwrap_or_else(|| panic!("{line} says no fix"));
        assert!(!problem.is_empty() && !fix.is_empty(), "{line}");
    }
    assert_eq!(
        house.number("select content_version from casinos").await,
        1,
        "still the first load"
    );
    assert_eq!(
        house
            .number(
                "select count(*) from content_items where updated_at <> (select min(updated_at) from content_items)"
            )
            .await,
        0
    );
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    assert!(
        house.said_to(GUEST).contains("Nonna Salvia"),
        "the old content still answers"
    );

    let good = house.file("good.json", seven_packs::demo::CONTENT);
    let again = house
        .seven(
            &[
                "content",
                "load",
                "--casino",
                house.casino().as_str(),
                &good,
                "--by",
                "test",
            ],
            "",
        )
        .await;
    assert!(
        again.code == 0 && again.out.contains("0 new, 0 changed"),
        "the same file again changes nothing: {again:?}"
    ); // RAG-17
    let nobody = house
        .seven(
            &[
                "content", "load", "--casino", "no_such", &good, "--by", "test",
            ],
            "",
        )
        .await;
    assert!(
        nobody.code == 1 && nobody.err.contains("seven casino add"),
        "{nobody:?}"
    );
    house.stop().await;
}

#[tokio::test] // SMS-7, SMS-43
async fn message_list_and_show_tell_the_life_of_a_text() {
    let house = house("cli_message", Wanted::default()).await;
    house.text(GUEST, "HELP");
    house.settle(1).await;
    crate::harness::until(
        "the receipt is in",
        std::time::Duration::from_secs(10),
        || async { house.count("outbound", "delivered").await == 1 },
    )
    .await;
    let casino = house.casino().as_str();
    let list = house
        .seven(&["message", "list", "--casino", casino, "--json"], "")
        .await;
    assert_eq!(list.code, 0, "{list:?}");
    let texts: Vec<Value> = list
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(texts.len(), 1);
    assert_eq!(
        (&texts[0]["class"], &texts[0]["state"]),
        (&Value::from("help"), &Value::from("delivered"))
    );
    let id = texts[0]["outbound_id"].as_str().unwrap();
    let shown = house
        .seven(&["message", "show", id, "--casino", casino, "--json"], "")
        .await;
    let shown: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(shown["attempts"].as_array().unwrap().len(), 1, "{shown}");
    assert!(
        shown["receipts"]
            .as_array()
            .unwrap()
            .iter()
            .any(|r| r["status"] == "delivered"),
        "{shown}"
    );
    let plain = house
        .seven(&["message", "show", id, "--casino", casino], "")
        .await;
    for word in ["delivered", "attempt", "receipt", "trace", "help"] {
        assert!(plain.out.contains(word), "{word}: {}", plain.out);
    }
    let none = house
        .seven(
            &[
                "message", "list", "--casino", casino, "--state", "unknown", "--json",
            ],
            "",
        )
        .await;
    assert!(none.code == 0 && none.out.is_empty(), "{none:?}");
    let table = house
        .seven(&["message", "list", "--casino", casino], "")
        .await;
    assert!(table.out.contains(id), "{table:?}");
    for said in [&list, &plain, &table] {
        assert!(
            !said.out.contains(&GUEST[2..]) && !said.err.contains(&GUEST[2..]),
            "a phone stands there: {said:?}"
        );
    }
    let missing = house
        .seven(
            &[
                "message",
                "show",
                "00000000-0000-0000-0000-000000000000",
                "--casino",
                casino,
            ],
            "",
        )
        .await;
    assert!(
        missing.code == 1 && missing.err.contains("message list"),
        "{missing:?}"
    );
    house.stop().await;
}

#[tokio::test] // OBS-14
async fn why_tells_the_timeline_and_never_the_phone() {
    let house = house("cli_why", Wanted::default()).await;
    for (sent, text) in (1..).zip([QUESTION, "STOP", "hello again"]) {
        house.text(GUEST, text);
        house.settle(sent).await;
    }
    let casino = house.casino().as_str();
    let phone = format!("{GUEST}\n");
    let plain = house.seven(&["why", "--casino", casino], &phone).await;
    assert_eq!(plain.code, 0, "{plain:?}");
    for words in [
        "ingress",
        "verdict pass",
        "verdict opt_out",
        "turn by dining",
        "envelope",
        "attempt",
        "receipts",
        "opted_out: the guest is opted out",
        "characters]",
    ] {
        assert!(plain.out.contains(words), "{words}:\n{}", plain.out);
    }
    assert!(
        !plain.out.contains("italian") && !plain.out.contains("Nonna Salvia:"),
        "no text without --reveal:\n{}",
        plain.out
    );
    let revealed = house
        .seven(&["why", "--casino", casino, "--reveal"], &phone)
        .await;
    assert!(
        revealed.out.contains(QUESTION) && revealed.out.contains("Nonna Salvia"),
        "{}",
        revealed.out
    );
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'personal_data_revealed'")
            .await,
        1,
        "who looked is written down"
    );
    let json = house
        .seven(&["why", "--casino", casino, "--json"], &phone)
        .await;
    let timeline: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(
        timeline["inbound"].as_array().unwrap().len(),
        3,
        "{timeline}"
    );
    let trace = timeline["inbound"][0]["trace"]
        .as_str()
        .unwrap()
        .split('-')
        .nth(1)
        .unwrap()
        .to_owned();
    let text = timeline["inbound"][0]["inbound_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let by_trace = house
        .seven(&["why", "--casino", casino, "--trace", &trace], "")
        .await;
    assert!(
        by_trace.code == 0 && by_trace.out.contains("turn by dining"),
        "{by_trace:?}"
    );
    let by_text = house
        .seven(&["why", "--casino", casino, "--text", &text], "")
        .await;
    assert!(
        by_text.code == 0 && by_text.out.contains(&text),
        "{by_text:?}"
    );
    let stranger = house
        .seven(&["why", "--casino", casino], "+18605550177\n")
        .await;
    let typo = house
        .seven(&["why", "--casino", casino], "860-555-0142\n")
        .await;
    assert!(
        stranger.code == 1 && typo.code == 1,
        "{stranger:?} {typo:?}"
    );
    for said in [
        &plain, &revealed, &json, &by_trace, &by_text, &stranger, &typo,
    ] {
        for digits in ["5550142", "5550177", "555-0142"] {
            assert!(
                !said.out.contains(digits) && !said.err.contains(digits),
                "a phone stands there: {said:?}"
            );
        }
    }
    house.stop().await;
}

#[tokio::test] // SEC-96, SEC-97
async fn a_conversation_is_printed_as_a_dialogue_that_the_eval_reads() {
    let house = house("cli_dialogue", Wanted::default()).await;
    house.text(GUEST, "When does the pool open?");
    house.settle(1).await;
    house.text(GUEST, "and is it \"heated\"?");
    house.settle(2).await;
    let hash = "select guest_id::text from guests";
    let guest = house.texts_of(hash).await.remove(0);
    let command = [
        "conversation",
        "dialogue",
        &*guest,
        "--casino",
        "silver_birch",
    ];
    let masked = house.seven(&command, "").await;
    assert_eq!(masked.code, 1, "{masked:?}");
    assert!(masked.err.contains("--reveal"), "{masked:?}");
    let said = house
        .seven(&[&command[..], &["--reveal"]].concat(), "")
        .await;
    assert_eq!(said.code, 0, "{said:?}");
    let dialogue = seven_lab::eval::dialogue::parse(&said.out).unwrap();
    let texts: Vec<&[String]> = dialogue
        .turns
        .iter()
        .map(|turn| turn.guest.as_slice())
        .collect();
    assert_eq!(
        texts,
        [["When does the pool open?"], ["and is it \"heated\"?"]]
    );
    for reply in house.texts_to(GUEST) {
        let comment = format!("    # {}\n", reply.lines().next().unwrap());
        assert!(said.out.contains(&comment), "{comment}: {}", said.out);
    }
    let audited = "select count(*) from audit_log where action = 'personal_data_revealed'";
    assert_eq!(house.number(audited).await, 1);
    house.stop().await;
}
