//! Hints that there is news for a guest of a website: published to current subscribers, stored
//! nowhere (D33). If a hint is lost, the guest's open stream finds the news later, when it polls.

use futures::{Stream, StreamExt};
use seven_domain::CasinoId;

use crate::{Bus, Error, topology};

/// The keyed hash of a guest's address.
type Guest = [u8; 32];

impl Bus {
    /// Notifies the gateways that there is news for this guest.
    pub async fn hint(&self, casino: &CasinoId, guest: &Guest) {
        let subject = topology::subject_for_hints(casino);
        let payload = bytes::Bytes::copy_from_slice(guest);
        if let Err(error) = self.client.publish(subject, payload).await {
            tracing::debug!(%casino, %error, "no gateway received the hint");
        }
    }

    /// Returns a stream of the guests for whom hints arrive. The stream continues after a lost
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
