//! A casino's content rows, from which the host answers.

use serde_json::Value;

use crate::{Result, Tx};

/// One content row to store; `item` is the whole validated item.
#[derive(Debug, Clone)]
pub struct ContentRow {
    pub item_id: String,
    pub category: String,
    pub name: String,
    pub item: Value,
    pub content_hash: String,
    pub active: bool,
}

/// Result of a load, with the names of the items it created, changed or removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadSummary {
    pub created: Vec<String>,
    pub changed: Vec<String>,
    pub unchanged: usize,
    pub removed: Vec<String>,
}

impl Tx {
    /// Replaces the casino's content by `rows` and raises the content version when anything changed
    /// (RAG-23, C-2).
    pub async fn replace_content(&mut self, rows: &[ContentRow]) -> Result<LoadSummary> {
        let casino = self.casino_str();
        let ids: Vec<&str> = rows.iter().map(|r| r.item_id.as_str()).collect();
        let removed = sqlx::query_scalar(
            "delete from content_items where not (item_id = any($1)) returning name",
        )
        .bind(&ids)
        .fetch_all(self.conn())
        .await?;
        let mut summary = LoadSummary {
            removed,
            ..LoadSummary::default()
        };
        for (position, row) in rows.iter().enumerate() {
            let outcome: Option<bool> = sqlx::query_scalar(
                "insert into content_items (casino_id, item_id, category, name, item, content_hash, active, position)
                 values ($1, $2, $3, $4, $5, $6, $7, $8)
                 on conflict (casino_id, item_id) do update set category = excluded.category, name = excluded.name, item = excluded.item,
                   content_hash = excluded.content_hash, active = excluded.active, position = excluded.position, updated_at = now()
                   where content_items.content_hash <> excluded.content_hash
                 returning (xmax = 0)",
            )
            .bind(&casino)
            .bind(&row.item_id)
            .bind(&row.category)
            .bind(&row.name)
            .bind(&row.item)
            .bind(&row.content_hash)
            .bind(row.active)
            .bind(i32::try_from(position).unwrap_or(i32::MAX))
            .fetch_optional(self.conn())
            .await?;
            match outcome {
                Some(true) => summary.created.push(row.name.clone()),
                Some(false) => summary.changed.push(row.name.clone()),
                None => summary.unchanged += 1,
            }
        }
        if !(summary.created.is_empty() && summary.changed.is_empty() && summary.removed.is_empty())
        {
            self.raise_content_version().await?;
        }
        Ok(summary)
    }

    /// Returns the active items, in the order of their file.
    pub async fn content(&mut self) -> Result<Vec<Value>> {
        Ok(sqlx::query_scalar(
            "select item from content_items where active order by position, item_id",
        )
        .fetch_all(self.conn())
        .await?)
    }
}
