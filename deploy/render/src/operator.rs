//! Renders the pod in which operators run commands. The pod idles between commands and has its own
//! NATS user. It lacks the database owner's login, so `migrate`, `backup` and `restore` run
//! elsewhere.

use serde_json::json;

use super::{
    names::{APP, labels, metadata, selector},
    nats::OPERATOR,
    settings::{self, SECRETS_DIR, SETTINGS_FILE},
    values::FleetValues,
    workload::{NOBODY, config_volume, confined, mounts_with_nats, unprivileged},
    yaml::Document,
};

/// Component label of the operators' pod, and part of its resource names.
pub(crate) const COMPONENT: &str = OPERATOR;
/// Folder in which commands may write files; it is deleted with the pod.
const WORK: &str = "/work";

pub(crate) fn deployment(fleet: &FleetValues) -> Document {
    let name = format!("{APP}-{COMPONENT}");
    let mut mounts = mounts_with_nats();
    mounts.push(json!({ "name": "work", "mountPath": WORK }));
    let pod = json!({
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": unprivileged(NOBODY),
        "terminationGracePeriodSeconds": 5,
        "containers": [{
            "name": COMPONENT,
            "image": fleet.image,
            "args": ["stand-by"],
            "workingDir": WORK,
            "env": [
                { "name": "SEVEN_CONFIG", "value": SETTINGS_FILE },
                { "name": "SEVEN_SECRETS", "value": SECRETS_DIR },
                { "name": "SEVEN_NATS__USER", "value": OPERATOR },
            ],
            "resources": {
                "requests": { "cpu": "50m", "memory": "64Mi" },
                "limits": { "memory": "512Mi" },
            },
            "securityContext": confined(),
            "volumeMounts": mounts,
        }],
        "volumes": [
            config_volume(),
            settings::operator_volume(fleet),
            settings::nats_volume(fleet),
            { "name": "work", "emptyDir": { "sizeLimit": "1Gi" } },
        ],
    });
    Document::new(
        format!(
            "Operators' commands: kubectl exec -n {} deploy/{name} -- seven status; documents by \
             `-i` and the file `-`.",
            fleet.namespace
        ),
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": metadata(fleet, &name, COMPONENT, None),
            "spec": {
                "replicas": 1,
                "selector": { "matchLabels": selector(COMPONENT, None) },
                "template": {
                    "metadata": {
                        "labels": labels(fleet, COMPONENT, None),
                        "annotations": { "seven/settings": settings::digest(fleet) },
                    },
                    "spec": pod,
                },
            },
        }),
    )
}
