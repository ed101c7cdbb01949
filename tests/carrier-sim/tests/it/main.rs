//! Tests the simulator over real HTTP, against a double of the fleet's webhook.
#![expect(
    clippy::unwrap_used,
    reason = "clippy exempts test functions, not the helpers they share"
)]

mod double;
mod faults;
mod page;
mod path;
mod sends;
mod webhooks;
