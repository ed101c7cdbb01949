//! Renders the pods: the migration, and one Deployment per worker. A worker that a busy casino has
//! to itself gets a separate Deployment (D16).

use anyhow::Result;
use serde_json::{Value, json};
use seven_bus::WorkerSettings;
use seven_settings::{Settings, Worker};

use super::{
    names::{self, APP, labels, metadata, selector, workload},
    settings::{self, CONFIG_MAP, NATS_DIR, SECRETS_DIR, SETTINGS_FILE},
    values::{CasinoValues, FleetValues, Size},
    yaml::Document,
};

/// Seconds for which ingress and web gateway keep serving before their SIGTERM. Load balancers
/// learn late that a pod ends.
const PRE_STOP_SECONDS: u64 = 5;
/// Seconds after the drain for the last heartbeat, storing pending alerts and closing connections.
const AFTER_DRAIN_SECONDS: u64 = 7;
/// User and group id of the image; it is not root.
pub(crate) const NOBODY: u32 = 65_532;

/// Returns the seconds between SIGTERM and SIGKILL, which always exceed the drain time of the code.
pub fn grace_seconds() -> u64 {
    WorkerSettings::default().drain.as_secs() + PRE_STOP_SECONDS + AFTER_DRAIN_SECONDS
}

/// Returns the port of a worker's health checks and metrics.
pub(crate) fn ops_port(settings: &Settings) -> u16 {
    settings.ops.listen.port()
}

/// Returns the port on which ingress receives webhooks.
pub(crate) fn webhook_port(settings: &Settings) -> u16 {
    settings.ingress.listen.port()
}

/// Returns the port on which the console serves its pages.
pub(crate) fn console_port(settings: &Settings) -> u16 {
    settings.console.listen.port()
}

/// Returns the port on which the web gateway serves guests.
pub(crate) fn web_port(settings: &Settings) -> u16 {
    settings.web.listen.port()
}

/// Renders a worker's Deployment and its service account.
pub(crate) fn deployment(
    fleet: &FleetValues,
    settings: &Settings,
    worker: Worker,
    casino: Option<&CasinoValues>,
    scaled: bool,
) -> Vec<Document> {
    let id = casino.map(|casino| &casino.casino_id);
    let (name, component) = (workload(worker, id), worker.name());
    let size = casino.map_or_else(|| fleet.size(worker), |_| &fleet.own_workers);
    let mut spec = json!({
        "selector": { "matchLabels": selector(component, id) },
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 },
        },
        "template": {
            "metadata": {
                "labels": labels(fleet, component, id),
                "annotations": {
                    "prometheus.io/scrape": "true",
                    "prometheus.io/port": ops_port(settings).to_string(),
                    // Changed settings change the pod template, so that the pods restart.
                    "seven/settings": settings::digest(fleet),
                },
            },
            "spec": pod(fleet, settings, worker, casino, size),
        },
    });
    if !scaled {
        spec["replicas"] = json!(size.min);
    }
    vec![
        Document::new(
            format!("The identity of {name}; it has no rights in the cluster."),
            json!({
                "apiVersion": "v1", "kind": "ServiceAccount",
                "metadata": metadata(fleet, &name, component, id),
                "automountServiceAccountToken": false,
            }),
        ),
        Document::new(
            note(worker, casino, scaled),
            json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": metadata(fleet, &name, component, id),
                "spec": spec,
            }),
        ),
    ]
}

fn note(worker: Worker, casino: Option<&CasinoValues>, scaled: bool) -> String {
    let scaled = if scaled {
        "The number of replicas is its scaler's, so it is not set here."
    } else {
        ""
    };
    match (worker, casino) {
        (Worker::Scheduler, _) => {
            "Any number may run at once: each claims its work in Postgres.".to_owned()
        }
        (_, None) => format!("Serves every casino. {scaled}"),
        (_, Some(casino)) => format!(
            "Serves {} alone, under a NATS user that reaches no other casino's subjects. The \
             fleet's own {} pulls from the same consumer too, so that nothing waits if this one is \
             away; JetStream gives each message to one of them. {scaled}",
            casino.casino_id,
            worker.name()
        ),
    }
}

