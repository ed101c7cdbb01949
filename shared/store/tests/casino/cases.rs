//! Tests the gauges of how long people took for cases. The expected times are computed by hand.

use crate::house::house;

/// Adds cases. The numbers of a case are minutes before now: when it began, when its
/// acknowledgement was due, when it was acknowledged, and when it was resolved. The last number is
/// its level.
const CASES: &str = "insert into escalations (casino_id, escalation_id, severity, source, reason, created_at, ack_due_at, acknowledged_at,
     resolved_at, level)
   select 'silver_birch', gen_random_uuid(), severity, 'keyword', 'asks_for_person', now() - began * minute, now() - due * minute,
     now() - acknowledged * minute, now() - resolved * minute, level
   from (select interval '1 minute' as minute) unit, (values
     ('sev0', 60, 50, 58, 40, 1),
     ('sev0', 90, 85, 80, null, 2),
     ('sev1', 3000, 2900, 2950, 30, 1),
     ('sev1', 4000, 3900, 3950, 3940, 1),
     ('sev2', 10, 5, null, null, 3)) made (severity, began, due, acknowledged, resolved, level)";

#[tokio::test] // SEC-153
async fn the_times_of_the_last_days_cases_are_counted() {
    let house = house("case_times").await;
    let pool = sqlx::PgPool::connect(&house.url).await.unwrap();
    sqlx::query(CASES).execute(&pool).await.unwrap();
    let mut times = house.store.case_times().await.unwrap();
    times.sort_by(|a, b| (&a.severity, &a.step).cmp(&(&b.severity, &b.step)));
    let told: Vec<(&str, &str, i64, i64)> = times
        .iter()
        .map(|time| {
            let seconds = time.p95_seconds.round() as i64;
            (&*time.severity, &*time.step, time.n, seconds)
        })
        .collect();
    // The two acknowledgements took 2 and 10 minutes; their 95th percentile is 9 minutes and 36
    // seconds.
    let wanted = [
        ("sev0", "acknowledged", 2, 576),
        ("sev0", "acknowledged_late", 1, 600),
        ("sev0", "resolved", 1, 1_200),
        ("sev0", "rose", 1, 600),
        ("sev1", "resolved", 1, 178_200),
    ];
    assert_eq!(told, wanted);
    assert!(times.iter().all(|time| time.casino_id == "silver_birch"));
}
