//! A stream of the casinos at which something changed, which the console uses to refresh open
//! pages. A lost change does no harm, because each page also fetches again from time to time.

use futures::{Stream, StreamExt};
use seven_domain::CasinoId;

use crate::{Bus, Error, topology};

impl Bus {
    /// Returns a stream that yields a casino whenever one of its texts was stored, queued or
    /// delivered.
    ///
    /// # Errors
    /// Fails when the bus does not answer.
    pub async fn changes(&self) -> Result<impl Stream<Item = CasinoId> + Send + use<>, Error> {
        let failed = |error: async_nats::Error| Error::setup("subscription to changes")(error);
        let mut heard = Vec::new();
        for subject in topology::HEARD
            .into_iter()
            .flat_map(|stage| topology::subjects_of(stage, None))
        {
            let messages = self.client.subscribe(subject).await;
            heard.push(messages.map_err(|error| failed(error.into()))?);
        }
        Ok(futures::stream::select_all(heard)
            .filter_map(async |message| message.subject.split('.').nth(1)?.parse().ok()))
    }
}
