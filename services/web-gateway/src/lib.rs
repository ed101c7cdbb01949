//! web-gateway: guests of a casino's website (D32, D33). Begun: who may open a session, and the
//! token that carries it; no connection is served yet.

mod origin;
mod session;

pub use origin::{BadDomain, Domains};
pub use session::{Denied, Keys, MOST_TOKEN_BYTES, Session, TokenKey};
