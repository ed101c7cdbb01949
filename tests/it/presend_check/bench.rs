//! Applies the pre-send check to one text under one condition.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use chrono::{DateTime, Utc};
use seven_compliance::chain::Action;
use seven_domain::{
    AttemptId, Channel, ConsentTier, GuestHash, MessageClass, OutboundId, PhoneE164,
};
use seven_settings::Worker;
use seven_store::{
    Tx,
    consent::Consent,
    guests::{GuestLaw, NewIds, Party},
    outbound::{NewOutbound, Origin},
    presend_check::{PresendCheck, Refusal},
};
use sqlx::{AssertSqlSafe, PgPool};

use crate::harness::{House, Wanted, house};

/// A house for tests of the pre-send check. Most tests start it without workers, and act as the
/// sender.
pub(crate) struct Bench {
    pub(crate) house: House,
    pub(crate) owner: PgPool,
    guests: AtomicU32,
}

/// A state of the casino or the fleet that holds while a row of the table is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Switch {
    Casino(&'static str),
    Fleet(&'static str),
    Status(&'static str),
    /// A part of the casino's document: path and JSON value.
    Config(&'static str, &'static str),
    /// The casino gave up the number from which the text would be sent.
    Retired,
}

/// A condition of the table: how a text, its guest and their surroundings differ from
/// [`Condition::NOTHING`]. The SQL fragments run as the database's owner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Condition {
    pub(crate) name: &'static str,
    suppression: Option<&'static str>,
    guest: Option<&'static str>,
    text: Option<&'static str>,
    state: Option<&'static str>,
    /// State of an earlier text of the same class in the same conversation; `None` if there is no
    /// such text.
    earlier: Option<&'static str>,
    earlier_is_new: bool,
    switch: Option<Switch>,
    window_open: bool,
    /// Time of a STOP that Redis holds; `None` if Redis holds none.
    refused: Option<&'static str>,
    /// A statement that adds another row; {casino}, {hash}, {guest} and {outbound} in it are
    /// replaced.
    row: Option<&'static str>,
    exclusion_list_needed: bool,
    risk: Option<f64>,
}

impl Condition {
    /// The guest gave every consent, no quiet hours hold, and the text is due now.
    pub(crate) const NOTHING: Self = Self {
        name: "nothing",
        suppression: None,
        guest: None,
        text: None,
        state: None,
        earlier: None,
        earlier_is_new: false,
        switch: None,
        window_open: true,
        refused: None,
        row: None,
        exclusion_list_needed: false,
        risk: Some(0.0),
    };

    pub(crate) const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Sets the SQL that changes the guest's suppression row: a `set` clause, or `delete` to remove
    /// the row.
    pub(crate) const fn suppression(self, set: &'static str) -> Self {
        Self {
            suppression: Some(set),
            ..self
        }
    }

    pub(crate) const fn guest(self, set: &'static str) -> Self {
        Self {
            guest: Some(set),
            ..self
        }
    }

    pub(crate) const fn text(self, set: &'static str) -> Self {
        Self {
            text: Some(set),
            ..self
        }
    }

    pub(crate) const fn state(self, state: &'static str) -> Self {
        Self {
            state: Some(state),
            ..self
        }
    }

    pub(crate) const fn earlier(self, state: &'static str) -> Self {
        Self {
            earlier: Some(state),
            ..self
        }
    }

    pub(crate) const fn after_the_switch(self) -> Self {
        Self {
            earlier_is_new: true,
            ..self
        }
    }

    pub(crate) const fn switch(self, switch: Switch) -> Self {
        Self {
            switch: Some(switch),
            ..self
        }
    }

    pub(crate) const fn window_closed(self) -> Self {
        Self {
            window_open: false,
            ..self
        }
    }

    pub(crate) const fn row(self, insert: &'static str) -> Self {
        Self {
            row: Some(insert),
            ..self
        }
    }

    pub(crate) const fn exclusion_list_needed(self) -> Self {
        Self {
            exclusion_list_needed: true,
            ..self
        }
    }

    pub(crate) const fn risk(self, risk: Option<f64>) -> Self {
        Self { risk, ..self }
    }

    pub(crate) const fn refused(self, as_of: &'static str) -> Self {
        Self {
            refused: Some(as_of),
            ..self
        }
    }
}

/// A guest with a conversation.
pub(crate) struct Guest {
    pub(crate) hash: GuestHash,
    pub(crate) party: Party,
}

impl Bench {
    pub(crate) async fn new(unique: &str) -> Self {
        Self::with(unique, Vec::new()).await
    }

    pub(crate) async fn with(unique: &str, workers: Vec<Worker>) -> Self {
        let house = house(
            unique,
            Wanted {
                workers,
                ..Wanted::default()
            },
        )
        .await;
        let owner = PgPool::connect(&house.database_url).await.unwrap();
        Self {
            house,
            owner,
            guests: AtomicU32::new(0),
        }
    }

    /// Begins a transaction that has read the casino's document, as a sender's transaction has.
    /// Without this reading every text is refused.
    pub(crate) async fn bind(&self) -> Tx {
        let mut tx = self
            .house
            .stack
            .fleet
            .store
            .bind(self.house.casino())
            .await
            .unwrap();
        tx.casino_row().await.unwrap().unwrap();
        tx
    }

    /// Adds a guest who consented to everything.
    pub(crate) async fn guest(&self) -> Guest {
        let n = self.guests.fetch_add(1, Ordering::Relaxed);
        let phone: PhoneE164 = format!("+1{}55501{:02}", 200 + n / 100, n % 100)
            .parse()
            .unwrap();
        let fleet = &self.house.stack.fleet;
        let hash = fleet.keys.hash(self.house.casino(), &phone);
        let new = NewIds {
            guest: fleet.ids.next(),
            conversation: fleet.ids.next(),
        };
        let mut tx = self.bind().await;
        let party = tx
            .party(
                &phone,
                &hash,
                &self.house.config.operational.telnyx_phone_number,
                Channel::Sms,
                new,
                &GuestLaw::default(),
            )
            .await
            .unwrap();
        let consent = Consent {
            guest: &hash,
            guest_id: Some(party.guest_id),
            action: Action::Granted,
            method: "web_form",
            tier: ConsentTier::Marketing,
            at: Utc::now(),
            evidence: serde_json::json!({}),
            actor: "test",
            trace: None,
        };
        tx.record_consent(&consent, &fleet.keys).await.unwrap();
        tx.commit().await.unwrap();
        Guest { hash, party }
    }

    pub(crate) async fn queue(&self, guest: &Guest, class: MessageClass) -> OutboundId {
        let outbound_id: OutboundId = self.house.stack.fleet.ids.next();
        let text = NewOutbound::new(
            outbound_id,
            guest.party.recipient(),
            Origin::Canned {
                inbound: self.house.stack.fleet.ids.next(),
                key: "test",
            },
            class,
            "Good evening.".to_owned(),
            Duration::from_secs(300),
        )
        .answers_at(Some(Utc::now()));
        let mut tx = self.bind().await;
        assert!(tx.queue(&text).await.unwrap().is_some());
        tx.commit().await.unwrap();
        outbound_id
    }

    pub(crate) fn check_of(&self, outbound_id: OutboundId) -> PresendCheck {
        PresendCheck {
            outbound_id,
            attempt_id: self.house.stack.fleet.ids.next::<AttemptId>(),
            provider: "telnyx",
            sender: Some(self.house.config.operational.telnyx_phone_number.clone()),
            deadline: Duration::from_secs(10),
            grace: Duration::from_secs(30),
            window_open: true,
            exclusion_list_needed: false,
            called_at: Utc::now(),
            refused_as_of: None,
            risk: Some(0.0),
        }
    }

    /// Turns the condition's switch on or off. The switch is stored as if it had begun a minute
    /// ago, so that a text can be older or younger than the switch.
    pub(crate) async fn switch(&self, condition: &Condition, on: bool) {
        let Some(switch) = condition.switch else {
            return;
        };
        let casino = self.house.casino();
        let statement = match (switch, on) {
            (Switch::Status(status), true) => format!("update casinos set status = '{status}'"),
            (Switch::Config(path, value), true) => {
                // Keeps the other fields of the object at `path`, without which the document is
                // invalid.
                let group = format!("(config #> '{path}') || '{value}'::jsonb");
                let value = if value.starts_with('{') {
                    group
                } else {
                    format!("'{value}'")
                };
                format!("update casinos set config = jsonb_set(config, '{path}', {value})")
            }
            (Switch::Config(..), false) => {
                let config = serde_json::to_string(&self.house.config)
                    .unwrap()
                    .replace('\'', "''");
                format!("update casinos set config = '{config}'")
            }
            (Switch::Status(_), false) => "update casinos set status = 'active'".to_owned(),
            (Switch::Casino(name), true) => {
                format!(
                    "insert into controls (casino_id, name, since, actor, reason) values ('{casino}', '{name}', now() - interval '1 min', 'test', 'test')"
                )
            }
            (Switch::Fleet(name), true) => format!(
                "insert into fleet_controls (name, since, actor, reason) values ('{name}', now() - interval '1 min', 'test', 'test')"
            ),
            (Switch::Retired, true) => "update routes set retired_at = now()".to_owned(),
            (Switch::Retired, false) => "update routes set retired_at = null".to_owned(),
            (Switch::Casino(_), false) => "delete from controls".to_owned(),
            (Switch::Fleet(_), false) => "delete from fleet_controls".to_owned(),
        };
        sqlx::query(AssertSqlSafe(statement))
            .execute(&self.owner)
            .await
            .unwrap();
    }

    /// Checks a text to a new guest and returns the refusal. Asserts that a permitted text is
    /// `sending` with one attempt and one due row for a doubt, and that a refused text is
    /// unchanged.
    pub(crate) async fn cell(&self, class: MessageClass, condition: &Condition) -> Option<Refusal> {
        let guest = self.guest().await;
        let id = guest.party.guest_id.0;
        if let Some(state) = condition.earlier {
            let earlier = self.queue(&guest, class).await;
            let age = if condition.earlier_is_new {
                "30 s"
            } else {
                "2 min"
            };
            self.set(&format!(
                "outbound_messages set state = '{state}', created_at = now() - interval '{age}' where outbound_id = '{earlier}'"
            ))
            .await;
        }
        let outbound = self.queue(&guest, class).await;
        let hash = guest.hash.hex();
        match condition.suppression {
            Some("delete") => {
                self.run(&format!(
                    "delete from suppressions where phone_hash = '\\x{hash}'"
                ))
                .await;
            }
            Some(set) => {
                self.set(&format!(
                    "suppressions set {set} where phone_hash = '\\x{hash}'"
                ))
                .await;
            }
            None => {}
        }
        if let Some(set) = condition.guest {
            self.set(&format!("guests set {set} where guest_id = '{id}'"))
                .await;
        }
        if let Some(set) = condition.text {
            self.set(&format!(
                "outbound_messages set {set} where outbound_id = '{outbound}'"
            ))
            .await;
        }
        if let Some(state) = condition.state {
            self.set(&format!(
                "outbound_messages set state = '{state}' where outbound_id = '{outbound}'"
            ))
            .await;
        }
        if let Some(row) = condition.row {
            let filled = row
                .replace("{casino}", self.house.casino().as_str())
                .replace("{hash}", &format!("'\\x{hash}'"))
                .replace("{guest}", &id.to_string())
                .replace("{outbound}", &outbound.to_string());
            sqlx::query(AssertSqlSafe(filled))
                .execute(&self.owner)
                .await
                .unwrap();
        }
        let refused_as_of: Option<DateTime<Utc>> =
            condition.refused.map(|as_of| as_of.parse().unwrap());
        let check = PresendCheck {
            window_open: condition.window_open,
            exclusion_list_needed: condition.exclusion_list_needed,
            risk: condition.risk,
            refused_as_of,
            ..self.check_of(outbound)
        };
        let mut tx = self.bind().await;
        let verdict = tx.presend_check(&check).await.unwrap();
        tx.commit().await.unwrap();
        let left = self.left(outbound, &check).await;
        let expected = if verdict.is_ok() {
            ("sending", 1, 1)
        } else {
            (condition.state.unwrap_or("queued"), 0, 0)
        };
        assert_eq!(
            (left.0.as_str(), left.1, left.2),
            expected,
            "{class} under {condition:?}: state, attempts, doubt rows"
        );
        verdict.err()
    }

    /// Returns the text's state, the number of its pending attempts, and the number of the
    /// attempt's due rows for a doubt.
    async fn left(&self, outbound: OutboundId, check: &PresendCheck) -> (String, i64, i64) {
        sqlx::query_as(
            "select o.state, (select count(*) from send_attempts a where a.outbound_id = o.outbound_id and a.outcome = 'pending'),
                    (select count(*) from due d where d.row_id = $2 and d.kind = 'attempt_doubt')
             from outbound_messages o where o.outbound_id = $1",
        )
        .bind(outbound.0)
        .bind(check.attempt_id.0)
        .fetch_one(&self.owner)
        .await
        .unwrap()
    }

    async fn set(&self, update: &str) {
        self.run(&format!("update {update}")).await;
    }

    /// Runs a statement without triggers, so that it can also set a state that the text could not
    /// reach from its current state.
    async fn run(&self, statement: &str) {
        let mut tx = self.owner.begin().await.unwrap();
        sqlx::query("set local session_replication_role = replica")
            .execute(&mut *tx)
            .await
            .unwrap();
        let done = sqlx::query(AssertSqlSafe(statement.to_owned()))
            .execute(&mut *tx)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        assert_eq!(done.rows_affected(), 1, "{statement}");
    }
}
