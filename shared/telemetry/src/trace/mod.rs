//! One trace per guest text, from its webhook to its receipt (OBS-1, OBS-6, OBS-21).
//!
//! A stage opens one span per message ([`consume`], [`serve`], [`resume`]); each part of its work
//! is a [`Step`] of that span. Messages published meanwhile name the span as their parent
//! ([`outgoing`]); rows name the webhook's span. A message that lost its trace gets the one of its
//! row ([`adopt`]). Log lines take their context from the same place, whether or not the trace is
//! exported.
//!
//! Before [`start`], nothing is recorded and nothing is allocated. Attributes are ids, sizes and
//! names from packs and code, never a phone, a name or a text (OBS-14).

mod here;
mod recorder;
mod span;
mod step;

pub(crate) use here::told;
pub use here::{
    adopt, assume, concern, consume, current, discard, ended, exported, fail, join, keep, originate, outgoing, resume,
    serve, set, tell,
};
pub use recorder::{HELD, Kept, Outbox, Sample, begin, is_sampled, keep_trace, off, on, start};
pub use span::{Finished, Kind, Value};
pub use step::{Step, step};

#[cfg(test)]
mod tests;
