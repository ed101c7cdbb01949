//! Tests commands that change a lot. They show the changes first, and need a name and `--yes`. A
//! dry run decides as the real run would.

use serde_json::{Value, json};

use super::{OTHER, OTHER_NUMBER, Output, QUESTION};
use crate::harness::{GUEST, House, Wanted, house};

const ANA: [&str; 2] = ["--by", "ana"];
const WHY: [&str; 4] = ["--by", "ana", "--reason", "a test"];

async fn run(house: &House, args: &[&str], more: &[&str]) -> Output {
    house.seven(&[args, more].concat(), "").await
}

/// Returns the number of audit entries; every change that a command makes adds one.
async fn audited(house: &House) -> i64 {
    house.number("select count(*) from audit_log").await
}

#[tokio::test] // CMS-24
async fn a_file_of_three_items_does_not_replace_the_content_unasked() {
    let house = house(
        "careful_content",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let mut content: Value = serde_json::from_str(seven_packs::demo::CONTENT).unwrap();
    let all = content["items"].as_array().unwrap().len();
    content["items"].as_array_mut().unwrap().truncate(3);
    content["items"][0]["description"] = "Somewhere else.".into();
    let file = house.file("three.json", &content.to_string());
    let load = [
        "content",
        "load",
        "--casino",
        house.casino().as_str(),
        &file,
        "--switch-off-missing",
    ];
    // A file that leaves out almost everything is refused unless a second person approves it.
    let alone = run(&house, &load, &["--by", "ana", "--dry-run"]).await;
    assert!(
        alone.code == 1 && alone.err.contains("without an active item"),
        "{alone:?}"
    );
    let load = [&load[..], &["--approved-by", "bob"]].concat();
    let items = "select count(*) from content_items where active";
    let before = (house.number(items).await, audited(&house).await);

    let unnamed = run(&house, &load, &[]).await;
    assert!(
        unnamed.code == 2 && unnamed.err.contains("--by"),
        "{unnamed:?}"
    );
    let dry = run(&house, &load, &["--by", "ana", "--dry-run"]).await;
    let says = format!("0 new, 1 changed, 2 unchanged, {} switched off", all - 3);
    assert!(
        dry.code == 0 && dry.out.contains(&says) && dry.out.contains("dry run"),
        "{dry:?}"
    );
    assert!(
        dry.out.contains("  - ") && dry.out.contains("  ~ "),
        "the items are named: {dry:?}"
    );
    let unasked = run(&house, &load, &ANA).await;
    assert!(
        unasked.code == 1
            && unasked
                .err
                .contains(&format!("switch off {} of {all}", all - 3)),
        "{unasked:?}"
    );
    assert_eq!(
        (house.number(items).await, audited(&house).await),
        before,
        "nothing was written"
    );

    let agreed = run(&house, &load, &["--by", "ana", "--yes"]).await;
    assert!(agreed.code == 0, "{agreed:?}");
    assert_eq!(house.number(items).await, 3);
    let kept =
        "select jsonb_array_length(detail->'changes')::bigint from audit_log where actor = 'ana'";
    assert_eq!(house.number(kept).await, i64::try_from(all - 2).unwrap());
    house.stop().await;
}

#[tokio::test] // DEP-21
async fn a_copied_document_does_not_replace_a_live_casino_unasked() {
    let house = house(
        "careful_casino",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let copied = |number: &str, zone: &str| {
        let mut document = serde_json::to_value(&house.config).unwrap();
        document["operational"]["telnyx_phone_number"] = number.into();
        document["operational"]["timezone"] = zone.into();
        house.file("copied.json", &document.to_string())
    };
    let file = copied("+18605550177", "America/Chicago");
    let before = audited(&house).await;
    let dry = run(&house, &["casino", "add", &file, "--dry-run"], &ANA).await;
    for line in [
        r#"~ operational.telnyx_phone_number: "+18605550100" -> "+18605550177""#,
        r#"~ operational.timezone: "America/New_York" -> "America/Chicago""#,
    ] {
        assert!(dry.code == 0 && dry.out.contains(line), "{line}: {dry:?}");
    }
    let unasked = run(&house, &["casino", "add", &file], &ANA).await;
    assert!(
        unasked.code == 1 && unasked.err.contains("change 2 field(s) of silver_birch"),
        "{unasked:?}"
    );
    assert_eq!(audited(&house).await, before);
    let routed = "select count(*) from routes where retired_at is null and number = '+18605550100'";
    assert_eq!(house.number(routed).await, 1);

    // The dry run and the real run both refuse a number that another casino has.
    house.add_other().await;
    let taken = copied(OTHER_NUMBER, "America/New_York");
    for more in [&["--by", "ana", "--dry-run"][..], &["--by", "ana", "--yes"]] {
        let said = run(&house, &["casino", "add", &taken], more).await;
        assert!(
            said.code == 1 && said.err.contains(OTHER),
            "{more:?}: {said:?}"
        );
    }
    let file = copied("+18605550177", "America/Chicago");
    let done = run(&house, &["casino", "add", &file, "--yes"], &ANA).await;
    assert!(
        done.code == 0 && done.out.contains("Replaced the document"),
        "{done:?}"
    );
    let changed = "select count(*) from audit_log where actor = 'ana' and detail->'changed' = \
                   '[\"operational.telnyx_phone_number\", \"operational.timezone\"]'";
    assert_eq!(house.number(changed).await, 1);
    let same = run(&house, &["casino", "add", &file], &ANA).await;
    assert!(
        same.code == 0 && same.out.contains("as it was"),
        "the same again asks nobody: {same:?}"
    );
    house.stop().await;
}

#[tokio::test] // SMS-31, D17: a dry run promises nothing that the run refuses
async fn a_dry_run_refuses_what_the_run_refuses() {
    let house = house("careful_dry", Wanted::default()).await;
    let casino = house.casino().to_string();
    // The demo's document turns campaigns off.
    let text = [
        "--text-en",
        "Hi, {persona} here, the AI host of {casino}. The grill has tables. Reply YES for one, or STOP to opt out.",
    ];
    let text_es = [
        "--text-es",
        "Soy {persona}, anfitrion IA de {casino}. Hay mesas en el grill. Responda SI, o PARAR para salir.",
    ];
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let guests = house.file("guests.txt", GUEST);
    let send = [
        "campaign", "send", "--casino", &casino, "--name", "autumn", "--guests", &guests,
    ];
    let send = [&send[..], &text, &text_es, &WHY].concat();
    let (dry, done) = (
        run(&house, &send, &["--dry-run"]).await,
        run(&house, &send, &["--yes"]).await,
    );
    assert_eq!((dry.code, done.code), (1, 1), "{dry:?} {done:?}");
    assert_eq!(dry.err, done.err);
    assert!(
        dry.out.contains("autumn at"),
        "the plan is shown all the same: {dry:?}"
    );

    // Files a dead letter for a number that no casino has yet.
    house.text_to_other(GUEST, QUESTION);
    crate::harness::until(
        "the letter is filed",
        std::time::Duration::from_secs(15),
        || async { house.count("dead", "open").await == 1 },
    )
    .await;
    let replay = ["dead", "replay", "--unknown", "--json"];
    let dry = run(&house, &replay, &["--by", "ana", "--dry-run"]).await;
    let document: Value = serde_json::from_str(&dry.out).unwrap();
    assert_eq!(dry.code, 1, "{dry:?}");
    assert_eq!(
        (&document["letters"], &document["refused"]),
        (&json!(0), &json!({ "no_casino": 1 })),
        "{document}"
    );
    let done = run(&house, &replay, &["--by", "ana", "--yes"]).await;
    let document: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        (done.code, &document["refused"]),
        (1, &json!({ "no_casino": 1 })),
        "{done:?}"
    );
    let unnamed = run(&house, &replay, &["--yes"]).await;
    assert!(
        unnamed.code == 2 && unnamed.err.contains("--by"),
        "{unnamed:?}"
    );
    house.stop().await;
}

#[tokio::test] // DEP-23, SEC-78, D14
async fn what_reaches_everybody_or_cannot_be_taken_back_is_asked_first() {
    let house = house("careful_rest", Wanted::default()).await;
    let casino = house.casino().to_string();
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let listed = run(&house, &["flag", "list", "--json"], &[]).await;
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    assert!(
        listed["names"]
            .as_array()
            .unwrap()
            .iter()
            .any(|name| name == "features/comp_agent_enabled"),
        "{listed}"
    );
    let flag = ["flag", "set", "features/comp_agent_enabled", "--off"];
    for (ineffective, why) in [
        (
            &["features/human_like_delay_enabled"][..],
            "read from the casino's document",
        ),
        (
            &["features/outbound_campaigns_enabled"],
            "read from the casino's document",
        ),
        (
            &["features/ai_disclosure_enabled", "--off"],
            "cannot be off for guests of every casino",
        ),
        (
            &["features/ai_disclosure_enabled", "--percentage", "50"],
            "cannot be off for guests of every casino",
        ),
        (
            &[
                "features/ai_disclosure_enabled",
                "--percentage",
                "50",
                "--casino",
                &casino,
            ],
            "ai_disclosure_required",
        ),
        (
            &[
                "features/ai_disclosure_enabled",
                "--allow",
                GUEST,
                "--casino",
                &casino,
            ],
            "ai_disclosure_required",
        ),
        (
            &[
                "features/ai_disclosure_enabled",
                "--off",
                "--casino",
                &casino,
            ],
            "ai_disclosure_required",
        ),
    ] {
        let refused = run(
            &house,
            &[&["flag", "set"], ineffective, &["--yes"]].concat(),
            &WHY,
        )
        .await;
        assert!(
            refused.code == 1 && refused.err.contains(why),
            "{ineffective:?}: {refused:?}"
        );
    }
    let of_guest = ["guest", "delete", "--casino", &casino, "--guest", GUEST];
    let cases: [(&[&str], &str); 4] = [
        (&flag, "for every casino"),
        (&of_guest, "delete guest"),
        (&["pause", "--all", "--kill"], "cries for help"),
        (&["resume", "--all-casinos"], "every casino"),
    ];
    let before = audited(&house).await;
    for (command, question) in cases {
        let unasked = run(&house, command, &WHY).await;
        assert!(
            unasked.code == 1 && unasked.err.contains(question),
            "{command:?}: {unasked:?}"
        );
        let dry = run(&house, command, &[&WHY[..], &["--dry-run"]].concat()).await;
        assert!(
            dry.code == 0 && dry.out.contains("dry run"),
            "{command:?}: {dry:?}"
        );
    }
    assert_eq!(audited(&house).await, before, "nothing was written");
    let whole = run(&house, &flag, &[&WHY[..], &["--dry-run"]].concat()).await;
    assert!(whole.out.contains("not set -> off"), "{whole:?}");
    // A flag for one casino needs no `--yes`, and neither does a pause that still answers HELP and
    // STOP.
    let own = run(&house, &[&flag[..], &["--casino", &casino]].concat(), &WHY).await;
    let pause = run(&house, &["pause", "--all-casinos"], &WHY).await;
    assert_eq!((own.code, pause.code), (0, 0), "{own:?} {pause:?}");
    let deleted = run(&house, &of_guest, &[&WHY[..], &["--yes"]].concat()).await;
    assert!(deleted.code == 0, "{deleted:?}");
    let asked = "select count(*) from deletions where requested_by = 'ana: a test'";
    assert_eq!(house.number(asked).await, 1);
    house.stop().await;
}
