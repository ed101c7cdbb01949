//! The fleet as a whole, against real NATS, Redis and Postgres and the carrier simulator. One
//! binary, one module per promise.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "tests fail loudly"
)]

mod alerts;
mod answers;
mod browser;
mod campaign;
mod chain;
mod chaos;
mod cluster;
mod consent;
mod console;
mod contained;
mod content;
mod controls;
mod counters;
mod crashes;
mod cries;
mod delivery;
mod deploy;
mod documents;
mod drain;
mod duplicates;
mod editing;
mod eval;
mod failover;
mod figures;
mod flood;
mod frozen;
mod harness;
mod hosted;
mod incident;
mod late;
mod letters;
mod life;
mod model;
mod nightly;
mod notices;
mod numbers;
mod observe;
mod operations;
mod ops;
mod outages;
mod pace;
mod people;
mod presend_check;
mod privacy;
mod providers;
mod reconciliation;
mod review;
mod sessions;
mod sheets;
mod slow;
mod spool;
mod stop;
mod stop_load;
mod storm;
mod tenancy;
mod traces;
mod trades;
mod turns;
mod uncounted;
mod web;
mod webhook;
mod weekly;
mod windows;
mod written;
