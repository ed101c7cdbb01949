//! Connections of the fleet's public addresses (ingress and the web gateway). Limits how many may
//! be open, and how long a caller may hold one without sending a request. Also reads bodies.

mod body;
mod crowd;
mod serve;

pub use body::{BODY_LIMIT_BYTES, BodyFault, read_body};
pub use crowd::{Crowd, Waits, network};
pub use serve::{Connections, Peer, Streamed, serve};
