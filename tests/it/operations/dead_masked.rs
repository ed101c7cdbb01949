//! Tests the commands about dead letters: their output, their refusals and their audit entries
//! (D17, SEC-64).

use std::time::Duration;

use seven_bus::{Outgoing, subject};
use seven_domain::{CasinoId, Stage};
use seven_store::dead::NewDead;

use super::{
    OTHER_NUMBER, OTHER_VENUE, Output, QUESTION,
    dead_many::{file, letter},
};
use crate::harness::{GUEST, House, Wanted, house, until};

const WORDS: &str = "is the zanzibar suite free?";

impl House {
    async fn dead(&self, args: &[&str]) -> Output {
        self.seven(&[&["dead"], args].concat(), "").await
    }
}

#[tokio::test] // SEC-64, SEC-66
async fn personal_data_is_masked_unless_it_is_revealed_for_a_reason() {
    let house = house(
        "dead_masked",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let mut quoting = letter(&house, 1, GUEST, WORDS);
    quoting.error = format!("invalid type: string \"{WORDS}\" from {GUEST}");
    let id = quoting.dead_id.to_string();
    file(&house, &[quoting]).await;
    let casino = house.casino().as_str();
    for args in [
        &["list", "--casino", casino][..],
        &["list", "--casino", casino, "--json"],
        &["show", &id],
        &["show", &id, "--json"],
        &["export", "--casino", casino],
        &["export", "--all-casinos", "--guest", GUEST],
        &["replay", "--casino", casino, "--dry-run", "--by", "ana"],
        &[
            "discard",
            "--casino",
            casino,
            "--dry-run",
            "--by",
            "ana",
            "--reason",
            "a test",
        ],
    ] {
        let said = house.dead(args).await;
        assert_eq!(said.code, 0, "{args:?} {said:?}");
        let all = format!("{}{}", said.out, said.err);
        assert!(
            all.contains(&id) || all.contains("dead letter(s)"),
            "{args:?} {all}"
        );
        assert!(
            !all.contains("8605550142") && !all.contains("zanzibar"),
            "{args:?} {all}"
        );
    }
    let revealed = "select count(*) from audit_log where action = 'personal_data_revealed' and actor = 'ana' and detail->>'reason' = 'complaint 7'";
    for args in [
        &["show", &id, "--reveal"][..],
        &["export", &id, "--reveal", "--reason", " "],
    ] {
        let said = house.dead(args).await;
        assert!(
            said.code == 2 && said.out.is_empty(),
            "no reason, nothing shown: {args:?} {said:?}"
        );
    }
    for (n, verb) in (1..).zip(["show", "export"]) {
        let said = house
            .dead(&[
                verb,
                &id,
                "--reveal",
                "--reason",
                "complaint 7",
                "--by",
                "ana",
            ])
            .await;
        assert!(
            said.out.contains(GUEST) && said.out.contains(WORDS),
            "{said:?}"
        );
        assert_eq!(house.number(revealed).await, n);
    }
    let out = house
        .scratch
        .path()
        .join("letters.jsonl")
        .to_string_lossy()
        .into_owned();
    let said = house
        .dead(&["export", "--casino", casino, "--out", &out])
        .await;
    assert!(
        said.code == 0 && said.out.contains("Wrote 1 dead letter(s)"),
        "{said:?}"
    );
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 1);
    assert_eq!(
        house
            .dead(&["export", "--casino", casino, "--out", &out])
            .await
            .code,
        1,
        "nothing is overwritten"
    );
    house.stop().await;
}

