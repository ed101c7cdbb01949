//! The interface to a reassigned-numbers database, which knows whether a number has changed hands
//! since a given day (SMS-31 (6), C-38, C-46). Operators with access to one implement it.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use chrono::{DateTime, Utc};
use seven_domain::PhoneE164;

/// The database's answer about the holder of a number since a given day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    Same,
    Reassigned,
    NoData,
}

impl Holder {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Reassigned => "reassigned",
            Self::NoData => "no_data",
        }
    }
}

pub type Asked<'a> = Pin<Box<dyn Future<Output = Option<Holder>> + Send + 'a>>;

/// A reassigned-numbers database. It returns none when it cannot be asked now.
pub trait NumberRegistry: Send + Sync + fmt::Debug {
    fn holder<'a>(&'a self, phone: &'a PhoneE164, since: DateTime<Utc>) -> Asked<'a>;
}

/// None where no database is available: casinos that require the check then send no marketing texts
/// (fail closed, D10).
pub type Registry = Option<Arc<dyn NumberRegistry>>;
