//! Taking messages out of streams: what must not be kept (CONV-15), and what a guest had deleted (DATA-57).

use seven_domain::Stage;

use crate::{Bus, Error, taken::Taken, topology};

impl Bus {
    /// Removes one message of a stage's stream, overwriting it: it held what must not be kept. True when it was there.
    pub async fn erase(&self, stage: Stage, sequence: u64) -> Result<bool, Error> {
        let stream = self.stream(topology::stream_of(stage)).await?;
        Ok(stream.delete_message(sequence).await.is_ok())
    }

    /// Removes every message of these subjects whose payload holds `needle`; returns how many. Reads each message once, in order,
    /// and leaves the stages' consumers alone.
    pub async fn erase_holding(&self, stream: &str, subject: &str, needle: &[u8]) -> Result<u64, Error> {
        let setup = |e: async_nats::Error| Error::setup(format!("reading {stream} to erase"))(e);
        let handle = self.stream(stream).await?;
        let mut reader = self.read(stream, subject).await?;
        let mut erased = 0;
        loop {
            let batch = reader.next(500).await?;
            if batch.is_empty() {
                return Ok(erased);
            }
            for Taken(message) in batch {
                let holds = message.payload.windows(needle.len().max(1)).any(|window| window == needle);
                let sequence = message.info().map_err(&setup)?.stream_sequence;
                if holds && handle.delete_message(sequence).await.is_ok() {
                    erased += 1;
                }
            }
        }
    }
}
