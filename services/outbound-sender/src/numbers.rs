//! Has the number changed hands since the guest consented? (SMS-31 (6), C-38, C-46) A hook: whoever has access to a reassigned-numbers
//! database implements it; the answer stands in Postgres, where the last look reads it.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use chrono::{DateTime, Utc};
use seven_domain::{MessageClass, PhoneE164};
use seven_runtime::Error;

use crate::{Sender, handler::Job};

/// What the database says about a number since a day.
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

impl Sender {
    /// Asks before a marketing text, once per number and consent; everything else is not asked about.
    pub(crate) async fn check_number(&self, job: &Job) -> Result<(), Error> {
        let Some(registry) = &self.registry else { return Ok(()) };
        if job.class != MessageClass::Marketing || !job.config.regulations.reassigned_number_check {
            return Ok(());
        }
        let mut tx = self.fleet.store.bind(&job.casino).await?;
        let wanted = tx.number_unchecked_since(&job.guest).await?;
        tx.commit().await?;
        let Some(since) = wanted else { return Ok(()) };
        let Some(holder) = registry.holder(&job.phone, since).await else { return Ok(()) };
        let mut tx = self.fleet.store.bind(&job.casino).await?;
        tx.put_number_check(&job.guest, holder.as_str()).await?;
        Ok(tx.commit().await?)
    }
}
