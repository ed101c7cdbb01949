//! The casinos that a process knows, read from the bucket that mirrors Postgres (D14). If the
//! bucket disappears, the known casinos are kept.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, RwLock},
    time::Duration,
};

use async_nats::jetstream::consumer::{DeliverPolicy, push};
use chrono::{DateTime, Utc};
use futures::StreamExt;
use prost::Message;
use seven_domain::CasinoId;
use tokio_util::sync::CancellationToken;

use crate::{Bus, Error, events::Control, topology};

/// A shared, live view of the casinos that a process knows; reading it never waits on I/O.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    known: Arc<RwLock<Known>>,
    /// The casinos that this process serves; empty for all.
    only: Arc<Vec<CasinoId>>,
}

#[derive(Debug, Default)]
struct Known {
    casinos: BTreeMap<CasinoId, Control>,
    /// The casino of each phone number, looked up for every webhook.
    routes: HashMap<String, Route>,
}

/// The casino of a phone number, and the casino that had the number before (D40).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub casino: CasinoId,
    /// The former casino and the time of the transfer; `None` if the number had no other casino.
    pub former: Option<(CasinoId, DateTime<Utc>)>,
}

// === impl Route ===

impl Route {
    /// Returns the route of a number that had no other casino before.
    pub fn to(casino: CasinoId) -> Self {
        Self {
            casino,
            former: None,
        }
    }

    /// Returns the casino to which a text written at this time belongs. The time decides because a
    /// webhook may arrive late or twice: otherwise the old and the new casino could both answer one
    /// text.
    pub fn casino_at(&self, written_at: DateTime<Utc>) -> &CasinoId {
        match &self.former {
            Some((former, since)) if written_at < *since => former,
            _ => &self.casino,
        }
    }

    /// Returns the former casino of the number, or the current one if the number had no other.
    pub fn first(&self) -> &CasinoId {
        self.former
            .as_ref()
            .map_or(&self.casino, |(former, _)| former)
    }
}

// === impl Known ===

impl Known {
    fn put(&mut self, casino: CasinoId, control: Control) {
        self.remove(&casino);
        for number in &control.numbers {
            let mut route = Route::to(casino.clone());
            let handed_on = control.handed_on.iter().find(|on| on.number == *number);
            route.former = handed_on.and_then(|on| {
                let since = DateTime::from_timestamp_millis(on.since_ms)?;
                Some((CasinoId::trusted(&on.former_casino).ok()?, since))
            });
            self.routes.insert(number.clone(), route);
        }
        self.casinos.insert(casino, control);
    }

    /// Removes a casino. A number that another casino has taken over keeps its new owner.
    fn remove(&mut self, casino: &CasinoId) {
        for number in self
            .casinos
            .remove(casino)
            .into_iter()
            .flat_map(|control| control.numbers)
        {
            if self
                .routes
                .get(&number)
                .is_some_and(|route| route.casino == *casino)
            {
                self.routes.remove(&number);
            }
        }
    }
}

// === impl Roster ===

impl Roster {
    pub fn new(only: Vec<CasinoId>) -> Self {
        Self {
            known: Arc::default(),
            only: Arc::new(only),
        }
    }

    /// Returns the casinos that this process is limited to; empty for all.
    pub fn only(&self) -> &[CasinoId] {
        &self.only
    }

    /// Replaces a casino's state with one read from Postgres. Called at start, and whenever a
    /// scheduler or ingress reads the state.
    pub fn put(&self, control: Control) {
        let Ok(casino) = CasinoId::trusted(&control.casino) else {
            return;
        };
        if let Ok(mut known) = self.known.write() {
            known.put(casino, control);
        }
    }

    /// Returns the active casinos that this process serves.
    pub fn serving(&self) -> Vec<CasinoId> {
        let Ok(known) = self.known.read() else {
            return Vec::new();
        };
        let casinos = known.casinos.iter();
        casinos
            .filter(|(id, c)| c.active && (self.only.is_empty() || self.only.contains(id)))
            .map(|(id, _)| id.clone())
            .collect()
    }

    pub fn get(&self, casino: &CasinoId) -> Option<Control> {
        self.known.read().ok()?.casinos.get(casino).cloned()
    }

    /// Returns the casino that owns this number, as far as this process knows.
    pub fn casino_of(&self, number: &str) -> Option<CasinoId> {
        Some(self.route_of(number)?.casino)
    }

    /// Returns the current and the former casino of this number, as far as this process knows.
    pub fn route_of(&self, number: &str) -> Option<Route> {
        self.known.read().ok()?.routes.get(number).cloned()
    }

    pub fn is_paused(&self, casino: &CasinoId, switch: &str) -> bool {
        let Ok(known) = self.known.read() else {
            return false;
        };
        known
            .casinos
            .get(casino)
            .is_some_and(|control| control.paused.iter().any(|paused| paused == switch))
    }

