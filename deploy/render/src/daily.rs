//! The daily jobs: the backup (`seven backup --into`) and the exports of the audit log
//! (`seven audit daily --into`).

use serde_json::json;

use super::{
    cron::{Cron, Shelf, documents},
    nats::OPERATOR,
    settings,
    values::{Backup, Exports, FleetValues},
    workload::{config_volume, mounts, mounts_with_nats},
    yaml::Document,
};

/// Component label of the backup's resources, and part of their names.
pub(crate) const BACKUP: &str = "backup";
/// Component label of the exports' resources, and part of their names.
pub(crate) const EXPORTS: &str = "audit-export";

pub(crate) fn backup(fleet: &FleetValues, backup: &Backup) -> Vec<Document> {
    let job = Cron {
        component: BACKUP,
        note: "The fleet goes on meanwhile; the dump is of one moment. BackupMissing says when none was made for 26 hours.",
        image: &backup.image,
        args: &["backup", "--into", "/backups"],
        env: Vec::new(),
        mounts: mounts(),
        volumes: vec![config_volume(), settings::backup_volume(fleet)],
        schedule: &backup.schedule,
        shelf: Shelf {
            note: "The backups: every guest's phone is in them. An encrypted class, copied away from this cluster by its own means.",
            name: "backups",
            dir: "/backups",
            storage: &backup.storage,
            storage_class: backup.storage_class.as_deref(),
        },
    };
    documents(fleet, &job)
}

pub(crate) fn exports(fleet: &FleetValues, exports: &Exports) -> Vec<Document> {
    let job = Cron {
        component: EXPORTS,
        note: "Writes the days that were sealed and have no file yet; fails when a sealed day of the last 31 was changed.",
        image: &fleet.image,
        args: &[
            "audit",
            "daily",
            "--into",
            "/exports",
            "--by",
            "daily export",
        ],
        env: vec![json!({ "name": "SEVEN_NATS__USER", "value": OPERATOR })],
        mounts: mounts_with_nats(),
        volumes: vec![
            config_volume(),
            settings::exports_volume(fleet),
            settings::nats_volume(fleet),
        ],
        schedule: &exports.schedule,
        shelf: Shelf {
            note: "The audit log's days, without phones and guests' words. An auditor's tools read them from here.",
            name: "exports",
            dir: "/exports",
            storage: &exports.storage,
            storage_class: exports.storage_class.as_deref(),
        },
    };
    documents(fleet, &job)
}
