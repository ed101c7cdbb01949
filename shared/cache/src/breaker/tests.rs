//! Tests of the local fallback, on a paused clock. The shared breaker is tested against a real
//! Redis in `tests/breaker.rs`.

use std::time::Duration;

use super::{Admission, Breaker, BreakerSettings, BreakerState, Outcome, Permit, Transition};
use crate::{Cache, Settings};

const LEASE: Duration = Duration::from_secs(10);

/// Returns a breaker without a reachable Redis, so that every request is decided locally.
fn alone() -> Breaker {
    let settings = Settings {
        url: "redis://127.0.0.1:1/".into(),
        prefix: "t:".into(),
        senders: 1,
    };
    Cache::new(&settings, seven_domain::Clock::default())
        .unwrap()
        .breaker("x", BreakerSettings::default())
}

async fn go(breaker: &Breaker) -> Permit {
    match breaker.admit(LEASE).await {
        Admission::Go(permit) => permit,
        Admission::Refused { retry_in } => panic!("refused for {retry_in:?}"),
    }
}

async fn ends(breaker: &Breaker, outcome: Outcome) -> Option<Transition> {
    let permit = go(breaker).await;
    breaker.record(permit, outcome).await
}

async fn refused(breaker: &Breaker) -> Option<Duration> {
    match breaker.admit(LEASE).await {
        Admission::Go(_) => None,
        Admission::Refused { retry_in } => Some(retry_in),
    }
}

async fn opened() -> Breaker {
    let breaker = alone();
    for _ in 0..4 {
        assert_eq!(ends(&breaker, Outcome::Failure).await, None);
    }
    assert_eq!(
        ends(&breaker, Outcome::Failure).await,
        Some(Transition::Opened { failures: 5 })
    );
    breaker
}

#[tokio::test(start_paused = true)] // AGENT-69, C-17
async fn without_redis_the_whole_machine_runs_here() {
    let breaker = opened().await;
    assert!(
        refused(&breaker)
            .await
            .is_some_and(|wait| wait > Duration::from_secs(29))
    );
    tokio::time::advance(Duration::from_secs(30)).await;
    let probe = go(&breaker).await;
    assert!(probe.is_probe());
    assert_eq!(probe.transition(), Some(Transition::HalfOpened));
    assert!(refused(&breaker).await.is_some(), "one probe at a time");
    assert_eq!(breaker.record(probe, Outcome::Success).await, None);
    assert_eq!(ends(&breaker, Outcome::Neutral).await, None);
    assert_eq!(
        ends(&breaker, Outcome::Success).await,
        Some(Transition::Closed)
    );
    assert_eq!(breaker.state().await, BreakerState::Closed);
}

#[tokio::test(start_paused = true)] // AGENT-69
async fn a_failed_probe_begins_a_new_rest_and_late_failures_do_not() {
    let breaker = alone();
    let (early, late) = (go(&breaker).await, go(&breaker).await);
    for _ in 0..4 {
        ends(&breaker, Outcome::Failure).await;
    }
    assert!(matches!(
        breaker.record(early, Outcome::Failure).await,
        Some(Transition::Opened { .. })
    ));
    tokio::time::advance(Duration::from_secs(29)).await;
    assert_eq!(breaker.record(late, Outcome::Failure).await, None);
    assert!(
        refused(&breaker)
            .await
            .is_some_and(|wait| wait <= Duration::from_secs(1)),
        "not extended"
    );
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(
        ends(&breaker, Outcome::Failure).await,
        Some(Transition::Reopened)
    );
    assert!(
        refused(&breaker)
            .await
            .is_some_and(|wait| wait > Duration::from_secs(29))
    );
}

#[tokio::test(start_paused = true)] // AGENT-68
async fn failures_older_than_the_window_do_not_count_and_successes_clear_nothing() {
    let breaker = alone();
    for _ in 0..4 {
        ends(&breaker, Outcome::Failure).await;
    }
    tokio::time::advance(Duration::from_secs(60)).await;
    for _ in 0..4 {
        assert_eq!(ends(&breaker, Outcome::Failure).await, None);
        assert_eq!(ends(&breaker, Outcome::Success).await, None);
    }
    assert!(matches!(
        ends(&breaker, Outcome::Failure).await,
        Some(Transition::Opened { failures: 5 })
    ));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_dies_without_a_word_makes_room() {
    let breaker = opened().await;
    tokio::time::advance(Duration::from_secs(30)).await;
    let silent = go(&breaker).await;
    tokio::time::advance(LEASE).await;
    let next = go(&breaker).await;
    assert_eq!(
        breaker.record(silent, Outcome::Failure).await,
        None,
        "it no longer speaks"
    );
    assert_eq!(breaker.record(next, Outcome::Success).await, None);
}
