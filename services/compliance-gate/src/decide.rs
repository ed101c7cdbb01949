//! Decides what happens to a text. The text is handled as a cry for help or a keyword, answered
//! from the pack, closed without an answer, or passed on to the swarm.

use seven_compliance::{Author, Intent, Likely, LikelyKind, Verdict};
use seven_domain::{GuestStatus, PhoneE164};
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::Tx;
use seven_telemetry::metrics;

use crate::{
    canned, cries, keywords, likely, limits, privacy, repeats, staff,
    types::{Case, Gate, Next},
};

pub(crate) async fn decide(gate: &Gate, tx: &mut Tx, case: &Case<'_>) -> Result<Next, Error> {
    if let Some(reason) = not_a_guests(gate, case) {
        return canned::close(tx, case, reason).await;
    }
    let layer = match &case.decision.verdict {
        Verdict::Guardrail(hit) => Some(hit.layer),
        Verdict::Pass | Verdict::Keyword(_) => None,
    };
    if let Some(layer) = layer.filter(|layer| layer.is_urgent()) {
        let answer = cries::cry(gate, tx, case, layer).await?;
        // For example "I can't go on, stop texting me": the help is sent first, then the opt-out
        // takes effect.
        return Ok(match &case.decision.keyword {
            Some(keyword) if keyword.intent == Intent::OptOut => answer.and(
                keywords::keyword(gate, tx, case, keyword)
                    .await?
                    .unwrap_or_default(),
            ),
            _ => answer,
        });
    }
    if case.party.staff {
        return staff::answer(gate, tx, case).await;
    }
    // A late question needs no answer. A late YES may be meant for an older question than the one
    // in our last text.
    let late = canned::is_late(gate, case);
    if let Some(keyword) = &case.decision.keyword
        && (layer.is_none() || keyword.intent == Intent::OptOut)
        && !(late
            && matches!(
                keyword.intent,
                Intent::Help | Intent::Privacy | Intent::Affirm
            ))
        && let Some(next) = keywords::keyword(gate, tx, case, keyword).await?
    {
        return Ok(next);
    }
    if case.party.status == GuestStatus::PendingDeletion {
        return privacy::while_pending(gate, tx, case).await;
    }
    // Checked again under the conversation's lock, because a START may have arrived meanwhile.
    if case.party.stopped && tx.is_stopped(&case.guest).await? {
        return canned::close(tx, case, "opted_out").await;
    }
    if late {
        return canned::close(tx, case, "stale").await;
    }
    if !says_something(&case.text.body) {
        return if case.text.media_count > 0 {
            canned::canned(gate, tx, case, TextKey::MmsTextOnly).await
        } else {
            canned::close(tx, case, "empty").await
        };
    }
    if is_full(tx, case).await? {
        return canned::canned(gate, tx, case, TextKey::WebFull).await;
    }
    if let Some(next) = likely::answer_to_question(gate, tx, case).await? {
        return Ok(next);
    }
    if repeats::is_copy(tx, case).await? {
        return canned::close(tx, case, "repeated").await;
    }
    if layer.is_none()
        && let Some(next) = repeats::auto_responder(gate, tx, case).await?
    {
        return Ok(next);
    }
    let next = match (
        limits::count(&gate.fleet, gate.fleet_per_minute, case).await,
        layer,
    ) {
        (limits::Limited::No, Some(layer)) => {
            canned::canned(gate, tx, case, TextKey::answer_to(layer)).await?
        }
        (limits::Limited::No, None) => match case.decision.likely {
            Some(Likely {
                kind: LikelyKind::OptOut,
                ..
            }) if tx
                .ask_about_opt_out(&case.guest, case.text.received_at)
                .await? =>
            {
                likely::ask(gate, tx, case).await?
            }
            _ => {
                metrics()
                    .inbound
                    .with_label_values(&[tx.casino().as_str(), case.verdict(), "open"])
                    .inc();
                Next::signal(case.party.conversation_id)
            }
        },
        (limits::Limited::TellOnce, _) => {
            canned::canned(gate, tx, case, TextKey::RateLimited).await?
        }
        (limits::Limited::Silently(reason), _) => canned::close(tx, case, reason).await?,
    };
    Ok(next)
}

/// Returns whether the conversation, with this message, has more messages than the channel allows.
async fn is_full(tx: &mut Tx, case: &Case<'_>) -> Result<bool, Error> {
    let Some(most) = case.text.profile().most_messages else {
        return Ok(false);
    };
    Ok(tx.is_full(case.party.conversation_id, most).await?)
}

/// Returns the reason why the text is not a guest's; `None` for a guest's text. A machine, a short
/// code or one of our numbers may have sent it. It may also be a reaction that quotes our text.
fn not_a_guests(gate: &Gate, case: &Case<'_>) -> Option<&'static str> {
    let is_ours = |phone: &PhoneE164| gate.fleet.roster.casino_of(phone.as_str()).is_some();
    let phone = case.text.from.phone();
    if phone.is_some_and(|phone| is_ours(phone) || phone.is_short_code()) {
        return Some("not_a_guest");
    }
    match case.decision.author {
        Author::Guest => None,
        Author::Echo => Some("reaction"),
        Author::Machine(_) => Some("machine"),
    }
}

/// Returns whether a text has visible characters. Blanks are not visible, and neither is the
/// placeholder of a picture.
fn says_something(body: &str) -> bool {
    body.chars()
        .any(|c| !c.is_whitespace() && !c.is_control() && !seven_compliance::is_invisible(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // CONV-2: invisible characters alone are no text
    fn what_shows_nothing_says_nothing() {
        for nothing in [
            "",
            "  ",
            "\u{fffc}",
            "\u{200b}\u{200d}",
            "\u{200a}",
            "\u{200f}\u{202b}",
            "\u{2800}",
            "\u{3164}\n",
        ] {
            assert!(!says_something(nothing), "{nothing:?}");
        }
        for something in ["hi", "?", "👍", "\u{200b}a"] {
            assert!(says_something(something), "{something:?}");
        }
    }
}
