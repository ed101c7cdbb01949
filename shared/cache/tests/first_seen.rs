//! The time of a message's first webhook call, against a real Redis (D7): a call repeated hours
//! later gets the time of the first one.

use chrono::{TimeDelta, TimeZone, Utc};
use seven_cache::{Cache, Settings};
use seven_domain::CasinoId;
use seven_testkit::{Redis, Scratch};

#[tokio::test]
async fn a_repeated_call_is_as_old_as_its_first() {
    let dir = Scratch::new("first-seen").unwrap();
    let redis = Redis::start(dir.path()).await.unwrap();
    let settings = Settings {
        url: redis.url(),
        prefix: "t:".into(),
        senders: 1,
    };
    let cache = Cache::new(&settings, seven_domain::Clock::default()).unwrap();
    let casino: CasinoId = "silver_birch".parse().unwrap();
    let first = Utc.timestamp_opt(1_800_000_000, 0).unwrap();
    assert_eq!(cache.first_seen(&casino, "SM1", first).await, first);
    let later = first + TimeDelta::seconds(30);
    assert_eq!(
        cache.first_seen(&casino, "SM1", later).await,
        first,
        "the STOP written in between is newer"
    );
    assert_eq!(
        cache.first_seen(&casino, "SM2", later).await,
        later,
        "each message has its own"
    );
    let other: CasinoId = "marina".parse().unwrap();
    assert_eq!(
        cache.first_seen(&other, "SM1", later).await,
        later,
        "and each casino"
    );
}
