//! Changes that a turn stages and its commit writes (D4).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use seven_domain::{Offer, OfferId, TurnId};
use seven_guest::{Key, Observation};
use uuid::Builder;

/// One staged change. Changes are written in the order in which they were staged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", content = "of", rename_all = "snake_case")]
pub enum Effect {
    /// An observation about the guest, for [`seven_guest::Profile::observe`].
    Observe(Observation<Key>),
    /// A new offer.
    Offer(Offer),
    /// The guest says that an earlier offer was used.
    Redeemed { offer: OfferId, at: DateTime<Utc> },
}

/// Returns the id of the offer that a turn makes from a content row: a version 5 UUID of the turn's
/// id and the row's id. A turn that is repeated after a crash therefore makes the same offer.
pub fn offer_id(turn: TurnId, item: &str) -> OfferId {
    let mut hash = sha1_smol::Sha1::new();
    hash.update(turn.0.as_bytes());
    hash.update(item.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.digest().bytes()[..16]);
    OfferId(Builder::from_sha1_bytes(bytes).into_uuid())
}
