//! The interface to a database of reassigned numbers. The database knows whether a number has
//! changed hands since a given day. Operators with access to such a database implement this
//! interface.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use chrono::{DateTime, Utc};
use seven_domain::{NumberCheck, PhoneE164};

pub type Asked<'a> = Pin<Box<dyn Future<Output = Option<NumberCheck>> + Send + 'a>>;

/// A reassigned-numbers database. Its answer is `None` when it cannot be asked now.
pub trait NumberRegistry: Send + Sync + fmt::Debug {
    fn holder<'a>(&'a self, phone: &'a PhoneE164, since: DateTime<Utc>) -> Asked<'a>;
}

/// `None` if no database is available. Casinos that require the check then send no marketing texts
/// (D10).
pub type Registry = Option<Arc<dyn NumberRegistry>>;
