//! Writes the answers from content rows, in the pack's wording.

pub(super) mod chat;
pub(super) mod events;
pub(crate) mod figure;
pub(super) mod listing;
pub(super) mod lookup;
pub(super) mod news;
pub(crate) mod prices;
pub(super) mod rows;
pub(super) mod services;
pub(crate) mod several;
pub(crate) mod times;
pub(super) mod topic;
pub(super) mod unlisted;
pub(crate) mod values;
pub(super) mod venue;
