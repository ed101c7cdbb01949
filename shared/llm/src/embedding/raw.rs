//! The answer of an embedding service, before it is checked.

use crate::{Usage, chat::Error, http::Endpoint};

/// Vectors of texts in their order, and what they cost.
pub(super) type Raw = (Vec<Vec<f32>>, Usage);

/// An answer that is not what the wire format promises.
pub(super) fn unreadable(endpoint: &Endpoint) -> Error {
    endpoint.unreadable("a vector's place is not among the texts asked for")
}
