//! Tests the `deploy` commands:
//! - The committed files equal the rendered ones.
//! - A wrong value is refused with a message that shows the right form.
//! - A casino's values come from its document.

use super::root;
use crate::operations::{Output, seven};

async fn deploy(arguments: &[&str]) -> Output {
    let root = root();
    let absolute: Vec<String> = arguments
        .iter()
        .map(|argument| match argument.strip_prefix("./") {
            Some(path) => root.join(path).display().to_string(),
            None => (*argument).to_owned(),
        })
        .collect();
    let mut all = vec!["deploy"];
    all.extend(absolute.iter().map(String::as_str));
    seven(&all, b"").await
}

#[tokio::test]
async fn the_committed_manifests_are_what_the_values_render() {
    let arguments = [
        "render",
        "--values",
        "./deploy/values/fleet.yaml",
        "--casinos",
        "./deploy/values/casinos",
        "--out",
        "./deploy/rendered",
        "--check",
    ];
    let said = deploy(&arguments).await;
    assert_eq!(
        said.code, 0,
        "run `seven deploy render --out deploy/rendered` and look at the difference: {said:?}"
    );
}

#[tokio::test]
async fn a_render_that_differs_fails_the_check_and_removes_what_is_stale() {
    let scratch = seven_testkit::Scratch::new("deploy_files").unwrap();
    let out = scratch.path().display().to_string();
    let arguments = [
        "render",
        "--values",
        "./deploy/values/fleet.yaml",
        "--casinos",
        "./deploy/values/casinos",
        "--out",
        &out,
    ];
    let check = [&arguments[..], &["--check"]].concat();
    assert_eq!(deploy(&check).await.code, 1, "nothing is there");
    assert_eq!(deploy(&arguments).await.code, 0);
    assert_eq!(deploy(&check).await.code, 0);
    let stale = scratch.path().join("kubernetes/60-gone-agent-swarm.yaml");
    std::fs::write(
        &stale,
        "# Rendered by `seven deploy render`; change the values and render again.\n",
    )
    .unwrap();
    let own = scratch.path().join("kubernetes/99-own.yaml");
    std::fs::write(&own, "kind: List\n").unwrap();
    let said = deploy(&check).await;
    assert!(
        said.code == 1
            && said
                .err
                .contains("60-gone-agent-swarm.yaml: not rendered any more"),
        "{said:?}"
    );
    assert_eq!(deploy(&arguments).await.code, 0);
    assert!(
        !stale.exists() && own.exists(),
        "only our own files are removed"
    );
}

#[tokio::test]
async fn everything_that_is_wrong_with_values_is_said_at_once() {
    let scratch = seven_testkit::Scratch::new("deploy_wrong").unwrap();
    let fleet = std::fs::read_to_string(root().join("deploy/values/fleet.yaml")).unwrap();
    let digest = "0".repeat(64);
    let wrong = fleet
        .replacen(&format!("@sha256:{digest}"), ":latest", 1)
        .replace("senders: 16", "senders: 2")
        .replace(
            "  agent-swarm: {min: 2,",
            "  agent-swarm: {lag_threshold: 60, min: 0,",
        );
    let file = scratch.path().join("fleet.yaml");
    std::fs::write(&file, wrong).unwrap();
    let casinos = scratch.path().join("casinos");
    std::fs::create_dir(&casinos).unwrap();
    let casino = "casino_id: other_one\nnumber: \"+18605550100\"\ntier: standard\nown_workers: [scheduler, gate]\n";
    std::fs::write(casinos.join("elsewhere.yaml"), casino).unwrap();
    let (file, casinos) = (file.display().to_string(), casinos.display().to_string());
    let said = deploy(&[
        "render",
        "--values",
        &file,
        "--casinos",
        &casinos,
        "--out",
        "/nonexistent",
    ])
    .await;
    assert_eq!(said.code, 1, "{said:?}");
    for words in [
        "image: `registry.example.com/hey-seven/seven:latest`; expected an image by digest",
        "settings.sending.senders: 2; expected at least 10",
        "workers.agent-swarm: min 0, max 10; expected 1 <= min",
        "workers.agent-swarm.lag_threshold: 60; expected more than 64",
        "(other-one.yaml)",
        "own_workers: `scheduler`",
        "own_workers: `gate`; expected of ingress-webhook",
    ] {
        assert!(said.err.contains(words), "{words}\n{}", said.err);
    }
    for (from, to, words) in [
        (
            "environment: production",
            "environment: production\nreplica: 1",
            "unknown field `replica`",
        ),
        ("    senders: 16", "    sender: 16", "sender"),
        (
            "  telnyx:\n",
            "  telnyx:\n    api_key: KEY123\n",
            "telnyx.api_key is a secret",
        ),
        (
            "  sending:\n",
            "  nats:\n    url: nats://x\n  sending:\n",
            "nats.url follows from the other values",
        ),
    ] {
        std::fs::write(&file, fleet.replacen(from, to, 1)).unwrap();
        let said = deploy(&[
            "render",
            "--values",
            &file,
            "--casinos",
            "./deploy/values/casinos",
            "--out",
            "/nonexistent",
        ])
        .await;
        assert!(
            said.code == 1 && said.err.contains(words),
            "{words}: {said:?}"
        );
        assert!(
            !said.err.contains("KEY123"),
            "a secret in the wrong place is not repeated"
        );
    }
}

#[tokio::test] // DEP-43
async fn a_casinos_values_come_from_its_document_and_are_checked_against_it() {
    let scratch = seven_testkit::Scratch::new("deploy_values").unwrap();
    let out = scratch.path().display().to_string();
    let arguments = [
        "values",
        "silver_birch",
        "--document",
        "./shared/packs/demo/casino.json",
    ];
    let said = deploy(&arguments).await;
    assert!(
        said.out
            .contains("casino_id: silver_birch\nnumber: '+18605550100'\ntier: standard\n"),
        "{said:?}"
    );
    let written = [&arguments[..], &["--out", &out]].concat();
    assert_eq!(deploy(&written).await.code, 0);
    let file = scratch.path().join("silver-birch.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let busy = text.replace("own_workers: []", "own_workers: [agent-swarm]");
    assert_ne!(busy, text);
    std::fs::write(&file, &busy).unwrap();
    assert_eq!(
        deploy(&written).await.code,
        0,
        "what an operator added stays"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), busy);
    std::fs::write(
        &file,
        busy.replace("550100", "550101")
            .replace("standard", "starter"),
    )
    .unwrap();
    let said = deploy(&written).await;
    assert!(
        said.code == 1
            && said
                .err
                .contains("number is +18605550101, in the document +18605550100"),
        "{said:?}"
    );
    assert!(
        said.err
            .contains("tier is starter, in the document standard"),
        "{said:?}"
    );
    let said = deploy(&[
        "values",
        "other_one",
        "--document",
        "./shared/packs/demo/casino.json",
    ])
    .await;
    assert!(
        said.code == 1 && said.err.contains("the document is that of silver_birch"),
        "{said:?}"
    );
}
