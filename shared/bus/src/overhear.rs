//! A stream of all published messages for tests that check the traffic: subjects and headers, never
//! payloads.

use async_nats::HeaderMap;
use futures::{Stream, StreamExt};

use crate::{Bus, Error};

impl Bus {
    /// Returns one line per message published from now on, also after a lost connection. Drops
    /// messages that arrive faster than the caller reads them.
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
