//! Permissions of a NATS user: the subjects the code uses, and no more (SEC-160, DEP-14).
//! `seven deploy render` writes them into the server's configuration.
//!
//! Answers and pulled messages arrive in a user's own inbox; a user who shared one could read what
//! another casino's worker pulls.

use std::collections::BTreeSet;

use seven_domain::{CasinoId, Stage};

use crate::topology::{
    CONSUMING, CONTENT_SUBJECTS, FLEET_BUCKET_STREAM, TRACE_KEEP, WORKER_BEAT, consumer_name, lanes_of, stream_of,
    subject_for_content, subject_for_control, subjects_of, subjects_of_dead,
};

/// The prefix of a user's inboxes.
pub fn inbox_of(user: &str) -> String {
    format!("_INBOX.{user}")
}

/// Subjects a user may publish to and subscribe to; everything else is refused by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    pub publish: BTreeSet<String>,
    pub subscribe: BTreeSet<String>,
}

// === impl Permissions ===

impl Permissions {
    /// A user with nothing but its inbox, its beat, and the traces to keep, of which only random ids are told.
    pub fn of(user: &str) -> Self {
        Self {
            publish: BTreeSet::from([TRACE_KEEP.to_owned(), WORKER_BEAT.to_owned()]),
            subscribe: BTreeSet::from([format!("{}.>", inbox_of(user)), TRACE_KEEP.to_owned()]),
        }
    }

    /// Follows the switches of one casino, or of all (`Roster::follow`).
    #[must_use]
    pub fn follow(mut self, casino: Option<&CasinoId>) -> Self {
        let (bucket, control) = (FLEET_BUCKET_STREAM, subject_for_control(casino));
        self.api(&format!("STREAM.INFO.{bucket}"));
        self.api(&format!("CONSUMER.CREATE.{bucket}.*.{control}"));
        self.publish.insert(format!("$JS.FC.{bucket}.>"));
        if casino.is_none() {
            // Ends a watch that broke. Names of watches have no casino in them, so one casino's user cannot have this.
            self.api(&format!("CONSUMER.DELETE.{bucket}.*"));
        }
        self
    }

    /// Works on a stage: pulls, acknowledges, publishes copies of what waits too long, buries what cannot be handled.
    #[must_use]
    pub fn work(mut self, stage: Stage, casino: Option<&CasinoId>) -> Self {
        let stream = stream_of(stage);
        for lane in lanes_of(stage) {
            let consumer = casino.map_or_else(|| "*".to_owned(), |casino| consumer_name(stage, casino, *lane));
            self.api(&format!("CONSUMER.INFO.{stream}.{consumer}"));
            self.api(&format!("CONSUMER.MSG.NEXT.{stream}.{consumer}"));
            self.publish.insert(format!("$JS.ACK.{stream}.{consumer}.>"));
        }
        self.hand_on(stage, casino).dead_letter(stage, casino)
    }

    /// Publishes what `stage` receives.
    #[must_use]
    pub fn hand_on(mut self, stage: Stage, casino: Option<&CasinoId>) -> Self {
        self.publish.extend(subjects_of(stage, casino));
        self
    }

    /// Announces dead letters of a stage.
    #[must_use]
    pub fn dead_letter(mut self, stage: Stage, casino: Option<&CasinoId>) -> Self {
        self.publish.insert(subjects_of_dead(Some(stage), casino));
        self
    }

    /// Hears of new content.
    #[must_use]
    pub fn hear_content(mut self, casino: Option<&CasinoId>) -> Self {
        self.subscribe.insert(casino.map_or_else(|| CONTENT_SUBJECTS.to_owned(), subject_for_content));
        self
    }

    /// Takes single messages out of a stage's stream. The server asks for the stream alone, so this reaches every casino's messages:
    /// it can destroy them, and read or write none.
    #[must_use]
    pub fn erase(mut self, stage: Stage) -> Self {
        self.api(&format!("STREAM.MSG.DELETE.{}", stream_of(stage)));
        self
    }

    /// Keeps streams, bucket and consumers in place, repeats any signal, files dead letters, erases what was deleted: the scheduler.
    #[must_use]
    pub fn tend(mut self) -> Self {
        for call in [
            // Asked before a bucket is created.
            "INFO",
            "STREAM.INFO.*",
            "STREAM.CREATE.*",
            "STREAM.UPDATE.*",
            "STREAM.MSG.DELETE.*",
            "CONSUMER.CREATE.>",
            "CONSUMER.INFO.*.*",
            "CONSUMER.NAMES.*",
            "CONSUMER.LIST.*",
            "CONSUMER.MSG.NEXT.*.*",
            "DIRECT.GET.>",
        ] {
            self.api(call);
        }
        self.publish.extend(["$JS.ACK.>".to_owned(), subject_for_control(None), subjects_of_dead(None, None)]);
        CONSUMING.into_iter().fold(self.follow(None), |all, stage| all.hand_on(stage, None))
    }

    /// Adds to `tend` the rights of operators' commands: announce content, remove a casino's
    /// consumers, and hear which workers live.
    #[must_use]
    pub fn operate(self) -> Self {
        let mut all = self.tend();
        all.api("CONSUMER.DELETE.*.*");
        all.publish.insert(CONTENT_SUBJECTS.to_owned());
        all.subscribe.insert(WORKER_BEAT.to_owned());
        all
    }

    fn api(&mut self, call: &str) {
        self.publish.insert(format!("$JS.API.{call}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_casinos_user_names_no_other_casino() {
        let casino: CasinoId = "silver_birch".parse().unwrap();
        let user = Permissions::of("agent-swarm-silver-birch")
            .follow(Some(&casino))
            .work(Stage::Swarm, Some(&casino))
            .hand_on(Stage::Sender, Some(&casino))
            .hear_content(Some(&casino));
        let bare = ["$JS.API.STREAM.INFO.KV_fleet", "$JS.FC.KV_fleet.>", TRACE_KEEP, WORKER_BEAT];
        for subject in user.publish.iter().filter(|s| !bare.contains(&s.as_str())) {
            assert!(subject.contains(casino.as_str()), "{subject}");
        }
        assert_eq!(
            user.subscribe.iter().map(String::as_str).collect::<Vec<_>>(),
            ["_INBOX.agent-swarm-silver-birch.>", "content.silver_birch", TRACE_KEEP]
        );
    }
}
