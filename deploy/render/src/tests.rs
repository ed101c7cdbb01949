use std::{collections::BTreeSet, path::PathBuf};

use clap::Parser;
use serde_json::{Value, json};
use seven::cli::Cli;
use seven_domain::{CasinoId, Queue};

use super::*;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example() -> Values {
    Values::load(
        &root().join("deploy/values/fleet.yaml"),
        &root().join("deploy/values/casinos"),
    )
    .unwrap()
}

fn documents(values: &Values) -> Vec<Value> {
    manifests(values)
        .unwrap()
        .into_iter()
        .flat_map(|(_, documents)| documents.into_iter().map(|d| d.body))
        .collect()
}

fn named<'a>(documents: &'a [Value], kind: &str, name: &str) -> Option<&'a Value> {
    documents
        .iter()
        .find(|d| d["kind"] == kind && d["metadata"]["name"] == name)
}

/// Returns the example values, changed so that every casino has its own processes of `workers`.
fn with_own(workers: &[Worker]) -> Values {
    let mut values = example();
    for casino in &mut values.casinos {
        casino.own_workers = workers
            .iter()
            .map(|worker| worker.name().to_owned())
            .collect();
    }
    values.fleet.settings["sending"]["senders"] = 40.into();
    values
}

#[test]
fn every_command_line_is_one_the_binary_takes() {
    let values = with_own(&Worker::ALL[..5]);
    let mut seen = 0;
    for document in documents(&values) {
        let container = &document["spec"]["template"]["spec"]["containers"][0];
        if container["image"] != values.fleet.image {
            continue;
        }
        let arguments = container["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a.as_str().unwrap().to_owned());
        Cli::try_parse_from(std::iter::once("seven".to_owned()).chain(arguments)).unwrap();
        seen += 1;
    }
    assert_eq!(
        seen,
        1 + 1 + Worker::ALL.len() + 2 + 2 * 5,
        "the migration, the operators' pod, the workers, the console, the web gateway"
    );
}

#[test] // SEC-130, DEP-16
fn operators_commands_have_a_place_without_the_owners_login() {
    let values = example();
    let all = documents(&values);
    let place = all
        .iter()
        .find(|d| d["kind"] == "Deployment" && d["metadata"]["name"] == "seven-operator")
        .unwrap();
    let pod = &place["spec"]["template"];
    let text = serde_json::to_string(pod).unwrap();
    assert!(
        !text.contains(&values.fleet.secrets["postgres.owner_url"].name),
        "{text}"
    );
    for secret in ["postgres.url", "guest_hash.secret", "telnyx.api_key"] {
        assert!(
            text.contains(&values.fleet.secrets[secret].name),
            "{secret}"
        );
    }
    assert!(
        nats::users(&values)
            .iter()
            .any(|user| user.name == nats::OPERATOR)
    );
    // The operators' pod reaches only services that a network policy names for it.
    let selects = |d: &serde_json::Value| {
        let components = d["spec"]["podSelector"]["matchExpressions"][0]["values"]
            .as_array()
            .cloned();
        d["kind"] == "NetworkPolicy"
            && components.is_some_and(|all| all.iter().any(|one| one == nats::OPERATOR))
    };
    let open: Vec<&str> = all
        .iter()
        .filter(|d| selects(d))
        .filter_map(|d| d["metadata"]["name"].as_str())
        .collect();
    assert_eq!(
        open,
        [
            "seven-to-nats",
            "seven-to-postgres",
            "seven-to-redis",
            "seven-to-providers",
            "seven-to-mail"
        ]
    );
}

#[test]
fn one_worker_in_full_work_asks_for_no_second() {
    let values = example();
    let settings = settings::of(&values.fleet).unwrap();
    for worker in Worker::ALL {
        for stage in worker.stages() {
            for queue in seven_bus::topology::queues_of(*stage) {
                for own in [false, true] {
                    let threshold = scaling::threshold(
                        &settings,
                        worker,
                        own,
                        *queue,
                        values.fleet.size(worker),
                    );
                    assert!(
                        threshold > worker.loops(&settings, own).permits(*queue),
                        "{worker:?} {own} {queue:?}"
                    );
                }
            }
        }
    }
    let mut size = values.fleet.size(Worker::AgentSwarm).clone();
    size.lag_threshold = Some(100);
    assert_eq!(
        scaling::threshold(&settings, Worker::AgentSwarm, false, None, &size),
        100
    );
    assert_eq!(
        scaling::threshold(
            &settings,
            Worker::OutboundSender,
            false,
            Some(Queue::Safety),
            &size
        ),
        128
    );
    // A worker that waits only for the database has few messages in progress; a casino's own worker
    // has even fewer.
    size.lag_threshold = None;
    let of_gate = |own| scaling::threshold(&settings, Worker::ComplianceGate, own, None, &size);
    assert_eq!((of_gate(false), of_gate(true)), (34, 32));
    // For each of its database connections, a shared worker has four permits and a casino's own
    // worker has one. Each worker has one more permit, which stays free.
    for worker in [Worker::ComplianceGate, Worker::PersonaEnvelope] {
        let in_hand = |own| worker.loops(&settings, own).permits(None);
        assert_eq!(
            (in_hand(false), in_hand(true)),
            (4 * 4 + 1, 2 + 1),
            "{worker:?}"
        );
    }
}

#[test] // SEC-130
fn no_secret_is_rendered() {
    for document in documents(&with_own(&Worker::ALL[..5])) {
        assert_ne!(document["kind"], "Secret");
        for variable in document["spec"]["template"]["spec"]["containers"][0]["env"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let name = variable["name"].as_str().unwrap();
            assert!(
                !name.contains("PASSWORD") || variable.get("value").is_none(),
                "{name}"
            );
        }
    }
    let users = nats::files(&example())
        .into_iter()
        .find(|file| file.path.ends_with("users.conf"))
        .unwrap()
        .text;
    assert_eq!(
        users.matches("password: ").count(),
        users.matches("password: $NATS_PASSWORD_").count()
    );
    for (variable, user) in nats::password_variables(&example()) {
        assert!(
            users.contains(&format!("user: \"{user}\""))
                && users.contains(&format!("password: ${variable}")),
            "{user}"
        );
    }
}

#[test] // D26
fn the_console_calls_out_only_where_casinos_have_logins_of_their_own() {
    let login = "[console.oidc.silver]\nname = \"S\"\nissuer = \"https://login.example\"\n\
                 client_id = \"c\"\ndomains = [\"silverbirch.example\"]\ncasinos = [\"silver_birch\"]\n";
    for own in [false, true] {
        let mut values = example();
        if own {
            let login: toml::Table = toml::from_str(login).unwrap();
            values.fleet.settings.extend(login);
        }
        let all = documents(&values);
        let policy = named(&all, "NetworkPolicy", "seven-to-providers").unwrap();
        let who = policy["spec"]["podSelector"].to_string();
        assert_eq!(who.contains("\"console\""), own, "{who}");
    }
}

#[test] // DEP-14, DEP-40
fn a_worker_mounts_the_secrets_it_reads_and_no_others() {
    let mut values = example();
    values.casinos[1].secrets.insert(
        "postgres.url".into(),
        values::SecretRef {
            name: "seven-postgres-silver-birch".into(),
            key: "url".into(),
        },
    );
    let all = documents(&values);
    let mounted = |name: &str| -> BTreeSet<String> {
        let pod = &named(&all, "Deployment", name).unwrap()["spec"]["template"]["spec"];
        let sources = pod["volumes"][1]["projected"]["sources"]
            .as_array()
            .unwrap();
        sources
            .iter()
            .map(|s| s["secret"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let set = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        mounted("seven-compliance-gate"),
        set(&[
            "seven-postgres",
            "seven-redis",
            "seven-guest-hash",
            "seven-nats-compliance-gate"
        ])
    );
    assert_eq!(
        mounted("seven-outbound-sender-silver-birch"),
        set(&[
            "seven-postgres-silver-birch",
            "seven-redis",
            "seven-guest-hash",
            "seven-telnyx",
            "seven-nats-outbound-sender-silver-birch"
        ])
    );
    let owner = all
        .iter()
        .filter(|document| document.to_string().contains("seven-postgres-owner"));
    let kinds: Vec<_> = owner
        .map(|document| document["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["Job", "CronJob"],
        "the owner's login is the migration's and the backup's alone"
    );
}

#[test] // DEP-44
fn what_nobody_scales_has_a_number() {
    let values = with_own(&[Worker::AgentSwarm, Worker::IngressWebhook]);
    let all = documents(&values);
    // Every casino has its own swarm, so the fleet's swarm has no backlog to scale by. It still
    // runs, to serve the next casino that is added.
    assert!(named(&all, "ScaledObject", "seven-agent-swarm").is_none());
    assert_eq!(
        named(&all, "Deployment", "seven-agent-swarm").unwrap()["spec"]["replicas"],
        2
    );
    assert_eq!(
        named(&all, "Deployment", "seven-scheduler").unwrap()["spec"]["replicas"],
        2
    );
    assert!(
        named(&all, "Deployment", "seven-agent-swarm-silver-birch").unwrap()["spec"]
            .get("replicas")
            .is_none()
    );
    // A busy casino's webhooks go to its own ingress.
    let public = named(&all, "Ingress", "seven-public").unwrap();
    let rule = public["spec"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["host"] == "silver-birch.sms.example.com");
    assert_eq!(
        rule.unwrap()["http"]["paths"][0]["backend"]["service"]["name"],
        "seven-ingress-webhook-silver-birch"
    );
    assert!(named(&all, "Service", "seven-ingress-webhook-silver-birch").is_some());
}

#[test] // DEP-15
fn everything_is_labelled() {
    for document in documents(&example()) {
        for label in ["casino_id", "managed_by", "environment"] {
            assert!(
                document["metadata"]["labels"][label].is_string(),
                "{label} of {}",
                document["metadata"]["name"]
            );
        }
    }
}

#[test]
fn budgets_scalers_and_services_select_pods_that_exist() {
    let all = documents(&with_own(&Worker::ALL[..5]));
    let pods: Vec<&Value> = all
        .iter()
        .map(|d| &d["spec"]["template"]["metadata"]["labels"])
        .filter(|l| l.is_object())
        .collect();
    let mut checked = 0;
    for document in &all {
        let selector = match document["kind"].as_str().unwrap() {
            "PodDisruptionBudget" | "Deployment" | "StatefulSet" => {
                &document["spec"]["selector"]["matchLabels"]
            }
            "Service" => &document["spec"]["selector"],
            _ => continue,
        };
        let matching = pods.iter().filter(|labels| {
            selector
                .as_object()
                .unwrap()
                .iter()
                .all(|(k, v)| labels[k] == *v)
        });
        assert_eq!(matching.count(), 1, "{}", document["metadata"]["name"]);
        checked += 1;
    }
    assert!(checked > 30, "{checked}");
    for scaler in all
        .iter()
        .filter(|d| d["kind"] == "ScaledObject" || d["kind"] == "HorizontalPodAutoscaler")
    {
        let target = scaler["spec"]["scaleTargetRef"]["name"].as_str().unwrap();
        assert!(named(&all, "Deployment", target).is_some(), "{target}");
    }
}

#[test] // DEP-12
fn names_fit_their_places() {
    for document in documents(&with_own(&Worker::ALL[..5])) {
        let name = document["metadata"]["name"].as_str().unwrap();
        let dns = name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        assert!(dns && name.len() <= 63, "{name}");
    }
    let casino: CasinoId = "silver_birch".parse().unwrap();
    assert_eq!(
        user(Worker::AgentSwarm, Some(&casino)),
        "agent-swarm-silver-birch"
    );
    assert_eq!(
        password_variable("agent-swarm-silver-birch"),
        "NATS_PASSWORD_AGENT_SWARM_SILVER_BIRCH"
    );
}

#[test]
fn the_compose_file_runs_every_worker_after_the_migration() {
    let text = std::fs::read_to_string(root().join("deploy/compose.yaml")).unwrap();
    let mut compose: serde_yaml_ng::Value = serde_yaml_ng::from_str(&text).unwrap();
    compose.apply_merge().unwrap();
    let compose = serde_json::to_value(&compose).unwrap();
    for worker in Worker::ALL {
        let service = &compose["services"][worker.name()];
        let arguments = service["command"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a.as_str().unwrap().to_owned());
        Cli::try_parse_from(std::iter::once("seven".to_owned()).chain(arguments)).unwrap();
        assert_eq!(
            service["depends_on"]["migrate"]["condition"], "service_completed_successfully",
            "{worker:?}"
        );
        assert_eq!(service["environment"]["SEVEN_NATS__USER"], worker.name());
        assert_eq!(
            service["stop_grace_period"],
            format!("{}s", grace_seconds())
        );
        let check = service["healthcheck"]["test"].as_array().unwrap();
        let [cmd, program, arguments @ ..] = &check[..] else {
            panic!("{worker:?}: {check:?}");
        };
        assert_eq!(
            (cmd, program),
            (&json!("CMD"), &json!("/usr/local/bin/seven"))
        );
        let arguments = arguments.iter().map(|a| a.as_str().unwrap().to_owned());
        Cli::try_parse_from(std::iter::once("seven".to_owned()).chain(arguments)).unwrap();
    }
    // Every mounted secret is defined, and every variable has a line in the example file.
    let example_env = std::fs::read_to_string(root().join("deploy/compose/env.example")).unwrap();
    let has_line = |variable: &str| {
        example_env
            .lines()
            .any(|line| line.starts_with(&format!("{variable}=")))
    };
    for (name, service) in compose["services"].as_object().unwrap() {
        for secret in service["secrets"].as_array().into_iter().flatten() {
            let variable =
                compose["secrets"][secret["source"].as_str().unwrap()]["environment"].as_str();
            assert!(variable.is_some_and(has_line), "{name}: {secret}");
        }
    }
    for (variable, user) in nats::password_variables(&example()) {
        assert!(has_line(&variable), "{user}: {variable}");
    }
    let settings = std::fs::read_to_string(root().join("deploy/compose/seven.toml")).unwrap();
    let settings = Settings::parse(&settings).unwrap();
    assert_eq!(
        settings.ingress.listen.port(),
        settings::of(&example().fleet)
            .unwrap()
            .ingress
            .listen
            .port()
    );
}

#[test] // DEP-1, DEP-2
fn every_casino_has_a_host_and_shares_the_ingress_unless_it_has_its_own() {
    let values = example();
    let all = documents(&values);
    let public = named(&all, "Ingress", "seven-public").unwrap();
    let rules = public["spec"]["rules"].as_array().unwrap();
    let behind = |host: &str| -> String {
        let rule = rules
            .iter()
            .find(|rule| rule["host"] == host)
            .unwrap_or_else(|| panic!("no host {host}"));
        rule["http"]["paths"][0]["backend"]["service"]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // Host names may not contain underscores, so the ids' underscores become hyphens.
    for host in [
        "sms.example.com",
        "amber-coast.sms.example.com",
        "silver-birch.sms.example.com",
    ] {
        assert_eq!(behind(host), "seven-ingress-webhook");
    }
    assert_eq!(rules.len(), 1 + values.casinos.len());
    let names = public["spec"]["tls"][0]["hosts"].as_array().unwrap();
    assert!(
        rules.iter().all(|rule| names.contains(&rule["host"])),
        "every host has its certificate: {names:?}"
    );
    assert!(
        public["metadata"]["annotations"]["cert-manager.io/cluster-issuer"].is_string(),
        "which somebody renews"
    );
}

#[test] // DEP-20, DEP-44
fn where_data_lives_and_how_often_it_is_kept_are_values() {
    let mut values = example();
    values.fleet.nats.replicas = 5;
    values.fleet.nats.storage = "80Gi".into();
    values.fleet.nats.storage_class = Some("regional-ssd".into());
    values.fleet.network.postgres.cidr = Some("10.99.0.0/24".into());
    let all = documents(&values);
    let servers = all.iter().find(|d| d["kind"] == "StatefulSet").unwrap();
    assert_eq!(servers["spec"]["replicas"], 5);
    let claim = &servers["spec"]["volumeClaimTemplates"][0]["spec"];
    assert_eq!(claim["storageClassName"], "regional-ssd");
    assert_eq!(claim["resources"]["requests"]["storage"], "80Gi");
    assert!(
        all.iter()
            .any(|d| d["kind"] == "NetworkPolicy" && d.to_string().contains("10.99.0.0/24"))
    );
    assert_eq!(
        settings::of(&values.fleet).unwrap().nats.replicas,
        5,
        "streams keep as many copies"
    );
}

#[test] // DEP-31, PROD-41
fn the_backup_is_taken_each_day_with_the_secrets_it_needs_and_may_be_left_out() {
    let mut values = example();
    let all = documents(&values);
    let schedule = named(&all, "CronJob", "seven-backup").unwrap();
    let pod = &schedule["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let arguments = container["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a.as_str().unwrap());
    Cli::try_parse_from(std::iter::once("seven").chain(arguments)).unwrap();
    let claim =
        pod["volumes"].as_array().unwrap().last().unwrap()["persistentVolumeClaim"]["claimName"]
            .as_str()
            .unwrap();
    assert!(named(&all, "PersistentVolumeClaim", claim).is_some());
    let secrets = pod["volumes"][1]["projected"]["sources"]
        .as_array()
        .unwrap();
    let paths: Vec<_> = secrets
        .iter()
        .map(|from| from["secret"]["items"][0]["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        ["postgres__owner_url", "postgres__url", "guest_hash__secret"]
    );
    values.fleet.backup = None;
    assert!(
        documents(&values)
            .iter()
            .all(|document| document["metadata"]["name"] != "seven-backup")
    );
    let scratch = seven_testkit::Scratch::new("backup-values").unwrap();
    let text = std::fs::read_to_string(root().join("deploy/values/fleet.yaml")).unwrap();
    let bad = text
        .replace("seven-backup@sha256:", "seven-backup:")
        .replace("0 3 * * *", "daily")
        .replace("30 13 * * *", "daily");
    let file = scratch.path().join("fleet.yaml");
    std::fs::write(&file, bad).unwrap();
    let refused = Values::load(&file, &root().join("deploy/values/casinos")).unwrap_err();
    let values::Error::Bad(problems) = refused else {
        panic!("{refused}")
    };
    let keys: Vec<_> = problems
        .iter()
        .map(|problem| problem.key.as_str())
        .collect();
    assert_eq!(
        keys,
        ["backup.image", "backup.schedule", "exports.schedule"]
    );
}

#[test] // SEC-139
fn sealed_days_are_exported_each_day_by_a_command_that_exists() {
    let mut values = example();
    let all = documents(&values);
    let schedule = named(&all, "CronJob", "seven-audit-export").unwrap();
    let pod = &schedule["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    let arguments = pod["containers"][0]["args"].as_array().unwrap().iter();
    let arguments = arguments.map(|a| a.as_str().unwrap());
    Cli::try_parse_from(std::iter::once("seven").chain(arguments)).unwrap();
    assert!(named(&all, "PersistentVolumeClaim", "seven-exports").is_some());
    values.fleet.exports = None;
    assert!(named(&documents(&values), "CronJob", "seven-audit-export").is_none());
}
