//! Reads texts again after they were handled: the host's for offers that nothing proves, the
//! guests' for cries for help. It finds what an older pack, an older version or a failed check let
//! through.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use seven_compliance::{
    Layer, Verdict, echo,
    offers::{self, Action},
};
use seven_domain::{CasinoId, ConversationId, InboundId, IncidentKind, Language};
use seven_knowledge::offers::catalogue_of;
use seven_packs::{Pack, TextKey};
use seven_runtime::{Error, Fleet};
use seven_store::{
    Tx,
    casinos::Casino,
    incidents::found::ReadAgain,
    outbound::{NewOutbound, Origin, Queued, Recipient},
};

use crate::incidents::{Found, contain_in};

/// How far back the first round of a process reads: it may bring a new pack.
const FIRST_SPAN: TimeDelta = TimeDelta::hours(24);
/// A round reads this much of the one before again, because transactions commit late.
const OVERLAP: TimeDelta = TimeDelta::minutes(5);
/// How old a missed cry may be to get the answer by which a late cry is answered; people are told
/// of it in any case.
const ANSWERED_FOR: TimeDelta = TimeDelta::hours(2);
const BY: &str = "scheduler";

/// The time up to which a process has read all casinos' texts.
pub(crate) type ReadUpTo = Arc<Mutex<Option<DateTime<Utc>>>>;

pub(crate) async fn round(fleet: Fleet, read_up_to: ReadUpTo) -> Result<(), Error> {
    let now = fleet.clock.now();
    let last = *read_up_to.lock().unwrap_or_else(PoisonError::into_inner);
    let since = last.map_or(now - FIRST_SPAN, |last| last - OVERLAP);
    let casinos = fleet.store.tenants().await?;
    crate::rounds::each(casinos, |casino| read(fleet.clone(), casino, since)).await?;
    *read_up_to.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    Ok(())
}

async fn read(fleet: Fleet, casino: CasinoId, since: DateTime<Utc>) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&casino).await?;
    let Some(row) = tx.casino_row().await? else {
        return Ok(());
    };
    let replies = tx.sent_replies(since).await?;
    let texts = tx.passed_texts(since).await?;
    let unproven = unproven(&mut tx, replies, &row).await?;
    tx.commit().await?;
    for reply in unproven {
        let mut tx = fleet.store.bind(&casino).await?;
        contain_in(&fleet, &mut tx, found(IncidentKind::OfferUnproven, &reply)).await?;
        tx.commit().await?;
    }
    let pack = fleet.packs.of(&row.config)?;
    for text in texts {
        if let Some(layer) = cry(pack, &text.body).await? {
            missed(&fleet, &casino, &row, &text, layer).await?;
        }
    }
    Ok(())
}

fn found(kind: IncidentKind, text: &ReadAgain) -> Found {
    Found {
        kind,
        conversation: ConversationId(text.conversation_id),
        text: text.text_id,
        by: BY,
    }
}

/// Returns the replies that name an amount of money which neither the casino's content nor a
/// promotion of that day has.
async fn unproven(
    tx: &mut Tx,
    replies: Vec<ReadAgain>,
    casino: &Casino,
) -> Result<Vec<ReadAgain>, Error> {
    if replies.is_empty() {
        return Ok(Vec::new());
    }
    let zone = casino.config.operational.timezone;
    let known = catalogue_of(&tx.content().await?, zone);
    let rejected = |reply: &ReadAgain| {
        offers::check(&reply.body, &known, reply.at, zone).action == Action::Reject
    };
    Ok(replies.into_iter().filter(rejected).collect())
}

/// Returns the layer of a cry for help in the text. A text that may quote one of ours is left to
/// the gate, which compares it with them.
async fn cry(pack: &Pack, body: &str) -> Result<Option<Layer>, Error> {
    let rails = pack.guardrails();
    let first = rails.decide(body);
    if echo::may_quote(body) {
        return Ok(None);
    }
    let decision = if first.is_suspicious() {
        let words = body.to_owned();
        let second =
            tokio::task::spawn_blocking(move || seven_reader::Reader::bundled()?.read(&words));
        let second = second
            .await
            .map_err(|error| Error::Other(error.to_string()))?
            .map_err(|error| Error::Other(error.to_string()))?;
        rails.weigh(first, &second)
    } else {
        first
    };
    Ok(match decision.verdict {
        Verdict::Guardrail(hit) if hit.layer.is_urgent() => Some(hit.layer),
        _ => None,
    })
}

/// Contains the incident of a missed cry. A guest who may be in danger gets the answer to a late
/// cry, as long as it may still help.
async fn missed(
    fleet: &Fleet,
    casino: &CasinoId,
    row: &Casino,
    text: &ReadAgain,
    layer: Layer,
) -> Result<(), Error> {
    let conversation = ConversationId(text.conversation_id);
    let mut tx = fleet.store.bind(casino).await?;
    if !contain_in(fleet, &mut tx, found(IncidentKind::CryMissed, text)).await? {
        return Ok(tx.commit().await?);
    }
    tx.note_cry(conversation, text.at).await?;
    let in_danger = matches!(layer, Layer::Crisis | Layer::Emergency);
    let queued = if in_danger && fleet.clock.now() - text.at < ANSWERED_FOR {
        answer(fleet, &mut tx, row, text).await?
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
) -> Result<Vec<Queued>, Error> {
    let (pack, key) = (fleet.packs.of(&row.config)?, TextKey::LateCry);
    let conversation = ConversationId(text.conversation_id);
    let Some((guest_id, language)) = tx.guest_in(conversation).await? else {
        return Ok(Vec::new());
    };
    let to = Recipient {
        conversation_id: conversation,
        guest_id,
    };
    let origin = Origin::Canned {
        inbound: InboundId(text.text_id),
        key: key.as_str(),
    };
    let (class, useful) = (pack.texts.class(key), pack.rules.answer_to_a_cry());
    let body = pack.say(key, language.unwrap_or(Language::En), &row.config);
    let new = NewOutbound::new(fleet.ids.next(), to, origin, class, body, useful)
        .agent(BY)
        .answers_at(Some(text.at));
    Ok(tx.queue(&new).await?.into_iter().collect())
}
