//! A casino's content: the items from which the host answers, and their history.

mod decide;
mod history;
mod questions;
mod revisions;
mod standing;
mod trials;

use serde_json::Value;

pub use decide::Decided;
pub use history::{ListedItem, Revision, Then, Wanted};
pub use questions::Unanswered;
pub use revisions::{NewRevision, PublishedItem, ToldEdit, Undecided, WAITING};
pub use standing::{Name, Waits};
pub use trials::{MOST_QUESTIONS, Run, SetQuestion};

use crate::{Result, Tx};

impl Tx {
    /// Returns the active items as JSON, ordered by their position.
    pub async fn content(&mut self) -> Result<Vec<Value>> {
        Ok(sqlx::query_scalar(
            "select item from content_items where active order by position, item_id",
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the categories that have active items, each with the number of those items.
    pub async fn active_categories(&mut self) -> Result<Vec<(String, i64)>> {
        Ok(sqlx::query_as(
            "select category, count(*) from content_items where active group by category order by category",
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Works like [`Tx::lock_content`], but does not wait: returns false if another transaction has
    /// the lock.
    pub async fn try_lock_content(&mut self) -> Result<bool> {
        let casino = self.casino_str();
        let lock = "select pg_try_advisory_xact_lock(hashtextextended('content ' || $1, 0))";
        Ok(sqlx::query_scalar(lock)
            .bind(casino)
            .fetch_one(self.conn())
            .await?)
    }

    /// Locks the casino's content against other transactions until this one ends. The guards
    /// compare a change with the published content, which therefore must not change meanwhile.
    pub async fn lock_content(&mut self) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query("select pg_advisory_xact_lock(hashtextextended('content ' || $1, 0))")
            .bind(casino)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}
