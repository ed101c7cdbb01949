//! The unchecked answer of an embedding service.

use crate::{Usage, chat::Error, http::Endpoint};

/// Vectors in the order of the texts, and the tokens billed for them.
pub(super) type Raw = (Vec<Vec<f32>>, Usage);

/// Returns the error for a vector whose position matches none of the texts.
pub(super) fn unreadable(endpoint: &Endpoint) -> Error {
    endpoint.unreadable("a vector's place is not among the texts asked for")
}
