//! All published messages, as a checker reads them: subjects and headers, never payloads.

use async_nats::HeaderMap;
use futures::{Stream, StreamExt};

use crate::{Bus, Error};

impl Bus {
    /// Returns one line per message from now on, also after a lost connection. Messages that arrive
    /// faster than they are read are lost.
    pub async fn overhear(&self) -> Result<impl Stream<Item = String> + use<>, Error> {
        let heard = self
            .client
            .subscribe(">")
            .await
            .map_err(|e| Error::setup("subscription to everything")(e.into()))?;
        Ok(heard.map(|message| {
            let mut line = message.subject.to_string();
            for (name, values) in message.headers.iter().flat_map(HeaderMap::iter) {
                for value in values {
                    line.push_str(&format!(" {name}={}", value.as_str()));
                }
            }
            line
        }))
    }
}
