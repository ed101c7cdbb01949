//! Incident bundles and timelines, and the costs of a month (OBS-19, OBS-32, OBS-43, SMS-60).

use std::time::Duration;

use crate::harness::{Wanted, binary, house, until};

const PHONES: [&str; 2] = ["+18605550161", "+18605550162"];
const SECRETS: [&str; 6] = [
    "5550161",
    "5550162",
    "Wilhelmina",
    "zanzibar",
    "Gwendolyn",
    "nonsuch@example.com",
];

fn files(archive: impl std::io::Read) -> Vec<(String, String)> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let name = entry
            .path()
            .unwrap()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        (name, std::io::read_to_string(&mut entry).unwrap())
    };
    archive.entries().unwrap().map(read).collect()
}

#[tokio::test(flavor = "multi_thread")] // OBS-19
async fn a_bundle_holds_no_guest() {
    let house = house("incident", Wanted::default()).await;
    house.text(
        PHONES[0],
        "Hi, I'm Wilhelmina, do you have zanzibar soup? nonsuch@example.com",
    );
    house.text(PHONES[1], "STOP");
    // A text to a number that no casino has becomes a dead letter that holds the text.
    house
        .stack
        .sim
        .text(seven_carrier_sim::Text {
            from: PHONES[0].to_owned(),
            to: Some("+12125550199".to_owned()),
            text: Some("zanzibar".to_owned()),
            ..seven_carrier_sim::Text::default()
        })
        .unwrap();
    house.settle(2).await;
    until("the letter is filed", Duration::from_secs(10), || async {
        house.count("dead", "open").await == 1
    })
    .await;
    let told = house
        .seven(
            &[
                "pause",
                "--casino",
                house.casino().as_str(),
                "--proactive",
                "--by",
                "ops",
                "--reason",
                "call Gwendolyn +18605550162",
            ],
            "",
        )
        .await;
    assert_eq!(told.code, 0, "{}", told.err);

    let bundle = house.scratch.path().join("bundle.tar.gz");
    let ops = house.stack.ops_url.clone().unwrap();
    let said = house
        .seven(
            &[
                "incident",
                "bundle",
                "--since",
                "1h",
                "--out",
                bundle.to_str().unwrap(),
                "--metrics",
                &ops,
            ],
            "",
        )
        .await;
    assert_eq!(said.code, 0, "{}", said.err);
    let kept = files(std::fs::File::open(&bundle).unwrap());
    let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
    for name in [
        "manifest.json",
        "status.json",
        "alerts.json",
        "dead_letters.json",
        "audit.json",
        "switches.json",
        "metrics-1.txt",
    ] {
        assert!(
            names.contains(&name),
            "{name} is missing: {names:?}\n{}",
            said.out
        );
    }
    for (name, text) in &kept {
        for secret in SECRETS {
            assert!(
                !text.to_lowercase().contains(&secret.to_lowercase()),
                "{name} holds {secret}"
            );
        }
    }
    let of = |name: &str| {
        kept.iter()
            .find(|(n, _)| n == name)
            .map(|(_, text)| text.clone())
            .unwrap()
    };
    assert!(
        of("manifest.json").contains("\"missing\": []"),
        "{}",
        of("manifest.json")
    );
    assert!(
        of("switches.json").contains("proactive"),
        "{}",
        of("switches.json")
    );
    assert!(
        of("dead_letters.json").contains("unknown_number"),
        "{}",
        of("dead_letters.json")
    );
    assert!(of("metrics-1.txt").contains("seven_inbound_total{"));

    let again = house
        .seven(
            &["incident", "bundle", "--out", bundle.to_str().unwrap()],
            "",
        )
        .await;
    assert_eq!(again.code, 1);
    assert!(again.err.contains("exists"), "{}", again.err);
    let nowhere = house
        .seven(
            &["incident", "bundle", "--out", "/proc/nowhere/bundle.tar.gz"],
            "",
        )
        .await;
    assert!(
        nowhere.code == 1 && nowhere.err.contains("--out - writes to standard output"),
        "{}",
        nowhere.err
    );
    // Writes the bundle to stdout, as in a pod. Stdout gets only the archive; stderr gets the list
    // of missing parts.
    let mut piped = tokio::process::Command::new(binary());
    piped
        .arg("--config")
        .arg(&house.stack.config_file)
        .args(["incident", "bundle", "--out", "-"]);
    let piped = piped
        .args(["--metrics", "http://127.0.0.1:9"])
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&piped.stderr);
    assert!(
        piped.status.success() && said.contains("Missing: metrics of http://127.0.0.1:9"),
        "{said}"
    );
    let piped = files(&*piped.stdout);
    assert!(
        piped
            .iter()
            .any(|(name, text)| name == "manifest.json" && text.contains("metrics of http")),
        "{piped:?}"
    );
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // OBS-43, SMS-60
async fn a_month_costs_what_was_used() {
    let house = house("cost", Wanted::default()).await;
    house.text(PHONES[0], "What restaurants do you have?");
    house.settle(1).await;
    let casino = house.casino().as_str();
    let said = house
        .seven(&["cost", "report", "--casino", casino, "--json"], "")
        .await;
    assert_eq!(said.code, 0, "{}", said.err);
    let cost: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let segments: u64 = house
        .texts_to(PHONES[0])
        .iter()
        .map(|text| u64::try_from(seven_sms::measure(text).segments).unwrap())
        .sum();
    assert_eq!(
        (cost["turns"].as_u64(), cost["segments_in"].as_u64()),
        (Some(1), Some(1)),
        "{cost}"
    );
    assert_eq!(cost["segments_out"].as_u64(), Some(segments), "{cost}");
    let sms = segments * 4_000_000 + 4_000_000 + (segments + 1) * 3_000_000;
    assert_eq!(cost["sms"].as_u64(), Some(sms), "{cost}");
    assert_eq!(cost["total"].as_u64(), Some(sms + 16_000_000_000), "{cost}");
    let before = house
        .seven(&["cost", "report", "--month", "2020-01"], "")
        .await;
    assert!(before.out.contains("$16.0000"), "{}", before.out);
    let bad = house
        .seven(&["cost", "report", "--month", "November"], "")
        .await;
    assert_eq!(bad.code, 2);
    assert!(bad.err.contains("such as 2026-11"), "{}", bad.err);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // OBS-19
async fn an_incident_is_told_step_by_step_and_owes_a_review() {
    let house = house("register", Wanted::default()).await;
    let run = async |arguments: &[&str]| {
        house
            .seven(
                &[&["incident"], arguments, &["--by", "R. Viewer"]].concat(),
                "",
            )
            .await
    };
    let refused = async |arguments: &[&str], why: &str| {
        let said = run(arguments).await;
        assert!(
            said.code != 0 && said.err.contains(why),
            "{arguments:?}: {}{}",
            said.out,
            said.err
        );
    };
    let began = ["--began", "2026-01-02T03:00:00Z"];
    refused(
        &["open", "--severity", "SEV1", "--title", "call +18605550142"],
        "name guests by their id",
    )
    .await;
    let opened = run(&[
        &["open", "--severity", "SEV1", "--title", "answers late"],
        &began[..],
    ]
    .concat())
    .await;
    assert_eq!(opened.code, 0, "{}", opened.err);
    let id = opened.out.trim();
    refused(
        &["review", id, "--cause", "a full disk"],
        "resolve` comes first",
    )
    .await;
    refused(
        &[
            "note",
            "01a2014b-08dd-7000-8000-000000000000",
            "--text",
            "x",
        ],
        "no incident",
    )
    .await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    assert_eq!(
        run(&[
            "note",
            id,
            "--text",
            "the disk of NATS is full",
            "--trace",
            trace
        ])
        .await
        .code,
        0
    );
    let ended = [
        "--impact",
        "12 texts a minute late",
        "--ended",
        "2026-01-02T03:40:00Z",
    ];
    assert_eq!(run(&[&["resolve", id], &ended[..]].concat()).await.code, 0);
    refused(&[&["resolve", id], &ended[..]].concat(), "resolved already").await;
    let due = async || house.stack.fleet.store.upkeep().await.unwrap().review_due;
    assert_eq!(due().await, Some("2026-01-04T03:40:00Z".parse().unwrap()));
    let list = house.seven(&["incident", "list"], "").await.out;
    assert!(
        list.contains("overdue") && list.contains("answers late"),
        "{list}"
    );

    let action = "alert on a full disk; R. Viewer; 2026-02-01";
    assert_eq!(
        run(&[
            "review",
            id,
            "--cause",
            "nothing watched the disk",
            "--action",
            action
        ])
        .await
        .code,
        0
    );
    assert_eq!(due().await, None);
    let page = house.seven(&["incident", "show", id], "").await.out;
    for part in [
        "# SEV1: answers late",
        "minutes: 40",
        "12 texts a minute late",
        "the disk of NATS is full (trace 4bf92f3577b34da6a3ce929d0e0e4736)",
        "nothing watched the disk",
        "- R. Viewer: alert on a full disk, by 2026-02-01",
    ] {
        assert!(page.contains(part), "{part} is missing:\n{page}");
    }
    let lines = house.seven(&["incident", "list", "--json"], "").await.out;
    let line: serde_json::Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!(
        (
            line["severity"].as_u64(),
            line["steps"].as_array().map(Vec::len)
        ),
        (Some(1), Some(4)),
        "{line}"
    );
    house.stop().await;
}
