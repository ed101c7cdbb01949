//! The audit log: append-only for every role, phone-free (SEC-65).

use serde_json::Value;

use crate::{Result, Tx};

impl Tx {
    /// Appends one entry. `subject` is an id, never a phone; `detail` holds no guest text.
    pub async fn audit(
        &mut self,
        actor: &str,
        action: &str,
        subject: &str,
        detail: Value,
        trace: Option<&str>,
    ) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into audit_log (casino_id, actor, action, subject, detail, trace) values ($1, $2, $3, $4, $5, $6)",
        )
        .bind(casino)
        .bind(actor)
        .bind(action)
        .bind(subject)
        .bind(detail)
        .bind(trace)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
