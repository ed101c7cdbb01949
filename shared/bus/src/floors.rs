//! Ack floors: the sequence up to which a consumer has acknowledged all messages. A consumer that
//! was lost is created again from its floor (D25).

use async_nats::jetstream::stream::DirectGetErrorKind;
use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use seven_domain::Stage;

use crate::{Bus, Error, streams::StreamState, topology, topology::Start};

/// A consumer's ack floor: all its messages up to this sequence of the stream are acknowledged.
/// Times are by the server's clock, in whole microseconds, as Postgres stores them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floor {
    /// The message with this sequence may belong to another consumer, or may be deleted.
    pub sequence: u64,
    /// The time of the last acknowledgement; the message at the floor was published before it.
    pub acked_at: DateTime<Utc>,
    pub stream_made: DateTime<Utc>,
}

/// The longest time by which the server's clock is assumed to have been set back unnoticed.
const CLOCK_SKEW: TimeDelta = TimeDelta::minutes(1);

/// Sequence and time of a message in the stream.
type Message = (u64, DateTime<Utc>);

impl Bus {
    /// Returns where a stage's consumer must start reading. `floor` is its saved floor, `stream`
    /// the stream's state as [`Bus::ensure_streams`] found it.
    ///
    /// # Errors
    /// Fails when the server does not report the contents of its stream.
    pub async fn after(
        &self,
        stage: Stage,
        floor: Floor,
        stream: StreamState,
    ) -> Result<Start, Error> {
        // Sequences begin at 1, and a server refuses a request for 0.
        if floor.sequence == 0 {
            return Ok(Start::All);
        }
        let name = topology::stream_of(stage);
        let handle = self.stream(name).await?;
        let next = match handle
            .direct_get_next_for_subject(">", Some(floor.sequence))
            .await
        {
            Ok(message) => Some((message.sequence, message.time)),
            Err(e) if e.kind() == DirectGetErrorKind::NotFound => None,
            Err(e) => {
                return Err(Error::setup(format!("where consumers of {name} begin"))(
                    e.into(),
                ));
            }
        };
        Ok(floor.beginning(stream, next))
    }
}

impl Floor {
    pub(crate) fn of(sequence: u64, acked_at: DateTime<Utc>, stream_made: DateTime<Utc>) -> Self {
        Self {
            sequence,
            acked_at: acked_at.trunc_subsecs(6),
            stream_made: stream_made.trunc_subsecs(6),
        }
    }

    /// Decides where the consumer starts. `next` is the first message at or after the floor. If the
    /// stream was lost or restored to an earlier state, the floor is ignored, because its sequence
    /// may now belong to a different message.
    fn beginning(self, stream: StreamState, next: Option<Message>) -> Start {
        if stream.made.trunc_subsecs(6) != self.stream_made || stream.last_sequence < self.sequence
        {
            return Start::All;
        }
        match next {
            // The consumer has acknowledged every message that the stream still holds.
            None => Start::After(self.sequence),
            // This message and all earlier ones existed when the floor was saved, so the floor is
            // valid.
            Some((_, published)) if published <= self.acked_at => Start::After(self.sequence),
            Some((sequence, _)) if sequence == self.sequence => Start::All,
            // The message at the floor was deleted, and all remaining messages are newer than the
            // last acknowledgement.
            Some(_) => Start::At(self.acked_at - CLOCK_SKEW),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D25
    fn a_floor_counts_for_the_stream_it_was_noted_of() {
        let at = |second| DateTime::<Utc>::UNIX_EPOCH + TimeDelta::seconds(second);
        let floor = Floor::of(40, at(1_000), at(1) + TimeDelta::nanoseconds(1_999));
        let same = at(1) + TimeDelta::nanoseconds(1_700);
        for (what, made, last_sequence, next, begins) in [
            ("as it was", same, 90, Some((40, at(999))), Start::After(40)),
            (
                "acknowledged at once",
                same,
                40,
                Some((40, at(1_000))),
                Start::After(40),
            ),
            (
                "erased, and texts behind it wait since long",
                same,
                90,
                Some((43, at(200))),
                Start::After(40),
            ),
            (
                "erased, and nothing is left behind it",
                same,
                90,
                None,
                Start::After(40),
            ),
            (
                "erased, and the next came later",
                same,
                90,
                Some((41, at(1_001))),
                Start::At(at(940)),
            ),
            ("another stream", at(2), 90, Some((40, at(999))), Start::All),
            ("back as it was earlier", same, 39, None, Start::All),
            (
                "back as it was earlier, and texts since",
                same,
                90,
                Some((40, at(1_001))),
                Start::All,
            ),
        ] {
            assert_eq!(
                floor.beginning(
                    StreamState {
                        made,
                        last_sequence,
                        consumers: 0
                    },
                    next
                ),
                begins,
                "{what}"
            );
        }
    }
}
