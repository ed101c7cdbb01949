//! Hints that a guest's stream on the web has something new: published to current subscribers,
//! stored nowhere (D33). A lost hint delays a stream until it looks by itself.

use futures::{Stream, StreamExt};
use seven_domain::CasinoId;

use crate::{Bus, Error, topology};

/// The keyed hash of a guest's address.
type Guest = [u8; 32];

impl Bus {
    /// Tells the gateways that there is something new for this guest.
    pub async fn hint(&self, casino: &CasinoId, guest: &Guest) {
        let subject = topology::subject_for_hints(casino);
        let payload = bytes::Bytes::copy_from_slice(guest);
        if let Err(error) = self.client.publish(subject, payload).await {
            tracing::debug!(%casino, %error, "no gateway received the hint");
        }
    }

    /// Returns the guests for whom there is something new, as it happens, also after a lost
    /// connection.
    ///
    /// # Errors
    /// Fails when the bus does not answer.
    pub async fn hints(
        &self,
    ) -> Result<impl Stream<Item = (CasinoId, Guest)> + Send + use<>, Error> {
        let messages = self
            .client
            .subscribe(topology::HINT_SUBJECTS)
            .await
            .map_err(|error| Error::setup("subscription to hints")(error.into()))?;
        Ok(messages.filter_map(async |message| {
            let casino = message.subject.split('.').nth(1)?.parse().ok()?;
            Some((casino, message.payload.as_ref().try_into().ok()?))
        }))
    }
}
