//! A guest asks, the fleet answers from content: venues open at that time and no others.

use crate::harness::{GUEST, Wanted, house};

#[tokio::test]
async fn the_demo_names_venues_that_are_open_then() {
    let house = house("answers_demo", Wanted { at: Some("2026-11-23T00:00:00Z"), ..Wanted::default() }).await;
    house.text(GUEST, "What restaurants are open tonight?");
    house.settle(1).await;
    let said = house.said_to(GUEST);
    assert!(said.contains("Cinder Grove"), "{said}");
    assert!(said.contains("AI"), "the first reply discloses: {said}");
    house.stop().await;
}
