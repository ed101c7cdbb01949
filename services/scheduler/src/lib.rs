//! scheduler: does everything that happens because time passed, one file per duty (D3, D13, D17).
//! Any number of schedulers may run at once.

mod after_stop;
mod campaigns;
mod case_notices;
mod cases;
mod content;
mod cost;
mod crossed;
mod cry;
pub mod dead;
mod dead_orders;
mod deletion;
mod due;
mod floors;
mod gauges;
pub mod health;
pub mod incidents;
mod letters;
mod lookback;
mod mutant;
mod nightly;
mod notices;
mod outages;
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
mod weekly;

use std::{sync::Arc, time::Duration};

use seven_alerts::Channels;
use seven_notices::Senders;
use seven_providers::Records;
use seven_runtime::{Error, Fleet};
use seven_settings::Settings;

use crate::{lookback::Lookback, rounds::Duties};

pub use nightly::{NIGHTLY_JOBS, night};
pub use repair::control;
pub use sheet::{Sheets, read_sheet};

/// Runs one round over the due rows. It is for callers that control the time themselves, such as
/// the model test.
pub async fn fire_due(fleet: &Fleet) -> Result<(), Error> {
    due::round(fleet.clone()).await?;
    deletion::round(fleet.clone()).await
}

/// Runs the worker until the fleet shuts down. Each duty has its own interval and waits for no
/// other duty. `records` reads the providers' records of texts, `channels` notify the fleet's
/// operators, `senders` notify the casinos' contacts, and `sheets` reads the casinos' spreadsheets.
pub async fn run(
    fleet: Fleet,
    settings: Arc<Settings>,
    records: Vec<Arc<dyn Records>>,
    channels: Channels,
    senders: Senders,
    sheets: Sheets,
) {
    let timing = fleet.timing;
    let millis = |millis: u64| {
        let least = Duration::from_millis(200);
        timing.scale.at_least(Duration::from_millis(millis), least)
    };
    let (mirrored, complete) = (repair::Mirrored::default(), repair::Complete::default());
    let (nights, stores) = (nightly::Nights::default(), sweep::Stores::default());
    let (floors, read) = (floors::Noted::default(), read_again::Read::default());
    let mut duties = Duties::of(fleet);
    duties.add("due", millis(500), due::round);
    duties.add("doubts", millis(60_000), due::renew_doubts);
    duties.add("delete", millis(500), deletion::round);
    duties.add("sweep", millis(2_000), move |fleet| {
        sweep::round(fleet, stores.clone())
    });
    duties.add("spool", millis(1_000), spool::round);
    duties.add("repair", Duration::from_secs(1), {
        let floors = floors.clone();
        move |fleet| repair::round(fleet, mirrored.clone(), complete.clone(), floors.clone())
    });
    duties.add("reconcile", millis(15_000), move |fleet| {
        reconcile::round(fleet, records.clone())
    });
    duties.add("content", millis(1_000), content::round);
    duties.add("campaigns", millis(1_000), campaigns::round);
    duties.add("nightly", millis(60_000), move |fleet| {
        nightly::round(fleet, nights.clone())
    });
    duties.add("sheets", millis(60_000), move |fleet| {
        sheet::round(fleet, sheets.clone())
    });
    duties.add("dead", Duration::from_millis(500), dead::round);
    duties.add("dead_orders", millis(1_000), dead_orders::round);
    duties.add("block", timing.block_check(), health::blocks);
    duties.add("delivery", timing.delivery_check(), health::figures);
    duties.add("cases", millis(2_000), cases::round);
    duties.add("notices", millis(1_000), move |fleet| {
        notices::round(fleet, channels.clone())
    });
    duties.add("case_notices", millis(2_000), {
        let (settings, senders) = (settings.clone(), senders.clone());
        move |fleet| case_notices::round(fleet, settings.clone(), senders.clone())
    });
    let waits = outages::Seen::default();
    duties.add("outages", timing.outage_check(), move |fleet| {
        outages::round(fleet, waits.clone())
    });
    duties.add("letters", millis(30_000), {
        let settings = settings.clone();
        move |fleet| letters::round(fleet, settings.clone(), senders.clone())
    });
    duties.add("unannounced", millis(60_000), unannounced::round);
    duties.add("unread", millis(3_600_000), unread::round);
    let (stops, crossings) = (Lookback::default(), Lookback::default());
    duties.add("after_stop", millis(15_000), move |fleet| {
        after_stop::round(fleet, stops.clone())
    });
    duties.add("crossed", millis(15_000), move |fleet| {
        crossed::round(fleet, crossings.clone())
    });
    duties.add("read_again", millis(60_000), move |fleet| {
        read_again::round(fleet, read.clone())
    });
    duties.add("dead_gauge", Duration::from_secs(10), dead::gauge);
    duties.add("cost", Duration::from_secs(3_600), {
        let settings = settings.clone();
        move |fleet| cost::round(fleet, settings.clone())
    });
    duties.add("upkeep", Duration::from_secs(60), move |fleet| {
        upkeep::round(fleet, settings.clone())
    });
    duties.add("row_gauges", timing.gauges(), gauges::rows);
    duties.add("consumer_gauges", timing.gauges(), move |fleet| {
        gauges::consumers(fleet, floors.clone())
    });
    duties.finish().await;
}
