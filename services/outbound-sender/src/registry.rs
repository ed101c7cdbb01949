//! A reassigned-numbers database: has a number changed hands since a day? (SMS-31 (6), C-38, C-46) Whoever has access to one implements it.

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

/// A reassigned-numbers database. None: it could not be asked now.
pub trait NumberRegistry: Send + Sync + fmt::Debug {
    fn holder<'a>(&'a self, phone: &'a PhoneE164, since: DateTime<Utc>) -> Asked<'a>;
}

/// None where no database is at hand: casinos that require the check get no marketing texts then (fail closed, D10).
pub type Registry = Option<Arc<dyn NumberRegistry>>;
