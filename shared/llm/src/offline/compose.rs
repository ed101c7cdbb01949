//! Wording answers from content rows.

pub(super) mod chat;
pub(super) mod events;
pub(super) mod listing;
pub(super) mod lookup;
pub(super) mod venue;
