//! The numbers of casinos over time (D40). Texts to a number that a casino gave up still reach that
//! casino. If another casino takes the number over, a STOP to the number also concerns the former
//! casino.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{CasinoId, GuestHash};

use crate::{Result, Store, Tx, casinos::AddError};

/// 18 months of 31 days. A STOP to a number that a casino gave up also ends that casino's texts if
/// guest and casino texted over the number within this time.
pub const FORMER_SENDER_KEPT: Duration = Duration::from_secs(18 * 31 * 24 * 3600);
/// After another casino took a number over, the former casino may still have unread texts to the
/// number. For this long, every guest's STOP to the number also concerns the former casino.
const UNREAD_FOR: Duration = Duration::from_secs(24 * 3600);

/// A number that a casino has or had.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow, serde::Serialize)]
pub struct Number {
    pub casino_id: String,
    pub number: String,
    /// When the casino began to use the number; `None` if another casino has taken it over.
    pub since: Option<DateTime<Utc>>,
    /// When the casino gave the number up; `None` if the casino still sends from it.
    pub retired_at: Option<DateTime<Utc>>,
    /// The casino that has the number now, if another one has taken it over.
    pub now_of: Option<String>,
}

/// Another casino that a guest's STOP concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    pub casino: CasinoId,
    pub through: Through,
}

/// Why a STOP at one casino concerns another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Through {
    /// The other casino had the number before. The STOP concerns it only if
    /// [`Tx::may_have_spoken_over`] returns true for the guest.
    FormerNumber,
    /// The former casino received the STOP, and the other casino took the number over less than a
    /// day ago.
    PresentNumber,
    /// Both casinos have the same legal sender. A revocation at one casino of a legal sender
    /// applies to all its casinos.
    SameSender,
}

impl Through {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FormerNumber => "former_number",
            Self::PresentNumber => "present_number",
            Self::SameSender => "same_sender",
        }
    }
}

impl Store {
    /// Returns all numbers of all casinos, present ones first; needs no casino binding.
    pub async fn numbers(&self) -> Result<Vec<Number>> {
        Ok(sqlx::query_as(
            "select casino_id, number, since, retired_at, null as now_of from routes
             union all
             select f.casino_id, f.number, null, f.until, r.casino_id from former_routes f left join routes r on r.number = f.number
             order by casino_id, retired_at nulls first, number",
        )
        .fetch_all(&mut *self.fleet().await?)
        .await?)
    }

    /// Returns the other casinos that a STOP to this casino's `number` concerns. `legal_sender` is
    /// empty if a revocation ends only the texts of the casino at which it was made.
    pub async fn stop_reaches(
        &self,
        number: &str,
        casino: &CasinoId,
        legal_sender: &str,
    ) -> Result<Vec<Reached>> {
        let rows: Vec<(String, String)> =
            sqlx::query_as("select casino_id, what from fleet_stop_reaches($1, $2, $3)")
                .bind(number)
                .bind(casino.as_str())
                .bind(legal_sender)
                .fetch_all(&mut *self.fleet().await?)
                .await?;
        rows.into_iter()
            .map(|(casino, through)| {
                let all = [Through::SameSender, Through::PresentNumber];
                let through = all.into_iter().find(|one| one.as_str() == through);
                Ok(Reached {
                    casino: CasinoId::trusted(&casino)?,
                    through: through.unwrap_or(Through::FormerNumber),
                })
            })
            .collect()
    }

    /// Deletes numbers that were given up longer than [`FORMER_SENDER_KEPT`] ago, and returns how
    /// many. A STOP to these numbers no longer concerns the former casino. Also deletes old records
    /// of which casino a text belonged to around a hand-over.
    pub async fn forget_former_numbers(&self) -> Result<u64> {
        let mut fleet = self.fleet().await?;
        sqlx::query("select fleet_forget_claims()")
            .execute(&mut *fleet)
            .await?;
        let query = "delete from former_routes where until < now() - make_interval(secs => $1)";
        let query = sqlx::query(query).bind(FORMER_SENDER_KEPT.as_secs_f64());
        Ok(query.execute(&mut *fleet).await?.rows_affected())
    }
}

