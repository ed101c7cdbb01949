//! Up to which message of the bus a casino's are done, for stages that leave no open row (D25): the consumer's ack floor, noted now and then.

use chrono::{DateTime, Utc};
use seven_domain::{CasinoId, Stage};

use crate::{Result, Store};

/// The ack floor noted of one consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AckFloor {
    pub casino: CasinoId,
    pub stage: Stage,
    /// In the stage's stream.
    pub sequence: u64,
    /// When the last acknowledgement came, on the bus's clock.
    pub acked_at: DateTime<Utc>,
    /// When the stream was made, on the same clock.
    pub stream_made: DateTime<Utc>,
}

impl Store {
    /// Notes them, one for each casino and stage. The last word of several schedulers stands: each was true when it was listed.
    ///
    /// # Errors
    /// When two are of the same casino and stage; none of them is noted then.
    pub async fn note_ack_floors(&self, floors: &[AckFloor]) -> Result<()> {
        let casinos: Vec<&str> = floors.iter().map(|floor| floor.casino.as_str()).collect();
        let stages: Vec<&str> = floors.iter().map(|floor| floor.stage.as_str()).collect();
        let sequences: Vec<i64> = floors.iter().map(|floor| floor.sequence.cast_signed()).collect();
        let times: Vec<DateTime<Utc>> = floors.iter().map(|floor| floor.acked_at).collect();
        let streams: Vec<DateTime<Utc>> = floors.iter().map(|floor| floor.stream_made).collect();
        sqlx::query(
            "insert into ack_floors (casino_id, stage, sequence, acked_at, stream_made)
             select * from unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[])
             on conflict (casino_id, stage) do update
               set sequence = excluded.sequence, acked_at = excluded.acked_at, stream_made = excluded.stream_made",
        )
        .bind(casinos)
        .bind(stages)
        .bind(sequences)
        .bind(times)
        .bind(streams)
        .execute(&mut *self.fleet().await?)
        .await?;
        Ok(())
    }

    /// Returns the ack floor noted last, if any was.
    pub async fn ack_floor(&self, casino: &CasinoId, stage: Stage) -> Result<Option<AckFloor>> {
        let row: Option<(i64, DateTime<Utc>, DateTime<Utc>)> = sqlx::query_as(
            "select sequence, acked_at, stream_made from ack_floors where casino_id = $1 and stage = $2",
        )
        .bind(casino.as_str())
        .bind(stage.as_str())
        .fetch_optional(&mut *self.fleet().await?)
        .await?;
        Ok(row.map(|(sequence, acked_at, stream_made)| {
            let (casino, sequence) = (casino.clone(), sequence.cast_unsigned());
            AckFloor { casino, stage, sequence, acked_at, stream_made }
        }))
    }
}
