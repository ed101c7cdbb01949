//! Every tool against a small house of invented places, by table; and any calls at all, by proptest.

mod facts;
mod guest;
mod house;
mod offers;
mod random;
mod registry;
