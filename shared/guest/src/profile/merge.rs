//! Merges an observation into a profile field. Observations with the same value may come in any
//! order: the field's confidence depends on the number of sources and the highest confidence of
//! each.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Candidate, CompanionKey, Field, Grant, Key, Source, Value, What};
use crate::Confidence;

const CONFIRMED: Confidence = Confidence::percent(15);
const CONTRADICTED: Confidence = Confidence::percent(30);

/// One observed fact about a guest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation<K = Key> {
    pub key: K,
    pub value: Value,
    /// The confidence before it is limited to the source's range ([`Source::clamp`]).
    pub confidence: Confidence,
    pub source: Source,
    pub at: DateTime<Utc>,
    pub grant: Grant,
    /// Whether the guest said that the known value is wrong ("actually, ..."). If so, the new value
    /// replaces the known one without review.
    pub correction: bool,
}

/// An observation without its key.
pub(super) struct Evidence {
    pub(super) value: Value,
    pub(super) confidence: Confidence,
    pub(super) source: Source,
    pub(super) at: DateTime<Utc>,
    pub(super) grant: Grant,
    pub(super) correction: bool,
}

impl<K> Observation<K> {
    pub(super) fn evidence(self) -> Evidence {
        let Self {
            value,
            confidence,
            source,
            at,
            grant,
            correction,
            ..
        } = self;
        Evidence {
            value,
            confidence,
            source,
            at,
            grant,
            correction,
        }
    }
}

impl Observation<CompanionKey> {
    pub(super) fn fits(&self) -> bool {
        self.key.kind().accepts(&self.value)
    }
}

/// The outcome of merging an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merged {
    Added,
    /// The value was known; a new source raises its confidence.
    Confirmed,
    /// Items were added to a list.
    Extended,
    /// The new value replaced the old one, which moved to the history. This happens if the new
    /// value is a changed plan or a correction.
    Replaced,
    /// The old value stays with less confidence, and the new one waits for a person's decision.
    Contradicted,
    /// The observation is older than the stored value.
    Stale,
    /// The consent for the observation was withdrawn.
    Withdrawn,
    /// The value does not have the type that the field requires.
    Refused,
}

impl Merged {
    /// Returns whether the profile knows more than before. The caller counts turns without news to
    /// notice a conversation that goes in circles.
    pub fn is_news(self) -> bool {
        matches!(
            self,
            Self::Added | Self::Extended | Self::Replaced | Self::Contradicted
        )
    }
}

/// A person's decision on a contradicted field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    KeepValue,
    TakeCandidate,
}

// === impl Field ===

impl Field {
    pub(super) fn merge(&mut self, seen: Evidence, plan: bool) -> Merged {
        if self.is_withdrawn() {
            // If the observation has a new grant, the field starts anew. An observation under the
            // withdrawn grant is dropped.
            if self.consent_ref == Some(seen.grant.reference) {
                return Merged::Withdrawn;
            }
            return self.replace(seen);
        }
        if self.value.agrees(&seen.value) {
            self.confirm(&seen);
            return Merged::Confirmed;
        }
        let newer = seen.source.is_guest() && seen.at >= self.confirmed();
        if seen.correction && (newer || seen.source == Source::Operator) {
            return self.replace(seen);
        }
        if let (Value::List(have), Value::List(more)) = (&self.value, &seen.value) {
            return self.extend(union(have, more), &seen);
        }
        let told = self.source.is_guest() || self.source == Source::Operator;
        if plan && seen.source.is_guest() && told {
            return if (seen.at, &seen.value) > (self.confirmed(), &self.value) {
                self.replace(seen)
            } else {
                Merged::Stale
            };
        }
        self.contradict(seen)
    }

    /// Returns the confidence of the best source, plus 0.15 per further source, minus 0.30 per
    /// contradiction.
    fn weigh(&self) -> Confidence {
        let best = self
            .sources
            .values()
            .max()
            .copied()
            .unwrap_or(self.confidence);
        let agreed = self
            .sources
            .keys()
            .skip(1)
            .fold(best, |sum, _| sum.plus(CONFIRMED));
        (0..self.contradictions).fold(agreed, |sum, _| sum.minus(CONTRADICTED))
    }

