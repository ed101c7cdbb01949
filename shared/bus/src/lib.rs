//! JetStream access: subjects and streams (D16), publishing, the worker loop, dead letters (D17)
//! and the roster (D14). The only crate that uses NATS; it uses no other store.

mod access;
mod backlog;
mod beats;
mod changes;
mod client;
mod connect;
mod erase;
mod error;
mod floors;
mod hints;
mod kept;
mod overhear;
pub mod permissions;
mod roster;
mod streams;
mod taken;
pub mod topology;
mod worker;

/// Events exchanged between processes, generated from `proto/seven/v1`.
pub mod events {
    include!(concat!(env!("OUT_DIR"), "/seven.v1.rs"));
}

/// Prefix of the id of an inbound text that no webhook delivered; reconciliation found the text in
/// the provider's records.
pub const RECOVERED: &str = "reconcile:";
/// Prefix used instead of [`RECOVERED`] for a text from before the restore of this database. Such a
/// text may have been answered, but the record of the answer was lost.
pub const RECOVERED_AFTER_RESTORE: &str = "reconcile:restored:";

pub use access::Access;
pub use backlog::{Lag, Storage};
pub use client::{Bus, Outgoing, Settings};
pub use error::Error;
pub use floors::Floor;
pub use roster::{Roster, Route};
pub use streams::{StreamState, Streams};
pub use taken::{Reader, Taken};
pub use topology::{subject, subject_for_dead, subjects_of_dead};
pub use worker::{Delivery, Handler, Outcome, Worker, WorkerSettings};

use seven_domain::Invalid;
use uuid::Uuid;

/// Reads a 16-byte id from an event.
pub fn id<T: From<Uuid>>(bytes: &[u8]) -> Result<T, Invalid> {
    Uuid::from_slice(bytes)
        .map(T::from)
        .map_err(|e| Invalid::new("event id", e.to_string(), "16 bytes"))
}

/// Writes an id for an event.
pub fn id_bytes(id: Uuid) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(id.as_bytes())
}
