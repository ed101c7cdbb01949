//! The state that all pages share.

use std::{sync::Arc, time::Duration};

use moka::future::Cache;
use seven_cost::Prices;
use seven_runtime::{Fleet, Proxies};
use seven_settings::Console;
use seven_staff::contacts::Reach;

use crate::{
    hints::Hints,
    lists::{CaseList, ConversationList, Figures, Standing},
    provider::Providers,
    readings::Readings,
    uploads::Uploads,
};

/// The handles and settings that every page needs.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) fleet: Fleet,
    pub(crate) console: Console,
    pub(crate) providers: Providers,
    /// The prices of segments and models.
    pub(crate) prices: Prices,
    pub(crate) proxies: Proxies,
    pub(crate) hints: Hints,
    /// The channels by which this fleet can reach contacts.
    pub(crate) reach: Reach,
    pub(crate) read: Read,
    /// Checked content files that wait until the person who uploaded them loads them.
    pub(crate) uploads: Uploads,
}

/// Readings of the database and the bus that open pages share for a moment.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) conversations: Readings<ConversationList>,
    pub(crate) cases: Readings<CaseList>,
    pub(crate) standing: Readings<Standing>,
    pub(crate) figures: Readings<Figures>,
    bus: Cache<(), bool>,
}

/// How long counted figures are shown before they are counted again.
const FIGURES_TTL: Duration = Duration::from_secs(30);
/// How long pages share the rows that they fetch after a hint. It is shorter than the delay between
/// a change and its hint, so that the rows contain the change. A slow reading may still lack the
/// change, so a second hint follows each hint.
const LIST_TTL: Duration = Duration::from_millis(150);
/// How long the pages share an answer of the bus.
const BUS_TTL: Duration = Duration::from_millis(500);

impl Default for Read {
    fn default() -> Self {
        Self {
            conversations: Readings::kept_for(LIST_TTL),
            cases: Readings::kept_for(LIST_TTL),
            standing: Readings::kept_for(LIST_TTL),
            figures: Readings::kept_for(FIGURES_TTL),
            bus: Cache::builder().time_to_live(BUS_TTL).build(),
        }
    }
}

impl App {
    /// Returns whether the bus answers; all pages share one answer for half a second.
    pub(crate) async fn bus_answers(&self) -> bool {
        let asked = self.fleet.bus.ready();
        self.read.bus.get_with_by_ref(&(), asked).await
    }
}

pub(crate) type Shared = Arc<App>;
