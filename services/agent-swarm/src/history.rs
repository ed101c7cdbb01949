//! Stage: selects the earlier texts that a turn sees, and reads what the turn needs to know about
//! the conversation.

use chrono::{DateTime, TimeDelta, Utc};
use seven_compliance::Layer;
use seven_domain::ConversationId;
use seven_guest::{
    Profile, Session,
    session::{self, Subject, Window},
};
use seven_knowledge::Index;
use seven_packs::Pack;
use seven_runtime::Error;
use seven_store::{
    Tx,
    sessions::{ConversationState, Shown},
};

/// Verdicts of texts that the gate answered, but that the host must see, too. In such a text a
/// guest may have told their age, and the host must not send minors to the games.
const CANNED: &[&str] = &[Layer::AgeVerification.as_str()];

fn shown(pack: &Pack) -> Shown<'static> {
    Shown {
        useful: pack.rules.usefulness(),
        most: Window::SESSION.exchanges,
        canned: CANNED,
    }
}

/// The state of the conversation with which a turn begins.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) place: ConversationState,
    /// The current session, before this turn.
    pub(crate) session: Session,
    pub(crate) before: Option<Session>,
}

impl History {
    fn of(place: ConversationState, now: DateTime<Utc>) -> Self {
        let read = |row: &seven_store::sessions::SessionRow| {
            serde_json::from_value::<Session>(row.rest.clone()).ok()
        };
        let before = place.before.as_ref().and_then(read);
        let session = match place.session.as_ref().and_then(read) {
            Some(session) if session.turns > 0 => session,
            Some(fresh) => Session {
                last_at: fresh.last_at,
                ..Session::begun(fresh.started_at, before.as_ref())
            },
            None => Session::begun(now, before.as_ref()),
        };
        Self {
            place,
            session,
            before,
        }
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.session.turns == 0
    }

    /// Returns the exchanges that the turn sees, oldest first.
    pub(crate) fn history(&self) -> &[(String, String)] {
        let most = if self.is_fresh() {
            Window::RESUMED
        } else {
            Window::SESSION
        };
        session::window(&self.place.exchanges, most)
    }

    /// Returns how long the guest was silent before this session; `None` if the session is not new.
    pub(crate) fn silence(&self) -> Option<TimeDelta> {
        let before = self.before.as_ref().filter(|_| self.is_fresh())?;
        Some(self.session.started_at - before.last_at)
    }

    /// Returns a short summary for the model. In a new session the summary is about the previous
    /// session. Otherwise it is about this session, because the model does not see the older
    /// exchanges.
    pub(crate) fn summary(
        &self,
        index: &Index,
        profile: &Profile,
        now: DateTime<Utc>,
    ) -> Option<String> {
        let told = self
            .before
            .as_ref()
            .filter(|_| self.is_fresh())
            .unwrap_or(&self.session);
        session::tell(
            &told.summary,
            |subject| is_current(index, subject, now),
            &profile.context(now),
        )
    }
}

/// Returns whether the casino's content still holds the row that `subject` names. The host does not
/// mention a row that is gone.
pub(crate) fn is_current(index: &Index, subject: &Subject, now: DateTime<Utc>) -> bool {
    index.current(now).any(|item| item.id == subject.id)
}

/// Reads the session, pause, history and profile of a conversation whose lease was taken.
pub(crate) async fn history(
    tx: &mut Tx,
    of: ConversationId,
    pack: &Pack,
    now: DateTime<Utc>,
) -> Result<History, Error> {
    Ok(History::of(tx.place(of, shown(pack)).await?, now))
}
