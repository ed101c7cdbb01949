//! The figures of one casino for its staff: the texts that wait now, and the events of a day.

use chrono::{DateTime, Utc};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// Numbers of guests' texts that have no answer yet, and of dead letters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromRow)]
pub struct Waiting {
    /// Texts that wait for the host.
    pub open: i64,
    /// Texts that wait for a person.
    pub held: i64,
    /// Dead letters that wait for an operator.
    pub dead: i64,
}

/// Numbers of events between two times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromRow)]
pub struct Day {
    /// Texts from guests, and the number of conversations that they belong to.
    pub texts_in: i64,
    pub conversations: i64,
    /// Texts sent to guests, and how many of them were delivered.
    pub texts_out: i64,
    pub delivered: i64,
    pub new_guests: i64,
    pub opt_outs: i64,
    pub cases: i64,
}

/// Returns the smallest UUIDv7 of this time. Ids are ordered by time. A query for a range of times
/// can therefore compare ids, and needs no index on the time.
pub(crate) fn least_id(at: DateTime<Utc>) -> Uuid {
    let millis = u128::try_from(at.timestamp_millis()).unwrap_or_default();
    Uuid::from_u128(millis << 80)
}

impl Tx {
    pub async fn what_waits(&mut self) -> Result<Waiting> {
        Ok(sqlx::query_as(
            "select (select count(*) from inbound_messages where disposition = 'open' and conversation_id is not null) as open,
               (select count(*) from inbound_messages where disposition = 'held' and conversation_id is not null) as held,
               (select count(*) from dead_letters where state = 'open') as dead",
        )
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns the figures from `from` (included) to `to` (excluded).
    pub async fn day(&mut self, from: DateTime<Utc>, to: DateTime<Utc>) -> Result<Day> {
        Ok(sqlx::query_as(include_str!("../sql/day.sql"))
            .bind(from)
            .bind(to)
            .bind(least_id(from))
            .bind(least_id(to))
            .fetch_one(self.conn())
            .await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_a_time_lies_at_or_above_its_least_id() {
        let at: DateTime<Utc> = "2026-11-27T05:00:00.123Z".parse().unwrap();
        let seconds = u64::try_from(at.timestamp()).unwrap();
        let stamp = uuid::Timestamp::from_unix(uuid::NoContext, seconds, 123_000_000);
        let id = Uuid::new_v7(stamp);
        assert!(least_id(at) <= id);
        assert!(id < least_id(at + chrono::TimeDelta::milliseconds(1)));
    }
}
