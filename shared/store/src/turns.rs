//! Finished turns: the replies that the host decided on, and the content rows that they are based
//! on.

mod shown;

use chrono::{DateTime, Utc};
use seven_domain::{
    Channel, ConversationId, DisclosureKind, GuestId, Language, MessageClass, TurnId, TurnState,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Result, Tx,
    casinos::{Casino, Document},
    controls::Switch,
    mutant,
    sessions::SessionAfter,
};

pub use self::shown::{ShownTurn, TurnSummary};

#[derive(Debug, Clone)]
pub struct NewTurn {
    pub turn_id: TurnId,
    pub conversation_id: ConversationId,
    pub guest_id: GuestId,
    pub epoch: i64,
    pub agent: String,
    pub model: String,
    pub intent: String,
    pub language: Language,
    pub verdict: String,
    pub draft: String,
    /// Why the text must disclose that an AI writes; `None` if it need not.
    pub disclosure: Option<DisclosureKind>,
    pub sources: Vec<String>,
    pub grounded: bool,
    pub class: MessageClass,
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
    pub language: Language,
    pub verdict: String,
    pub draft: String,
    pub disclosure_kind: Option<DisclosureKind>,
    pub sources: serde_json::Value,
    pub grounded: bool,
    pub class: MessageClass,
    pub newest_text_at: DateTime<Utc>,
    pub state: TurnState,
    pub tries: i32,
    pub trace: String,
    pub channel: Channel,
    /// Whether an earlier turn of the conversation is not shaped yet. The texts of that turn have
    /// to be queued first.
    #[sqlx(default)]
    pub behind: bool,
    /// Whether a person reads the conversation's replies before they are sent.
    #[sqlx(default)]
    pub reviewed: bool,
}

/// A single statement, so that it takes one round trip. Its CTE `ours` locks the conversation
/// before anything else (ARCHITECTURE.md, lock order).
const COMMIT: &str = include_str!("../sql/commit_turn.sql");

/// The session and profile that are written with a turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kept<'a> {
    pub session: Option<&'a SessionAfter>,
    /// The guest's profile, if it changed.
    pub profile: Option<&'a serde_json::Value>,
}

/// State that a turn's commit reads: the switches in force, and the first newer text.
#[derive(Debug, Clone)]
pub struct Committing {
    /// The switches that are on (D14).
    pub switched: Vec<Switch>,
    /// The first text that arrived during the turn, with its trace. A text that another transaction
    /// has not committed yet is not seen; its signal comes later.
    pub more: Option<(Uuid, String)>,
}

impl Tx {
    /// Writes the turn, with `kept` and its effect on `texts`, if the epoch is still current.
    /// Returns `None` if the epoch changed or a text is no longer open. The caller must then not
    /// commit.
    pub async fn commit_turn(
        &mut self,
        turn: &NewTurn,
        texts: &[Uuid],
        kept: Kept<'_>,
    ) -> Result<Option<Committing>> {
        type Row = (i64, i64, Vec<Switch>, Option<Uuid>, Option<String>);
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
            .bind(turn.language)
            .bind(&turn.verdict)
            .bind(&turn.draft)
            .bind(turn.disclosure.is_some())
            .bind(serde_json::json!(turn.sources))
            .bind(turn.grounded)
            .bind(turn.class)
            .bind(turn.newest_text_at)
            .bind(&turn.trace)
            .bind(base)
            .bind(turn.disclosure)
            .bind(&turn.record)
            .bind(texts)
            .bind(kept.session.map(|session| session.session_id))
            .bind(kept.session.map(|session| session.phase))
            .bind(
                kept.session
                    .map(|session| i32::try_from(session.turns).unwrap_or(i32::MAX)),
            )
            .bind(kept.session.map(|session| &session.summary))
            .bind(kept.session.map(|session| &session.counts))
            .bind(kept.profile)
            .bind(kept.session.map(|session| &session.dialogue))
            .fetch_one(self.conn())
            .await?;
        let whole = usize::try_from(answered) == Ok(texts.len()) || mutant::no_epoch();
        Ok((made == 1 && whole).then_some(Committing {
            switched,
            more: next.zip(trace),
        }))
    }

    /// Locks the turn, so that neither a second envelope nor a STOP can change it, and returns it
    /// with its casino. Sets a `drafted` turn to `shaped`; the returned state is the one before.
    pub async fn take_draft(&mut self, turn: TurnId) -> Result<Option<(Turn, Casino)>> {
        #[derive(FromRow)]
        struct Row {
            #[sqlx(flatten)]
            turn: Turn,
            #[sqlx(flatten)]
            document: Document,
        }
        let held = self.held_document();
        let row: Option<Row> = sqlx::query_as(include_str!("../sql/take_draft.sql"))
            .bind(turn.0)
            .bind(held.as_ref().map(|held| held.version))
            .fetch_optional(self.conn())
            .await?;
        row.map(|row| Ok((row.turn, self.casino_of(row.document, held)?)))
            .transpose()
    }

    /// Returns the turns of a conversation that no envelope has shaped yet: (turn, trace).
    pub async fn drafted_turns(
        &mut self,
        conversation: ConversationId,
    ) -> Result<Vec<(Uuid, String)>> {
        Ok(sqlx::query_as(
            "select turn_id, trace from turns where conversation_id = $1 and state = 'drafted'",
        )
        .bind(conversation.0)
        .fetch_all(self.conn())
        .await?)
    }

    /// Counts a failed try of this turn (D16); returns the number of tries so far.
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
