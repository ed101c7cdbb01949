//! The consents under which a guest's facts are stored (DATA-40, DATA-41). A guest gives the first
//! consent by writing to us. After a revocation the guest still gets answers, but facts are neither
//! used nor stored any more.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Grant, GrantRef, Profile, Scope, field::NOTICE};

/// How a guest consented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// The guest wrote to us.
    Text,
    /// The guest told a person, who entered the consent.
    Person,
}

/// One consent, in force or revoked. The profile fields stored under it refer to its `reference`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    #[serde(rename = "id")]
    pub reference: GrantRef,
    pub scope: Scope,
    pub granted_at: DateTime<Utc>,
    pub granted_via: Via,
    /// SHA-256, in hex, of the wording that the guest was shown; `None` if no wording was shown.
    pub consent_text_hash: Option<String>,
    /// The version of the privacy notice.
    pub consent_version: u32,
    #[serde(default)]
    pub revoked_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub revoked_reason: Option<String>,
}

/// The profile has no consent in force that could be revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no consent of this guest is in force")]
pub struct NotGranted;

/// A revoked consent and the fields that are withdrawn with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoked {
    pub reference: GrantRef,
    pub scope: Scope,
    /// The dotted paths of the withdrawn fields.
    pub fields: Vec<String>,
}

impl Profile {
    /// Returns the consents of the guest, the oldest first.
    pub fn grants(&self) -> &[Granted] {
        &self.grants
    }

    /// Returns the consent under which new facts of this guest are stored. `None` if that consent
    /// was revoked, or if the consents cannot be read. If there is no consent yet, adds the one
    /// that the guest gave with the first text.
    pub fn consent_of(&mut self, guest: Uuid, at: DateTime<Utc>) -> Option<Grant> {
        if self.unread_grants {
            return None;
        }
        if self.grants.is_empty() {
            self.give(guest, Via::Text, self.meta.created_at.min(at));
        }
        let last = self.grants.last()?;
        last.revoked_at.is_none().then(|| Grant {
            scope: last.scope,
            detail: String::new(),
            reference: last.reference,
            version: last.consent_version,
        })
    }

    /// Stores the hash of the wording that the guest was shown for the latest consent. Does nothing
    /// if that consent already has a hash.
    pub fn note_wording(&mut self, hash: String) {
        if let Some(last) = self.grants.last_mut() {
            last.consent_text_hash.get_or_insert(hash);
        }
    }

    /// Returns whether the latest consent is revoked; true also if the consents cannot be read.
    pub fn is_revoked(&self) -> bool {
        let last = self.grants.last();
        self.unread_grants || last.is_some_and(|last| last.revoked_at.is_some())
    }

    /// Adds a new consent after a revocation. Facts withdrawn before stay withdrawn. Returns false,
    /// and adds none, if the latest consent is not revoked or the consents cannot be read.
    pub fn grant_anew(&mut self, id: Uuid, at: DateTime<Utc>) -> bool {
        let revoked = self.is_revoked() && !self.unread_grants;
        if revoked {
            self.give(id, Via::Person, at);
        }
        revoked
    }

    /// Revokes the consent in force and withdraws the facts stored under it. Facts under another
    /// consent stay.
    ///
    /// # Errors
    /// Fails if no consent is in force.
    pub fn revoke(&mut self, reason: &str, at: DateTime<Utc>) -> Result<Revoked, NotGranted> {
        let last = self.grants.last_mut().ok_or(NotGranted)?;
        if last.revoked_at.is_some() {
            return Err(NotGranted);
        }
        last.revoked_at = Some(at);
        last.revoked_reason = Some(reason.to_owned());
        let (reference, scope) = (last.reference, last.scope);
        Ok(Revoked {
            reference,
            scope,
            fields: self.withdraw(&reference, at),
        })
    }

