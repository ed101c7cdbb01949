//! The shared breaker against a real Redis: several handles, which act as several processes, share
//! one state machine.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::time::Duration;

use seven_cache::{
    Admission, Breaker, BreakerSettings, BreakerState, Cache, Outcome, Permit, Settings, Transition,
};
use seven_testkit::{Redis, Scratch};

const LEASE: Duration = Duration::from_secs(5);
const COOLDOWN: Duration = Duration::from_millis(95);

struct Fleet {
    redis: Redis,
    _dir: Scratch,
}

impl Fleet {
    async fn start(name: &str) -> Self {
        let dir = Scratch::new(name).unwrap();
        Self {
            redis: Redis::start(dir.path()).await.unwrap(),
            _dir: dir,
        }
    }

    /// Returns a handle like that of a separate process: with its own connection and its own local
    /// fallback.
    fn process(&self, settings: BreakerSettings) -> Breaker {
        let cache = Settings {
            url: self.redis.url(),
            prefix: "t:".into(),
            senders: 1,
        };
        Cache::new(&cache, seven_domain::Clock::default())
            .unwrap()
            .breaker("gemini/flash", settings)
    }
}

fn quick() -> BreakerSettings {
    BreakerSettings {
        cooldown: COOLDOWN,
        ..BreakerSettings::default()
    }
}

async fn go(breaker: &Breaker) -> Permit {
    match breaker.admit(LEASE).await {
        Admission::Go(permit) => permit,
        Admission::Refused { retry_in } => panic!("refused for {retry_in:?}"),
    }
}

async fn refused(breaker: &Breaker) -> bool {
    matches!(breaker.admit(LEASE).await, Admission::Refused { .. })
}

async fn ends(breaker: &Breaker, outcome: Outcome) -> Option<Transition> {
    let permit = go(breaker).await;
    breaker.record(permit, outcome).await
}

/// Lets two processes fail in turn until the breaker opens.
async fn opened(fleet: &Fleet, settings: BreakerSettings) -> (Breaker, Breaker) {
    let (a, b) = (fleet.process(settings), fleet.process(settings));
    for breaker in [&a, &b, &a, &b] {
        assert_eq!(ends(breaker, Outcome::Failure).await, None);
    }
    assert_eq!(
        ends(&a, Outcome::Failure).await,
        Some(Transition::Opened { failures: 5 })
    );
    (a, b)
}

#[tokio::test] // AGENT-68, PROD-9
async fn five_failures_anywhere_in_the_fleet_stop_everybody() {
    let fleet = Fleet::start("breaker-opens").await;
    let (a, b) = opened(&fleet, BreakerSettings::default()).await;
    assert!(refused(&a).await && refused(&b).await);
    let BreakerState::Open(left) = b.state().await else {
        panic!("open")
    };
    assert!(
        left > Duration::from_secs(28) && left <= Duration::from_secs(30),
        "{left:?}"
    );
    let other = Settings {
        url: fleet.redis.url(),
        prefix: "t:".into(),
        senders: 1,
    };
    let other = Cache::new(&other, seven_domain::Clock::default())
        .unwrap()
        .breaker("openai/x", quick());
    assert!(!refused(&other).await, "another name, another breaker");
}

#[tokio::test] // AGENT-69, C-17, C-13: one probe in flight, two good ones close
async fn of_many_processes_one_probes() {
    let fleet = Fleet::start("breaker-probe").await;
    let (a, b) = opened(&fleet, quick()).await;
    tokio::time::sleep(COOLDOWN).await;
    let fleet_of: Vec<_> = (0..16).map(|_| fleet.process(quick())).collect();
    let mut asking = tokio::task::JoinSet::new();
    for process in fleet_of {
        asking.spawn(async move { (process.admit(LEASE).await, process) });
    }
    let mut probes = Vec::new();
    while let Some(asked) = asking.join_next().await {
        if let (Admission::Go(permit), process) = asked.unwrap() {
            probes.push((permit, process));
        }
    }
    assert_eq!(probes.len(), 1);
    let (permit, process) = probes.pop().unwrap();
    assert!(permit.is_probe());
    assert_eq!(permit.transition(), Some(Transition::HalfOpened));
    assert!(refused(&a).await && refused(&b).await);
    assert_eq!(
        process.record(permit, Outcome::Success).await,
        None,
        "one success is not enough"
    );
    assert_eq!(b.state().await, BreakerState::HalfOpen);
    assert_eq!(ends(&b, Outcome::Success).await, Some(Transition::Closed));
    assert_eq!(a.state().await, BreakerState::Closed);
    assert_eq!(
        ends(&a, Outcome::Failure).await,
        None,
        "closing cleared the window"
    );
}

