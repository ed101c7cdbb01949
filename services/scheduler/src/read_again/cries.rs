//! Checks guests' texts a second time if the gate found nothing in them. The check uses the present
//! pack and both readers (the pack's patterns and the language model).

use std::sync::Arc;

use chrono::TimeDelta;
use seven_compliance::{Author, Decision, Layer, Verdict, echo};
use seven_domain::{CasinoId, ConversationId, InboundId, IncidentKind, Language};
use seven_packs::{Pack, TextKey};
use seven_reader::{beside_our_texts, needs_our_texts};
use seven_runtime::{Error, Fleet};
use seven_store::{
    Tx,
    casinos::Casino,
    incidents::found::ReadAgain,
    outbound::{NewOutbound, Origin, Queued, Recipient},
};

use super::{BY, found};
use crate::incidents::{Contained, contain_in};

/// Maximum age of a missed cry to which the guest still gets the answer for late cries. People are
/// told of the cry at any age.
const ANSWERED_FOR: TimeDelta = TimeDelta::hours(2);

pub(super) async fn read(
    fleet: &Fleet,
    casino: &CasinoId,
    row: &Casino,
    texts: Vec<ReadAgain>,
) -> Result<(), Error> {
    if texts.is_empty() {
        return Ok(());
    }
    let pack = Arc::clone(fleet.packs.of(&row.config)?);
    let suspects = suspects(Arc::clone(&pack), texts).await?;
    for text in suspects {
        if let Some(layer) = cry(fleet, casino, row, &pack, &text).await? {
            missed(fleet, casino, row, &text, layer).await?;
        }
    }
    Ok(())
}

/// Returns the texts that the first reader finds suspicious, or that may quote our own texts. The
/// reader's patterns run on a blocking thread, because checking a day's texts takes seconds.
async fn suspects(pack: Arc<Pack>, texts: Vec<ReadAgain>) -> Result<Vec<ReadAgain>, Error> {
    let judged = tokio::task::spawn_blocking(move || {
        let suspicious = |text: &ReadAgain| {
            let first = pack.guardrails().decide(&text.body);
            first.is_suspicious() || needs_our_texts(&first, &text.body)
        };
        texts.into_iter().filter(suspicious).collect()
    });
    judged
        .await
        .map_err(|error| Error::Other(error.to_string()))
}

/// Returns the layer if the gate would now take the text for a cry for help.
async fn cry(
    fleet: &Fleet,
    casino: &CasinoId,
    row: &Casino,
    pack: &Arc<Pack>,
    text: &ReadAgain,
) -> Result<Option<Layer>, Error> {
    let again = |words: String| both(pack, words);
    let mut decision = both(pack, text.body.clone()).await;
    if needs_our_texts(&decision, &text.body) {
        let mut tx = fleet.store.bind(casino).await?;
        let conversation = ConversationId(text.conversation_id);
        let ours = tx
            .last_texts_in(conversation, text.at, echo::TEXTS_REMEMBERED)
            .await?;
        tx.commit().await?;
        let says = || pack.says(&row.config);
        decision =
            beside_our_texts(again, decision, &text.body, pack.guardrails(), &ours, says).await;
    }
    Ok(match decision.verdict {
        Verdict::Guardrail(hit) if decision.author == Author::Guest && hit.layer.is_urgent() => {
            Some(hit.layer)
        }
        _ => None,
    })
}

/// Judges words by both readers. If the second one fails, the first one's result holds.
async fn both(pack: &Arc<Pack>, words: String) -> Decision {
    let (shared, copy) = (Arc::clone(pack), words.clone());
    let both =
        tokio::task::spawn_blocking(move || seven_reader::decide(shared.guardrails(), &copy));
    // A panic's message may quote the guest, so it is not logged.
    let error = match both.await {
        Ok(Ok(decision)) => return decision,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it panicked".to_owned(),
    };
    tracing::error!(
        error,
        "the second reader failed; the first reader's result is used"
    );
    pack.guardrails().decide(&words)
}

/// Contains a missed cry as an incident. If the guest may be in danger and the cry is recent
/// enough, the answer for late cries is sent.
async fn missed(
    fleet: &Fleet,
    casino: &CasinoId,
    row: &Casino,
    text: &ReadAgain,
    layer: Layer,
) -> Result<(), Error> {
    let conversation = ConversationId(text.conversation_id);
    let mut tx = fleet.store.bind(casino).await?;
    let contained = contain_in(fleet, &mut tx, found(IncidentKind::CryMissed, text)).await?;
    let guest = tx.guest_in(conversation).await?;
    let (Contained::New | Contained::Repeated, Some((guest, language))) = (contained, guest) else {
        return Ok(tx.commit().await?);
    };
    tx.note_cry(conversation, text.at).await?;
    if layer == Layer::ResponsibleGaming {
        tx.mark_responsible_gaming(guest).await?;
    }
    let in_danger = matches!(layer, Layer::Crisis | Layer::Emergency);
    let to = Recipient {
        conversation_id: conversation,
        guest_id: guest,
    };
    let queued = if in_danger && fleet.clock.now() - text.at < ANSWERED_FOR {
        answer(fleet, &mut tx, row, text, to, language.unwrap_or_default()).await?
    } else {
        Vec::new()
    };
    tx.commit().await?;
    fleet.signal_queued(casino, &queued, None, "").await
}

async fn answer(
    fleet: &Fleet,
    tx: &mut Tx,
    row: &Casino,
    text: &ReadAgain,
    to: Recipient,
    language: Language,
) -> Result<Vec<Queued>, Error> {
    let (pack, key) = (fleet.packs.of(&row.config)?, TextKey::LateCry);
    let origin = Origin::Canned {
        inbound: InboundId(text.text_id),
        key: key.as_str(),
    };
    let (class, useful) = (pack.texts.class(key), pack.rules.answer_to_a_cry());
    let body = pack.say(key, language, &row.config);
    let new = NewOutbound::new(fleet.ids.next(), to, origin, class, body, useful)
        .agent(BY)
        .answers_at(Some(text.at));
    Ok(tx.queue(&new).await?.into_iter().collect())
}
