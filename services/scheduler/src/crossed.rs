//! Finds texts whose row names a guest, turn or number that does not belong to the text's
//! conversation. No code writes such a row; if one exists, a casino may have seen another casino's
//! guest.

use std::time::Instant;

use chrono::TimeDelta;
use seven_domain::IncidentKind;
use seven_runtime::{Error, Fleet};
use seven_store::incidents::found::Crossed;

use crate::{
    incidents::{Found, contain},
    lookback::Lookback,
};

pub(crate) async fn round(fleet: Fleet, lookback: Lookback) -> Result<(), Error> {
    let began = Instant::now();
    let span = lookback.span(began, fleet.timing.after_stop_watch());
    let since = fleet.clock.now() - TimeDelta::from_std(span).unwrap_or_default();
    let crossed = fleet.store.crossed(since, span).await?;
    let contained = |row: Crossed| contain_one(fleet.clone(), row);
    crate::rounds::each_of(crossed, |row| &row.casino, contained).await?;
    lookback.done(began);
    Ok(())
}

async fn contain_one(fleet: Fleet, row: Crossed) -> Result<(), Error> {
    let found = Found {
        kind: IncidentKind::CrossedCasino,
        conversation: row.conversation,
        text: row.text,
        by: "scheduler",
    };
    contain(&fleet, &row.casino, found).await?;
    Ok(())
}