impl Tx {
    /// Makes `numbers` the bound casino's present numbers and retires its other numbers.
    ///
    /// # Errors
    /// Fails with [`AddError::NumberTaken`] if another casino sends from one of them.
    pub(crate) async fn route(&mut self, numbers: &[&str]) -> Result<(), AddError> {
        let casino = self.casino_str();
        for number in numbers {
            let owner: Option<(String, bool)> = sqlx::query_as(
                "select casino_id, retired_at is null from routes where number = $1 for update",
            )
            .bind(number)
            .fetch_optional(self.conn())
            .await
            .map_err(crate::Error::from)?;
            match owner {
                Some((owner, true)) if owner != casino => return Err(AddError::NumberTaken(owner)),
                Some((owner, false)) if owner != casino => self.hand_on(number).await?,
                _ => {}
            }
        }
        self.retire_numbers(numbers).await?;
        let routed = sqlx::query(
            "insert into routes (number, casino_id) select n, $2 from unnest($1::text[]) n
             on conflict (number) do update set casino_id = excluded.casino_id, retired_at = null,
               since = case when routes.retired_at is null then routes.since else now() end
               where routes.casino_id = excluded.casino_id or routes.retired_at is not null",
        )
        .bind(numbers)
        .bind(&casino)
        .execute(self.conn())
        .await
        .map_err(crate::Error::from)?;
        if routed.rows_affected() < numbers.len() as u64 {
            return Err(AddError::NumberTaken(
                "that was added at the same moment".to_owned(),
            ));
        }
        // If the casino has a former number again, a STOP to the number is a STOP to this casino
        // anyway.
        sqlx::query("delete from former_routes where casino_id = $1 and number = any($2)")
            .bind(&casino)
            .bind(numbers)
            .execute(self.conn())
            .await
            .map_err(crate::Error::from)?;
        Ok(())
    }

    /// Records which casino gave this number up, before another casino takes it over.
    async fn hand_on(&mut self, number: &str) -> Result<()> {
        sqlx::query(
            "insert into former_routes (number, casino_id, until) select number, casino_id, retired_at from routes where number = $1
             on conflict (number, casino_id) do update set until = excluded.until",
        )
        .bind(number)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Retires the casino's numbers except `but`. Records which guests the casino texted from the
    /// retired numbers. The rows of these texts cannot tell this later, because retention deletes
    /// them.
    pub(crate) async fn retire_numbers(&mut self, but: &[&str]) -> Result<()> {
        let casino = self.casino_str();
        let retired: Vec<String> = sqlx::query_scalar(
            "update routes set retired_at = now() where casino_id = $1 and retired_at is null and number <> all($2) returning number",
        )
        .bind(&casino)
        .bind(but)
        .fetch_all(self.conn())
        .await?;
        if retired.is_empty() {
            return Ok(());
        }
        sqlx::query("update conversations set told_of_change = null where told_of_change")
            .execute(self.conn())
            .await?;
        sqlx::query(
            "insert into former_senders (casino_id, guest_id, number, last_texted_at)
             select c.casino_id, c.guest_id, c.casino_number, coalesce(max(o.sent_at), c.last_inbound_at, now())
             from conversations c left join outbound_messages o on o.conversation_id = c.conversation_id
             where c.casino_number = any($1) group by c.casino_id, c.guest_id, c.casino_number, c.last_inbound_at
             on conflict (casino_id, guest_id, number) do update set last_texted_at = excluded.last_texted_at",
        )
        .bind(&retired)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns whether guest and casino texted over a number that the casino gave up, within
    /// [`FORMER_SENDER_KEPT`]. Also returns true if another casino took the number over less than
    /// [`UNREAD_FOR`] ago: texts of the guest may still be unread.
    pub async fn may_have_spoken_over(&mut self, guest: &GuestHash, number: &str) -> Result<bool> {
        let query = include_str!("../sql/may_have_spoken_over.sql");
        Ok(sqlx::query_scalar(query)
            .bind(number)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(FORMER_SENDER_KEPT.as_secs_f64())
            .bind(UNREAD_FOR.as_secs_f64())
            .fetch_one(self.conn())
            .await?)
    }

    /// Deletes the record of a guest and a former number if the casino's last text from this number
    /// is older than [`FORMER_SENDER_KEPT`].
    pub async fn forget_former_senders(&mut self) -> Result<u64> {
        let query =
            "delete from former_senders where last_texted_at < now() - make_interval(secs => $1)";
        let query = sqlx::query(query).bind(FORMER_SENDER_KEPT.as_secs_f64());
        Ok(query.execute(self.conn()).await?.rows_affected())
    }

    /// Records that the guest of this conversation is told of the casino's present number. Returns
    /// false if the guest was told before.
    pub async fn tell_of_change(
        &mut self,
        conversation: seven_domain::ConversationId,
    ) -> Result<bool> {
        let told = "update conversations set told_of_change = true where conversation_id = $1 and told_of_change is not true";
        let told = sqlx::query(told)
            .bind(conversation.0)
            .execute(self.conn())
            .await?;
        Ok(told.rows_affected() == 1)
    }
}
