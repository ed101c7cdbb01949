//! The rendered manifests and the servers use the same names. The tests read the YAML as `kubectl`
//! would, and query the NATS server as KEDA does.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize as _;
use serde_json::Value;
use seven_bus::topology;
use seven_settings::{Settings, Worker};

use super::{BUSY, QUIET, Secured, casino, example, root};

fn documents(path: &str) -> Vec<Value> {
    let text =
        std::fs::read_to_string(root().join("deploy/rendered/kubernetes").join(path)).unwrap();
    serde_yaml_ng::Deserializer::from_str(&text)
        .map(|document| Value::deserialize(document).unwrap())
        .collect()
}

fn all() -> Vec<Value> {
    let folder = root().join("deploy/rendered/kubernetes");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    files.iter().flat_map(|file| documents(file)).collect()
}

/// Returns the account, stream and consumer of every trigger, with the workloads that the trigger
/// scales.
fn triggers() -> BTreeMap<(String, String, String), Vec<String>> {
    let mut found: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for scaled in all()
        .iter()
        .filter(|document| document["kind"] == "ScaledObject")
    {
        let target = scaled["spec"]["scaleTargetRef"]["name"]
            .as_str()
            .unwrap()
            .to_owned();
        for trigger in scaled["spec"]["triggers"].as_array().unwrap() {
            let field = |name: &str| trigger["metadata"][name].as_str().unwrap().to_owned();
            found
                .entry((field("account"), field("stream"), field("consumer")))
                .or_default()
                .push(target.clone());
        }
    }
    found
}

#[tokio::test]
async fn every_consumer_has_one_scaler_and_every_scaler_a_consumer() {
    let secured = Secured::start("deploy_names", None).await;
    let operator = secured.bus("operator").await;
    for id in [BUSY, QUIET] {
        operator.onboard(&casino(id)).await.unwrap();
    }
    // Queries the NATS server as KEDA does.
    let url = format!(
        "http://127.0.0.1:{}/jsz?acc=SEVEN&consumers=true&config=true",
        secured.monitoring
    );
    let answer: Value = reqwest::get(&url).await.unwrap().json().await.unwrap();
    let account = &answer["account_details"][0];
    assert_eq!(account["name"], "SEVEN", "{answer}");
    let (mut streams, mut consumers) = (BTreeMap::new(), BTreeSet::new());
    for stream in account["stream_detail"].as_array().unwrap() {
        let name = stream["name"].as_str().unwrap().to_owned();
        for consumer in stream["consumer_detail"].as_array().into_iter().flatten() {
            consumers.insert((
                "SEVEN".to_owned(),
                name.clone(),
                consumer["name"].as_str().unwrap().to_owned(),
            ));
        }
        streams.insert(name, stream["config"]["subjects"].clone());
    }
    // The scheduler reads from these two consumers, and no workload is scaled by their backlog.
    for (stream, consumer) in [
        (topology::DEAD_STREAM, topology::FILING_CONSUMER),
        (topology::ADVISORY_STREAM, topology::ADVISORY_CONSUMER),
    ] {
        assert!(
            consumers.remove(&("SEVEN".to_owned(), stream.to_owned(), consumer.to_owned())),
            "{consumer}"
        );
    }
    let triggers = triggers();
    assert_eq!(triggers.keys().cloned().collect::<BTreeSet<_>>(), consumers);
    for (consumer, workloads) in &triggers {
        assert_eq!(workloads.len(), 1, "{consumer:?} grows {workloads:?}");
    }
    // Every subject to which a user may publish must belong to a stream. Three kinds of message are
    // exceptions, because they are not stored: announcements of traces to keep (D24), the workers'
    // heartbeats, and hints (D33).
    let users = std::fs::read_to_string(root().join("deploy/rendered/nats/users.conf")).unwrap();
    let mut subjects: BTreeSet<&str> = users
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix('"'))
        .filter(|subject| !subject.starts_with('$') && !subject.starts_with("_INBOX."))
        .collect();
    for kept_by_nobody in [topology::TRACE_KEEP, topology::WORKER_BEAT] {
        assert!(subjects.remove(kept_by_nobody), "{subjects:?}");
    }
    // The casinos' own workers may publish hints only to their casino's subjects. `HINT_SUBJECTS`
    // is a pattern that covers these subjects.
    let hints = |subject: &&str| covers(topology::HINT_SUBJECTS, subject);
    assert!(subjects.iter().any(hints), "{subjects:?}");
    subjects.retain(|subject| !hints(subject));
    assert!(subjects.len() > 10, "{subjects:?}");
    let taken: Vec<String> = streams
        .values()
        .flat_map(|subjects| {
            subjects
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s.as_str().unwrap().to_owned())
        })
        .collect();
    for subject in subjects {
        assert_eq!(
            taken
                .iter()
                .filter(|pattern| covers(pattern, subject))
                .count(),
            1,
            "{subject} of {taken:?}"
        );
    }
    assert_eq!(secured.violations(), Vec::<String>::new());
}

