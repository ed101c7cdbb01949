//! Approves, pauses, resumes or cancels a campaign on behalf of a person. From the commit on, the
//! pre-send check refuses texts of a campaign that is not running.

use serde_json::json;
use seven_domain::{AuditEvent, CampaignId, CampaignState, CasinoId};
use seven_runtime::Fleet;
use seven_store::{audit::Entry, campaigns::Campaign};

/// A change of a campaign's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Starts a campaign that somebody else planned.
    Approve,
    Pause,
    Resume,
    /// Ends the campaign for good; its unsent texts are dropped.
    Cancel,
}

/// Why the campaign was not changed.
#[derive(Debug, thiserror::Error)]
pub enum NotChanged {
    #[error("the casino has no such campaign")]
    Unknown,
    #[error("{name} is {state}; only a campaign that is {from} can be {to}")]
    State {
        name: String,
        state: CampaignState,
        from: String,
        to: CampaignState,
    },
    #[error("{name} waits for the approval of a second person; `seven campaign approve` starts it")]
    Unapproved { name: String },
    #[error("{name} waits for no approval")]
    NothingToApprove { name: String },
    #[error("{name} was planned by the same person; somebody else has to approve it")]
    OwnPlan { name: String },
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

/// The result of a campaign's change.
#[derive(Debug)]
pub struct Changed {
    pub name: String,
    /// Number of texts that have been released so far.
    pub released: i64,
    /// Number of held texts that are checked again.
    pub woken: u64,
}

impl Step {
    fn from(self) -> &'static [CampaignState] {
        match self {
            Self::Pause => &[CampaignState::Running],
            Self::Approve | Self::Resume => &[CampaignState::Paused],
            Self::Cancel => &[CampaignState::Running, CampaignState::Paused],
        }
    }

    fn to(self) -> CampaignState {
        match self {
            Self::Pause => CampaignState::Paused,
            Self::Approve | Self::Resume => CampaignState::Running,
            Self::Cancel => CampaignState::Cancelled,
        }
    }

    /// Returns whether the campaign's state and approval allow this step.
    pub fn is_open_to(self, campaign: &Campaign) -> bool {
        self.from().contains(&campaign.state)
            && match self {
                Self::Approve => campaign.awaits_approval,
                Self::Resume => !campaign.awaits_approval,
                Self::Pause | Self::Cancel => true,
            }
    }

    /// Checks the rules about approval. The person who planned a campaign may not approve it. An
    /// unapproved campaign cannot be resumed.
    fn approved(self, campaign: &Campaign, by: &str) -> Result<(), NotChanged> {
        let name = campaign.name.clone();
        match self {
            Self::Resume if campaign.awaits_approval => Err(NotChanged::Unapproved { name }),
            Self::Approve if !campaign.awaits_approval => {
                Err(NotChanged::NothingToApprove { name })
            }
            Self::Approve if campaign.created_by == by => Err(NotChanged::OwnPlan { name }),
            Self::Approve | Self::Pause | Self::Resume | Self::Cancel => Ok(()),
        }
    }
}

/// Changes the state of the campaign with this name or id, on behalf of a person.
///
/// # Errors
/// Fails when there is no such campaign, its state does not allow the step, or Postgres does not
/// answer.
pub async fn change(
    fleet: &Fleet,
    casino: &CasinoId,
    named: &str,
    step: Step,
    reason: &str,
    by: &str,
) -> Result<Changed, NotChanged> {
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx.campaign(named).await?.ok_or(NotChanged::Unknown)?;
    step.approved(&row, by)?;
    let (id, to) = (CampaignId(row.campaign_id), step.to());
    if !tx.move_campaign(id, step.from(), to).await? {
        let from: Vec<&str> = step.from().iter().map(|state| state.as_str()).collect();
        return Err(NotChanged::State {
            name: row.name,
            state: row.state,
            from: from.join(" or "),
            to,
        });
    }
    if step == Step::Approve {
        tx.approve_campaign(id, by).await?;
    }
    let mut detail = json!({ "state": to, "reason": reason });
    if step == Step::Cancel {
        let (texts, guests) = tx.drop_unsent(id).await?;
        detail["texts_dropped"] = json!(texts);
        detail["guests_dropped"] = json!(guests);
    }
    let subject = id.to_string();
    tx.audit(&Entry::of(
        AuditEvent::CampaignChanged,
        by,
        &subject,
        detail,
    ))
    .await?;
    let row = tx.campaign(&subject).await?.ok_or(NotChanged::Unknown)?;
    tx.commit().await?;
    // Resuming makes texts due again that were queued when the campaign was paused.
    let woken = match step {
        Step::Resume => fleet.store.wake_held(Some(casino)).await?,
        Step::Approve | Step::Pause | Step::Cancel => 0,
    };
    Ok(Changed {
        name: row.name,
        released: row.released,
        woken,
    })
}
