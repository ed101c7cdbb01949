//! Up to which message a consumer's are all acknowledged, and where one that was lost begins because of it (D25).

use async_nats::jetstream::stream::DirectGetErrorKind;
use chrono::{DateTime, TimeDelta, Utc};
use seven_domain::Stage;

use crate::{Bus, Error, topology, topology::Start};

/// A consumer's ack floor: all of its messages up to this one of the stream are acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floor {
    pub sequence: u64,
    /// When the last acknowledgement came, on the server's clock: not before the message was published.
    pub acked_at: DateTime<Utc>,
}

/// By so much a server's clock may have been set back while nobody looked.
const CLOCKS: TimeDelta = TimeDelta::minutes(1);

impl Bus {
    /// Where a stage's consumer begins whose floor was noted.
    ///
    /// # Errors
    /// When the server does not say what its stream holds.
    pub async fn after(&self, stage: Stage, floor: Floor) -> Result<Start, Error> {
        let name = topology::stream_of(stage);
        let failed = |e: async_nats::Error| Error::setup(format!("where consumers of {name} begin"))(e);
        let stream = self.js.get_stream(name).await.map_err(|e| failed(e.into()))?;
        let last_sequence = stream.cached_info().state.last_sequence;
        let published = match stream.direct_get(floor.sequence).await {
            Ok(message) => Some(message.time),
            Err(e) if e.kind() == DirectGetErrorKind::NotFound => None,
            Err(e) => return Err(failed(e.into())),
        };
        Ok(floor.beginning(published, last_sequence))
    }
}

impl Floor {
    /// By when the message at the floor was published, if the stream has it, and the stream's last message. A stream that was lost, or is
    /// back as it was earlier, gives other messages the same numbers: of one like that everything is read.
    fn beginning(self, published: Option<DateTime<Utc>>, last_sequence: u64) -> Start {
        match published {
            Some(published) if published <= self.acked_at => Start::After(self.sequence),
            Some(_) => Start::All,
            None if last_sequence < self.sequence => Start::All,
            // Too old, or erased because it must not be kept.
            None => Start::At(self.acked_at - CLOCKS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D25
    fn a_floor_counts_for_the_stream_it_was_noted_of() {
        let at = |second| DateTime::<Utc>::UNIX_EPOCH + TimeDelta::seconds(second);
        let floor = Floor { sequence: 40, acked_at: at(1_000) };
        for (what, published, last, begins) in [
            ("as it was", Some(at(999)), 90, Start::After(40)),
            ("acknowledged at once", Some(at(1_000)), 40, Start::After(40)),
            ("lost, and forty texts since", Some(at(1_001)), 90, Start::All),
            ("lost", None, 0, Start::All),
            ("back as it was earlier", None, 39, Start::All),
            ("too old, or erased", None, 90, Start::At(at(940))),
        ] {
            assert_eq!(floor.beginning(published, last), begins, "{what}");
        }
    }
}