fn covers(pattern: &str, subject: &str) -> bool {
    let (p, s): (Vec<_>, Vec<_>) = (pattern.split('.').collect(), subject.split('.').collect());
    p.len() == s.len() && p.iter().zip(&s).all(|(p, s)| *p == "*" || p == s)
}

#[test] // DEP-34
fn the_alert_knows_how_many_workers_there_may_be() {
    let rules = std::fs::read_to_string(root().join("deploy/observe/prometheus/rules/service.yml"))
        .unwrap();
    let rule = rules
        .lines()
        .skip_while(|line| !line.contains("alert: WorkersAtMost"))
        .nth(1)
        .unwrap();
    let (rest, envelope) = rule.split_once(" or ").unwrap();
    for worker in Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::Scheduler)
    {
        let part = if worker == Worker::PersonaEnvelope {
            envelope
        } else {
            rest
        };
        let most: u32 = part
            .rsplit_once(">= ")
            .unwrap()
            .1
            .trim_end_matches('\'')
            .parse()
            .unwrap();
        assert_eq!(most, example().fleet.size(worker).max, "{}", worker.name());
    }
}

#[test]
fn ports_probes_and_graces_are_the_codes_own() {
    let settings =
        Settings::parse(&seven_deploy::settings_text(&example().fleet).unwrap()).unwrap();
    let (webhook, ops) = (settings.ingress.listen.port(), settings.ops.listen.port());
    let defaults = Settings::parse("").unwrap();
    assert_eq!(
        (webhook, ops),
        (defaults.ingress.listen.port(), defaults.ops.listen.port())
    );
    assert!(
        settings.ingress.listen.ip().is_unspecified() && settings.ops.listen.ip().is_unspecified()
    );
    let config = documents("10-settings.yaml").remove(0);
    assert_eq!(
        config["data"]["seven.toml"],
        seven_deploy::settings_text(&example().fleet).unwrap()
    );

    let mut seen = BTreeSet::new();
    for document in all() {
        let name = document["metadata"]["name"].as_str().unwrap();
        match document["kind"].as_str().unwrap() {
            "Deployment"
                if document["spec"]["template"]["spec"]["containers"][0]["args"][0] == "run" =>
            {
                let pod = &document["spec"]["template"]["spec"];
                let container = &pod["containers"][0];
                let ports: Vec<u64> = container["ports"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|p| p["containerPort"].as_u64().unwrap())
                    .collect();
                let served = match container["args"][1].as_str().unwrap() {
                    "ingress-webhook" => Some(webhook),
                    "console" => Some(settings.console.listen.port()),
                    "web-gateway" => Some(settings.web.listen.port()),
                    _ => None,
                };
                let wanted = [Some(ops), served].into_iter().flatten().map(u64::from);
                assert_eq!(ports, wanted.collect::<Vec<_>>());
                for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
                    assert_eq!(container[probe]["httpGet"]["port"], "ops", "{name} {probe}");
                }
                let drain = seven_bus::WorkerSettings::default().drain.as_secs();
                assert!(
                    pod["terminationGracePeriodSeconds"].as_u64().unwrap() >= drain + 5 + 2,
                    "{name}"
                );
                seen.insert(container["args"][1].as_str().unwrap().to_owned());
            }
            "Service" if name.starts_with("seven-ingress") => {
                assert_eq!(document["spec"]["ports"][0]["port"], u64::from(webhook));
            }
            _ => {}
        }
    }
    assert_eq!(
        seen,
        Worker::ALL
            .into_iter()
            .chain([Worker::Console, Worker::WebGateway])
            .map(|worker| worker.name().to_owned())
            .collect()
    );
}
