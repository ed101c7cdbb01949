//! Pacing against a real Redis. A text takes from all limits or from none, and casinos take turns.
//! While Redis is unreachable, a process keeps to its share of the limits.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use seven_cache::{Ask, Cache, Level, Pace, Pacer, Settings};
use seven_domain::{CasinoId, Clock, Lane};
use seven_testkit::{Redis, Scratch};
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);

async fn cache(name: &str) -> (Cache, Redis, Scratch) {
    let dir = Scratch::new(name).unwrap();
    let redis = Redis::start(dir.path()).await.unwrap();
    let settings = Settings {
        url: redis.url(),
        prefix: "t:".into(),
        senders: 4,
    };
    (Cache::new(&settings, Clock::default()).unwrap(), redis, dir)
}

fn number(casino: &CasinoId, most: u32) -> Level {
    Level {
        name: "number",
        key: casino.to_string(),
        most,
        window: SECOND,
        shared: false,
    }
}

fn account(most: u32) -> Level {
    Level {
        name: "account",
        key: "telnyx".into(),
        most,
        window: SECOND,
        shared: true,
    }
}

async fn until_it_goes(cache: &Cache, ask: &Ask<'_>) {
    while let Pace::Wait { after, .. } = cache.take(ask).await {
        sleep(after).await;
    }
}

#[tokio::test] // SMS-14
async fn what_one_limit_holds_back_takes_nothing_from_the_others() {
    let (cache, _redis, _dir) = cache("pace_all").await;
    let (here, there): (CasinoId, CasinoId) = ("here".parse().unwrap(), "there".parse().unwrap());
    // Eight of the account's ten segments are for replies; the number's burst is two.
    let slow = [number(&here, 2), account(10)];
    let ask = Ask {
        casino: &here,
        lane: Lane::Reply,
        segments: 1,
        levels: &slow,
    };
    let mut passed = 0;
    for _ in 0..20 {
        match cache.take(&ask).await {
            Pace::Now => passed += 1,
            Pace::Wait { level, .. } => assert_eq!(level, "number"),
        }
    }
    assert!(passed <= 3, "{passed}");
    let free = [number(&there, 1_000), account(10)];
    let ask = Ask {
        casino: &there,
        lane: Lane::Reply,
        segments: 1,
        levels: &free,
    };
    let mut at_once = 0;
    while cache.take(&ask).await == Pace::Now {
        at_once += 1;
    }
    assert!(
        at_once >= 5,
        "the refused asks took nothing from the account: {at_once}"
    );
    let safety = Ask {
        lane: Lane::Safety,
        ..ask
    };
    assert_eq!(
        cache.take(&safety).await,
        Pace::Now,
        "with a reserve of its own"
    );
}

#[tokio::test] // SMS-14: whoever was served longest ago goes first
async fn a_flood_of_one_casino_does_not_stand_before_another() {
    let (cache, _redis, _dir) = cache("pace_fair").await;
    let (flood, calm): (CasinoId, CasinoId) = ("flood".parse().unwrap(), "calm".parse().unwrap());
    let sent = Arc::new(AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (cache, flood, sent) = (cache.clone(), flood.clone(), Arc::clone(&sent));
        tasks.spawn(async move {
            let levels = [number(&flood, 1_000), account(50)];
            let ask = Ask {
                casino: &flood,
                lane: Lane::Reply,
                segments: 1,
                levels: &levels,
            };
            loop {
                until_it_goes(&cache, &ask).await;
                sent.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    // Waits until the account's limit is used up.
    while sent.load(Ordering::SeqCst) < 60 {
        sleep(Duration::from_millis(10)).await;
    }
    let levels = [number(&calm, 1_000), account(50)];
    let ask = Ask {
        casino: &calm,
        lane: Lane::Reply,
        segments: 1,
        levels: &levels,
    };
    for _ in 0..10 {
        let before = sent.load(Ordering::SeqCst);
        until_it_goes(&cache, &ask).await;
        let passed_by = sent.load(Ordering::SeqCst) - before;
        assert!(passed_by <= 5, "{passed_by} texts of the flood went first");
        sleep(Duration::from_millis(150)).await;
    }
    let during = sent.load(Ordering::SeqCst);
    assert!(during > 60, "the flood goes on: {during}");
}

#[tokio::test] // PROD-4
async fn without_redis_each_process_keeps_to_its_part_and_asks_again() {
    let (cache, redis, dir) = cache("pace_away").await;
    let here: CasinoId = "here".parse().unwrap();
    let levels = [number(&here, 100)];
    let ask = Ask {
        casino: &here,
        lane: Lane::Reply,
        segments: 1,
        levels: &levels,
    };
    assert_eq!(cache.take(&ask).await, Pace::Now);
    drop(redis);
    let mut passed = 0;
    for _ in 0..100 {
        passed += usize::from(cache.take(&ask).await == Pace::Now);
    }
    // Each of four processes has a quarter of 80 segments; the other 20 of 100 are reserved for
    // safety texts.
    assert!((10..=30).contains(&passed), "{passed}");
    drop(dir);
}