#[tokio::test] // AGENT-69
async fn a_failed_probe_begins_a_new_rest() {
    let fleet = Fleet::start("breaker-again").await;
    let (a, b) = opened(&fleet, quick()).await;
    tokio::time::sleep(COOLDOWN).await;
    assert_eq!(ends(&b, Outcome::Failure).await, Some(Transition::Reopened));
    assert!(refused(&a).await);
    tokio::time::sleep(COOLDOWN).await;
    assert!(go(&a).await.is_probe());
}

#[tokio::test] // C-17
async fn what_comes_late_changes_nothing() {
    let fleet = Fleet::start("breaker-late").await;
    let early = fleet.process(quick());
    let (late_failure, late_success) = (go(&early).await, go(&early).await);
    let (a, b) = opened(&fleet, quick()).await;
    let BreakerState::Open(before) = a.state().await else {
        panic!("open")
    };
    assert_eq!(early.record(late_failure, Outcome::Failure).await, None);
    match a.state().await {
        BreakerState::Open(after) => {
            assert!(after <= before, "a late failure does not prolong the rest");
        }
        other => assert_eq!(other, BreakerState::HalfOpen),
    }
    tokio::time::sleep(COOLDOWN).await;
    let probe = go(&b).await;
    assert_eq!(
        early.record(late_success, Outcome::Success).await,
        None,
        "only the probe speaks"
    );
    assert_eq!(b.record(probe, Outcome::Neutral).await, None);
    assert!(go(&a).await.is_probe(), "a neutral probe makes room");
}

#[tokio::test] // AGENT-68
async fn old_failures_do_not_count() {
    let fleet = Fleet::start("breaker-window").await;
    let settings = BreakerSettings {
        window: Duration::from_millis(80),
        ..quick()
    };
    let breaker = fleet.process(settings);
    for _ in 0..4 {
        assert_eq!(ends(&breaker, Outcome::Failure).await, None);
    }
    tokio::time::sleep(Duration::from_millis(90)).await;
    assert_eq!(ends(&breaker, Outcome::Failure).await, None);
    assert_eq!(breaker.state().await, BreakerState::Closed);
}

#[tokio::test]
async fn a_probe_that_died_is_replaced_after_its_lease() {
    let fleet = Fleet::start("breaker-lease").await;
    let (a, b) = opened(&fleet, quick()).await;
    tokio::time::sleep(COOLDOWN).await;
    let Admission::Go(dead) = a.admit(Duration::from_millis(50)).await else {
        panic!("a probe")
    };
    assert!(refused(&b).await);
    tokio::time::sleep(Duration::from_millis(60)).await;
    let next = go(&b).await;
    assert_eq!(
        a.record(dead, Outcome::Failure).await,
        None,
        "it no longer speaks"
    );
    assert_eq!(b.record(next, Outcome::Success).await, None);
    assert_eq!(ends(&b, Outcome::Success).await, Some(Transition::Closed));
}

#[tokio::test] // PROD-4
async fn without_redis_each_process_goes_on_from_what_it_last_heard() {
    let fleet = Fleet::start("breaker-alone").await;
    let (a, _) = opened(&fleet, BreakerSettings::default()).await;
    assert!(refused(&a).await);
    fleet.redis.kill().unwrap();
    assert!(refused(&a).await, "open stays open");
    let fresh = fleet.process(quick());
    for _ in 0..4 {
        assert_eq!(ends(&fresh, Outcome::Failure).await, None);
    }
    assert!(matches!(
        ends(&fresh, Outcome::Failure).await,
        Some(Transition::Opened { .. })
    ));
    assert!(refused(&fresh).await);
}
