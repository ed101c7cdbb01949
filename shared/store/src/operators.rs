//! The people who work with console and commands (D26): accounts, roles, links and failed logins.
//! Only the console's database login reads these tables. The tables belong to no casino. Callers
//! use a transaction that is bound to no casino; its audit entries belong to the fleet.

mod keys;
mod sessions;

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use seven_domain::{CasinoId, LinkPurpose, OperatorId, OperatorStatus, Role};
use sqlx::FromRow;
use uuid::Uuid;

pub use self::keys::ListedKey;
pub use self::sessions::{SESSION_HOURS, SESSION_IDLE_MINUTES, Session};
use crate::{Result, Store, Tx};

#[derive(Debug, Clone)]
pub struct NewOperator<'a> {
    pub operator_id: OperatorId,
    /// The email address, in lower case.
    pub email: &'a str,
    pub name: &'a str,
    /// The language of the console's pages: `en` or `es`.
    pub language: &'a str,
    pub by: &'a str,
}

/// An account with the secrets that a login is checked against. `Debug` does not print them.
#[derive(Clone, FromRow)]
pub struct Account {
    pub operator_id: Uuid,
    pub email: String,
    pub name: String,
    pub language: String,
    pub status: OperatorStatus,
    pub password_hash: Option<String>,
    pub totp_key: Option<Vec<u8>>,
    pub totp_step: i64,
    /// If the account is bound to a casino's own login provider: the provider's issuer and the
    /// person's id there, in one string.
    pub oidc_subject: Option<String>,
}

/// An operator as lists show it.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct ListedOperator {
    pub operator_id: Uuid,
    pub email: String,
    pub name: String,
    pub status: OperatorStatus,
    pub second_factor: bool,
    /// `role` for every casino, `role@casino` for one; ` until ` and the last day may follow.
    pub roles: Vec<String>,
    pub last_seen_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// A link that was sent to a person, was not used yet and has not expired.
#[derive(Debug, Clone, Copy, FromRow)]
pub struct Link {
    pub operator_id: Uuid,
    pub purpose: LinkPurpose,
}

const ACCOUNT: &str = "select operator_id, email, name, language, status, password_hash, totp_key, totp_step, oidc_subject from operators
     where operator_id = $1 or email = $2";

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account")
            .field("operator_id", &self.operator_id)
            .finish_non_exhaustive()
    }
}

/// A person who may write to guests.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Host {
    /// The person's name in the audit log: `operator:` and the id.
    pub actor: String,
    pub name: String,
}

impl Store {
    /// Begins a transaction about operators, whose audit entries belong to no casino.
    pub async fn staff(&self) -> Result<Tx> {
        self.bind(&CasinoId::unknown()).await
    }
}

