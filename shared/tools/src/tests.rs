//! Tests of every tool at an invented casino by tables, and of random calls by proptest.

mod facts;
mod guest;
mod house;
mod offers;
mod random;
mod registry;