fn pod(
    fleet: &FleetValues,
    settings: &Settings,
    worker: Worker,
    casino: Option<&CasinoValues>,
    size: &Size,
) -> Value {
    let id = casino.map(|casino| &casino.casino_id);
    let mut arguments = vec!["run", worker.name()];
    if let Some(id) = id {
        arguments.extend(["--casino", id.as_str()]);
    }
    let mut ports = vec![json!({ "name": "ops", "containerPort": ops_port(settings) })];
    if worker == Worker::IngressWebhook {
        ports.push(json!({ "name": "webhook", "containerPort": webhook_port(settings) }));
    }
    if worker == Worker::Console {
        ports.push(json!({ "name": "console", "containerPort": console_port(settings) }));
    }
    if worker == Worker::WebGateway {
        ports.push(json!({ "name": "web", "containerPort": web_port(settings) }));
    }
    let mut container = json!({
        "name": worker.name(),
        "image": fleet.image,
        "args": arguments,
        "env": [
            { "name": "SEVEN_CONFIG", "value": SETTINGS_FILE },
            { "name": "SEVEN_SECRETS", "value": SECRETS_DIR },
            { "name": "SEVEN_NATS__USER", "value": names::user(worker, id) },
        ],
        "ports": ports,
        "resources": {
            "requests": { "cpu": size.cpu, "memory": size.memory },
            "limits": { "memory": size.memory_limit },
        },
        "startupProbe": probe("/health/live", 1, 3, 3, 30),
        "livenessProbe": probe("/health/live", 5, 10, 3, 3),
        "readinessProbe": probe("/health/ready", 2, 5, 5, 2),
        "securityContext": confined(),
        "volumeMounts": mounts_with_nats(),
    });
    if matches!(worker, Worker::IngressWebhook | Worker::WebGateway) {
        container["lifecycle"] = json!({ "preStop": { "sleep": { "seconds": PRE_STOP_SECONDS } } });
    }
    json!({
        "serviceAccountName": workload(worker, id),
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": unprivileged(NOBODY),
        "terminationGracePeriodSeconds": grace_seconds(),
        "topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": { "matchLabels": selector(worker.name(), id) },
        }],
        "containers": [container],
        "volumes": [
            config_volume(),
            settings::volume(fleet, worker, casino),
            settings::nats_volume(fleet),
        ],
    })
}

/// Renders a probe of the operations port. `delay`, `period` and `timeout` are seconds; `failures`
/// is how many consecutive probes may fail.
fn probe(path: &str, delay: u32, period: u32, timeout: u32, failures: u32) -> Value {
    json!({
        "httpGet": { "path": path, "port": "ops" },
        "initialDelaySeconds": delay, "periodSeconds": period, "timeoutSeconds": timeout,
        "failureThreshold": failures,
    })
}

pub(crate) fn confined() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": { "drop": ["ALL"] },
    })
}

pub(crate) fn unprivileged(user: u32) -> Value {
    json!({
        "runAsNonRoot": true, "runAsUser": user, "runAsGroup": user, "fsGroup": user,
        "seccompProfile": { "type": "RuntimeDefault" },
    })
}

pub(crate) fn config_volume() -> Value {
    json!({ "name": "settings", "configMap": { "name": CONFIG_MAP } })
}

pub(crate) fn mounts() -> Vec<Value> {
    vec![
        json!({
            "name": "settings",
            "mountPath": SETTINGS_FILE,
            "subPath": "seven.toml",
            "readOnly": true,
        }),
        json!({ "name": "secrets", "mountPath": SECRETS_DIR, "readOnly": true }),
    ]
}

pub(crate) fn mounts_with_nats() -> Vec<Value> {
    let mut mounts = mounts();
    mounts.push(json!({ "name": "nats", "mountPath": NATS_DIR, "readOnly": true }));
    mounts
}

/// Renders the job that runs `seven migrate`, once per image. Migrations only add to the schema, so
/// workers of the previous image can keep running during the migration.
pub(crate) fn migration(fleet: &FleetValues) -> Result<Document> {
    let digest: String = fleet
        .image
        .rsplit(':')
        .next()
        .unwrap_or_default()
        .chars()
        .take(12)
        .collect::<String>()
        .to_lowercase();
    let name = format!("{APP}-migrate-{digest}");
    Ok(Document::new(
        format!(
            "Before the workers of a new image: kubectl wait --for=condition=complete job/{name}. \
             It has the owner's login and no other secret, and reaches nothing but Postgres."
        ),
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": metadata(fleet, &name, "migrate", None),
            "spec": {
                "backoffLimit": 3,
                "activeDeadlineSeconds": 600,
                "ttlSecondsAfterFinished": 86_400,
                "template": {
                    "metadata": { "labels": labels(fleet, "migrate", None) },
                    "spec": {
                        "restartPolicy": "Never",
                        "automountServiceAccountToken": false,
                        "enableServiceLinks": false,
                        "securityContext": unprivileged(NOBODY),
                        "containers": [{
                            "name": "migrate",
                            "image": fleet.image,
                            "args": ["migrate"],
                            "env": [
                                { "name": "SEVEN_CONFIG", "value": SETTINGS_FILE },
                                { "name": "SEVEN_SECRETS", "value": SECRETS_DIR },
                            ],
                            "resources": {
                                "requests": { "cpu": "100m", "memory": "64Mi" },
                                "limits": { "memory": "256Mi" },
                            },
                            "securityContext": confined(),
                            "volumeMounts": mounts(),
                        }],
                        "volumes": [config_volume(), settings::owner_volume(fleet)],
                    },
                },
            },
        }),
    ))
}
