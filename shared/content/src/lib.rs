//! content: the one path by which a casino's content changes (D31). Edits come from people in the
//! console, spreadsheets, files and programs. Old revisions are kept; guests get the newest
//! published revision of each item.

mod ask;
mod check;
pub mod diff;
mod guard;
mod ingest;
pub mod load;
mod publish;
pub mod questions;
pub mod refusal;
mod restore;
mod row;
mod save;
mod spanish;
pub mod table;
mod trial;
pub mod webhook;
pub mod week;
mod weigh;

use chrono::{DateTime, Utc};
use serde_json::Value;
use seven_domain::{CasinoId, ContentSource, RevisionState};
use seven_knowledge::schema::Schema;
use seven_runtime::Fleet;
use seven_store::{Tx, casinos::Casino};

pub use ask::{DRAFT, ask};
pub use guard::{Change, Finding, Standing, Weight, as_json, guard, weight, weight_of};
pub use ingest::{IngestError, Ingested, claim_vectors, ingest, planned_ingest};
pub use publish::{due, publish, publish_all, reject, withdraw};
pub use restore::{Past, Restored, RolledBack, preview, purge, restore, roll_back, undo};
pub use row::item_of_row;
pub use save::save;
pub use spanish::said;
pub use trial::run_set;

/// Why content was not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the casino is not known; `seven casino list` shows them, `seven casino add` adds one")]
    NoCasino,
    #[error(transparent)]
    Pack(#[from] seven_packs::Unknown),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
    #[error("there is no revision {revision} of {item}; `seven content history` shows them")]
    NoRevision { item: String, revision: i32 },
    #[error("revision {revision} of {item} is {state} and waits for nobody")]
    NotWaiting {
        item: String,
        revision: i32,
        state: RevisionState,
    },
    #[error("{by} wrote this revision; another person must publish it, because {why}")]
    OwnWork { by: String, why: String },
    #[error("{item} was changed after this revision was written; write it again on the new one")]
    Moved { item: String },
    #[error("{0}")]
    Blocked(String),
    #[error(
        "revision {revision} of {item} is what guests get, still waits, or was purged before; \
         publish a corrected one first"
    )]
    NotPurged { item: String, revision: i32 },
    #[error("what revision {revision} of {item} said was purged")]
    Purged { item: String, revision: i32 },
}

/// Announces a stored content version to the running workers. A failure is only logged, because the
/// swarm workers also compare versions at every turn.
pub async fn announce(fleet: &Fleet, casino: &CasinoId, version: i64) {
    if let Err(error) = fleet.bus.announce_content(casino, version).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the content is stored but could not be announced"
        );
    }
}

/// One edit of one item.
#[derive(Debug, Clone, Default)]
pub struct Edit {
    /// The whole item as a person wrote it. An item without an id is new.
    pub value: Value,
    /// The newest revision that the editor saw. If a newer revision exists, the edit is not saved.
    /// `None` skips this check.
    pub seen: Option<i32>,
    /// The edit's id at its source, and when the webhook call with the edit was signed. If an edit
    /// with this id already made a revision, the edit is not saved again.
    pub edit: Option<(String, DateTime<Utc>)>,
    pub publish_at: Option<DateTime<Utc>>,
    pub take_down_at: Option<DateTime<Utc>>,
    /// Whether to remove the item's take-down time. If false, an edit without `take_down_at` keeps
    /// that time.
    pub no_end: bool,
}

/// The conditions under which edits are saved.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    pub source: ContentSource,
    pub editor: &'a str,
    /// Save the edits as drafts, without publishing them.
    pub draft: bool,
    /// The person, other than the editor, who has already approved the edits. If set, findings of
    /// the guards are only warnings.
    pub approved_by: Option<&'a str>,
    /// Store refused edits as rejected revisions, so that their editor finds them again.
    pub keep_refused: bool,
    /// Skip items that have a revision waiting for a person, and edits that a person refused
    /// before. Automatic loads set this, so that they do not override people's decisions.
    pub keep_waiting: bool,
}

/// The outcome of an edit.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Saved {
        item_id: String,
        name: String,
        revision: i32,
        state: RevisionState,
        /// Whether the item was never published before.
        new: bool,
        findings: Vec<Finding>,
    },
    /// The published item already equals the edit, or the edit was skipped; nothing was saved.
    Unchanged { item_id: String, revision: i32 },
    /// The edit was refused; `findings` has every problem.
    Refused {
        item_id: String,
        findings: Vec<Finding>,
    },
    /// Somebody saved a newer revision than the one that the editor saw; nothing was saved.
    Moved { item_id: String, newest: i32 },
    /// The edit was received before. `revision` is the revision that it made, or 0 if it made none.
    Repeated {
        item_id: String,
        revision: i32,
        /// Whether the same signed call came again. A retry of the edit would have a newer
        /// signature.
        replayed: bool,
    },
}

/// A transaction that changes a casino's content, with the data that the checks need.
#[derive(Debug)]
pub struct Work<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) tx: Tx,
    pub(crate) row: Casino,
    /// The content version of everything that this transaction publishes; `None` until something is
    /// published.
    pub(crate) version: Option<i64>,
}

impl<'a> Work<'a> {
    /// Begins to change a casino's content. Other changes of that content wait until this one ends.
    pub async fn begin(fleet: &'a Fleet, casino: &CasinoId) -> Result<Self, Error> {
        let mut tx = fleet.store.bind(casino).await?;
        tx.lock_content().await?;
        Self::on(fleet, tx).await
    }

    /// Begins like [`Work::begin`], but returns `None` if somebody else is changing the casino's
    /// content.
    pub async fn begin_if_free(fleet: &'a Fleet, casino: &CasinoId) -> Result<Option<Self>, Error> {
        let mut tx = fleet.store.bind(casino).await?;
        if !tx.try_lock_content().await? {
            return Ok(None);
        }
        Self::on(fleet, tx).await.map(Some)
    }

    /// Begins to read the content of a casino without a lock, so changes may happen meanwhile.
    pub async fn look(fleet: &'a Fleet, casino: &CasinoId) -> Result<Self, Error> {
        let tx = fleet.store.bind(casino).await?;
        Self::on(fleet, tx).await
    }

    async fn on(fleet: &'a Fleet, mut tx: Tx) -> Result<Self, Error> {
        let row = tx.casino_row().await?.ok_or(Error::NoCasino)?;
        Ok(Self {
            fleet,
            tx,
            row,
            version: None,
        })
    }

    /// Returns the pack's schema of a category; `None` if the pack has no such category.
    pub fn schema(&self, category: &str) -> Option<&'a Schema> {
        let pack = self.fleet.packs.of(&self.row.config).ok()?;
        pack.agents.categories.get(&category.into())
    }

    pub fn tx(&mut self) -> &mut Tx {
        &mut self.tx
    }

    /// Commits the changes, and announces them to the running workers if something was published.
    pub async fn commit(self) -> Result<(), Error> {
        let casino = self.tx.casino().clone();
        self.tx.commit().await?;
        let Some(version) = self.version else {
            return Ok(());
        };
        announce(self.fleet, &casino, version).await;
        Ok(())
    }

    /// Rolls the changes back.
    pub async fn rollback(self) -> Result<(), Error> {
        Ok(self.tx.rollback().await?)
    }
}
