//! A casino's document names a spreadsheet, and the nightly job reads it (CMS-27).

use std::time::Duration;

use seven::onboard;
use seven_domain::CasinoStatus;
use seven_settings::Worker;

use crate::{
    harness::{Wanted, house, until},
    letters::Sheet,
};

#[tokio::test(flavor = "multi_thread")] // CMS-27, D31
async fn the_night_reads_the_sheets_of_casinos_that_are_served_and_of_no_others() {
    let wanted = Wanted {
        // 4 a.m. at the casino.
        at: Some("2026-01-14T09:00:00Z"),
        workers: Vec::new(),
        ..Wanted::default()
    };
    let mut house = house("sheets", wanted).await;
    let mut gone = house.config.clone();
    gone.casino_id = "gone".parse().unwrap();
    gone.operational.telnyx_phone_number = "+18605550189".parse().unwrap();
    let fleet = &house.stack.fleet;
    onboard::add_casino(fleet, &gone, "test").await.unwrap();
    let mut tx = fleet.store.bind(&gone.casino_id).await.unwrap();
    tx.set_casino_status(CasinoStatus::Removed, "test", "closed")
        .await
        .unwrap();
    tx.commit().await.unwrap();
    let (ours, theirs) = (Sheet::start().await, Sheet::start().await);
    for (casino, (sheet, address)) in [("silver_birch", &ours), ("gone", &theirs)] {
        sheet.answers(
            200,
            "category,name,description,treatment_type,duration_minutes,price\n\
             spa,Birch Wrap,Warm leaves.,Body treatment,60,140\n",
        );
        let names = format!(
            "update casinos set config = jsonb_set(config, '{{operational,content_sheet_url}}', '\"{address}\"')
             where casino_id = '{casino}'"
        );
        house.as_owner(&names).await;
    }
    house.stack.spawn(Worker::Scheduler, None).await.unwrap();
    let wraps = "select casino_id from content_items where name = 'Birch Wrap'";
    until("the sheet is read", Duration::from_secs(30), async || {
        house.texts_of(wraps).await == ["silver_birch"]
    })
    .await;
    assert_eq!(ours.0.asked(), 1);
    assert_eq!(theirs.0.asked(), 0);
    house.stop().await;
}
