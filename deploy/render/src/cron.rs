//! Renders a CronJob that runs one command of `seven` each day, and the volume that it writes to.

use serde_json::{Value, json};

use super::{
    names::{APP, labels, metadata},
    settings::{SECRETS_DIR, SETTINGS_FILE},
    values::FleetValues,
    workload::{NOBODY, confined, unprivileged},
    yaml::Document,
};

/// The values of one daily CronJob.
pub(crate) struct Cron<'a> {
    /// Component label of the job's resources, and part of their names.
    pub(crate) component: &'a str,
    pub(crate) note: &'a str,
    pub(crate) image: &'a str,
    pub(crate) args: &'a [&'a str],
    /// Environment variables in addition to `SEVEN_CONFIG` and `SEVEN_SECRETS`.
    pub(crate) env: Vec<Value>,
    pub(crate) mounts: Vec<Value>,
    pub(crate) volumes: Vec<Value>,
    /// The schedule in cron syntax, in UTC.
    pub(crate) schedule: &'a str,
    pub(crate) shelf: Shelf<'a>,
}

/// The volume that the job writes to.
pub(crate) struct Shelf<'a> {
    pub(crate) note: &'a str,
    /// Name of the volume; its claim has this name with the prefix `seven-`.
    pub(crate) name: &'a str,
    /// Folder in the job's container at which the volume is mounted.
    pub(crate) dir: &'a str,
    pub(crate) storage: &'a str,
    pub(crate) storage_class: Option<&'a str>,
}

pub(crate) fn documents(fleet: &FleetValues, job: &Cron<'_>) -> Vec<Document> {
    vec![claim(fleet, job), schedule(fleet, job)]
}

fn claim_name(shelf: &Shelf<'_>) -> String {
    format!("{APP}-{}", shelf.name)
}

fn claim(fleet: &FleetValues, job: &Cron<'_>) -> Document {
    let shelf = &job.shelf;
    let mut body = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(fleet, &claim_name(shelf), job.component, None),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": shelf.storage } },
        },
    });
    if let Some(class) = shelf.storage_class {
        body["spec"]["storageClassName"] = json!(class);
    }
    Document::new(shelf.note, body)
}

fn schedule(fleet: &FleetValues, job: &Cron<'_>) -> Document {
    let shelf = &job.shelf;
    let mut mounts = job.mounts.clone();
    mounts.push(json!({ "name": shelf.name, "mountPath": shelf.dir }));
    let mut env = vec![
        json!({ "name": "SEVEN_CONFIG", "value": SETTINGS_FILE }),
        json!({ "name": "SEVEN_SECRETS", "value": SECRETS_DIR }),
    ];
    env.extend(job.env.iter().cloned());
    let mut volumes = job.volumes.clone();
    volumes.push(json!({
        "name": shelf.name, "persistentVolumeClaim": { "claimName": claim_name(shelf) },
    }));
    let pod = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": unprivileged(NOBODY),
        "containers": [{
            "name": job.component,
            "image": job.image,
            "args": job.args,
            "env": env,
            "resources": {
                "requests": { "cpu": "250m", "memory": "128Mi" },
                "limits": { "memory": "512Mi" },
            },
            "securityContext": confined(),
            "volumeMounts": mounts,
        }],
        "volumes": volumes,
    });
    Document::new(
        job.note,
        json!({
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": metadata(fleet, &format!("{APP}-{}", job.component), job.component, None),
            "spec": {
                "schedule": job.schedule,
                "timeZone": "Etc/UTC",
                "concurrencyPolicy": "Forbid",
                "startingDeadlineSeconds": 3_600,
                "successfulJobsHistoryLimit": 3,
                "failedJobsHistoryLimit": 3,
                "jobTemplate": { "spec": {
                    "backoffLimit": 2,
                    "activeDeadlineSeconds": 14_400,
                    "template": {
                        "metadata": { "labels": labels(fleet, job.component, None) },
                        "spec": pod,
                    },
                } },
            },
        }),
    )
}
