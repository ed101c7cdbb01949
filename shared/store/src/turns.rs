//! Finished turns: the reply that the host decided on, and the rows it is based on.

mod told;

use chrono::{DateTime, Utc};
use seven_domain::{ConversationId, GuestId, TurnId};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Result, Tx,
    casinos::{Casino, Document, document},
    controls::{Switch, switched},
    mutant,
    sessions::SessionAfter,
};

pub use self::told::{ToldLine, ToldTurn};

#[derive(Debug, Clone)]
pub struct NewTurn {
    pub turn_id: TurnId,
    pub conversation_id: ConversationId,
    pub guest_id: GuestId,
    pub epoch: i64,
    pub agent: String,
    pub model: String,
    pub intent: String,
    pub language: String,
    pub verdict: String,
    pub draft: String,
    /// Why the text must disclose that an AI writes: `first`, `session` or `again`.
    pub disclosure: Option<&'static str>,
    pub sources: Vec<String>,
    pub grounded: bool,
    pub class: String,
    pub newest_text_at: DateTime<Utc>,
    pub trace: String,
    /// Record of how the reply was made, for explaining it; contains no message bodies.
    pub record: serde_json::Value,
}

/// A turn as the envelope and the explain commands read it.
#[derive(Debug, Clone, FromRow)]
pub struct Turn {
    pub turn_id: Uuid,
    pub conversation_id: Uuid,
    pub guest_id: Uuid,
    pub agent: String,
    pub model: String,
    pub intent: String,
    pub language: String,
    pub verdict: String,
    pub draft: String,
    pub disclosure_kind: Option<String>,
    pub sources: serde_json::Value,
    pub grounded: bool,
    pub class: String,
    pub newest_text_at: DateTime<Utc>,
    pub state: String,
    pub tries: i32,
    pub trace: String,
    /// An earlier turn of the conversation is not shaped yet; its texts have to be queued first.
    #[sqlx(default)]
    pub behind: bool,
}

/// A single statement, so that it takes one round trip. `ours` locks the conversation before
/// anything else (ARCHITECTURE, lock order).
const COMMIT: &str = concat!(
    "
with ours as (
  update conversations set leased_until = null where conversation_id = $3 and turn_epoch = $5 returning conversation_id),
made as (
  insert into turns (casino_id, turn_id, conversation_id, guest_id, epoch, agent, model, intent, language, verdict, draft, disclosure,
    sources, grounded, class, newest_text_at, trace, next_sweep_at, disclosure_kind, record)
  select $1, $2, conversation_id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, now() + make_interval(secs => $18), $19, $20
  from ours returning 1),
answered as (
  update inbound_messages set disposition = 'answered', disposition_ref = $2, closed_at = now()
  where inbound_id = any($21) and disposition = 'open' and exists (select 1 from ours) returning 1),
spoken as (
  update guests set language = $9, updated_at = now()
  where guest_id = $4 and language is distinct from $9 and exists (select 1 from ours)),
dropped as (
  delete from model_results where conversation_id = $3 and exists (select 1 from ours)),
session as (
  update sessions set phase = $23, turns = $24, summary = $25, counts = $26 where session_id = $22 and exists (select 1 from ours)),
profile as (
  insert into profiles (casino_id, guest_id, document) select $1, $4, $27 from ours where $27 is not null
  on conflict (casino_id, guest_id) do update set document = excluded.document, updated_at = now())
select (select count(*) from made), (select count(*) from answered), array(",
    switched!(),
    "), next.inbound_id, next.trace
from (select 1) as always left join (
  select inbound_id, trace from inbound_messages where conversation_id = $3 and disposition = 'open' and inbound_id <> all($21)
  order by occurred_at, arrival limit 1) next on true"
);

/// The session and profile that are written with a turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kept<'a> {
    pub session: Option<&'a SessionAfter>,
    /// The guest's profile, if it changed.
    pub profile: Option<&'a serde_json::Value>,
}

/// The switches in force, and any newer text, found by a turn's commit.
#[derive(Debug, Clone)]
pub struct Committing {
    /// The switches that are on (D14).
    pub switched: Vec<Switch>,
    /// The first text that arrived during the turn, with its trace. A text that is just being
    /// stored is missed; its own signal follows.
    pub more: Option<(Uuid, String)>,
}