    /// Watches the bucket until shutdown; a watch that fails or falls silent is set up again.
    pub async fn follow(&self, bus: &Bus, shutdown: CancellationToken) {
        while !shutdown.is_cancelled() {
            tokio::select! {
                () = shutdown.cancelled() => return,
                outcome = self.watch(bus) => if let Err(error) = outcome {
                    tracing::debug!(
                        error = &error as &dyn std::error::Error,
                        "watching the fleet bucket; trying again"
                    );
                },
            }
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(Duration::from_millis(500)) => {}
            }
        }
    }

    async fn watch(&self, bus: &Bus) -> Result<(), Error> {
        let broken = |e: async_nats::Error| Error::setup("watch on bucket fleet")(e);
        let bucket = bus.bucket().await?;
        // A worker for one casino may have credentials limited to that casino. Because the consumer
        // gets a name and a filter, its create request names the casino in the subject, where the
        // server can check it.
        let watched = match self.only() {
            [casino] => topology::subject_for_control(Some(casino)),
            _ => topology::subject_for_control(None),
        };
        let inbox = bus.client.new_inbox();
        let consumer = bucket
            .stream
            .create_consumer(push::OrderedConfig {
                name: inbox
                    .rsplit('.')
                    .next()
                    .map(|unique| format!("roster-{unique}")),
                deliver_subject: inbox,
                filter_subject: watched,
                deliver_policy: DeliverPolicy::LastPerSubject,
                ..push::OrderedConfig::default()
            })
            .await
            .map_err(|e| broken(e.into()))?;
        let mut changes = consumer.messages().await.map_err(|e| broken(e.into()))?;
        // The watch is renewed every 30 seconds. If its bucket was replaced, a watch may stay
        // silent without an error.
        let until = tokio::time::Instant::now() + Duration::from_secs(30);
        while let Ok(Some(change)) = tokio::time::timeout_at(until, changes.next()).await {
            let entry = change.map_err(|e| broken(e.into()))?;
            // The header `KV-Operation` says whether a value was deleted; a stored value does not
            // have it.
            let operation = entry
                .headers
                .as_ref()
                .and_then(|headers| headers.get("KV-Operation"));
            let gone =
                operation.is_some_and(|operation| matches!(operation.as_str(), "DEL" | "PURGE"));
            match entry.subject.strip_prefix(bucket.prefix.as_str()) {
                Some(key) if gone => self.forget(key),
                _ => {
                    if let Ok(control) = Control::decode(entry.payload.clone()) {
                        self.put(control);
                    }
                }
            }
        }
        Ok(())
    }

    fn forget(&self, key: &str) {
        if let (Ok(casino), Ok(mut known)) = (CasinoId::trusted(key), self.known.write()) {
            known.remove(&casino);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::HandedOn;

    fn control(casino: &str, active: bool, number: &str) -> Control {
        Control {
            casino: casino.into(),
            active,
            numbers: vec![number.into()],
            ..Control::default()
        }
    }

    #[test]
    fn serves_active_casinos_of_its_own_list_only() {
        let roster = Roster::new(vec!["a_one".parse().unwrap(), "b_two".parse().unwrap()]);
        for (casino, active) in [("a_one", true), ("b_two", false), ("c_three", true)] {
            roster.put(control(casino, active, &format!("+1860555{casino}")));
        }
        assert_eq!(roster.serving(), ["a_one".parse().unwrap()]);
        assert_eq!(
            roster.casino_of("+1860555c_three").unwrap().as_str(),
            "c_three"
        );
    }

    #[test] // D40
    fn a_text_belongs_to_the_casino_that_had_the_number_when_it_was_written() {
        let roster = Roster::new(Vec::new());
        roster.put(Control {
            handed_on: vec![HandedOn {
                number: "+18605550101".into(),
                former_casino: "a_one".into(),
                since_ms: 1_000,
            }],
            ..control("b_two", true, "+18605550101")
        });
        let route = roster.route_of("+18605550101").unwrap();
        for (millis, casino) in [
            (0, "a_one"),
            (999, "a_one"),
            (1_000, "b_two"),
            (9_000, "b_two"),
        ] {
            let written_at = DateTime::from_timestamp_millis(millis).unwrap();
            assert_eq!(route.casino_at(written_at).as_str(), casino, "{millis}");
        }
        assert_eq!(route.first().as_str(), "a_one");
        roster.put(control("b_two", true, "+18605550101"));
        let route = roster.route_of("+18605550101").unwrap();
        assert_eq!(route, Route::to("b_two".parse().unwrap()));
    }

    #[test]
    fn a_number_is_its_newest_owners() {
        let roster = Roster::new(Vec::new());
        let owner = |number: &str| roster.casino_of(number).map(|casino| casino.to_string());
        roster.put(control("a_one", true, "+18605550101"));
        roster.put(control("b_two", true, "+18605550102"));
        roster.put(control("b_two", true, "+18605550101"));
        assert_eq!(owner("+18605550101").as_deref(), Some("b_two"));
        assert_eq!(owner("+18605550102"), None);
        roster.put(control("a_one", true, "+18605550103"));
        assert_eq!(
            owner("+18605550101").as_deref(),
            Some("b_two"),
            "what has moved on stays where it is"
        );
        roster.forget("b_two");
        assert_eq!(
            (owner("+18605550101"), owner("+18605550103").as_deref()),
            (None, Some("a_one"))
        );
    }
}
