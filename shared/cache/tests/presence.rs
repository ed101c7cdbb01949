//! The viewers of a page, against a real Redis (D27).

use std::time::Duration;

use seven_cache::{Cache, Settings};
use seven_domain::CasinoId;
use seven_testkit::{Redis, Scratch};

#[tokio::test]
async fn people_on_one_page_see_each_other_until_they_leave() {
    let dir = Scratch::new("presence").unwrap();
    let redis = Redis::start(dir.path()).await.unwrap();
    let settings = Settings {
        url: redis.url(),
        prefix: "t:".into(),
        senders: 1,
    };
    let cache = Cache::new(&settings, seven_domain::Clock::default()).unwrap();
    let (here, other): (CasinoId, CasinoId) =
        ("silver_birch".parse().unwrap(), "marina".parse().unwrap());
    let long = Duration::from_hours(1);
    let luis = cache.look(&here, "thread", "luis", long).await;
    assert!(luis.came && luis.all == ["luis"], "{luis:?}");
    let maria = cache.look(&here, "thread", "maria", long).await;
    assert!(maria.came && maria.all == ["luis", "maria"], "{maria:?}");
    assert!(
        !cache.look(&here, "thread", "luis", long).await.came,
        "still there"
    );
    for (casino, page) in [(&here, "another"), (&other, "thread")] {
        assert_eq!(cache.look(casino, page, "eva", long).await.all, ["eva"]);
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    let alone = cache
        .look(&here, "thread", "eva", Duration::from_millis(1))
        .await;
    assert_eq!(alone.all, ["eva"], "the others have left");
}
