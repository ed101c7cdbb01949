mod acts;
mod fixture;
mod grounding;
mod named;
mod open_now;
mod questions;
mod sentences;
mod subjects;
