//! Permissions of a NATS user, written into the server's configuration. A user may use only the
//! subjects that it needs. It has its own inbox, because in a shared inbox it could read other
//! users' replies.

use std::collections::BTreeSet;

use seven_domain::{CasinoId, Stage};

use crate::topology::{
    CONSUMING, CONTENT_SUBJECTS, FLEET_BUCKET_STREAM, HINT_SUBJECTS, TRACE_KEEP, WORKER_BEAT,
    consumer_name, queues_of, stream_of, subject_for_content, subject_for_control,
    subject_for_hints, subjects_of, subjects_of_dead,
};

/// Returns the prefix of a user's inboxes.
pub fn inbox_of(user: &str) -> String {
    format!("_INBOX.{user}")
}

/// Subjects that a user may publish to and subscribe to; the server refuses everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    pub publish: BTreeSet<String>,
    pub subscribe: BTreeSet<String>,
}

// === impl Permissions ===

impl Permissions {
    /// Returns a user's basic permissions: its inbox, its heartbeat, and the announcements of
    /// traces to keep, which contain only random ids.
    pub fn of(user: &str) -> Self {
        Self {
            publish: BTreeSet::from([TRACE_KEEP.to_owned(), WORKER_BEAT.to_owned()]),
            subscribe: BTreeSet::from([format!("{}.>", inbox_of(user)), TRACE_KEEP.to_owned()]),
        }
    }

    /// Adds the right to follow the switches of one casino, or of all casinos if `casino` is `None`
    /// (`Roster::follow`).
    #[must_use]
    pub fn follow(mut self, casino: Option<&CasinoId>) -> Self {
        let (bucket, control) = (FLEET_BUCKET_STREAM, subject_for_control(casino));
        self.api(&format!("STREAM.INFO.{bucket}"));
        self.api(&format!("CONSUMER.CREATE.{bucket}.*.{control}"));
        self.publish.insert(format!("$JS.FC.{bucket}.>"));
        if casino.is_none() {
            // Allows the user to delete the consumer of a broken watch. The consumer's name
            // contains no casino, so this right cannot be limited to one casino.
            self.api(&format!("CONSUMER.DELETE.{bucket}.*"));
        }
        self
    }

    /// Adds the right to work on a stage. The worker pulls and acknowledges messages, publishes
    /// copies of messages that waited too long, and writes dead letters.
    #[must_use]
    pub fn work(mut self, stage: Stage, casino: Option<&CasinoId>) -> Self {
        let stream = stream_of(stage);
        for queue in queues_of(stage) {
            let consumer = casino.map_or_else(
                || "*".to_owned(),
                |casino| consumer_name(stage, casino, *queue),
            );
            self.api(&format!("CONSUMER.INFO.{stream}.{consumer}"));
            self.api(&format!("CONSUMER.MSG.NEXT.{stream}.{consumer}"));
            self.publish
                .insert(format!("$JS.ACK.{stream}.{consumer}.>"));
        }
        self.hand_on(stage, casino).dead_letter(stage, casino)
    }

    /// Adds the right to publish to the subjects that `stage` consumes.
    #[must_use]
    pub fn hand_on(mut self, stage: Stage, casino: Option<&CasinoId>) -> Self {
        self.publish.extend(subjects_of(stage, casino));
        self
    }

    /// Adds the right to write dead letters of a stage.
    #[must_use]
    pub fn dead_letter(mut self, stage: Stage, casino: Option<&CasinoId>) -> Self {
        self.publish.insert(subjects_of_dead(Some(stage), casino));
        self
    }

    /// Adds the right to subscribe to announcements of new content.
    #[must_use]
    pub fn hear_content(mut self, casino: Option<&CasinoId>) -> Self {
        self.subscribe
            .insert(casino.map_or_else(|| CONTENT_SUBJECTS.to_owned(), subject_for_content));
        self
    }

    /// Adds the right to announce new content.
    #[must_use]
    pub fn announce_content(mut self, casino: Option<&CasinoId>) -> Self {
        self.publish
            .insert(casino.map_or_else(|| CONTENT_SUBJECTS.to_owned(), subject_for_content));
        self
    }

    /// Adds the right to publish hints that there is news for a guest of the website.
    #[must_use]
    pub fn hint(mut self, casino: Option<&CasinoId>) -> Self {
        self.publish
            .insert(casino.map_or_else(|| HINT_SUBJECTS.to_owned(), subject_for_hints));
        self
    }

    /// Adds the right to subscribe to the hints of all casinos ([`crate::Bus::hints`]).
    #[must_use]
    pub fn hear_hints(mut self) -> Self {
        self.subscribe.insert(HINT_SUBJECTS.to_owned());
        self
    }

    /// Adds the right to subscribe to the changes of all casinos ([`crate::Bus::changes`]).
    #[must_use]
    pub fn hear_changes(mut self) -> Self {
        let heard = crate::topology::HEARD.into_iter();
        self.subscribe
            .extend(heard.flat_map(|stage| subjects_of(stage, None)));
        self
    }

    /// Adds the right to delete single messages of a stage. The server checks only the stream, so
    /// the user can delete every casino's messages. It can neither read nor write them.
    #[must_use]
    pub fn erase(mut self, stage: Stage) -> Self {
        self.api(&format!("STREAM.MSG.DELETE.{}", stream_of(stage)));
        self
    }

    /// Adds the scheduler's rights. The scheduler maintains streams, bucket and consumers, repeats
    /// signals, files dead letters, announces content, and erases messages of deleted guests.
    #[must_use]
    pub fn tend(mut self) -> Self {
        for call in [
            // The client makes this call before it creates a bucket.
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
        self.publish.extend([
            "$JS.ACK.>".to_owned(),
            subject_for_control(None),
            subjects_of_dead(None, None),
        ]);
        let with_content = self.follow(None).announce_content(None);
        CONSUMING
            .into_iter()
            .fold(with_content, |all, stage| all.hand_on(stage, None))
    }

    /// Adds the rights of operators' commands: those of `tend`, and the rights to remove a casino's
    /// consumers and to receive the workers' heartbeats.
    #[must_use]
    pub fn operate(self) -> Self {
        let mut all = self.tend();
        all.api("CONSUMER.DELETE.*.*");
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
            .hear_content(Some(&casino))
            .announce_content(Some(&casino));
        let bare = [
            "$JS.API.STREAM.INFO.KV_fleet",
            "$JS.FC.KV_fleet.>",
            TRACE_KEEP,
            WORKER_BEAT,
        ];
        for subject in user.publish.iter().filter(|s| !bare.contains(&s.as_str())) {
            assert!(subject.contains(casino.as_str()), "{subject}");
        }
        assert_eq!(
            user.subscribe
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
            [
                "_INBOX.agent-swarm-silver-birch.>",
                "content.silver_birch",
                TRACE_KEEP
            ]
        );
    }
}
