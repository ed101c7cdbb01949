//! The life of a fleet's data: backup, restore into an empty database, recovery of what happened in between (DEP-31..33, PROD-41, D5).

pub mod backup;
pub mod clients;
pub mod manifest;
pub mod recover;
pub mod restore;
pub mod shelf;
