//! Builds the message that returns a dead letter to its stage, or says why a replay cannot help.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use seven_bus::{Outgoing, subject};
use seven_domain::{CasinoId, CasinoStatus, Stage};
use seven_intake::Intake;
use seven_runtime::{Error, Fleet};
use seven_store::dead::{About, Behind, DeadLetter, RowState};

use crate::{about::about, payload::plain};

/// The message rebuilt from a dead letter, with the original identity.
#[derive(Debug)]
pub(crate) struct Reentry {
    subject: String,
    key: String,
    payload: Bytes,
}

/// Reason why a letter is not replayed. The letter stays listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("still unreadable: {0}")]
    Unreadable(String),
    #[error("no casino has its number yet; add the casino, then replay")]
    NoCasinoYet,
    #[error("the casino was removed")]
    CasinoRemoved,
    #[error("the guest was erased, or the rows behind it are gone")]
    Gone,
    #[error("the guest opted out since")]
    OptedOut,
    #[error("a person has written to the guest since")]
    ByPerson,
    #[error("nobody wants the answer any more: it was useful until {0}")]
    TooOld(String),
    #[error("it was discarded")]
    Discarded,
}

impl Refusal {
    /// Returns the reason code, used for counting.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::NoCasinoYet => "no_casino",
            Self::CasinoRemoved => "casino_removed",
            Self::Gone => "gone",
            Self::OptedOut => "opted_out",
            Self::ByPerson => "by_person",
            Self::TooOld(_) => "too_old",
            Self::Discarded => "discarded",
        }
    }
}

impl Reentry {
    /// Parses the letter, and checks the current state of the text, turn or event that the letter
    /// is about.
    pub(crate) async fn of(
        fleet: &Fleet,
        owner: &CasinoId,
        letter: &DeadLetter,
    ) -> Result<Result<Self, Refusal>, Error> {
        if letter.stage == Stage::Ingress {
            return Self::of_raw(fleet, letter).await;
        }
        let reentry = Self {
            subject: letter.subject.clone(),
            key: letter.message_key.clone(),
            payload: letter.payload.clone().into(),
        };
        Self::judged(fleet, owner, letter.stage, reentry).await
    }

    /// Parses a provider's raw event again with the current code, and builds the message for it.
    async fn of_raw(fleet: &Fleet, letter: &DeadLetter) -> Result<Result<Self, Refusal>, Error> {
        let intake = seven_intake::intake_raw(&letter.payload, None, letter.first_at);
        let unreadable = || {
            Refusal::Unreadable(match &intake {
                Intake::Unusable { error, .. } => plain(error),
                Intake::Text { .. }
                | Intake::Receipt { .. }
                | Intake::OddSender { .. }
                | Intake::Ignored { .. } => "it is no event we use".to_owned(),
            })
        };
        let mut ours = None;
        for number in intake.numbers() {
            let casino = match intake.written_at() {
                Some(at) => fleet.store.casino_of_text(number, at).await?,
                None => fleet.store.casino_of_number(number).await?,
            };
            ours = casino.map(|casino| (casino, number.clone()));
            if ours.is_some() {
                break;
            }
        }
        if intake.numbers().is_empty() {
            return Ok(Err(unreadable()));
        }
        let Some((casino, number)) = ours else {
            return Ok(Err(Refusal::NoCasinoYet));
        };
        let intake = intake.clone().addressed_to(&number);
        let Some((stage, key, payload)) = intake.message() else {
            return Ok(Err(unreadable()));
        };
        Self::judged(
            fleet,
            &casino,
            stage,
            Self {
                subject: subject(stage, &casino, None),
                key,
                payload,
            },
        )
        .await
    }

    async fn judged(
        fleet: &Fleet,
        casino: &CasinoId,
        stage: Stage,
        reentry: Self,
    ) -> Result<Result<Self, Refusal>, Error> {
        let about = match about(fleet, casino, stage, &reentry.key, &reentry.payload) {
            Ok(about) if !reentry.subject.is_empty() => about,
            Ok(_) => {
                return Ok(Err(Refusal::Unreadable(
                    "it does not say where it re-enters".to_owned(),
                )));
            }
            Err(error) => {
                return Ok(Err(Refusal::Unreadable(plain(&error.to_string()))));
            }
        };
        let mut tx = fleet.store.bind(casino).await?;
        if tx
            .casino_status()
            .await?
            .is_none_or(|status| status == CasinoStatus::Removed)
        {
            return Ok(Err(Refusal::CasinoRemoved));
        }
        let Some(row) = tx.casino_row().await? else {
            return Ok(Err(Refusal::CasinoRemoved));
        };
        let useful = fleet.packs.of(&row.config)?.rules.usefulness();
        let behind = tx.behind(&about, useful).await?;
        tx.commit().await?;
        Ok(judge(&about, behind.as_ref()).map(|()| reentry))
    }

    /// Returns the message to publish. `copy` makes the bus accept the message although the
    /// original had the same identity.
    pub(crate) fn outgoing<'a>(&'a self, copy: String, trace: &'a str) -> Outgoing<'a> {
        Outgoing {
            subject: self.subject.clone(),
            key: &self.key,
            copy: Some(copy),
            trace,
            payload: self.payload.clone(),
        }
    }
}

