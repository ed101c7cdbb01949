//! Facts for the checker: the carrier's ledger, and the fleet's rows. The rows are read as the
//! database owner, with SQL that the fleet does not use.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context, Result};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, de::DeserializeOwned};
use seven_carrier_sim::{Inbound, Outbound, Snapshot};
use uuid::Uuid;

use super::{
    browse::Browsed,
    ground::{Ground, casino_id},
    load::Played,
    staff::Held,
    strike::{Paused, Struck},
    visits::Visit,
};

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct InboundRow {
    pub(crate) inbound_id: Uuid,
    pub(crate) provider_message_id: String,
    pub(crate) conversation_id: Uuid,
    pub(crate) received_at: DateTime<Utc>,
    pub(crate) stored_at: DateTime<Utc>,
    pub(crate) disposition: String,
    pub(crate) disposition_ref: Option<Uuid>,
    pub(crate) reason: Option<String>,
    /// Time at which a text that was held for a person was opened again; `None` if that never
    /// happened.
    pub(crate) released_at: Option<DateTime<Utc>>,
    pub(crate) closed_at: Option<DateTime<Utc>>,
    pub(crate) sweeps: i64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TurnRow {
    pub(crate) turn_id: Uuid,
    pub(crate) state: String,
    pub(crate) reason: Option<String>,
    pub(crate) newest_text_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct OutboundRow {
    pub(crate) outbound_id: Uuid,
    pub(crate) casino_id: String,
    pub(crate) conversation_id: Uuid,
    pub(crate) turn_id: Option<Uuid>,
    pub(crate) inbound_id: Option<Uuid>,
    pub(crate) kind: String,
    pub(crate) lane: String,
    pub(crate) seq: i64,
    pub(crate) state: String,
    pub(crate) reason: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) ended_at: Option<DateTime<Utc>>,
    pub(crate) sweeps: i64,
    /// Number of a message that was delivered to the web; `None` for other messages.
    pub(crate) web_seq: Option<i64>,
    /// Text of a message that was delivered to the web; `None` for other messages.
    pub(crate) web_body: Option<String>,
    pub(crate) sent_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AttemptRow {
    pub(crate) attempt_id: Uuid,
    pub(crate) outbound_id: Uuid,
    pub(crate) started_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DeadRow {
    pub(crate) stage: String,
    pub(crate) reason: String,
    pub(crate) message_key: String,
}

/// One text of a guest, no matter how often its webhook was called.
#[derive(Debug, Clone)]
pub(crate) struct Texted {
    pub(crate) message_id: String,
    pub(crate) guest: (String, String),
    pub(crate) word: String,
    pub(crate) occurred_at: DateTime<Utc>,
    /// When the carrier got the text, just before its first call of the webhook.
    pub(crate) told_at: DateTime<Utc>,
    /// When the carrier first got a 2xx for the text's webhook; `None` if it never did.
    pub(crate) acknowledged_at: Option<DateTime<Utc>>,
    pub(crate) calls: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) texts: Vec<Texted>,
    pub(crate) accepted: Vec<Outbound>,
    pub(crate) inbound: Vec<InboundRow>,
    pub(crate) turns: HashMap<Uuid, TurnRow>,
    pub(crate) outbound: BTreeMap<Uuid, OutboundRow>,
    pub(crate) attempts: HashMap<Uuid, AttemptRow>,
    pub(crate) dead: Vec<DeadRow>,
    pub(crate) paused: Vec<Paused>,
    /// Visits to the websites, each with its conversation; `None` if the fleet stored no
    /// conversation.
    pub(crate) browsed: Vec<(Browsed, Option<Uuid>)>,
    /// Conversations whose ticket waits for a person.
    pub(crate) waiting: HashSet<Uuid>,
    /// Takeovers: the times during which a person had a conversation.
    pub(crate) held: Vec<Held>,
    pub(crate) odd: Vec<Visit>,
    pub(crate) deletions: HashMap<String, DeletionRow>,
    /// Phones of guests whose deletion was requested and not withdrawn. Their rows may be gone.
    pub(crate) forgotten: HashSet<String>,
    /// One casino changes its number during the run. This is the time at which another casino got
    /// the old number; `None` if that never happened.
    pub(crate) handed_on: Option<DateTime<Utc>>,
    /// Phones of odd guests who are opted out at the casino they first wrote to.
    pub(crate) stopped_at_former: HashSet<String>,
}

/// The deletion of a guest, which an operator requested.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DeletionRow {
    pub(crate) phone_hash: String,
    pub(crate) state: String,
    pub(crate) due_at: DateTime<Utc>,
}

impl Facts {
    pub(crate) async fn read(
        ground: &Ground,
        struck: &Struck,
        visits: &[Visit],
        played: Played,
    ) -> Result<Self> {
        let ledger = ground.stack.sim.ledger().snapshot();
        let inbound = rows(
            ground,
            "select inbound_id, provider_message_id, conversation_id, received_at, stored_at, disposition, disposition_ref, reason, released_at, closed_at, sweeps from inbound_messages order by arrival",
        )
        .await?;
        let turns: Vec<TurnRow> = rows(
            ground,
            "select turn_id, state, reason, newest_text_at from turns",
        )
        .await?;
        let outbound: Vec<OutboundRow> = rows(
            ground,
            "select o.outbound_id, o.casino_id, o.conversation_id, o.turn_id, o.inbound_id, o.kind, p.lane, o.seq, o.state, o.reason, o.created_at, o.ended_at, o.sweeps, o.web_seq, case when o.web_seq is not null then o.body end as web_body, o.sent_at from outbound_messages o join send_policy p on p.class = o.class",
        )
        .await?;
        let attempts: Vec<AttemptRow> = rows(
            ground,
            "select attempt_id, outbound_id, started_at from send_attempts",
        )
        .await?;
        let dead = rows(
            ground,
            "select stage, reason, message_key from dead_letters",
        )
        .await?;
        let odd: Vec<Visit> = visits
            .iter()
            .filter(|visit| visit.odd.is_some())
            .cloned()
            .collect();
        let deleted: Vec<DeletionRow> = rows(
            ground,
            "select encode(phone_hash, 'hex') as phone_hash, state, due_at from deletions",
        )
        .await?;
        let stopped: Vec<Stopped> = rows(
            ground,
            "select casino_id, encode(phone_hash, 'hex') as phone_hash from suppressions where state = 'stopped'",
        )
        .await?;
        let (mut deletions, mut stopped_at_former) = (HashMap::new(), HashSet::new());
        for visit in &odd {
            let casino = casino_id(visit.casino);
            let hash = hex::encode(
                ground
                    .stack
                    .fleet
                    .keys
                    .hash(&casino.parse()?, &visit.phone.parse()?)
                    .bytes,
            );
            deletions.extend(
                deleted
                    .iter()
                    .find(|row| row.phone_hash == hash)
                    .map(|row| (visit.phone.clone(), row.clone())),
            );
            if stopped
                .iter()
                .any(|row| row.casino_id == casino && row.phone_hash == hash)
            {
                stopped_at_former.insert(visit.phone.clone());
            }
        }
        let gone = deletions.iter().filter(|(_, row)| row.state != "withdrawn");
        Ok(Self {
            forgotten: gone.map(|(phone, _)| phone.clone()).collect(),
            odd,
            deletions,
            handed_on: *ground.handed_on.borrow(),
            stopped_at_former,
            texts: texts(&ledger),
            accepted: ledger.outbound,
            inbound,
            turns: turns.into_iter().map(|t| (t.turn_id, t)).collect(),
            outbound: outbound.into_iter().map(|o| (o.outbound_id, o)).collect(),
            attempts: attempts.into_iter().map(|a| (a.attempt_id, a)).collect(),
            dead,
            paused: struck.pauses.clone(),
            held: held_of(&played),
            waiting: waiting(ground).await?,
            browsed: with_conversations(ground, played.browsed).await?,
        })
    }

    /// Returns each send that the carrier accepted, with its attempt and its text. These are `None`
    /// if the database holds no attempt for the send.
    pub(crate) fn sends(
        &self,
    ) -> impl Iterator<Item = (&Outbound, Option<(&AttemptRow, &OutboundRow)>)> {
        self.accepted.iter().map(|sent| {
            let attempt = attempt_of(sent).and_then(|id| self.attempts.get(&id));
            (
                sent,
                attempt.and_then(|a| Some((a, self.outbound.get(&a.outbound_id)?))),
            )
        })
    }

    /// Returns the ids of the outbound texts that the carrier accepted at least once.
    pub(crate) fn sent(&self) -> HashSet<Uuid> {
        self.sends()
            .filter_map(|(_, known)| Some(known?.1.outbound_id))
            .collect()
    }
}

fn held_of(played: &Played) -> Vec<Held> {
    let on_web = played.browsed.iter().filter_map(|visit| visit.held.clone());
    played.held.iter().cloned().chain(on_web).collect()
}

async fn waiting(ground: &Ground) -> Result<HashSet<Uuid>> {
    #[derive(Deserialize)]
    struct Row {
        conversation_id: Uuid,
    }
    let select = "select conversation_id from tickets where state = 'pending_human'";
    let rows: Vec<Row> = rows(ground, select).await?;
    Ok(rows.into_iter().map(|row| row.conversation_id).collect())
}

async fn with_conversations(
    ground: &Ground,
    browsed: Vec<Browsed>,
) -> Result<Vec<(Browsed, Option<Uuid>)>> {
    #[derive(Deserialize)]
    struct Row {
        phone_hash: String,
        conversation_id: Uuid,
    }
    let rows: Vec<Row> = rows(
        ground,
        "select encode(g.phone_hash, 'hex') as phone_hash, c.conversation_id from guests g join conversations c on c.guest_id = g.guest_id where c.channel = 'web'",
    )
    .await?;
    let by_hash: HashMap<String, Uuid> = rows
        .into_iter()
        .map(|row| (row.phone_hash, row.conversation_id))
        .collect();
    let with = |visit: Browsed| {
        let conversation = by_hash.get(&hex::encode(visit.guest.bytes)).copied();
        (visit, conversation)
    };
    Ok(browsed.into_iter().map(with).collect())
}

#[derive(Debug, Deserialize)]
struct Stopped {
    casino_id: String,
    phone_hash: String,
}

/// Returns the id of our attempt at this send. Each send request carries that id at the end of its
/// webhook URL.
fn attempt_of(sent: &Outbound) -> Option<Uuid> {
    sent.webhook_url
        .as_deref()?
        .rsplit('/')
        .next()?
        .parse()
        .ok()
}

pub(crate) fn texts(ledger: &Snapshot) -> Vec<Texted> {
    let mut texts: Vec<Texted> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for inbound in &ledger.inbound {
        let acknowledged_at = acknowledged(inbound);
        match places.get(inbound.message_id.as_str()) {
            Some(at) => {
                let text = &mut texts[*at];
                text.calls += inbound.delivery.attempts.len();
                text.acknowledged_at = [text.acknowledged_at, acknowledged_at]
                    .into_iter()
                    .flatten()
                    .min();
            }
            None => {
                places.insert(&inbound.message_id, texts.len());
                texts.push(Texted {
                    message_id: inbound.message_id.clone(),
                    guest: (inbound.to.clone(), inbound.from.clone()),
                    word: inbound.text.clone().unwrap_or_default(),
                    occurred_at: inbound.occurred_at,
                    told_at: inbound.at,
                    acknowledged_at,
                    calls: inbound.delivery.attempts.len(),
                });
            }
        }
    }
    texts
}

fn acknowledged(inbound: &Inbound) -> Option<DateTime<Utc>> {
    let call = inbound
        .delivery
        .attempts
        .iter()
        .find(|a| a.acknowledged())?;
    // Adds 2 ms, because the ledger truncates both the call's start and its duration to the
    // millisecond.
    Some(
        call.at
            + TimeDelta::milliseconds(
                i64::try_from(call.millis)
                    .unwrap_or(i64::MAX / 2)
                    .saturating_add(2),
            ),
    )
}

async fn rows<T: DeserializeOwned>(ground: &Ground, select: &str) -> Result<Vec<T>> {
    let said = ground
        .sql(format!(
            "select coalesce(json_agg(x), '[]') from ({select}) x"
        ))
        .await?;
    serde_json::from_str(said.trim()).with_context(|| format!("reading the rows of: {select}"))
}
