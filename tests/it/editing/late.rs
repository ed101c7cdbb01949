//! The fleet measures how soon guests get a change of content, and alerts operators if guests get a
//! change late (CMS-57).

use seven_settings::Worker;

use super::{MASSAGE, SHORT, by, changed};
use crate::harness::{GUEST, Wanted, counted, house, until};

#[tokio::test] // CMS-57
async fn a_published_change_is_measured_until_a_process_answers_with_it() {
    let house = house("editing_measured", Wanted::default()).await;
    house.text(GUEST, MASSAGE);
    house.settle(1).await;
    changed(&house, &by("ana"), "spa_001", |item| {
        item["details"]["price"] = 170.into();
    })
    .await;
    let unindexed =
        "select count(*) from content_revisions where state = 'published' and indexed_at is null";
    until("a process has the change", SHORT, || async {
        house.number(unindexed).await == 0
    })
    .await;
    let took = "select max(extract(epoch from indexed_at - published_at) * 1000)::bigint from content_revisions where revision = 2";
    assert!(house.number(took).await >= 0);
    house.stop().await;
}

#[tokio::test] // CMS-57, D31
async fn a_change_that_no_guest_gets_is_told_and_one_that_they_get_is_timed() {
    let workers = Worker::ALL.into_iter();
    let workers = workers.filter(|worker| *worker != Worker::AgentSwarm);
    let wanted = Wanted {
        workers: workers.collect(),
        ..Wanted::default()
    };
    let mut house = house("editing_late", wanted).await;
    changed(&house, &by("ana"), "spa_001", |item| {
        item["details"]["price"] = 175.into();
    })
    .await;
    let late = "update content_revisions set published_at = published_at - interval '45 seconds'
                where indexed_at is null";
    house.change(late).await;
    let told = "select count(*) from alerts where name = 'content_late'";
    until("the operators are told", SHORT, || async {
        house.number(told).await == 1
    })
    .await;
    house.stack.spawn(Worker::AgentSwarm, None).await.unwrap();
    let of = |name: &str, more: &str| {
        let series =
            format!("seven_content_propagation_seconds_{name}{{casino=\"silver_birch\"{more}}}");
        counted(&series)
    };
    until("a process answers with it", SHORT, || async {
        of("count", "") > of("bucket", ",le=\"30\"")
    })
    .await;
    assert!(of("sum", "") >= 45.0);
    house.stop().await;
}