#[tokio::test] // D17, SMS-53
async fn a_letter_that_can_help_nobody_is_refused_with_its_reason_and_stays() {
    let house = house("dead_refused", Wanted::default()).await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let before = letter(&house, 1, GUEST, QUESTION);
    house.text(GUEST, "STOP");
    house.settle(2).await;
    let of = |n: usize, stage: Stage, payload: Vec<u8>| NewDead {
        stage,
        payload,
        subject: subject(stage, house.casino(), None),
        ..letter(&house, n, GUEST, "")
    };
    // `gone` holds the id of a row that does not exist (field 1, 16 bytes); `junk` holds bytes that
    // cannot be decoded.
    let nowhere = [&[0x0a, 16][..], &[7; 16]].concat();
    let gone = of(2, Stage::Envelope, nowhere);
    let junk = of(3, Stage::Swarm, vec![0xff; 9]);
    let after = letter(&house, 4, "+18605550143", QUESTION);
    let wanted = [
        (&before, "opted out since"),
        (&gone, "erased, or the rows behind it are gone"),
        (&junk, "still unreadable"),
    ];
    file(
        &house,
        &[before.clone(), gone.clone(), junk.clone(), after.clone()],
    )
    .await;
    for (letter, reason) in wanted {
        let said = house
            .dead(&["replay", "--by", "ana", &letter.dead_id.to_string()])
            .await;
        assert!(
            said.code == 1 && said.err.contains(reason) && said.out.contains("refused 1"),
            "{said:?}"
        );
    }
    let casino = house.casino().as_str();
    let unasked = house
        .dead(&["replay", "--by", "ana", "--casino", casino])
        .await;
    assert!(
        unasked.code == 1 && unasked.err.contains("replay 4 dead letter(s); say --yes"),
        "{unasked:?}"
    );
    assert_eq!(
        house.dead(&["replay", "--by", "ana"]).await.code,
        2,
        "whose?"
    );
    let dry = house
        .dead(&[
            "replay",
            "--casino",
            casino,
            "--dry-run",
            "--json",
            "--by",
            "ana",
        ])
        .await;
    let refused = r#""refused":{"gone":1,"opted_out":1,"unreadable":1}"#;
    assert!(
        dry.code == 1 && dry.out.contains(r#""letters":1"#) && dry.out.contains(refused),
        "{dry:?}"
    );
    let texts = house.texts_to(GUEST);

    let all = house
        .dead(&[
            "replay", "--casino", casino, "--yes", "--rate", "1000/s", "--by", "ana",
        ])
        .await;
    let line =
        "Replayed 1 dead letter(s); refused 3 (gone 1, opted_out 1, unreadable 1), still listed.";
    assert!(all.code == 1 && all.out.contains(line), "{all:?}");
    house.settle(3).await;
    assert!(house.said_to("+18605550143").contains("Nonna Salvia"));
    assert_eq!(house.texts_to(GUEST), texts, "nothing to who left");
    let shown = house.dead(&["show", &after.dead_id.to_string()]).await;
    assert!(
        shown.out.contains("replay by ana") && shown.out.contains("replayed 1 time(s)"),
        "{shown:?}"
    );

    let args = [
        "discard",
        "--casino",
        casino,
        "--reason",
        "guest left",
        "--yes",
        "--by",
        "ben",
    ];
    let discarded = house.dead(&args).await;
    assert!(
        discarded.code == 0 && discarded.out.contains("Discarded 3 dead letter(s)."),
        "{discarded:?}"
    );
    assert_eq!(
        (
            house.count("dead", "open").await,
            house.count("dead", "discarded").await
        ),
        (0, 3)
    );
    let shown = house.dead(&["show", &gone.dead_id.to_string()]).await;
    assert!(
        shown.out.contains("discard by ben: guest left"),
        "{shown:?}"
    );
    let put_away = house
        .dead(&["replay", "--by", "ana", &gone.dead_id.to_string()])
        .await;
    assert!(
        put_away.code == 1 && put_away.err.contains("it was discarded"),
        "{put_away:?}"
    );

    file(&house, &[letter(&house, 5, "+18605550144", QUESTION)]).await;
    assert_eq!(
        house
            .seven(
                &[
                    "casino",
                    "remove",
                    casino,
                    "--confirm",
                    casino,
                    "--by",
                    "O. Perator",
                    "--reason",
                    "test"
                ],
                ""
            )
            .await
            .code,
        0
    );
    let removed = house
        .dead(&["replay", "--all-casinos", "--yes", "--by", "ana"])
        .await;
    assert!(
        removed.code == 1 && removed.err.contains("the casino was removed"),
        "{removed:?}"
    );
    house.stop().await;
}

#[tokio::test] // D17: the stream keeps 30 days, whatever happened to the rows
async fn a_letter_whose_row_is_gone_is_replayed_from_its_stream() {
    let house = house("dead_stream", Wanted::default()).await;
    house.text_to_other(GUEST, QUESTION);
    house.text_to_other("+18605550143", QUESTION);
    until("both are filed", Duration::from_secs(15), || async {
        house.count("dead", "open").await == 2
    })
    .await;
    house.add_other().await;
    let owner = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    sqlx::query("delete from dead_letters")
        .execute(&owner)
        .await
        .unwrap();
    // Publishes an unreadable announcement to the same stream; a replay from the stream has to skip
    // it.
    let subject = seven_bus::subject_for_dead(Stage::Ingress, &CasinoId::unknown());
    let junk = Outgoing {
        subject,
        key: "junk",
        copy: None,
        trace: "",
        payload: vec![0xff_u8; 40].into(),
    };
    house
        .stack
        .fleet
        .bus
        .publish(&junk, Duration::from_secs(5))
        .await
        .unwrap();

    assert!(
        house
            .dead(&["replay", "--unknown", "--yes", "--by", "ana"])
            .await
            .out
            .contains("Replayed 0")
    );
    let one = [
        "replay",
        "--all-casinos",
        "--from-stream",
        "--guest",
        GUEST,
        "--by",
        "ana",
    ];
    let dry = house.dead(&[&one[..], &["--dry-run"]].concat()).await;
    assert!(dry.out.contains("Would replay 1 dead letter(s)"), "{dry:?}");
    assert_eq!(
        house.number("select count(*) from dead_letters").await,
        0,
        "nothing was done"
    );
    for round in 1..=2 {
        let said = house.dead(&[&one[..], &["--yes"]].concat()).await;
        assert_eq!(said.code, 0, "round {round}: {said:?}");
    }
    house.settle(1).await;
    assert!(
        house.said_from(OTHER_NUMBER, GUEST).contains(OTHER_VENUE),
        "{:?}",
        house.texts_to(GUEST)
    );
    assert_eq!(
        house.number("select replays::int8 from dead_letters").await,
        1,
        "its row is back, and done"
    );
    let said = house
        .dead(&[
            "replay",
            "--unknown",
            "--from-stream",
            "--yes",
            "--by",
            "ana",
        ])
        .await;
    assert!(
        said.out.contains("Replayed 1 dead letter(s)."),
        "only the other one was lost: {said:?}"
    );
    house.settle(2).await;
    assert!(
        house
            .said_from(OTHER_NUMBER, "+18605550143")
            .contains(OTHER_VENUE)
    );
    assert_eq!(house.number("select count(*) from turns").await, 2);
    house.stop().await;
}
