//! The register of incidents (OBS-19). It consists of the `incident_report` entries of the fleet's
//! audit log; each entry is one step of an incident. No step is ever changed or deleted.

pub mod found;

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use seven_domain::{AuditEvent, CasinoId};
use sqlx::types::Json;
use uuid::Uuid;

use crate::{Result, Store, audit::Entry};

/// Maximum time from the end of an incident until its review is written, if a review is required.
pub const REVIEW_WITHIN: TimeDelta = TimeDelta::hours(48);
/// Incidents up to this severity number (SEV0 and SEV1) must be reviewed (docs/runbook.md).
const LEAST_REVIEWED: u8 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// `severity` is the number after SEV.
    Opened {
        severity: u8,
        title: String,
        began: DateTime<Utc>,
    },
    Noted {
        text: String,
        trace: Option<String>,
    },
    /// `impact` gives the numbers of guests and texts that were delayed, duplicated or lost.
    Resolved {
        impact: String,
        ended: DateTime<Utc>,
    },
    Reviewed {
        cause: String,
        actions: Vec<Action>,
    },
}

/// A change that a review demands, with the person who makes it and the date by which it is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    pub what: String,
    pub owner: String,
    pub due: NaiveDate,
}

/// A step as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedStep {
    pub at: DateTime<Utc>,
    pub by: String,
    #[serde(flatten)]
    pub step: Step,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Incident {
    pub incident_id: Uuid,
    pub severity: u8,
    pub title: String,
    pub began: DateTime<Utc>,
    pub ended: Option<DateTime<Utc>>,
    /// When the review is due. `None` if the review exists or is not required, or if the incident
    /// is not over.
    pub review_due: Option<DateTime<Utc>>,
    /// Steps in the order in which they were recorded.
    pub steps: Vec<RecordedStep>,
}

impl Incident {
    /// Builds an incident from its steps; returns `None` if no step opened it.
    fn of(incident_id: Uuid, steps: Vec<RecordedStep>) -> Option<Self> {
        let (severity, title, began) = steps.iter().find_map(|recorded| match &recorded.step {
            Step::Opened {
                severity,
                title,
                began,
            } => Some((*severity, title.clone(), *began)),
            _ => None,
        })?;
        let ended = steps.iter().rev().find_map(|recorded| match recorded.step {
            Step::Resolved { ended, .. } => Some(ended),
            _ => None,
        });
        let mut incident = Self {
            incident_id,
            severity,
            title,
            began,
            ended,
            review_due: None,
            steps,
        };
        let owes = severity <= LEAST_REVIEWED && !incident.is_reviewed();
        incident.review_due = ended.filter(|_| owes).map(|ended| ended + REVIEW_WITHIN);
        Some(incident)
    }

    pub fn is_reviewed(&self) -> bool {
        self.steps
            .iter()
            .any(|recorded| matches!(recorded.step, Step::Reviewed { .. }))
    }
}

impl Store {
    pub async fn note_incident(&self, incident: Uuid, by: &str, step: &Step) -> Result<()> {
        let mut tx = self.bind(&CasinoId::unknown()).await?;
        let detail = serde_json::json!(step);
        tx.audit(&Entry::of(
            AuditEvent::IncidentReport,
            by,
            &incident.to_string(),
            detail,
        ))
        .await?;
        tx.commit().await
    }

    /// Returns all incidents of the audit log, newest first.
    pub async fn incidents(&self) -> Result<Vec<Incident>> {
        let mut tx = self.bind(&CasinoId::unknown()).await?;
        let rows: Vec<(Uuid, DateTime<Utc>, String, Json<Step>)> = sqlx::query_as(
            "select subject::uuid, at, actor, detail from audit_log where action = $1 and detail ? 'step' order by at, entry",
        )
        .bind(AuditEvent::IncidentReport)
        .fetch_all(tx.conn())
        .await?;
        tx.commit().await?;
        let mut steps: BTreeMap<Uuid, Vec<RecordedStep>> = BTreeMap::new();
        for (incident, at, by, Json(step)) in rows {
            steps
                .entry(incident)
                .or_default()
                .push(RecordedStep { at, by, step });
        }
        let mut incidents: Vec<_> = steps
            .into_iter()
            .filter_map(|(id, steps)| Incident::of(id, steps))
            .collect();
        incidents.sort_by_key(|incident| std::cmp::Reverse(incident.began));
        Ok(incidents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incident(severity: u8, more: &[Step]) -> Option<Incident> {
        let began = DateTime::UNIX_EPOCH;
        let opened = Step::Opened {
            severity,
            title: "NATS was away".to_owned(),
            began,
        };
        let steps = [opened].into_iter().chain(more.iter().cloned());
        Incident::of(
            Uuid::nil(),
            steps
                .map(|step| RecordedStep {
                    at: began,
                    by: "ops".to_owned(),
                    step,
                })
                .collect(),
        )
    }

    #[test] // OBS-19
    fn a_review_is_owed_from_the_end_of_what_was_grave() {
        let ended = DateTime::UNIX_EPOCH + TimeDelta::minutes(30);
        let resolved = Step::Resolved {
            impact: "12 texts delayed".to_owned(),
            ended,
        };
        let reviewed = Step::Reviewed {
            cause: "a full disk".to_owned(),
            actions: Vec::new(),
        };
        let due = |severity, steps: &[Step]| {
            incident(severity, steps).and_then(|incident| incident.review_due)
        };
        assert_eq!(due(1, &[]), None, "not over");
        assert_eq!(
            due(1, std::slice::from_ref(&resolved)),
            Some(ended + TimeDelta::hours(48))
        );
        assert_eq!(
            due(0, std::slice::from_ref(&resolved)),
            Some(ended + TimeDelta::hours(48))
        );
        assert_eq!(
            due(2, std::slice::from_ref(&resolved)),
            None,
            "not so grave"
        );
        assert_eq!(due(1, &[resolved, reviewed]), None, "written");
        assert_eq!(Incident::of(Uuid::nil(), Vec::new()), None);
    }
}
