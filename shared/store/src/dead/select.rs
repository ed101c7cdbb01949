//! Searches dead letters. All commands use the same filter, and a cursor marks the end of a page.
//! No payload is returned.

use chrono::{DateTime, Utc};
use serde::Serialize;
use seven_domain::{Channel, DeadId, DeadOrder, DeadState, GuestHash, Stage};
use sqlx::FromRow;
use uuid::Uuid;

use super::NewDead;
use crate::{Result, Tx};

/// An operator's filter of dead letters; an unset field does not filter.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub id: Option<DeadId>,
    pub state: Option<DeadState>,
    pub stage: Option<Stage>,
    /// A part of the reason, the first error or the last error, ignoring case.
    pub error: Option<String>,
    /// Selects dead letters that were last seen at or after `since` and before `until`.
    pub since: Option<DateTime<Utc>>,
    pub until: Option<DateTime<Utc>>,
    pub guest: Option<GuestHash>,
}

/// A position in the list, which is newest first: the last row of the previous page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub last_at: DateTime<Utc>,
    pub dead_id: Uuid,
}

/// A dead letter in a list.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Listed {
    pub dead_id: Uuid,
    pub casino_id: String,
    pub stage: Stage,
    pub reason: String,
    pub last_error: String,
    pub attempts: i32,
    pub state: DeadState,
    pub replays: i32,
    /// A replay is in progress, or began and was never finished.
    pub claimed: bool,
    /// The order that waits to be carried out; the next field is the code of the last order's
    /// refusal.
    pub asked: Option<DeadOrder>,
    pub refused: Option<String>,
    pub guest_hash: Option<String>,
    /// The guest's channel; `None` if it is unknown.
    pub channel: Option<Channel>,
    pub payload_bytes: i32,
    pub trace: String,
    pub first_at: DateTime<Utc>,
    pub last_at: DateTime<Utc>,
    pub handled_by: Option<String>,
    pub handled_at: Option<DateTime<Utc>>,
}

impl Listed {
    pub fn cursor(&self) -> Cursor {
        Cursor {
            last_at: self.last_at,
            dead_id: self.dead_id,
        }
    }
}

impl Filter {
    /// Returns whether the filter selects a dead letter that has no row yet, and thus counts as
    /// open.
    pub fn matches(&self, dead: &NewDead) -> bool {
        let text = format!("{} {}", dead.reason, dead.error).to_lowercase();
        self.id.is_none()
            && self.state.is_none_or(|state| state == DeadState::Open)
            && self.stage.is_none_or(|stage| stage == dead.stage)
            && self
                .error
                .as_ref()
                .is_none_or(|error| text.contains(&error.to_lowercase()))
            && self.since.is_none_or(|since| dead.announced_at >= since)
            && self.until.is_none_or(|until| dead.announced_at < until)
            && self.guest.is_none_or(|guest| dead.guest == Some(guest))
    }
}

/// Selects by casino, state, id, stage, error, since, until and guest (`$1` to `$8`). A requested
/// state is compared directly, so that its index is used.
macro_rules! chosen {
    ($select:literal, $state:literal, $rest:literal) => {
        concat!(
            $select,
            " from dead_letters where casino_id = $1 and ",
            $state,
            " and ($3::uuid is null or dead_id = $3) and ($4::text is null or stage = $4)
              and ($5::text is null or strpos(lower(reason || ' ' || first_error || ' ' || last_error), lower($5)) > 0)
              and ($6::timestamptz is null or last_at >= $6) and ($7::timestamptz is null or last_at < $7)
              and ($8::text is null or guest_hash = $8) ",
            $rest
        )
    };
}

macro_rules! either {
    ($filter:expr, $select:literal, $rest:literal) => {
        match $filter.state {
            Some(_) => sqlx::query_as(chosen!($select, "state = $2", $rest)),
            None => sqlx::query_as(chosen!($select, "$2::text is null", $rest)),
        }
    };
}

macro_rules! bound {
    ($query:expr, $casino:expr, $filter:expr) => {
        $query
            .bind($casino)
            .bind($filter.state.map(DeadState::as_str))
            .bind($filter.id.map(|id| id.0))
            .bind($filter.stage.map(Stage::as_str))
            .bind($filter.error.clone())
            .bind($filter.since)
            .bind($filter.until)
            .bind($filter.guest.as_ref().map(GuestHash::tag))
    };
}

impl Tx {
    /// Returns a page after the cursor, newest first.
    pub async fn dead_letters(
        &mut self,
        filter: &Filter,
        after: Option<Cursor>,
        most: i64,
    ) -> Result<Vec<Listed>> {
        let query = either!(
            filter,
            "select dead_id, casino_id, stage, reason, last_error, attempts, state, replays, claim is not null as claimed, asked, refused, guest_hash, channel,
               octet_length(payload) as payload_bytes, trace, first_at, last_at, handled_by, handled_at",
            "and (last_at, dead_id) < (coalesce($9::timestamptz, 'infinity'), coalesce($10::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
             order by last_at desc, dead_id desc limit $11"
        );
        let casino = self.casino_str();
        Ok(bound!(query, casino, filter)
            .bind(after.map(|a| a.last_at))
            .bind(after.map(|a| a.dead_id))
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns id, stage and time of the first failure of all matches, in no particular order. The
    /// rows are small enough to hold a million in memory.
    pub async fn dead_ids(
        &mut self,
        filter: &Filter,
    ) -> Result<Vec<(DeadId, Stage, DateTime<Utc>)>> {
        let query = either!(filter, "select dead_id, stage, first_at", "");
        let casino = self.casino_str();
        let rows: Vec<(Uuid, Stage, DateTime<Utc>)> =
            bound!(query, casino, filter).fetch_all(self.conn()).await?;
        Ok(rows
            .into_iter()
            .map(|(id, stage, at)| (id.into(), stage, at))
            .collect())
    }

    /// Counts the open dead letters of each (stage, reason).
    pub async fn dead_kinds(&mut self) -> Result<Vec<(Stage, String, i64)>> {
        let query = "select stage, reason, count(*) from dead_letters where casino_id = $1 and state = 'open' group by 1, 2";
        let casino = self.casino_str();
        Ok(sqlx::query_as(query)
            .bind(casino)
            .fetch_all(self.conn())
            .await?)
    }

    /// Counts the dead letters that match the filter.
    pub async fn dead_count(&mut self, filter: &Filter) -> Result<i64> {
        let query = either!(filter, "select count(*)", "");
        let casino = self.casino_str();
        let (n,): (i64,) = bound!(query, casino, filter).fetch_one(self.conn()).await?;
        Ok(n)
    }
}
