//! sse: server-sent events of the fleet's streams (WHATWG HTML, "Server-sent events"). One
//! vocabulary, written in the dialect of each endpoint (D34); and the tokens into which a reply is
//! cut, so that any gateway resumes a stream where another one broke off (D33).

mod event;
mod frame;
mod token;

pub use event::{Dialect, Event, Status};
pub use frame::{HEARTBEAT, frame, retry};
pub use token::{Cursor, Token, tokens};
