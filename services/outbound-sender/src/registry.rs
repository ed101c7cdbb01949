//! The interface to a reassigned-numbers database, which knows whether a number has changed hands
//! since a given day (SMS-31 (6), C-38, C-46). Operators who have access to such a database
//! implement this interface.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use chrono::{DateTime, Utc};
use seven_domain::{NumberCheck, PhoneE164};

pub type Asked<'a> = Pin<Box<dyn Future<Output = Option<NumberCheck>> + Send + 'a>>;

/// A reassigned-numbers database. Its answer is `None` when it cannot be asked now.
pub trait NumberRegistry: Send + Sync + fmt::Debug {
    fn holder<'a>(&'a self, phone: &'a PhoneE164, since: DateTime<Utc>) -> Asked<'a>;
}

/// `None` if no database is available: casinos that require the check then send no marketing texts
/// (fail closed, D10).
pub type Registry = Option<Arc<dyn NumberRegistry>>;
