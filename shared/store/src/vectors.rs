//! Vectors of a casino's content, each belonging to one embedding space (D12, RAG-10). They are
//! stored so that no item is embedded twice.

use std::collections::HashMap;

use uuid::Uuid;

use crate::{Result, Tx};

/// One item's vector, and a hash of the item's text and the space from which the vector was made.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorRow {
    pub item_id: String,
    pub content_hash: String,
    pub vector: Vec<f32>,
}

impl Tx {
    /// Returns the hash of every item's vector in `space`, by item id.
    pub async fn vector_hashes(&mut self, space: &str) -> Result<HashMap<String, String>> {
        let rows: Vec<(String, String)> = sqlx::query_as(
            "select item_id, content_hash from content_vectors where space = $1 and chunk = 0",
        )
        .bind(space)
        .fetch_all(self.conn())
        .await?;
        Ok(rows.into_iter().collect())
    }

    /// Returns all vectors of `space`. An item may have changed since, so the caller must compare
    /// each hash with the item's.
    pub async fn vectors(&mut self, space: &str) -> Result<Vec<VectorRow>> {
        let rows: Vec<(String, String, Vec<f32>)> =
            sqlx::query_as("select item_id, content_hash, vector from content_vectors where space = $1 and chunk = 0")
                .bind(space)
                .fetch_all(self.conn())
                .await?;
        let row = |(item_id, content_hash, vector)| VectorRow {
            item_id,
            content_hash,
            vector,
        };
        Ok(rows.into_iter().map(row).collect())
    }

    /// Writes vectors, replacing those of the same items.
    pub async fn put_vectors(&mut self, space: &str, rows: &[VectorRow]) -> Result<()> {
        let casino = self.casino_str();
        for row in rows {
            sqlx::query(
                "insert into content_vectors (casino_id, space, item_id, content_hash, vector) values ($1, $2, $3, $4, $5)
                 on conflict (casino_id, space, item_id, chunk) do update set
                   content_hash = excluded.content_hash, vector = excluded.vector, embedded_at = now()",
            )
            .bind(&casino)
            .bind(space)
            .bind(&row.item_id)
            .bind(&row.content_hash)
            .bind(&row.vector)
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }

    /// Returns the vectors of the casino's own questions in `space`, by question id.
    pub async fn question_vectors(&mut self, space: &str) -> Result<HashMap<Uuid, Vec<f32>>> {
        let rows: Vec<(Uuid, Vec<f32>)> = sqlx::query_as(
            "select question_id, vector from content_question_vectors where space = $1",
        )
        .bind(space)
        .fetch_all(self.conn())
        .await?;
        Ok(rows.into_iter().collect())
    }

    /// Returns the casino's own questions that have no vector in `space`, with their ids.
    pub async fn questions_without_vector(&mut self, space: &str) -> Result<Vec<(Uuid, String)>> {
        Ok(sqlx::query_as(
            "select question_id, question from content_questions q
             where not exists (select from content_question_vectors v
               where v.question_id = q.question_id and v.space = $1)
             order by added_at, question_id",
        )
        .bind(space)
        .fetch_all(self.conn())
        .await?)
    }

    /// Stores the vector of one of the casino's own questions, unless the question was removed
    /// meanwhile.
    pub async fn put_question_vector(
        &mut self,
        space: &str,
        question: Uuid,
        vector: &[f32],
    ) -> Result<()> {
        sqlx::query(
            "insert into content_question_vectors (casino_id, space, question_id, vector)
             select casino_id, $1, question_id, $3 from content_questions where question_id = $2
             on conflict (casino_id, space, question_id) do update set
               vector = excluded.vector, embedded_at = now()",
        )
        .bind(space)
        .bind(question)
        .bind(vector)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the space in which a swarm last indexed the casino's content; `None` for the offline
    /// embedding.
    pub async fn content_space(&mut self) -> Result<Option<String>> {
        Ok(sqlx::query_scalar("select content_space from casinos")
            .fetch_one(self.conn())
            .await?)
    }

    /// Notes the space in which the casino's content is indexed now.
    pub async fn note_content_space(&mut self, space: Option<&str>) -> Result<()> {
        sqlx::query(
            "update casinos set content_space = $1 where content_space is distinct from $1",
        )
        .bind(space)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Removes the vectors of these items; returns how many there were.
    pub async fn remove_vectors(&mut self, space: &str, items: &[String]) -> Result<u64> {
        let gone =
            sqlx::query("delete from content_vectors where space = $1 and item_id = any($2)")
                .bind(space)
                .bind(items)
                .execute(self.conn())
                .await?;
        Ok(gone.rows_affected())
    }

    /// Removes the vectors of all spaces but `space`. Once every worker uses `space`, nobody reads
    /// them.
    pub async fn remove_other_vectors(&mut self, space: &str) -> Result<u64> {
        sqlx::query("delete from content_question_vectors where space <> $1")
            .bind(space)
            .execute(self.conn())
            .await?;
        let gone = sqlx::query("delete from content_vectors where space <> $1")
            .bind(space)
            .execute(self.conn())
            .await?;
        Ok(gone.rows_affected())
    }

    /// Raises the content version, so that every worker reads the casino's content again; returns
    /// the new version.
    pub async fn raise_content_version(&mut self) -> Result<i64> {
        Ok(sqlx::query_scalar(
            "update casinos set content_version = content_version + 1, content_changed_at = now() returning content_version",
        )
        .fetch_one(self.conn())
        .await?)
    }
}
