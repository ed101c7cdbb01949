//! The recorded ack floors of consumers (D25). An ack floor is the bus message up to which all of a
//! casino's messages are done. Ack floors are recorded for stages that leave no open row.

use chrono::{DateTime, Utc};
use seven_domain::{CasinoId, Stage};

use crate::{Result, Store};

/// The recorded ack floor of one consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AckFloor {
    pub casino: CasinoId,
    pub stage: Stage,
    /// Sequence in the stage's stream.
    pub sequence: u64,
    /// When the last acknowledgement came, by the bus's clock.
    pub acked_at: DateTime<Utc>,
    /// When the stream was created, by the same clock.
    pub stream_made: DateTime<Utc>,
}

impl Store {
    /// Records ack floors, one for each casino and stage. If several schedulers record floors, the
    /// last write wins. This is safe, because every floor was true when it was read.
    ///
    /// # Errors
    /// Fails when two floors are of the same casino and stage; then no floor is recorded.
    pub async fn note_ack_floors(&self, floors: &[AckFloor]) -> Result<()> {
        let casinos: Vec<&str> = floors.iter().map(|floor| floor.casino.as_str()).collect();
        let stages: Vec<&str> = floors.iter().map(|floor| floor.stage.as_str()).collect();
        let sequences: Vec<i64> = floors
            .iter()
            .map(|floor| floor.sequence.cast_signed())
            .collect();
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

    /// Returns the last recorded ack floor, if any.
    pub async fn ack_floor(&self, casino: &CasinoId, stage: Stage) -> Result<Option<AckFloor>> {
        let row: Option<(i64, DateTime<Utc>, DateTime<Utc>)> = sqlx::query_as(
            "select sequence, acked_at, stream_made from ack_floors where casino_id = $1 and stage = $2",
        )
        .bind(casino.as_str())
        .bind(stage)
        .fetch_optional(&mut *self.fleet().await?)
        .await?;
        Ok(row.map(|(sequence, acked_at, stream_made)| {
            let (casino, sequence) = (casino.clone(), sequence.cast_unsigned());
            AckFloor {
                casino,
                stage,
                sequence,
                acked_at,
                stream_made,
            }
        }))
    }
}
