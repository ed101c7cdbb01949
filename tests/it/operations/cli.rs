//! Tests commands that need no fleet: they read and write JSON lines, and end with the right exit
//! code.

use serde_json::{Value, json};

use super::{Output, other_document, seven};

fn lines(said: &Output) -> Vec<Value> {
    assert_eq!(said.code, 0, "{said:?}");
    said.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn questions(texts: &[&str]) -> String {
    texts
        .iter()
        .map(|text| format!("{}\n", json!({ "text": text })))
        .collect()
}

#[tokio::test] // DEP-21
async fn the_version_names_the_commit() {
    let said = seven(&["--version"], b"").await;
    let commit = said
        .out
        .trim()
        .strip_prefix(concat!("seven ", env!("CARGO_PKG_VERSION"), " ("))
        .and_then(|rest| rest.strip_suffix(')'));
    let commit = commit.unwrap_or_else(|| panic!("{said:?}"));
    let git = std::process::Command::new("git")
        .args(["cat-file", "-t", commit])
        .output();
    match git {
        Ok(git) if git.status.success() => {
            assert_eq!(String::from_utf8_lossy(&git.stdout).trim(), "commit");
        }
        // The code may be an archive without Git history.
        _ => assert_eq!(commit, "unknown commit"),
    }
}

#[tokio::test] // SMS-27
async fn sms_inspect_counts_units_and_segments() {
    let long = "x".repeat(161);
    let asked = questions(&[
        "Hello",
        "",
        "10 € [ok]",
        "¡Ñandú!",
        "a😀",
        &"x".repeat(160),
        &long,
        &"é😀".repeat(24),
    ]);
    let answers = lines(&seven(&["sms", "inspect", "--json"], asked.as_bytes()).await);
    let wanted = [
        ("gsm7", 5, 1),
        ("gsm7", 0, 0),
        ("gsm7", 12, 1),
        ("ucs2", 7, 1),
        ("ucs2", 3, 1),
        ("gsm7", 160, 1),
        ("gsm7", 161, 2),
        ("ucs2", 72, 2),
    ];
    for ((answer, (encoding, units, segments)), question) in
        answers.iter().zip(wanted).zip(asked.lines())
    {
        assert_eq!(
            *answer,
            json!({ "encoding": encoding, "units": units, "segments": segments }),
            "{question}"
        );
    }
    assert_eq!(answers.len(), wanted.len());
}

#[tokio::test]
async fn a_bad_line_ends_the_command_with_its_number() {
    let said = seven(
        &["sms", "inspect", "--json"],
        b"{\"text\":\"Hello\"}\n{\"txt\":1}\n{\"text\":\"never\"}\n",
    )
    .await;
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(
        said.out.lines().count(),
        1,
        "what came before it is answered: {said:?}"
    );
    assert!(said.err.contains("line 2 of stdin"), "{said:?}");
    assert_eq!(
        seven(&["sms", "inspect", "--nonsense"], b"").await.code,
        2,
        "usage"
    );
}

#[tokio::test] // SMS-15, SMS-17, SMS-18, SMS-19, CONV-7, CONV-11
async fn gate_check_names_verdict_pattern_and_reply() {
    let asked = [
        "STOP",
        " ¡Alto! ",
        "please stop texting me",
        "START",
        "HELP",
        "ayuda",
        "YES",
        "PRIVACY",
        "DELETE",
        "where is nonna salvia?",
        "Is there a bus stop?",
        "",
    ];
    let wanted = [
        "opt_out", "opt_out", "opt_out", "opt_in", "help", "help", "affirm", "privacy", "delete",
        "pass", "pass", "pass",
    ];
    let answers = lines(&seven(&["gate", "check", "--json"], questions(&asked).as_bytes()).await);
    assert_eq!(answers.len(), asked.len());
    for ((text, answer), verdict) in asked.iter().zip(&answers).zip(wanted) {
        assert_eq!(answer["verdict"], verdict, "{text:?}: {answer}");
        assert_eq!(
            answer.get("pattern_id").is_some_and(Value::is_string),
            verdict != "pass",
            "{text:?}: {answer}"
        );
        let replies = !matches!(verdict, "pass" | "affirm");
        assert_eq!(
            answer.get("reply").is_some_and(Value::is_string),
            replies,
            "{text:?}: {answer}"
        );
    }
    let reply = |n: usize| answers[n]["reply"].as_str().unwrap();
    assert!(
        reply(0).starts_with("Silver Birch Resort: you are unsubscribed"),
        "{}",
        reply(0)
    );
    assert!(
        reply(4).contains("1-860-555-0199") && reply(4).contains("STOP"),
        "{}",
        reply(4)
    );
    assert!(
        reply(5).contains("Ayuda"),
        "in the keyword's language: {}",
        reply(5)
    );
}

#[tokio::test] // SMS-18
async fn gate_check_speaks_for_the_casino_it_is_given() {
    let file = std::env::temp_dir().join(format!("seven-gate-{}.json", uuid::Uuid::new_v4()));
    std::fs::write(&file, other_document()).unwrap();
    let answers = lines(
        &seven(
            &[
                "gate",
                "check",
                "--json",
                "--casino-file",
                &file.to_string_lossy(),
            ],
            questions(&["HELP"]).as_bytes(),
        )
        .await,
    );
    std::fs::remove_file(&file).unwrap();
    assert!(
        answers[0]["reply"]
            .as_str()
            .unwrap()
            .contains("Amber Lake Lodge"),
        "{answers:?}"
    );
    let own = lines(
        &seven(
            &["gate", "check", "--json", "--casino", "silver_birch"],
            questions(&["HELP"]).as_bytes(),
        )
        .await,
    );
    assert!(
        own[0]["reply"]
            .as_str()
            .unwrap()
            .contains("Silver Birch Resort"),
        "{own:?}"
    );
    let unknown = seven(
        &["gate", "check", "--json", "--casino", "no_such"],
        questions(&["HELP"]).as_bytes(),
    )
    .await;
    assert!(
        unknown.code == 1 && unknown.out.is_empty() && unknown.err.contains("no_such"),
        "{unknown:?}"
    );
}

/// The test vector for webhook signatures that spec 05, section 1.3, publishes: key, timestamp,
/// body and signature.
const KEY: &str = "+7E99DXiiQXvceNX4nHm3Lbm5mqPWad5RhDr2ufuCik=";
const TIMESTAMP: &str = "1700000000";
const BODY: &[u8] = br#"{"data":{"event_type":"message.received","id":"test-123"}}"#;
const SIGNATURE: &str =
    "tMXRZyBL2gkwrgKp6CTDXTO/K+DVq0ZKEFB3tSdfBwqZGC3K/Hr7TCW+jY7RdWrAiKXEckI3tsHEpdz7lS/MDA==";
/// A well-formed key that signed nothing in these tests.
const STRANGER: &str = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

async fn verify(key: &[&str], timestamp: &str, signature: &str, now: &str, body: &[u8]) -> Output {
    let mut args = vec![
        "webhook",
        "verify",
        "--timestamp",
        timestamp,
        "--signature",
        signature,
        "--now",
        now,
    ];
    key.iter()
        .for_each(|key| args.extend(["--public-key", *key]));
    seven(&args, body).await
}

#[tokio::test] // SMS-2, SMS-3, SMS-4, SMS-5
async fn webhook_verify_accepts_the_published_vector() {
    for now in ["1700000000", "1699999700", "1700000300"] {
        let said = verify(&[KEY], TIMESTAMP, SIGNATURE, now, BODY).await;
        assert!(
            said.code == 0 && said.out.trim() == "valid",
            "now {now}: {said:?}"
        );
    }
    let rotated = verify(&[STRANGER, KEY], TIMESTAMP, SIGNATURE, TIMESTAMP, BODY).await;
    assert_eq!(rotated.code, 0, "a second key is accepted: {rotated:?}");
}

#[tokio::test] // SMS-2, SMS-3, SMS-4
async fn webhook_verify_refuses_everything_else_with_its_reason() {
    let flipped = BODY
        .iter()
        .enumerate()
        .map(|(n, b)| if n == 20 { b ^ 1 } else { *b })
        .collect::<Vec<_>>();
    let newline = [BODY, b"\n"].concat();
    let lenient = format!("{SIGNATURE} ");
    let cases: [(&str, &str, &str, &str, &[u8]); 11] = [
        ("301 s old", TIMESTAMP, SIGNATURE, "1700000301", BODY),
        ("301 s ahead", TIMESTAMP, SIGNATURE, "1699999699", BODY),
        ("a bit flipped", TIMESTAMP, SIGNATURE, TIMESTAMP, &flipped),
        ("a newline more", TIMESTAMP, SIGNATURE, TIMESTAMP, &newline),
        ("no body", TIMESTAMP, SIGNATURE, TIMESTAMP, b""),
        (
            "another timestamp",
            "1700000001",
            SIGNATURE,
            TIMESTAMP,
            BODY,
        ),
        (
            "the same number, other text",
            "01700000000",
            SIGNATURE,
            TIMESTAMP,
            BODY,
        ),
        (
            "a timestamp that starts well",
            "1700000000abc",
            SIGNATURE,
            TIMESTAMP,
            BODY,
        ),
        ("no timestamp", "abc", SIGNATURE, TIMESTAMP, BODY),
        ("no base64", TIMESTAMP, "not*base64", TIMESTAMP, BODY),
        ("base64 with junk", TIMESTAMP, &lenient, TIMESTAMP, BODY),
    ];
    for (what, timestamp, signature, now, body) in cases {
        let said = verify(&[KEY], timestamp, signature, now, body).await;
        assert!(
            said.code == 1 && !said.out.trim().is_empty() && said.out.trim() != "valid",
            "{what}: {said:?}"
        );
    }
    let stranger = verify(&[STRANGER], TIMESTAMP, SIGNATURE, TIMESTAMP, BODY).await;
    assert_eq!(stranger.code, 1, "{stranger:?}");
    let bad_key = verify(&["AAAA"], TIMESTAMP, SIGNATURE, TIMESTAMP, BODY).await;
    assert!(bad_key.code == 1 && bad_key.out.is_empty(), "{bad_key:?}");
    assert_eq!(
        seven(&["webhook", "verify", "--timestamp", TIMESTAMP], BODY)
            .await
            .code,
        2,
        "usage"
    );
}
