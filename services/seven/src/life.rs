//! Backup of a fleet's data, restore into an empty database, and recovery of what happened in
//! between (D5).

pub mod backup;
pub mod clients;
pub mod manifest;
pub mod recover;
pub mod restore;
pub mod shelf;
