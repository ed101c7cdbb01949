//! Traces that matter, told to every process: each still holds its own spans of them for a while (C-28).

use futures::StreamExt;
use seven_telemetry::trace::{self, Kept};

use crate::{Bus, Error, topology};

impl Bus {
    /// Tells the others which traces to export whole, and hears it from them, until recording ends. Nothing is repeated: who does not hear
    /// it drops an ordinary trace's spans, no more.
    pub async fn share_kept(self, mut kept: Kept) -> Result<(), Error> {
        let subject = topology::TRACE_KEEP;
        let mut told =
            self.client.subscribe(subject).await.map_err(|e| Error::setup("subscription to kept traces")(e.into()))?;
        loop {
            tokio::select! {
                ours = kept.next() => match ours {
                    Some(trace_id) => {
                        let payload = bytes::Bytes::copy_from_slice(&trace_id);
                        if let Err(error) = self.client.publish(subject, payload).await {
                            tracing::debug!(%error, "the others were not told of a trace to keep");
                        }
                    }
                    None => return Ok(()),
                },
                message = told.next() => match message {
                    Some(message) => {
                        if let Ok(trace_id) = <[u8; 16]>::try_from(message.payload.as_ref()) {
                            trace::keep_trace(trace_id);
                        }
                    }
                    None => return Ok(()),
                },
            }
        }
    }
}
