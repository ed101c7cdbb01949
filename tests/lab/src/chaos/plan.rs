//! The schedule of faults. It is drawn from the seed alone: the same seed and length give the same
//! schedule. Pure.

use std::time::Duration;

use rand::{Rng, SeedableRng, rngs::StdRng};
use seven_carrier_sim::Fault;
use seven_settings::Worker;

use super::{
    size::{CASINOS, PER_KIND, WORKERS},
    visits::{DELETED, FROZEN, FROZEN_FROM, HANDED_ON_AT, MOVED_AT, odd_moments},
};

/// A server that all workers depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Server {
    Nats,
    Redis,
    Postgres,
}

/// Connections that pass through one of our proxies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// Connections that the second process of each kind has to a server.
    To(Server),
    /// Connections of the carrier to ingress.
    Webhooks,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Strike {
    KillWorker {
        worker: Worker,
        instance: usize,
    },
    KillServer {
        server: Server,
        down: Duration,
    },
    Cut(Link),
    Slow {
        link: Link,
        by: Duration,
        span: Duration,
    },
    /// Applies the fault to the next `times` sends; with `mute`, their receipts are lost too.
    Spoil {
        fault: Fault,
        times: u32,
        mute: bool,
    },
    /// No gate process reads messages for this long.
    FreezeGates {
        span: Duration,
    },
    /// The casino `visits::MOVES` gets another number; its guests keep writing to the old one.
    MoveNumber,
    /// A new casino gets the old number of the casino that changed its number.
    HandOnNumber,
    /// Sets a casino's switch `pause_outbound` for `span`.
    Pause {
        casino: usize,
        span: Duration,
    },
}

/// Runs of at least this length include an outage of the bus.
const LONG: Duration = Duration::from_secs(480);
const OUTAGE: Duration = Duration::from_secs(120);

impl Server {
    pub(crate) const ALL: [Self; 3] = [Self::Nats, Self::Redis, Self::Postgres];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nats => "nats",
            Self::Redis => "redis",
            Self::Postgres => "postgres",
        }
    }
}

/// Returns all faults with their times since the start of the load, in order of time. `span` is the
/// length of the load.
pub(crate) fn schedule(seed: u64, span: Duration) -> Vec<(Duration, Strike)> {
    let mut rng = StdRng::seed_from_u64(seed);
    let minutes = span.as_secs_f64() / 60.0;
    // Rates are per ten minutes. For example, each kind of worker is killed ten times, and each
    // server seven times.
    let times =
        |per_ten: f64, least: usize| ((per_ten * minutes / 10.0).ceil() as usize).max(least);
    let mut strikes = Vec::new();
    for worker in WORKERS {
        for n in 0..times(10.0, PER_KIND) {
            strikes.push(Strike::KillWorker {
                worker,
                instance: n % PER_KIND,
            });
        }
    }
    for server in Server::ALL {
        for _ in 0..times(7.0, 1) {
            strikes.push(Strike::KillServer {
                server,
                down: millis(&mut rng, 100, 2_500),
            });
        }
    }
    for _ in 0..times(60.0, 6) {
        strikes.push(if rng.random_bool(0.5) {
            Strike::Cut(link(&mut rng))
        } else {
            Strike::Slow {
                link: link(&mut rng),
                by: millis(&mut rng, 5, 60),
                span: millis(&mut rng, 500, 3_000),
            }
        });
    }
    for n in 0..times(150.0, 10) {
        // Every third fault leaves a text in doubt: the carrier accepts the text, but the call
        // fails and the receipt is lost.
        let (fault, mute) = if n % 3 == 0 {
            (doubtful(&mut rng), true)
        } else {
            (fault(&mut rng), false)
        };
        strikes.push(Strike::Spoil {
            fault,
            times: rng.random_range(1..=3),
            mute,
        });
    }
    for _ in 0..times(30.0, 3) {
        strikes.push(Strike::Pause {
            casino: rng.random_range(0..CASINOS),
            span: millis(&mut rng, 1_000, 5_000),
        });
    }
    // No strike comes in the first second of the load, when the fleet starts its work. None comes
    // in the last tenth, because texts must be in work at every strike.
    let last = span.mul_f64(0.9).max(Duration::from_secs(2));
    let mut timed: Vec<(Duration, Strike)> = strikes
        .into_iter()
        .map(|strike| (rng.random_range(Duration::from_secs(1)..last), strike))
        .collect();
    // A guest of kind `DELETED` cancels a deletion with KEEP. The gates freeze before, so that the
    // KEEP still waits on the bus when the deletion is due.
    let moments = odd_moments(span)
        .filter(|(_, kind)| *kind == DELETED)
        .map(|(at, _)| at + FROZEN_FROM);
    timed.extend(
        moments
            .filter(|at| *at < last)
            .map(|at| (at, Strike::FreezeGates { span: FROZEN })),
    );
    timed.push((span.mul_f64(MOVED_AT), Strike::MoveNumber));
    timed.push((span.mul_f64(HANDED_ON_AT), Strike::HandOnNumber));
    // In a long run the bus is down once, for two minutes. Texts that arrive during the outage are
    // answered afterwards.
    if span >= LONG {
        timed.push((
            span.mul_f64(0.2),
            Strike::KillServer {
                server: Server::Nats,
                down: OUTAGE,
            },
        ));
    }
    timed.sort_by_key(|(at, _)| *at);
    timed
}

fn millis(rng: &mut StdRng, from: u64, to: u64) -> Duration {
    Duration::from_millis(rng.random_range(from..to))
}

fn link(rng: &mut StdRng) -> Link {
    match rng.random_range(0..4) {
        0 => Link::To(Server::Nats),
        1 => Link::To(Server::Redis),
        2 => Link::To(Server::Postgres),
        _ => Link::Webhooks,
    }
}

fn doubtful(rng: &mut StdRng) -> Fault {
    let faults = [
        Fault::ServerErrorAfter,
        Fault::TimeoutAfter,
        Fault::ConnectionResetAfter,
    ];
    faults[rng.random_range(0..faults.len())].clone()
}

fn fault(rng: &mut StdRng) -> Fault {
    let faults = [
        Fault::TooManyRequests,
        Fault::ServerErrorBefore,
        Fault::ServerErrorAfter,
        Fault::TimeoutBefore,
        Fault::TimeoutAfter,
        Fault::ConnectionReset,
        Fault::ConnectionResetAfter,
        Fault::LostReceipt,
        Fault::LateReceipt,
        Fault::DoubleReceipt,
        Fault::ReorderReceipts,
    ];
    faults[rng.random_range(0..faults.len())].clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_gives_the_schedule() {
        let minute = Duration::from_secs(60);
        assert_eq!(schedule(7, minute), schedule(7, minute));
        assert_ne!(schedule(7, minute), schedule(8, minute));
    }

    #[test]
    fn ten_minutes_kill_everything_more_often_than_the_floor() {
        let strikes = schedule(1, Duration::from_secs(600));
        for worker in WORKERS {
            let kills = strikes
                .iter()
                .filter(|(_, s)| matches!(s, Strike::KillWorker { worker: w, .. } if *w == worker));
            assert!(kills.count() > 5, "{worker:?}");
        }
        for server in Server::ALL {
            let kills = strikes
                .iter()
                .filter(|(_, s)| matches!(s, Strike::KillServer { server: x, .. } if *x == server));
            assert!(kills.count() > 5, "{server:?}");
        }
        assert!(strikes.is_sorted_by_key(|(at, _)| *at));
        assert!(strikes.iter().all(|(at, _)| *at < Duration::from_secs(541)));
    }
}
