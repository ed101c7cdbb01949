//! The state that all pages share.

use std::{sync::Arc, time::Duration};

use moka::future::Cache;
use seven_domain::CasinoId;
use seven_runtime::{Fleet, Proxies};
use seven_settings::Console;
use seven_staff::contacts::Reach;
use seven_store::day::Day;

use crate::hints::Hints;

/// The handles and settings that every page needs.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) fleet: Fleet,
    pub(crate) console: Console,
    pub(crate) proxies: Proxies,
    pub(crate) hints: Hints,
    /// The channels to contacts that this fleet has.
    pub(crate) reach: Reach,
    pub(crate) figures: Cache<CasinoId, Figures>,
}

/// The figures of today and of yesterday until the same time.
pub(crate) type Figures = (Day, Day);

/// How long counted figures are shown before they are counted again.
const FIGURES_TTL: Duration = Duration::from_secs(30);
/// Casinos whose figures are kept.
const MOST_FIGURES: u64 = 1_000;

pub(crate) fn no_figures() -> Cache<CasinoId, Figures> {
    Cache::builder()
        .max_capacity(MOST_FIGURES)
        .time_to_live(FIGURES_TTL)
        .build()
}

pub(crate) type Shared = Arc<App>;
