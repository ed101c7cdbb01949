//! scheduler: does everything that happens because time passed, one file per duty (D3, D13, D17).
//! Any number of schedulers may run at once.

mod after_stop;
pub mod campaigns;
mod case_notices;
mod cases;
mod content;
mod cost;
mod crossed;
mod cry;
pub mod dead;
mod deletion;
mod due;
mod floors;
mod gauges;
pub mod health;
pub mod incidents;
mod letters;
mod mutant;
mod nightly;
mod notices;
mod read_again;
pub mod reconcile;
mod repair;
mod rounds;
mod seals;
mod sheet;
mod spool;
mod stop_reach;
mod sweep;
mod unannounced;
pub mod unread;
mod upkeep;

use std::{sync::Arc, time::Duration};

use seven_alerts::Channels;
use seven_notices::Senders;
use seven_providers::Records;
use seven_runtime::{Error, Fleet};
use seven_settings::Settings;

use crate::rounds::every;

pub use nightly::{NIGHTLY_JOBS, night};
pub use repair::control;
pub use sheet::{Sheets, read_sheet};

/// Runs one round over the due rows, for callers that control the time themselves, such as the
/// model test.
pub async fn fire_due(fleet: &Fleet) -> Result<(), Error> {
    due::round(fleet.clone()).await?;
    deletion::round(fleet.clone()).await
}

/// Runs the worker until the fleet shuts down. Each duty has an interval of its own and waits for
/// no other. `records` are the providers whose records can be read; `channels` notify the fleet's
/// operators, `senders` the casinos' own people; `sheets` asks for their spreadsheets.
pub async fn run(
    fleet: Fleet,
    settings: Arc<Settings>,
    records: Vec<Arc<dyn Records>>,
    channels: Channels,
    senders: Senders,
    sheets: Sheets,
) {
    let scale = |millis: u64| {
        fleet
            .timing
            .scale
            .at_least(Duration::from_millis(millis), Duration::from_millis(200))
    };
    let (mirrored, complete) = (repair::Mirrored::default(), repair::Complete::default());
    let nights = nightly::Nights::default();
    let stores = sweep::Stores::default();
    let floors = floors::Noted::default();
    let read_up_to = read_again::ReadUpTo::default();
    tokio::join!(
        every(&fleet, "due", scale(500), due::round),
        every(&fleet, "doubts", scale(60_000), due::renew_doubts),
        every(&fleet, "delete", scale(500), deletion::round),
        every(&fleet, "sweep", scale(2_000), |fleet| sweep::round(
            fleet,
            stores.clone()
        )),
        every(&fleet, "spool", scale(1_000), spool::round),
        every(&fleet, "repair", Duration::from_secs(1), |fleet| {
            repair::round(fleet, mirrored.clone(), complete.clone(), floors.clone())
        }),
        every(
            &fleet,
            "reconcile",
            scale(15_000),
            |fleet| reconcile::round(fleet, records.clone())
        ),
        every(&fleet, "content", scale(1_000), content::round),
        every(&fleet, "campaigns", scale(1_000), campaigns::round),
        every(&fleet, "nightly", scale(60_000), |fleet| nightly::round(
            fleet,
            nights.clone()
        )),
        every(&fleet, "sheets", scale(60_000), |fleet| {
            sheet::round(fleet, sheets.clone())
        }),
        every(&fleet, "dead", Duration::from_millis(500), dead::round),
        every(&fleet, "block", fleet.timing.block_check(), health::blocks),
        every(
            &fleet,
            "delivery",
            fleet.timing.delivery_check(),
            health::figures
        ),
        every(&fleet, "cases", scale(2_000), cases::round),
        every(&fleet, "notices", scale(1_000), |fleet| notices::round(
            fleet,
            channels.clone()
        )),
        every(&fleet, "case_notices", scale(2_000), |fleet| {
            case_notices::round(fleet, settings.clone(), senders.clone())
        }),
        every(&fleet, "letters", scale(30_000), |fleet| {
            letters::round(fleet, settings.clone(), senders.clone())
        }),
        every(&fleet, "unannounced", scale(60_000), unannounced::round),
        every(&fleet, "unread", scale(3_600_000), unread::round),
        every(&fleet, "after_stop", scale(15_000), after_stop::round),
        every(&fleet, "crossed", scale(15_000), crossed::round),
        every(&fleet, "read_again", scale(60_000), |fleet| {
            read_again::round(fleet, read_up_to.clone())
        }),
        every(&fleet, "dead_gauge", Duration::from_secs(10), dead::gauge),
        every(&fleet, "cost", Duration::from_secs(3_600), |fleet| {
            cost::round(fleet, settings.clone())
        }),
        every(&fleet, "upkeep", Duration::from_secs(60), |fleet| {
            upkeep::round(fleet, settings.clone())
        }),
        every(&fleet, "row_gauges", fleet.timing.gauges(), gauges::rows),
        every(&fleet, "consumer_gauges", fleet.timing.gauges(), |fleet| {
            gauges::consumers(fleet, floors.clone())
        }),
    );
}
