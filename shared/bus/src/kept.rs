//! Announcements of traces to keep; each process still holds its own spans of them for a while
//! (C-28).

use futures::StreamExt;
use seven_telemetry::trace::{self, Kept};

use crate::{Bus, Error, topology};

impl Bus {
    /// Exchanges the ids of traces to export completely with the other processes, until recording
    /// ends. Nothing is repeated: a process that misses one only drops its spans of that trace.
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
