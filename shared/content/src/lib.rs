//! content: the one path by which a casino's content changes, whoever writes it: a person in the
//! console, a spreadsheet, a file or a program (D31). Nothing is deleted; guests get the newest
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

/// Tells the running workers of a stored content version. Swarms also compare versions with every
/// turn, so that a failure is only logged.
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
    /// The whole item as a person wrote it. Without an id it is a new item.
    pub value: Value,
    /// The newest revision that the editor saw; `None` for whatever is there.
    pub seen: Option<i32>,
    /// Its id at its source, and when it was signed: a repeated one changes nothing.
    pub edit: Option<(String, DateTime<Utc>)>,
    pub publish_at: Option<DateTime<Utc>>,
    pub take_down_at: Option<DateTime<Utc>>,
    /// The item is to have no end any more; otherwise it keeps the one that it has.
    pub no_end: bool,
}

/// The way in which edits are saved.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    pub source: ContentSource,
    pub editor: &'a str,
    /// Save without publishing.
    pub draft: bool,
    /// The person who approved the edits already; findings that ask for a second person then only
    /// warn. It is not the editor.
    pub approved_by: Option<&'a str>,
    /// Store refused edits, too, so that their editor finds them again.
    pub keep_refused: bool,
    /// Leave an item alone while something of it waits for people, and do not propose again what a
    /// person refused: a reading that nobody asked for is no decision.
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
        /// Whether guests had no such item before.
        new: bool,
        findings: Vec<Finding>,
    },
    /// Guests get exactly this already.
    Unchanged { item_id: String, revision: i32 },
    /// Refused, with every problem.
    Refused {
        item_id: String,
        findings: Vec<Finding>,
    },
    /// Somebody else saved a revision after the one that the editor saw.
    Moved { item_id: String, newest: i32 },
    /// The same edit was told before; it made this revision.
    Repeated {
        item_id: String,
        revision: i32,
        /// The very same call: a retry is signed again.
        replayed: bool,
    },
}

/// A transaction that changes a casino's content, and what the checks need besides.
#[derive(Debug)]
pub struct Work<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) tx: Tx,
    pub(crate) row: Casino,
    /// The content version of what this transaction publishes, once it has published something.
    pub(crate) version: Option<i64>,
}

impl<'a> Work<'a> {
    /// Begins to change the content of a casino. No other change begins until this one is done.
    pub async fn begin(fleet: &'a Fleet, casino: &CasinoId) -> Result<Self, Error> {
        let mut tx = fleet.store.bind(casino).await?;
        tx.lock_content().await?;
        Self::on(fleet, tx).await
    }

    /// Does what [`Work::begin`] does; `None` while somebody else changes the casino's content.
    pub async fn begin_if_free(fleet: &'a Fleet, casino: &CasinoId) -> Result<Option<Self>, Error> {
        let mut tx = fleet.store.bind(casino).await?;
        if !tx.try_lock_content().await? {
            return Ok(None);
        }
        Self::on(fleet, tx).await.map(Some)
    }

    /// Begins to read the content of a casino; changes may happen meanwhile.
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

    /// Returns the pack's declaration of a category.
    pub fn schema(&self, category: &str) -> Option<&'a Schema> {
        let pack = self.fleet.packs.of(&self.row.config).ok()?;
        pack.agents.categories.get(&category.into())
    }

    pub fn tx(&mut self) -> &mut Tx {
        &mut self.tx
    }

    /// Stores the changes and tells the running workers.
    pub async fn commit(self) -> Result<(), Error> {
        let casino = self.tx.casino().clone();
        self.tx.commit().await?;
        let Some(version) = self.version else {
            return Ok(());
        };
        announce(self.fleet, &casino, version).await;
        Ok(())
    }

    /// Forgets the changes.
    pub async fn rollback(self) -> Result<(), Error> {
        Ok(self.tx.rollback().await?)
    }
}