/// Refuses a message whose replay can never help. A message that was handled in the meantime is not
/// refused, because a replay does no harm.
fn judge(about: &About, behind: Option<&Behind>) -> Result<(), Refusal> {
    let Some(behind) = behind else {
        return Err(Refusal::Gone);
    };
    match about {
        About::Nobody | About::Attempt(_) => return Ok(()),
        // The text with the STOP and later texts are replayed. Earlier texts get no answer.
        About::Text { occurred_at, .. } => {
            return if behind.stopped_as_of.is_some_and(|stop| stop > *occurred_at) {
                Err(Refusal::OptedOut)
            } else {
                Ok(())
            };
        }
        About::Conversation { .. } | About::Turn(_) | About::Outbound(_) => {}
    }
    if behind.safety || !behind.state.is_none_or(RowState::is_replayable) {
        return Ok(());
    }
    match (behind.stopped_as_of, behind.useless_since) {
        (Some(_), _) => Err(Refusal::OptedOut),
        (None, _) if behind.by_person => Err(Refusal::ByPerson),
        (None, Some(since)) => Err(Refusal::TooOld(minute(since))),
        (None, None) => Ok(()),
    }
}

fn minute(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use seven_domain::{Channel, Disposition, GuestHash, OutboundState, TurnState};
    use uuid::Uuid;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test] // D17, SMS-53
    fn what_can_never_help_is_refused_and_nothing_else() {
        let (early, late) = (at("2026-11-22T10:00:00Z"), at("2026-11-22T11:00:00Z"));
        let text = |occurred_at| About::Text {
            channel: Channel::Sms,
            guest: GuestHash {
                key_id: 1,
                bytes: [0; 32],
            },
            occurred_at,
        };
        let id = Uuid::nil();
        let (talk, turn, out) = (
            About::Conversation { id, text: None },
            About::Turn(id),
            About::Outbound(id),
        );
        let plain = Behind::default();
        let stopped = Behind {
            stopped_as_of: Some(early),
            ..Behind::default()
        };
        let state = |state: RowState, behind: &Behind| Behind {
            state: Some(state),
            ..behind.clone()
        };
        let text_is = RowState::Inbound;
        let turn_is = RowState::Turn;
        let out_is = RowState::Outbound;
        let old = |known: RowState| Behind {
            useless_since: Some(late),
            ..state(known, &plain)
        };
        let by_person = |known: RowState| Behind {
            by_person: true,
            ..state(known, &plain)
        };
        let too_old = || Err(Refusal::TooOld("2026-11-22 11:00 UTC".into()));
        let cases = [
            (
                "a text before its guest's STOP",
                text(at("2026-11-22T09:59:59Z")),
                stopped.clone(),
                Err(Refusal::OptedOut),
            ),
            ("the STOP itself", text(early), stopped.clone(), Ok(())),
            ("a START after it", text(late), stopped.clone(), Ok(())),
            (
                "a conversation, text unknown, guest gone",
                talk,
                stopped.clone(),
                Err(Refusal::OptedOut),
            ),
            (
                "a parked text",
                talk,
                state(text_is(Disposition::Parked), &plain),
                Ok(()),
            ),
            (
                "an old parked text",
                talk,
                old(text_is(Disposition::Parked)),
                too_old(),
            ),
            (
                "a parked text that a person answered",
                talk,
                by_person(text_is(Disposition::Parked)),
                Err(Refusal::ByPerson),
            ),
            (
                "a text that was answered before the person wrote",
                talk,
                by_person(text_is(Disposition::Answered)),
                Ok(()),
            ),
            (
                "an old answered text",
                talk,
                old(text_is(Disposition::Answered)),
                Ok(()),
            ),
            (
                "a turn of a guest who left",
                turn,
                state(turn_is(TurnState::Parked), &stopped),
                Err(Refusal::OptedOut),
            ),
            (
                "an old turn",
                turn,
                old(turn_is(TurnState::Drafted)),
                too_old(),
            ),
            (
                "a shaped turn of a guest who left",
                turn,
                state(turn_is(TurnState::Shaped), &stopped),
                Ok(()),
            ),
            (
                "a failed text",
                out,
                state(out_is(OutboundState::Failed), &plain),
                Ok(()),
            ),
            (
                "a failed text of a guest who left",
                out,
                state(out_is(OutboundState::Failed), &stopped),
                Err(Refusal::OptedOut),
            ),
            (
                "a failed confirmation of a STOP",
                out,
                Behind {
                    safety: true,
                    ..state(out_is(OutboundState::Failed), &stopped)
                },
                Ok(()),
            ),
            (
                "an old failed text",
                out,
                old(out_is(OutboundState::Failed)),
                too_old(),
            ),
            (
                "a delivered text",
                out,
                state(out_is(OutboundState::Delivered), &stopped),
                Ok(()),
            ),
            (
                "a receipt",
                About::Attempt(id),
                state(out_is(OutboundState::Sent), &stopped),
                Ok(()),
            ),
        ];
        for (what, about, behind, wanted) in cases {
            assert_eq!(judge(&about, Some(&behind)), wanted, "{what}");
        }
        for about in [text(early), talk, turn, out, About::Attempt(id)] {
            assert_eq!(judge(&about, None), Err(Refusal::Gone), "{about:?}");
        }
    }
}
