//! The state that all pages share.

use std::sync::Arc;

use seven_runtime::{Fleet, Proxies};
use seven_settings::Console;

use crate::hints::Hints;

/// The handles and settings that every page needs.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) fleet: Fleet,
    pub(crate) console: Console,
    pub(crate) proxies: Proxies,
    pub(crate) hints: Hints,
}

pub(crate) type Shared = Arc<App>;
