//! Renders the CronJob that makes a backup and removes older ones (`seven backup --into`), and the
//! volume that holds the backups.

use serde_json::json;

use super::{
    names::{APP, labels, metadata},
    settings::{self, SECRETS_DIR, SETTINGS_FILE},
    values::{Backup, FleetValues},
    workload::{NOBODY, config_volume, confined, mounts, unprivileged},
    yaml::Document,
};

/// Component label of the backup's resources, and part of their names.
pub(crate) const COMPONENT: &str = "backup";
const DIR: &str = "/backups";

pub(crate) fn documents(fleet: &FleetValues, backup: &Backup) -> Vec<Document> {
    vec![claim(fleet, backup), schedule(fleet, backup)]
}

fn name() -> String {
    format!("{APP}-{COMPONENT}")
}

fn claim(fleet: &FleetValues, backup: &Backup) -> Document {
    let mut body = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(fleet, &format!("{}s", name()), COMPONENT, None),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": backup.storage } },
        },
    });
    if let Some(class) = &backup.storage_class {
        body["spec"]["storageClassName"] = json!(class);
    }
    Document::new(
        "The backups: every guest's phone is in them. An encrypted class, copied away from this cluster by its own means.",
        body,
    )
}

fn schedule(fleet: &FleetValues, backup: &Backup) -> Document {
    let mut mounts = mounts();
    mounts.push(json!({ "name": "backups", "mountPath": DIR }));
    let pod = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": unprivileged(NOBODY),
        "containers": [{
            "name": COMPONENT,
            "image": backup.image,
            "args": ["backup", "--into", DIR],
            "env": [
                { "name": "SEVEN_CONFIG", "value": SETTINGS_FILE },
                { "name": "SEVEN_SECRETS", "value": SECRETS_DIR },
            ],
            "resources": {
                "requests": { "cpu": "250m", "memory": "128Mi" },
                "limits": { "memory": "512Mi" },
            },
            "securityContext": confined(),
            "volumeMounts": mounts,
        }],
        "volumes": [
            config_volume(),
            settings::backup_volume(fleet),
            { "name": "backups", "persistentVolumeClaim": { "claimName": format!("{}s", name()) } },
        ],
    });
    Document::new(
        "The fleet goes on meanwhile; the dump is of one moment. BackupMissing says when none was made for 26 hours.",
        json!({
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": metadata(fleet, &name(), COMPONENT, None),
            "spec": {
                "schedule": backup.schedule,
                "timeZone": "Etc/UTC",
                "concurrencyPolicy": "Forbid",
                "startingDeadlineSeconds": 3_600,
                "successfulJobsHistoryLimit": 3,
                "failedJobsHistoryLimit": 3,
                "jobTemplate": { "spec": {
                    "backoffLimit": 2,
                    "activeDeadlineSeconds": 14_400,
                    "template": {
                        "metadata": { "labels": labels(fleet, COMPONENT, None) },
                        "spec": pod,
                    },
                } },
            },
        }),
    )
}
