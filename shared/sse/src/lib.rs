//! Server-sent events of the fleet's streams (WHATWG HTML, "Server-sent events"). All endpoints
//! have the same events, each encoded in the endpoint's dialect (D34). Replies are cut into tokens,
//! so that any gateway can resume a stream where another one broke off (D33).

mod event;
mod frame;
mod token;

pub use event::{Dialect, Event, Status};
pub use frame::{HEARTBEAT, frame, retry};
pub use token::{Cursor, Token, tokens};
