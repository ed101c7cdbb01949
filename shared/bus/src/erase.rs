//! Removal of messages from streams: texts that must not be kept (CONV-15), and messages of deleted
//! guests (DATA-57).

use async_nats::jetstream::{
    self, ErrorCode,
    stream::{DeleteMessageErrorKind, Stream},
};
use seven_domain::Stage;

use crate::{Bus, Error, taken::Taken, topology};

impl Bus {
    /// Removes one message from a stage's stream and overwrites it, because its content must not be
    /// kept. Returns true if the message was there.
    pub async fn erase(&self, stage: Stage, sequence: u64) -> Result<bool, Error> {
        remove(&self.stream(topology::stream_of(stage)).await?, sequence).await
    }

    /// Removes every message whose subject matches `subject` and whose payload contains `needle`;
    /// returns their number.
    /// Reads each message once, in order, without affecting the stages' consumers.
    pub async fn erase_holding(
        &self,
        stream: &str,
        subject: &str,
        needle: &[u8],
    ) -> Result<u64, Error> {
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
                let holds = message
                    .payload
                    .windows(needle.len().max(1))
                    .any(|window| window == needle);
                let sequence = message.info().map_err(&setup)?.stream_sequence;
                if holds && remove(&handle, sequence).await? {
                    erased += 1;
                }
            }
        }
    }
}

/// Removes a message; returns true when it was there. Failing to remove it is an error, since its
/// content must not stay.
async fn remove(stream: &Stream<()>, sequence: u64) -> Result<bool, Error> {
    match stream.delete_message(sequence).await {
        Ok(removed) => Ok(removed),
        Err(error) => match error.kind() {
            DeleteMessageErrorKind::JetStream(why) if is_gone(&why) => Ok(false),
            _ => Err(Error::setup(format!("removing message {sequence}"))(
                error.into(),
            )),
        },
    }
}

/// Returns whether the error says that the message does not exist. The words decide, because the
/// server uses the same error code if it cannot remove an existing message.
fn is_gone(why: &jetstream::Error) -> bool {
    let said = why.to_string();
    why.error_code() == ErrorCode::SEQUENCE_NOT_FOUND
        || (why.error_code() == ErrorCode::STREAM_MESSAGE_DELETE_FAILED
            && ["no message found", "stream store EOF"]
                .iter()
                .any(|words| said.contains(words)))
}
