//! The people who work at a casino: their roles and rights, passwords, second factors and tokens,
//! and their actions in a conversation. Commands and the console call the same functions, so that
//! the same rules hold for both (D26, D27).

pub mod account;
pub mod audit;
pub mod campaigns;
pub mod contacts;
pub mod dead;
mod desk;
pub mod evidence;
pub mod factor;
pub mod flags;
pub mod held;
pub mod incidents;
pub mod keys;
pub mod lockout;
pub mod login;
mod mutant;
pub mod oidc;
pub mod password;
pub mod phrases;
pub mod profile;
pub mod rights;
pub mod saved_replies;
pub mod shift;
pub mod switches;
pub mod tickets;
pub mod token;
pub mod why;

pub use desk::{
    CaseSettled, PersonsReply, Refused, Write, announce, go_on, holder, note, say, settle,
    take_over,
};
pub use rights::{Grants, Right};
pub use token::Token;