impl Tx {
    /// Writes the turn, if the conversation still has its epoch. Also releases the lease, marks
    /// `texts` as answered, records the guest's language, writes the turn's session and profile,
    /// and deletes the models' intermediate results.
    ///
    /// Returns `None` when the epoch has changed or one of the texts was no longer open; the
    /// transaction must then not be committed. The conversation's row stays locked.
    pub async fn commit_turn(&mut self, turn: &NewTurn, texts: &[Uuid], kept: Kept<'_>) -> Result<Option<Committing>> {
        type Row = (i64, i64, Vec<String>, Option<Uuid>, Option<String>);
        let epoch = mutant::epoch(self, turn.conversation_id, turn.epoch).await?;
        let (casino, base) = (self.casino_str(), self.sweep_base());
        let (made, answered, switched, next, trace): Row = sqlx::query_as(COMMIT)
            .bind(casino)
            .bind(turn.turn_id.0)
            .bind(turn.conversation_id.0)
            .bind(turn.guest_id.0)
            .bind(epoch)
            .bind(&turn.agent)
            .bind(&turn.model)
            .bind(&turn.intent)
            .bind(&turn.language)
            .bind(&turn.verdict)
            .bind(&turn.draft)
            .bind(turn.disclosure.is_some())
            .bind(serde_json::json!(turn.sources))
            .bind(turn.grounded)
            .bind(&turn.class)
            .bind(turn.newest_text_at)
            .bind(&turn.trace)
            .bind(base)
            .bind(turn.disclosure)
            .bind(&turn.record)
            .bind(texts)
            .bind(kept.session.map(|session| session.session_id))
            .bind(kept.session.map(|session| session.phase))
            .bind(kept.session.map(|session| i32::try_from(session.turns).unwrap_or(i32::MAX)))
            .bind(kept.session.map(|session| &session.summary))
            .bind(kept.session.map(|session| &session.counts))
            .bind(kept.profile)
            .fetch_one(self.conn())
            .await?;
        let whole = usize::try_from(answered) == Ok(texts.len()) || mutant::no_epoch();
        let found = || Committing { switched: Switch::named(&switched), more: next.zip(trace) };
        Ok((made == 1 && whole).then(found))
    }

    /// Returns the turn in its state before this call, with the casino. The row is locked against a
    /// second envelope and against cancellation by a STOP. A drafted turn is marked as shaped,
    /// which takes effect with the commit.
    pub async fn take_draft(&mut self, turn: TurnId) -> Result<Option<(Turn, Casino)>> {
        #[derive(FromRow)]
        struct Row {
            #[sqlx(flatten)]
            turn: Turn,
            #[sqlx(flatten)]
            document: Document,
        }
        let held = self.held_document();
        let row: Option<Row> = sqlx::query_as(concat!(
            "with c as (
               select 1 from conversations c, turns t where t.turn_id = $1 and c.conversation_id = t.conversation_id for update of c
             ), was as (
               select t.turn_id, t.conversation_id, t.guest_id, t.agent, t.model, t.intent, t.language, t.verdict, t.draft, t.disclosure_kind,
                 t.sources, t.grounded, t.class, t.newest_text_at, t.state, t.tries, t.trace,
                 (select true from turns e where e.conversation_id = t.conversation_id and e.state = 'drafted' and e.epoch < t.epoch limit 1) is not null
                   as behind
               from turns t, (select count(*) from c) as locked_first where t.turn_id = $1 for update of t
             ), shaped as (
               update turns t set state = 'shaped' from was where t.turn_id = was.turn_id and was.state = 'drafted'
             )
             select was.*, ",
            document!("$2"),
            " from was, casinos"
        ))
        .bind(turn.0)
        .bind(held.as_ref().map(|held| held.version))
        .fetch_optional(self.conn())
        .await?;
        row.map(|row| Ok((row.turn, self.casino_of(row.document, held)?))).transpose()
    }

    /// Returns the turns of a conversation that no envelope has shaped yet: (turn, trace).
    pub async fn drafted_turns(&mut self, conversation: ConversationId) -> Result<Vec<(Uuid, String)>> {
        Ok(sqlx::query_as("select turn_id, trace from turns where conversation_id = $1 and state = 'drafted'")
            .bind(conversation.0)
            .fetch_all(self.conn())
            .await?)
    }

    /// Counts a failure that concerns only this turn (D16); returns the number of tries so far.
    pub async fn count_turn_try(&mut self, turn: TurnId, error: &str) -> Result<i32> {
        let tries: Option<i32> = sqlx::query_scalar(
            "update turns set tries = tries + 1, last_error = $2 where turn_id = $1 returning tries",
        )
        .bind(turn.0)
        .bind(error)
        .fetch_optional(self.conn())
        .await?;
        Ok(tries.unwrap_or_default())
    }

    /// Parks a turn that could not be shaped in any try; it waits for its dead letter to be
    /// handled.
    pub async fn park_turn(&mut self, turn: TurnId, reason: &str) -> Result<()> {
        sqlx::query("update turns set state = 'parked', reason = $2 where turn_id = $1 and state = 'drafted'")
            .bind(turn.0)
            .bind(reason)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}
