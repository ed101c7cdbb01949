//! One trace per guest text, from webhook to delivery receipt; each stage opens a span per message.
//! Attributes are ids, sizes and names from packs and code, never a phone, a name or a text.

mod here;
mod recorder;
mod span;
mod step;

pub(crate) use here::told;
pub use here::{
    adopt, assume, concern, consume, current, discard, ended, exported, fail, join, keep,
    originate, outgoing, resume, serve, set, tell,
};
pub use recorder::{HELD, Kept, Outbox, Sample, begin, is_sampled, keep_trace, off, on, start};
pub use span::{Finished, Kind, Value};
pub use step::{Step, step};

#[cfg(test)]
mod tests;