impl Tx {
    /// Adds a person; returns false if the email address already has an account.
    pub async fn add_operator(&mut self, new: &NewOperator<'_>) -> Result<bool> {
        let done = sqlx::query(
            "insert into operators (operator_id, email, name, language, created_by) values ($1, $2, $3, $4, $5) on conflict do nothing",
        )
        .bind(new.operator_id.0)
        .bind(new.email)
        .bind(new.name)
        .bind(new.language)
        .bind(new.by)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    pub async fn account_by_email(&mut self, email: &str) -> Result<Option<Account>> {
        Ok(sqlx::query_as(ACCOUNT)
            .bind(None::<Uuid>)
            .bind(email)
            .fetch_optional(self.conn())
            .await?)
    }

    pub async fn account(&mut self, operator: OperatorId) -> Result<Option<Account>> {
        Ok(sqlx::query_as(ACCOUNT)
            .bind(operator.0)
            .bind(None::<&str>)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Returns the account and locks its row until the end of the transaction.
    pub async fn account_locked(&mut self, operator: OperatorId) -> Result<Option<Account>> {
        sqlx::query("select 1 from operators where operator_id = $1 for update")
            .bind(operator.0)
            .execute(self.conn())
            .await?;
        self.account(operator).await
    }

    /// Returns all operators, by name.
    pub async fn operators(&mut self) -> Result<Vec<ListedOperator>> {
        Ok(sqlx::query_as(
            "select o.operator_id, o.email, o.name, o.status, o.totp_key is not null as second_factor, o.created_at,
               (select coalesce(array_agg(concat_ws(' until ', concat_ws('@', r.role, nullif(r.casino_id, '')), r.ends_on) order by r.casino_id, r.role), '{}')
                  from operator_roles r where r.operator_id = o.operator_id) as roles,
               (select max(s.seen_at) from operator_sessions s where s.operator_id = o.operator_id) as last_seen_at
             from operators o order by o.name, o.email",
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the names of all people who may appear as an actor in the bound casino's rows, keyed
    /// by actor. These are operators and contacts; a contact can acknowledge a case by a link.
    pub async fn staff_names(&mut self) -> Result<HashMap<String, String>> {
        let rows: Vec<(String, String)> = sqlx::query_as(
            "select 'operator:' || operator_id, name from operators
             union all select 'contact:' || contact_id, name from contacts",
        )
        .fetch_all(self.conn())
        .await?;
        Ok(rows.into_iter().collect())
    }

    /// Returns the people who may write to guests of the bound casino, by name.
    pub async fn hosts(&mut self) -> Result<Vec<Host>> {
        let casino = self.casino_str();
        Ok(sqlx::query_as(
            "select 'operator:' || operator_id as actor, name from operators operator
             where status = 'active' and exists (select 1 from operator_roles role
               where role.operator_id = operator.operator_id and role.role = 'host'
                 and role.casino_id in ('', $1) and coalesce(role.ends_on >= (now() at time zone 'utc')::date, true))
             order by lower(name), operator_id",
        )
        .bind(casino)
        .fetch_all(self.conn())
        .await?)
    }

    /// Gives a role at one casino, or at every casino if the casino is `None`. The role lasts until
    /// the end of the day `ends_on` (UTC), or for good if `ends_on` is `None`. Returns false when
    /// nothing changed.
    pub async fn grant_role(
        &mut self,
        operator: OperatorId,
        (casino, role): (Option<&CasinoId>, Role),
        ends_on: Option<NaiveDate>,
        by: &str,
    ) -> Result<bool> {
        let done = sqlx::query(
            "insert into operator_roles (operator_id, casino_id, role, granted_by, ends_on) values ($1, $2, $3, $4, $5)
             on conflict (operator_id, casino_id, role) do update set
               ends_on = excluded.ends_on, granted_by = excluded.granted_by, granted_at = now()
             where operator_roles.ends_on is distinct from excluded.ends_on",
        )
        .bind(operator.0)
        .bind(casino.map_or("", CasinoId::as_str))
        .bind(role)
        .bind(by)
        .bind(ends_on)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Takes a role away; returns false when the person does not have it.
    pub async fn revoke_role(
        &mut self,
        operator: OperatorId,
        casino: Option<&CasinoId>,
        role: Role,
    ) -> Result<bool> {
        let done = sqlx::query(
            "delete from operator_roles where operator_id = $1 and casino_id = $2 and role = $3",
        )
        .bind(operator.0)
        .bind(casino.map_or("", CasinoId::as_str))
        .bind(role)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Sets the password and ends every session of the person. The first password makes an invited
    /// account active.
    pub async fn set_password(&mut self, operator: OperatorId, hash: &str) -> Result<()> {
        sqlx::query(
            "update operators set password_hash = $2, status = case when status = 'invited' then 'active' else status end where operator_id = $1",
        )
        .bind(operator.0)
        .bind(hash)
        .execute(self.conn())
        .await?;
        self.end_sessions(operator).await?;
        Ok(())
    }

    /// Sets the key of the second factor and the time step of the code that confirmed this key; a
    /// key of `None` removes the second factor. Ends every session of the person.
    pub async fn set_factor(
        &mut self,
        operator: OperatorId,
        key: Option<&[u8]>,
        step: i64,
    ) -> Result<()> {
        sqlx::query("update operators set totp_key = $2, totp_step = $3 where operator_id = $1")
            .bind(operator.0)
            .bind(key)
            .bind(step)
            .execute(self.conn())
            .await?;
        self.end_sessions(operator).await?;
        Ok(())
    }

    /// Binds the account to a person at the casino's own login provider. Removes the account's
    /// password, second factor and links. Returns false if an account is bound to this person
    /// already.
    pub async fn bind_identity(&mut self, operator: OperatorId, subject: &str) -> Result<bool> {
        let done = sqlx::query(
            "update operators set oidc_subject = $2, password_hash = null, totp_key = null
             where operator_id = $1 and not exists (select from operators o where o.oidc_subject = $2)",
        )
        .bind(operator.0)
        .bind(subject)
        .execute(self.conn())
        .await?;
        sqlx::query("delete from operator_links where operator_id = $1")
            .bind(operator.0)
            .execute(self.conn())
            .await?;
        self.end_sessions(operator).await?;
        Ok(done.rows_affected() == 1)
    }

    /// Makes an invited account active.
    pub async fn activate(&mut self, operator: OperatorId) -> Result<()> {
        sqlx::query(
            "update operators set status = 'active' where operator_id = $1 and status = 'invited'",
        )
        .bind(operator.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns true if the person has a current role, and all current roles are at these casinos.
    pub async fn works_only_at(
        &mut self,
        operator: OperatorId,
        casinos: &[String],
    ) -> Result<bool> {
        Ok(sqlx::query_scalar(
            "select coalesce(bool_and(casino_id = any($2)), false) from operator_roles
             where operator_id = $1 and coalesce(ends_on >= (now() at time zone 'utc')::date, true)",
        )
        .bind(operator.0)
        .bind(casinos)
        .fetch_one(self.conn())
        .await?)
    }

    /// Unbinds the account from the person at the casino's own login provider, and ends the
    /// account's sessions. Returns false if the account was not bound.
    pub async fn forget_identity(&mut self, operator: OperatorId) -> Result<bool> {
        let done = sqlx::query(
            "update operators set oidc_subject = null where operator_id = $1 and oidc_subject is not null",
        )
        .bind(operator.0)
        .execute(self.conn())
        .await?;
        let was_bound = done.rows_affected() == 1;
        if was_bound {
            self.end_sessions(operator).await?;
        }
        Ok(was_bound)
    }

    /// Marks a time step of the second factor as used, so that the step's code is not accepted
    /// twice. Returns false if this step or a later one was used before.
    pub async fn use_step(&mut self, operator: OperatorId, step: i64) -> Result<bool> {
        let done = sqlx::query(
            "update operators set totp_step = $2 where operator_id = $1 and totp_step < $2",
        )
        .bind(operator.0)
        .bind(step)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Disables an account and ends its sessions, keys and links, or enables it again. Returns
    /// false when nothing changed.
    pub async fn set_disabled(&mut self, operator: OperatorId, disabled: bool) -> Result<bool> {
        let done = sqlx::query(
            "update operators set status = case when $2 then 'disabled' when password_hash is null then 'invited' else 'active' end
             where operator_id = $1 and (status = 'disabled') <> $2",
        )
        .bind(operator.0)
        .bind(disabled)
        .execute(self.conn())
        .await?;
        if disabled {
            self.end_sessions(operator).await?;
            self.end_keys(operator).await?;
            sqlx::query("delete from operator_links where operator_id = $1")
                .bind(operator.0)
                .execute(self.conn())
                .await?;
        }
        Ok(done.rows_affected() == 1)
    }

    /// Stores a link that can be used once, within this many hours. The link replaces the person's
    /// other links.
    pub async fn put_link(
        &mut self,
        hash: &[u8],
        operator: OperatorId,
        purpose: LinkPurpose,
        hours: i32,
        by: &str,
    ) -> Result<()> {
        sqlx::query("delete from operator_links where operator_id = $1")
            .bind(operator.0)
            .execute(self.conn())
            .await?;
        sqlx::query(
            "insert into operator_links (token_hash, operator_id, purpose, ends_at, created_by)
             values ($1, $2, $3, now() + make_interval(hours => $4), $5)",
        )
        .bind(hash)
        .bind(operator.0)
        .bind(purpose)
        .bind(hours)
        .bind(by)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the link if it may still be used; with `spend` it cannot be used again.
    pub async fn link(&mut self, hash: &[u8], spend: bool) -> Result<Option<Link>> {
        Ok(sqlx::query_as(
            "update operator_links l set used_at = case when $2 then now() end from operators o
             where l.token_hash = $1 and l.used_at is null and l.ends_at > now() and o.operator_id = l.operator_id and o.status <> 'disabled'
             returning l.operator_id, l.purpose",
        )
        .bind(hash)
        .bind(spend)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Counts the failed logins of the last `minutes`: of this account from this address, of this
    /// account from everywhere, and of all accounts from this address.
    pub async fn failed_logins(
        &mut self,
        account: &[u8],
        address: &[u8],
        minutes: i32,
    ) -> Result<(i64, i64, i64)> {
        Ok(sqlx::query_as(
            "select
               (select count(*) from operator_failures where account_hash = $1 and address_hash = $2 and at > now() - make_interval(mins => $3)),
               (select count(*) from operator_failures where account_hash = $1 and at > now() - make_interval(mins => $3)),
               (select count(*) from operator_failures where address_hash = $2 and at > now() - make_interval(mins => $3))",
        )
        .bind(account)
        .bind(address)
        .bind(minutes)
        .fetch_one(self.conn())
        .await?)
    }

    /// Records a failed login, and deletes all failed logins older than a day.
    pub async fn put_failed_login(&mut self, account: &[u8], address: &[u8]) -> Result<()> {
        sqlx::query("delete from operator_failures where at < now() - interval '1 day'")
            .execute(self.conn())
            .await?;
        sqlx::query("insert into operator_failures (account_hash, address_hash) values ($1, $2)")
            .bind(account)
            .bind(address)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Forgets the failed logins of this account from this address, after a login that succeeded.
    pub async fn clear_failed_logins(&mut self, account: &[u8], address: &[u8]) -> Result<()> {
        sqlx::query("delete from operator_failures where account_hash = $1 and address_hash = $2")
            .bind(account)
            .bind(address)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}