    fn give(&mut self, id: Uuid, via: Via, at: DateTime<Utc>) {
        self.grants.push(Granted {
            reference: GrantRef(id),
            scope: Scope::Personalization,
            granted_at: at,
            granted_via: via,
            consent_text_hash: None,
            consent_version: NOTICE,
            revoked_at: None,
            revoked_reason: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use serde_json::json;

    use super::*;
    use crate::{Confidence, Key, Merged, Observation, Source, Value};

    fn at(day: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(day)
    }

    fn name(text: &str, grant: Grant, day: i64) -> Observation {
        Observation {
            key: Key::Name,
            value: Value::text(text),
            confidence: Confidence::percent(90),
            source: Source::SelfReported,
            at: at(day),
            grant,
            correction: false,
        }
    }

    #[test] // DATA-40, DATA-41
    fn a_revoked_consent_keeps_nothing_more_until_another_is_given() {
        let (guest, next) = (Uuid::from_u128(7), Uuid::from_u128(8));
        let mut p = Profile::new(at(0));
        assert_eq!(p.revoke("none", at(0)), Err(NotGranted));
        let grant = p.consent_of(guest, at(1)).unwrap();
        p.note_wording("5f2a".to_owned());
        p.note_wording("another".to_owned());
        assert_eq!(p.consent_of(guest, at(2)), Some(grant.clone()), "one");
        p.observe(name("Maria", grant.clone(), 2));
        let revoked = p.revoke("asked by phone", at(3)).unwrap();
        assert_eq!(revoked.reference, grant.reference);
        assert_eq!(revoked.fields, ["core_identity.name"]);
        assert_eq!(p.consent_of(guest, at(4)), None);
        assert_eq!(p.revoke("again", at(4)), Err(NotGranted));
        assert!(p.context(at(4)).facts.is_empty() && p.is_revoked());

        // The stored document and the guest's export contain the consent and its revocation.
        let read = Profile::from_json(p.to_json()).unwrap();
        assert_eq!(
            (read.skipped, read.profile.to_json()),
            (Vec::new(), p.to_json())
        );
        let exported = &p.export(at(4))["consent_grants"][0];
        assert_eq!(exported["id"], json!(grant.reference.to_string()));
        assert_eq!(exported["consent_text_hash"], "5f2a");
        assert_eq!(exported["granted_via"], "text");
        assert_eq!(exported["revoked_reason"], "asked by phone");

        assert!(p.grant_anew(next, at(5)) && !p.grant_anew(next, at(5)));
        let anew = p.consent_of(guest, at(5)).unwrap();
        assert!(
            p.context(at(5)).facts.is_empty(),
            "what was withdrawn stays so"
        );
        assert_eq!(p.observe(name("Maria", anew, 6)), Merged::Replaced);
        assert_eq!(p.context(at(6)).facts.len(), 1);
        assert_eq!(p.revoke("and again", at(7)).unwrap().fields.len(), 1);
        assert_eq!(p.grants().len(), 2);
    }

    #[test] // DATA-43
    fn facts_under_an_earlier_notice_are_named() {
        let mut p = Profile::new(at(0));
        let grant = p.consent_of(Uuid::nil(), at(0)).unwrap();
        assert_eq!(grant.version, NOTICE);
        p.observe(name(
            "Maria",
            Grant {
                version: 0,
                ..grant
            },
            0,
        ));
        assert_eq!((p.to_reconsent(NOTICE), p.to_reconsent(0)), (1, 0));
    }

    #[test]
    fn grants_that_cannot_be_read_are_kept_in_the_document() {
        let mut document = Profile::new(at(0)).to_json();
        document["consent_grants"] = json!([{ "id": "of a later build" }]);
        let mut read = Profile::from_json(document.clone()).unwrap();
        assert_eq!(read.skipped, ["consent_grants"]);
        // The unread consent may have been revoked, so the profile counts as revoked.
        assert_eq!(read.profile.consent_of(Uuid::nil(), at(1)), None);
        assert!(read.profile.is_revoked() && !read.profile.grant_anew(Uuid::nil(), at(1)));
        let written = read.profile.to_json();
        assert_eq!(written["consent_grants"], document["consent_grants"]);
    }
}
