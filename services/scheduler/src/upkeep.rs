//! Exports when operators last did their recurring duties, or when these are due: rotating secrets,
//! making backups, practising recovery, reviewing incidents. Alerts on these metrics remind the
//! operators.

use std::sync::Arc;

use seven_runtime::{Error, Fleet};
use seven_settings::{
    Settings,
    rotation::{Rotation, rotations},
};
use seven_store::upkeep::Upkeep;
use seven_telemetry::metrics;

pub(crate) async fn round(fleet: Fleet, settings: Arc<Settings>) -> Result<(), Error> {
    let upkeep = fleet.store.upkeep().await?;
    export(&rotations(&settings, &upkeep), &upkeep);
    Ok(())
}

fn export(rotations: &[Rotation], upkeep: &Upkeep) {
    let figures = &metrics().fleet;
    figures.rotation_due.reset();
    for rotation in rotations {
        figures
            .rotation_due
            .with_label_values(&[rotation.secret])
            .set(rotation.due_at.timestamp());
    }
    figures
        .backup
        .with_label_values::<&str>(&[])
        .set(upkeep.backed_up.unwrap_or(upkeep.begun).timestamp());
    figures.review.reset();
    if let Some(due) = upkeep.review_due {
        figures
            .review
            .with_label_values::<&str>(&[])
            .set(due.timestamp());
    }
    figures
        .drill
        .with_label_values::<&str>(&[])
        .set(upkeep.drilled.unwrap_or(upkeep.begun).timestamp());
}
