//! Tests of the statements about a casino's texts, offers and tickets, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod cases;
mod house;
mod life;
mod offers;
mod rows;
mod sending;
mod tickets;
