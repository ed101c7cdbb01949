//! Reads the body of a request within a size limit and a time limit.

use std::{net::IpAddr, pin::pin, task::Poll, time::Duration};

use axum::body::{Body, to_bytes};
use bytes::Bytes;
use futures::poll;
use http::{HeaderMap, header::CONTENT_LENGTH};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::Crowd;

/// Maximum size of a body in bytes, enforced with and without Content-Length.
pub const BODY_LIMIT_BYTES: usize = 64 * 1024;

/// The reason why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyFault {
    #[error("the body has more than {BODY_LIMIT_BYTES} bytes")]
    TooLarge,
    #[error("the body was not received in time")]
    TooSlow,
    /// The caller had not sent its body yet, and too many other callers waited to send theirs.
    #[error("the body was not received while others waited")]
    Displaced,
}

/// Reads the whole body. A body that arrived together with the headers needs no wait, so it cannot
/// be displaced.
///
/// # Errors
/// Fails when the body is too large or too slow, or when another caller displaces this one.
pub async fn read_body(
    bodies: &Crowd,
    client: Option<IpAddr>,
    headers: &HeaderMap,
    body: Body,
    time: Duration,
) -> Result<Bytes, BodyFault> {
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|n| n.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|n| n > BODY_LIMIT_BYTES) {
        return Err(BodyFault::TooLarge);
    }
    let mut reading = pin!(to_bytes(body, BODY_LIMIT_BYTES));
    if let Poll::Ready(body) = poll!(reading.as_mut()) {
        return body.map_err(|_| BodyFault::TooLarge);
    }
    let displaced = CancellationToken::new();
    let _place = bodies.enter(client, displaced.clone());
    tokio::select! {
        body = reading => body.map_err(|_| BodyFault::TooLarge),
        () = displaced.cancelled() => Err(BodyFault::Displaced),
        () = sleep(time) => Err(BodyFault::TooSlow),
    }
}
