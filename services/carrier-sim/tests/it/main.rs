//! The simulator over real HTTP, against a double of the fleet's webhook.

mod double;
mod faults;
mod page;
mod sends;
mod webhooks;
