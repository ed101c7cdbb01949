mod acts;
mod fixture;
mod grounding;
mod open_now;
mod questions;
mod sentences;
