//! The state that all calls of the gateway share.

use std::sync::Arc;

use seven_http::Crowd;
use seven_runtime::{Fleet, Proxies};
use seven_settings::Web;

use crate::{live::Live, session::Keys};

pub(crate) type Shared = Arc<App>;

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) fleet: Fleet,
    pub(crate) keys: Keys,
    pub(crate) live: Live,
    pub(crate) proxies: Proxies,
    /// Counts the callers whose body has not fully arrived.
    pub(crate) bodies: Crowd,
    pub(crate) web: Web,
}
