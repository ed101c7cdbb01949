//! Announcements of traces that every process should export completely. Each process buffers its
//! own spans for a while, so that it can still export them (C-28).

use futures::StreamExt;
use seven_telemetry::trace::{self, Kept};

use crate::{Bus, Error, topology};

impl Bus {
    /// Sends and receives the ids of traces that every process should export completely. Returns
    /// when recording ends. An id is sent only once: a process that misses it loses only its own
    /// spans of that trace.
    pub async fn share_kept(self, mut kept: Kept) -> Result<(), Error> {
        let subject = topology::TRACE_KEEP;
        let mut told = self
            .client
            .subscribe(subject)
            .await
            .map_err(|e| Error::setup("subscription to kept traces")(e.into()))?;
        loop {
            tokio::select! {
                ours = kept.next() => match ours {
                    Some(trace_id) => {
                        let payload = bytes::Bytes::copy_from_slice(&trace_id);
                        if let Err(error) = self.client.publish(subject, payload).await {
                            tracing::debug!(
                                %error,
                                "other processes were not notified of a trace to keep"
                            );
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
