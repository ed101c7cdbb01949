//! Tests of the tools at an invented casino: tables of calls for each tool, and random calls by
//! proptest.

mod facts;
mod guest;
mod house;
mod offers;
mod random;
mod registry;
