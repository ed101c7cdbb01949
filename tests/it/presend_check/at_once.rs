//! The short pre-send check: the texts that it passes, and the texts that it leaves to the full
//! check. The test of the whole table in the parent module proves that the short check passes no
//! text wrongly.

use seven_domain::{Lane, MessageClass};
use sqlx::AssertSqlSafe;

use super::bench::Bench;

/// Returns whether the short check passes a new guest's text of this class. Before the check, the
/// database's owner runs the SQL `change`. The claim is rolled back.
async fn passes(bench: &Bench, class: MessageClass, change: &str) -> bool {
    let guest = bench.guest().await;
    let outbound = bench.queue(&guest, class).await;
    let mut tx = bench.bind().await;
    if !change.is_empty() {
        sqlx::query(AssertSqlSafe(change.to_owned()))
            .execute(&bench.owner)
            .await
            .unwrap();
    }
    let claim = tx.claim_at_once(&bench.check_of(outbound)).await.unwrap();
    tx.rollback().await.unwrap();
    if let Some(claim) = &claim {
        assert_eq!(
            (claim.class.as_str(), claim.body.is_empty()),
            (class.as_str(), false)
        );
    }
    claim.is_some()
}

#[tokio::test] // SMS-23: most texts are answers, and nothing stands against most
async fn an_answer_that_nothing_stands_against_passes_at_once() {
    let bench = Bench::new("look_at_once").await;
    for class in MessageClass::ALL.iter().copied() {
        assert_eq!(
            passes(&bench, class, "").await,
            class.lane() != Lane::Bulk,
            "{class}"
        );
    }
    bench.house.stop().await;
}

#[tokio::test] // SMS-23: the table decides, not the code that asks less
async fn a_policy_that_asks_for_more_is_left_to_the_whole_look() {
    let bench = Bench::new("look_policy_more").await;
    for asks in [
        "lane = 'bulk'",
        "least_tier = 'marketing'",
        "cooldown = interval '1 day'",
        "cap = 3, cap_window = interval '1 day'",
        "most_risk = 0.5",
        "quiet_hours = true",
        "needs_registration = true",
        "needs_exclusion_check = true",
        "needs_number_check = true",
    ] {
        let set = format!("update send_policy set {asks} where class = 'reply'");
        assert!(!passes(&bench, MessageClass::Reply, &set).await, "{asks}");
        let back = "update send_policy s set lane = h.lane, least_tier = h.least_tier, cooldown = h.cooldown, cap = h.cap, cap_window = h.cap_window,
            most_risk = h.most_risk, quiet_hours = h.quiet_hours, needs_registration = h.needs_registration,
            needs_exclusion_check = h.needs_exclusion_check, needs_number_check = h.needs_number_check
            from send_policy h where s.class = 'reply' and h.class = 'holding'";
        assert!(
            passes(&bench, MessageClass::Reply, back).await,
            "after {asks}"
        );
    }
    bench.house.stop().await;
}

#[tokio::test] // DEP-10: what the process knows of the casino may be of yesterday
async fn a_document_that_changed_is_read_by_the_whole_look() {
    let bench = Bench::new("look_document").await;
    assert!(
        !passes(
            &bench,
            MessageClass::Reply,
            "update casinos set updated_at = now()"
        )
        .await
    );
    // The second call reads the changed document before its check, so its text passes.
    assert!(passes(&bench, MessageClass::Reply, "").await);
    bench.house.stop().await;
}