    fn confirm(&mut self, seen: &Evidence) {
        // Documents older than version 3 do not record their sources, so the field's own source is
        // added first.
        self.sources.entry(self.source).or_insert(self.confidence);
        let from = self.sources.entry(seen.source).or_default();
        *from = seen.source.clamp(seen.confidence).max(*from);
        self.confidence = self.weigh();
        self.confirmed_at = Some(self.confirmed().max(seen.at));
        self.collected_at = self.collected_at.min(seen.at);
        self.note(seen.at, What::Confirmed, seen.source, None);
    }

    fn extend(&mut self, all: Vec<String>, seen: &Evidence) -> Merged {
        let grown = !self.value.agrees(&Value::List(all.clone()));
        let theirs = seen.source.clamp(seen.confidence);
        if theirs > self.confidence {
            self.source = seen.source;
        }
        self.confidence = self.confidence.max(theirs);
        self.sources = [(self.source, self.confidence)].into();
        self.confirmed_at = Some(self.confirmed().max(seen.at));
        self.value = Value::List(all);
        self.note(
            seen.at,
            if grown {
                What::Extended
            } else {
                What::Confirmed
            },
            seen.source,
            None,
        );
        if grown {
            Merged::Extended
        } else {
            Merged::Confirmed
        }
    }

    fn replace(&mut self, seen: Evidence) -> Merged {
        let (at, source) = (seen.at, seen.source);
        let mut history = std::mem::take(&mut self.history);
        let old = std::mem::replace(self, Self::first(seen));
        std::mem::swap(&mut self.history, &mut history);
        // If the old value was withdrawn, the history must not contain it either.
        if old.is_withdrawn() {
            self.history
                .iter_mut()
                .for_each(|change| change.value = None);
        }
        let old = (!old.is_withdrawn()).then_some(old.value);
        self.note(at, What::Replaced, source, old);
        Merged::Replaced
    }

    fn contradict(&mut self, seen: Evidence) -> Merged {
        self.sources.entry(self.source).or_insert(self.confidence);
        self.contradictions = self.contradictions.saturating_add(1);
        self.confidence = self.weigh();
        self.needs_review = true;
        let doubted = self.confidence < Confidence::VISIBLE;
        if doubted && seen.source == Source::SelfReported && seen.at >= self.confirmed() {
            // The guest's own statement replaces a value that was too doubtful to show; a person
            // reviews the change.
            let merged = self.replace(seen);
            self.needs_review = true;
            return merged;
        }
        let confidence = seen.source.clamp(seen.confidence);
        self.note(
            seen.at,
            What::Contradicted,
            seen.source,
            Some(seen.value.clone()),
        );
        self.candidate = Some(Candidate {
            value: seen.value,
            confidence,
            source: seen.source,
            at: seen.at,
        });
        Merged::Contradicted
    }

    pub(super) fn resolve(&mut self, how: Resolution, at: DateTime<Utc>) -> bool {
        if !self.needs_review {
            return false;
        }
        self.needs_review = false;
        self.contradictions = 0;
        let old = match (how, self.candidate.take()) {
            (Resolution::TakeCandidate, Some(new)) => {
                self.source = new.source;
                self.sources = [(new.source, new.confidence)].into();
                Some(std::mem::replace(&mut self.value, new.value))
            }
            _ => None,
        };
        self.confidence = self.weigh();
        self.confirmed_at = Some(at);
        self.note(at, What::Resolved, self.source, old);
        true
    }
}

/// Returns the items of both lists, sorted and without duplicates. Case and outer spaces are
/// ignored.
fn union(have: &[String], more: &[String]) -> Vec<String> {
    let plain = |text: &str| text.trim().to_lowercase();
    let mut all: Vec<String> = have.to_vec();
    for item in more {
        if !all.iter().any(|known| plain(known) == plain(item)) {
            all.push(item.clone());
        }
    }
    all.sort_by_key(|item| plain(item));
    all
}
