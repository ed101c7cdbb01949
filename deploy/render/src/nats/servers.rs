//! Renders the NATS servers as a StatefulSet. Each server has the name of its pod, because the
//! autoscaler KEDA addresses the leader of a consumer by that name.

use serde_json::{Value, json};

use super::{CLIENT_PORT, MONITORING_PORT, ROUTE_PORT, SERVICE, files, password_variables};
use crate::{
    names::{metadata, password_secret, selector},
    values::{FleetValues, Values},
    workload::{confined, unprivileged},
    yaml::Document,
};

pub(crate) const COMPONENT: &str = "nats";
const CONFIG: &str = "seven-nats-config";
const CONFIG_DIR: &str = "/etc/nats";
const TLS_DIR: &str = "/etc/nats-tls";
const STORE_DIR: &str = "/data";
/// User id under which the servers run; it is not root.
const USER: u32 = 1_000;

pub(crate) fn documents(values: &Values) -> Vec<Document> {
    let fleet = &values.fleet;
    vec![
        config(values),
        service(fleet),
        stateful_set(values),
        budget(fleet),
    ]
}

fn config(values: &Values) -> Document {
    let data: serde_json::Map<String, Value> = files(values)
        .into_iter()
        .map(|file| {
            (
                file.path.trim_start_matches("nats/").to_owned(),
                json!(file.text),
            )
        })
        .collect();
    Document::new(
        "The servers' configuration, the same text as in ../nats. With another one they are restarted, one after the other.",
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": metadata(&values.fleet, CONFIG, COMPONENT, None),
            "data": data,
        }),
    )
}

/// Returns a hash of the configuration; pods carry it as an annotation and restart when it changes.
fn digest(values: &Values) -> String {
    use sha2::{Digest, Sha256};
    let text: String = files(values).into_iter().map(|file| file.text).collect();
    hex::encode(Sha256::digest(text.as_bytes()))
        .chars()
        .take(16)
        .collect()
}

fn service(fleet: &FleetValues) -> Document {
    let port = |name: &str, port: u16| json!({ "name": name, "port": port, "targetPort": name });
    Document::new(
        "Names every server by its pod; unready ones too, or a cluster would never form.",
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": metadata(fleet, SERVICE, COMPONENT, None),
            "spec": {
                "clusterIP": "None",
                "publishNotReadyAddresses": true,
                "selector": selector(COMPONENT, None),
                "ports": [
                    port("client", CLIENT_PORT),
                    port("monitoring", MONITORING_PORT),
                    port("route", ROUTE_PORT),
                ],
            },
        }),
    )
}

fn stateful_set(values: &Values) -> Document {
    let fleet = &values.fleet;
    let mut claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": "data" },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": fleet.nats.storage } },
        },
    });
    if let Some(class) = &fleet.nats.storage_class {
        claim["spec"]["storageClassName"] = json!(class);
    }
    Document::new(
        "Streams are flushed to disk before they are acknowledged (sync_interval: always), so the volume's latency is every stage's.",
        json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": metadata(fleet, SERVICE, COMPONENT, None),
            "spec": {
                "serviceName": SERVICE,
                "replicas": fleet.nats.replicas,
                "podManagementPolicy": "Parallel",
                "selector": { "matchLabels": selector(COMPONENT, None) },
                "template": {
                    "metadata": {
                        "labels": crate::names::labels(fleet, COMPONENT, None),
                        // A changed digest restarts the servers one by one, because a server reads
                        // its users only at its start.
                        "annotations": { "seven/nats": digest(values) },
                    },
                    "spec": pod(values),
                },
                "volumeClaimTemplates": [claim],
            },
        }),
    )
}

fn pod(values: &Values) -> Value {
    let fleet = &values.fleet;
    let port = |name: &str, port: u16| json!({ "name": name, "containerPort": port });
    let health = |path: &str, failures: u32| {
        json!({
            "httpGet": { "path": path, "port": "monitoring" },
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": failures,
        })
    };
    json!({
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": unprivileged(USER),
        "terminationGracePeriodSeconds": 60,
        "affinity": { "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
            "labelSelector": { "matchLabels": selector(COMPONENT, None) },
            "topologyKey": "kubernetes.io/hostname",
        }] } },
        "containers": [{
            "name": "nats",
            "image": fleet.nats.image,
            "args": ["--config", format!("{CONFIG_DIR}/server.conf")],
            "env": environment(values),
            "ports": [
                port("client", CLIENT_PORT),
                port("monitoring", MONITORING_PORT),
                port("route", ROUTE_PORT),
            ],
            "resources": {
                "requests": { "cpu": fleet.nats.cpu, "memory": fleet.nats.memory },
                "limits": { "memory": fleet.nats.memory },
            },
            // A server that was away for long takes time to catch up; Kubernetes must not kill it
            // during that time.
            "startupProbe": health("/healthz?js-server-only=true", 90),
            "livenessProbe": health("/healthz?js-enabled-only=true", 3),
            "readinessProbe": health("/healthz?js-server-only=true", 3),
            "securityContext": confined(),
            "volumeMounts": [
                { "name": "data", "mountPath": STORE_DIR },
                { "name": "config", "mountPath": CONFIG_DIR, "readOnly": true },
                { "name": "tls", "mountPath": TLS_DIR, "readOnly": true },
            ],
        }],
        "volumes": [
            { "name": "config", "configMap": { "name": CONFIG } },
            {
                "name": "tls",
                "secret": { "secretName": fleet.nats.tls_secret, "defaultMode": 0o440 },
            },
        ],
    })
}

/// Returns the server's environment variables: paths, its name, and the users' passwords as
/// references to secrets.
fn environment(values: &Values) -> Vec<Value> {
    let mut all = vec![
        json!({
            "name": "NATS_SERVER_NAME",
            "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } },
        }),
        json!({ "name": "NATS_STORE_DIR", "value": STORE_DIR }),
        json!({ "name": "NATS_MAX_FILE_STORE", "value": values.fleet.nats.storage }),
    ];
    for (variable, file) in [
        ("NATS_TLS_CERT", "tls.crt"),
        ("NATS_TLS_KEY", "tls.key"),
        ("NATS_TLS_CA", "ca.crt"),
    ] {
        all.push(json!({ "name": variable, "value": format!("{TLS_DIR}/{file}") }));
    }
    for (variable, user) in password_variables(values) {
        let from = json!({ "secretKeyRef": { "name": password_secret(&user), "key": "password" } });
        all.push(json!({ "name": variable, "valueFrom": from }));
    }
    all
}

fn budget(fleet: &FleetValues) -> Document {
    Document::new(
        "Two of three must stay: they are the majority that acknowledges.",
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": metadata(fleet, SERVICE, COMPONENT, None),
            "spec": {
                "maxUnavailable": 1,
                "selector": { "matchLabels": selector(COMPONENT, None) },
            },
        }),
    )
}
