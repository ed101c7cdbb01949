//! Prepared replies that a casino's staff keep. A person copies a saved reply into a text and may
//! change it before the text is sent.

use seven_domain::Language;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Error, Result, Tx};

/// A saved reply. `en` or `es` is empty if there is no text in that language.
#[derive(Debug, Clone, Default, PartialEq, Eq, FromRow)]
pub struct SavedReply {
    pub reply_id: Uuid,
    pub title: String,
    pub en: String,
    pub es: String,
}

/// Result of storing a saved reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    Stored,
    /// Another reply of the casino has this title.
    TitleTaken,
}

impl SavedReply {
    /// Returns the text in this language or, if that is empty, in the other one.
    pub fn text(&self, language: Language) -> &str {
        let (first, second) = match language {
            Language::En => (&self.en, &self.es),
            Language::Es => (&self.es, &self.en),
        };
        if first.is_empty() { second } else { first }
    }
}

impl Tx {
    /// Returns the casino's saved replies by title.
    pub async fn saved_replies(&mut self) -> Result<Vec<SavedReply>> {
        let query = "select reply_id, title, en, es from saved_replies order by lower(title)";
        Ok(sqlx::query_as(query).fetch_all(self.conn()).await?)
    }

    /// Adds a saved reply, or replaces the one with its id. After [`Saved::TitleTaken`], the
    /// transaction is aborted and must be rolled back.
    pub async fn put_saved_reply(&mut self, reply: &SavedReply, by: &str) -> Result<Saved> {
        let casino = self.casino_str();
        let stored = sqlx::query(
            "insert into saved_replies (casino_id, reply_id, title, en, es, changed_by) values ($1, $2, $3, $4, $5, $6)
             on conflict (casino_id, reply_id) do update set title = excluded.title, en = excluded.en, es = excluded.es,
               changed_by = excluded.changed_by, changed_at = now()",
        )
        .bind(casino)
        .bind(reply.reply_id)
        .bind(&reply.title)
        .bind(&reply.en)
        .bind(&reply.es)
        .bind(by)
        .execute(self.conn())
        .await;
        match stored {
            Ok(_) => Ok(Saved::Stored),
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                Ok(Saved::TitleTaken)
            }
            Err(error) => Err(Error::from(error)),
        }
    }

    /// Removes a saved reply; returns false if there was none.
    pub async fn remove_saved_reply(&mut self, reply: Uuid) -> Result<bool> {
        let query = "delete from saved_replies where reply_id = $1";
        let removed = sqlx::query(query).bind(reply).execute(self.conn()).await?;
        Ok(removed.rows_affected() == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_gets_the_own_language_or_the_one_there_is() {
        let reply = |en: &str, es: &str| SavedReply {
            en: en.into(),
            es: es.into(),
            ..SavedReply::default()
        };
        for (en, es, language, text) in [
            ("Hello", "Hola", Language::En, "Hello"),
            ("Hello", "Hola", Language::Es, "Hola"),
            ("Hello", "", Language::Es, "Hello"),
            ("", "Hola", Language::En, "Hola"),
        ] {
            assert_eq!(reply(en, es).text(language), text);
        }
    }
}
