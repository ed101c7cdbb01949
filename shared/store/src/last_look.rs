//! The pre-send check (D6): ONE statement moves a text from `queued` to `sending` and writes its
//! attempt, or returns why the text may not be sent.
//!
//! Most texts are answers to which no restriction applies. For them there is a short statement,
//! [`AT_ONCE`]. It permits fewer texts than the full statement and refuses none: if it returns no
//! row, the full statement is run (docs/performance.md).
//!
//! Both statements read the guest's suppression row FOR SHARE. A STOP updates the same row, so each
//! waits for the other: a claim either commits before the STOP's 2xx or sees the STOP. That is what
//! "after STOP" means here. The suppression is locked before the text, as in the gate's STOP, so
//! that the two cannot deadlock.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{AttemptId, OutboundId, PhoneE164};
use sqlx::{Row, postgres::PgRow};

use crate::{Result, Tx, mutant};

/// Input that the sender brings to the pre-send check.
#[derive(Debug, Clone)]
pub struct Look {
    pub outbound_id: OutboundId,
    pub attempt_id: AttemptId,
    pub provider: &'static str,
    /// The number to send from. It must be one that the casino sends from today; otherwise the text
    /// is refused (D40).
    pub sender: PhoneE164,
    /// `deadline` is the time from now until the provider's answer is overdue; `grace` is the
    /// additional time to wait for a webhook after that.
    pub deadline: Duration,
    pub grace: Duration,
    /// Whether the guest-local sending window is open. Only used for classes with quiet hours.
    pub window_open: bool,
    /// Whether the jurisdiction requires that the casino's self-exclusion list is consulted before
    /// a proactive text (C-23).
    pub exclusion_list_needed: bool,
    /// The sender's clock at the call. The provider's answer is compared with newer information by
    /// this time (C-10).
    pub called_at: DateTime<Utc>,
    /// The time of a STOP that Redis holds; it may be newer than what Postgres knows (D7).
    pub refused_as_of: Option<DateTime<Utc>>,
    /// How likely carriers are to filter the text, from 0 to 1 (SMS-34). Only used for classes with
    /// a limit, for which a missing value counts as too high.
    pub risk: Option<f64>,
}

/// A permitted send: the row is `sending` and the attempt is written.
#[derive(Debug, Clone)]
pub struct Claim {
    pub to: String,
    pub body: String,
    pub class: String,
    pub conversation_id: uuid::Uuid,
    pub messaging_profile_id: Option<String>,
}

/// Why a text may not be sent, in the order in which reasons are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The text is not `queued`, or no longer: another process sent or ended it.
    NotQueued,
    /// Its `useful_until` time or its five minutes are over.
    Expired,
    Killed,
    SafetyStateMissing,
    Suppressed,
    /// Redis holds a STOP that Postgres does not know yet.
    RefusedByCache,
    Paused,
    /// The guest was asked whether they want no more texts, and has not answered yet (D20).
    OptOutAsked,
    /// The provider accepts no text of ours, because of keys or funds.
    ProviderStopped,
    /// The casino's spend limit at the provider is reached for today.
    Parked,
    /// The guest has opted in again, but the provider still blocks the number (C-6).
    ProviderBlocked,
    ConsentTier,
    /// The guest is on the casino's self-exclusion list, or wrote a cry for help about gambling.
    SelfExcluded,
    /// The self-exclusion list must be consulted, and the casino never supplied one.
    SelfExclusionUnchecked,
    /// An operator cancelled its campaign.
    CampaignCancelled,
    /// Carriers would probably filter it; it has to be reworded (SMS-34).
    ContentRisk,
    QuietHours,
    /// The 10DLC campaign or toll-free number is not approved (SMS-31).
    NotRegistered,
    Cooldown,
    /// The guest already received as many texts of this class as the cap allows.
    Cap,
    /// The number was reassigned to another person.
    NumberReassigned,
    NumberUnchecked,
    EarlierUnsent,
    NotYet,
    CasinoInactive,
    /// The casino no longer sends from this number: its document changed after the text was queued.
    SenderRetired,
}

impl Refusal {
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::NotQueued, "not_queued"),
        (Self::CasinoInactive, "casino_inactive"),
        (Self::Expired, "expired"),
        (Self::Killed, "killed"),
        (Self::SafetyStateMissing, "safety_state_missing"),
        (Self::Suppressed, "guest_suppressed"),
        (Self::RefusedByCache, "refused_by_cache"),
        (Self::Paused, "paused"),
        (Self::OptOutAsked, "opt_out_asked"),
        (Self::ProviderStopped, "provider_stopped"),
        (Self::Parked, "sending_parked"),
        (Self::ProviderBlocked, "provider_blocked"),
        (Self::ConsentTier, "consent_tier"),
        (Self::SelfExcluded, "self_excluded"),
        (Self::SelfExclusionUnchecked, "self_exclusion_unchecked"),
        (Self::CampaignCancelled, "campaign_cancelled"),
        (Self::ContentRisk, "content_risk"),
        (Self::QuietHours, "quiet_hours"),
        (Self::NotRegistered, "not_registered"),
        (Self::Cooldown, "cooldown"),
        (Self::Cap, "cap"),
        (Self::NumberReassigned, "number_reassigned"),
        (Self::NumberUnchecked, "number_unchecked"),
        (Self::EarlierUnsent, "earlier_text_unsent"),
        (Self::NotYet, "not_before"),
        (Self::SenderRetired, "sender_retired"),
    ];

    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(r, _)| *r == self).map_or("unknown", |(_, text)| text)
    }
}

impl Tx {
    /// Claims the text for sending, or returns the reason that forbids it.
    pub async fn last_look(&mut self, look: &Look) -> Result<std::result::Result<Claim, Refusal>> {
        if let Some(claim) = mutant::claim_unlooked(self, look).await? {
            return Ok(Ok(claim));
        }
        if let Some(claim) = self.claim_at_once(look).await? {
            return Ok(Ok(claim));
        }
        let casino = self.casino_str();
        let row = sqlx::query(LAST_LOOK)
            .bind(look.outbound_id.0)
            .bind(look.attempt_id.0)
            .bind(look.provider)
            .bind(look.deadline.as_secs_f64())
            .bind(look.window_open)
            .bind(look.refused_as_of)
            .bind(casino)
            .bind(look.exclusion_list_needed)
            .bind(look.called_at)
            .bind(look.risk)
            .bind((look.deadline + look.grace).as_secs_f64())
            .bind(look.sender.as_str())
            .fetch_optional(self.conn())
            .await?;
        let Some(row) = row else { return Ok(Err(Refusal::NotQueued)) };
        let refusal: Option<String> = row.try_get("refusal")?;
        if let Some(text) = refusal {
            let refusal =
                Refusal::ALL.iter().find(|(_, t)| *t == text).map_or(Refusal::SafetyStateMissing, |(r, _)| *r);
            return Ok(Err(refusal));
        }
        if !row.try_get::<bool, _>("claimed")? {
            return Ok(Err(Refusal::NotQueued));
        }
        Ok(Ok(Claim {
            to: row.try_get("phone")?,
            body: row.try_get("body")?,
            class: row.try_get("class")?,
            conversation_id: row.try_get("conversation_id")?,
            messaging_profile_id: row.try_get("messaging_profile_id")?,
        }))
    }

    /// Claims a text to which no restriction applies. `None` decides nothing: the full check must
    /// be run.
    pub async fn claim_at_once(&mut self, look: &Look) -> Result<Option<Claim>> {
        // The casino's settings are known only while this process holds the document in force.
        let Some(held) = self.held_document().filter(|_| look.refused_as_of.is_none()) else { return Ok(None) };
        let casino = self.casino_str();
        let row = sqlx::query(AT_ONCE)
            .bind(look.outbound_id.0)
            .bind(look.attempt_id.0)
            .bind(look.provider)
            .bind(look.deadline.as_secs_f64())
            .bind(held.version)
            .bind((look.deadline + look.grace).as_secs_f64())
            .bind(casino)
            .bind(look.risk)
            .bind(look.called_at)
            .bind(look.sender.as_str())
            .fetch_optional(self.conn())
            .await?;
        let claim = |row: PgRow| {
            Ok(Claim {
                to: row.try_get("phone")?,
                body: row.try_get("body")?,
                class: row.try_get("class")?,
                conversation_id: row.try_get("conversation_id")?,
                messaging_profile_id: held.config.operational.messaging_profile_id.clone(),
            })
        };
        row.map(claim).transpose()
    }
}

/// Each condition is at least as strict as its counterpart in [`LAST_LOOK`]. A class whose policy
/// needs more checks than are made here is left to that statement. The text's own conditions are
/// checked again when its row is locked. If the lock had to be waited for, the suppression row is
/// read in its new state.
///
/// `is not distinct from` and the earlier text's `limit 1` keep the planner on the key indexes. The
/// statistics show almost no queued or sending texts, so the planner used to scan all of them, dead
/// entries included, to find one text. Guests are read in a separate lateral query for a similar
/// reason: until a new fleet is analyzed, the planner expects a row or two per casino, and it used
/// to cross join texts and guests (docs/performance.md).
const AT_ONCE: &str = "
with s as (
  select m.outbound_id, m.body, m.class, m.conversation_id, g.phone
  from outbound_messages m
  join send_policy p on p.class = m.class and p.lane <> 'bulk' and p.least_tier = 'none' and p.cooldown is null and p.cap is null
    and coalesce(p.most_risk, 1) >= 1 and not (p.quiet_hours or p.needs_registration or p.needs_exclusion_check or p.needs_number_check)
  cross join lateral (select phone, key_id, phone_hash from guests where guest_id = m.guest_id offset 0) g
  join suppressions x on x.key_id = g.key_id and x.phone_hash = g.phone_hash and x.state <> 'stopped' and not x.provider_blocked
  where m.outbound_id = $1 and m.state is not distinct from 'queued' and m.campaign_id is null and m.not_before <= now() and m.useful_until >= now()
    and exists (select 1 from casinos k where k.xmin::text::bigint = $5 and k.status = 'active' and not k.safe_mode)
    and not exists (select 1 from controls) and not exists (select 1 from fleet_controls)
    and not exists (select 1 from provider_stops where casino_id in ('', $7))
    and exists (select 1 from routes where number = $10 and casino_id = $7 and retired_at is null)
    and (select true from outbound_messages e
         where e.conversation_id = m.conversation_id and e.seq < m.seq and e.state in ('queued', 'sending') limit 1) is null
  for share of x
), claimed as (
  update outbound_messages m set state = 'sending', provider = $3, reason = null, risk_score_at_send = $8
  from s where m.outbound_id = $1 and m.state is not distinct from 'queued' and m.not_before <= now() and m.useful_until >= now()
  returning m.outbound_id
), attempt as (
  insert into send_attempts (casino_id, attempt_id, outbound_id, provider, deadline_at, called_at)
  select $7, $2, outbound_id, $3, now() + make_interval(secs => $4), $9 from claimed
  returning attempt_id
), doubt as (
  insert into due (casino_id, kind, row_id, due_at) select $7, 'attempt_doubt', attempt_id, now() + make_interval(secs => $6) from attempt
)
select s.body, s.class, s.conversation_id, s.phone from s, claimed, attempt";

const LAST_LOOK: &str = "
with s as (
  select x.* from suppressions x, guests g, outbound_messages m
  where m.outbound_id = $1 and g.guest_id = m.guest_id and x.key_id = g.key_id and x.phone_hash = g.phone_hash for share of x
), o as (
  select m.* from outbound_messages m, (select count(*) from s) as locked_first where m.outbound_id = $1 for update of m
), off as (
  select name, since from controls union all select name, since from fleet_controls
  union all select 'safe_mode', updated_at from casinos where safe_mode
), stops as (
  select provider, casino_id <> '' and probe_at is null as park from provider_stops
  where casino_id in ('', $7) and (until is null or until > now())
), facts as (
  select o.outbound_id, o.body, o.class, o.conversation_id, g.phone, k.config->'operational'->>'messaging_profile_id' as messaging_profile_id,
    case
      when o.state <> 'queued' then 'not_queued'
      when k.status <> 'active' and p.lane <> 'safety' then 'casino_inactive'
      when o.useful_until < now() then 'expired'
      when not exists (select 1 from routes r where r.number = $12 and r.casino_id = $7 and r.retired_at is null) then 'sender_retired'
      when p.when_killed = 'stop' and exists (select 1 from off where name = 'kill') then 'killed'
      when p.when_state_missing = 'stop' and s.state is null then 'safety_state_missing'
      when s.state = 'stopped' and not (p.when_suppressed = 'pass_as_answer' and coalesce(o.answers_at > now() - p.answers_within, false)) then 'guest_suppressed'
      when p.when_suppressed = 'stop' and $6::timestamptz is not null and (s.as_of is null or s.as_of <= $6) then 'refused_by_cache'
      when s.asked_at is not null and p.lane = 'bulk' then 'opt_out_asked'
      when s.provider_blocked and p.when_provider_blocks = 'stop' then 'provider_blocked'
      when p.when_paused = 'stop' and exists (select 1 from off where name = 'pause_outbound') then 'paused'
      -- Safe mode silences the host, not a person who writes by hand (SEC-126).
      when p.when_paused = 'stop' and o.kind <> 'person' and exists (select 1 from off where name = 'safe_mode') then 'paused'
      when p.when_paused = 'stop' and p.lane = 'bulk' and exists (select 1 from off where name = 'pause_proactive') then 'paused'
      when q.state = 'paused' then 'paused'
      when exists (select 1 from stops where not park and provider = $3) then 'provider_stopped'
      -- The limit is the casino's brake on its spending: only a safety text may take another provider.
      when exists (select 1 from stops where park and (p.lane <> 'safety' or provider = $3)) then 'sending_parked'
      -- Nothing is sold or announced to a guest who waits for a person (SEC-59, SEC-104).
      when p.lane = 'bulk' and c.paused_at is not null and coalesce(c.paused_until > now(), true) then 'paused'
      -- Nor for the rest of the session in which the guest cried for help.
      when p.lane = 'bulk' and c.cried_at >= c.session_started_at and c.last_inbound_at > now() - interval '24 hours' then 'paused'
      when p.when_paused = 'once' and exists (
        select 1 from off join outbound_messages h on h.conversation_id = o.conversation_id and h.class = o.class and h.outbound_id <> o.outbound_id
          and h.created_at >= off.since and h.state not in ('queued', 'suppressed', 'expired')
        where off.name in ('pause_outbound', 'safe_mode')) then 'paused'
      when array_position(array['none', 'transactional', 'informational', 'marketing'], g.consent_tier)
         < array_position(array['none', 'transactional', 'informational', 'marketing'], p.least_tier) then 'consent_tier'
      when p.needs_exclusion_check and (g.responsible_gaming_at is not null or exists (
        select 1 from exclusions x where x.key_id = g.key_id and x.phone_hash = g.phone_hash and (x.until is null or x.until > now()))) then 'self_excluded'
      when p.needs_exclusion_check and $8 and not exists (select 1 from exclusion_lists) then 'self_exclusion_unchecked'
      when q.state = 'cancelled' then 'campaign_cancelled'
      when coalesce($10::float8, 1) > p.most_risk then 'content_risk'
      when p.quiet_hours and not $5 then 'quiet_hours'
      when p.needs_registration and k.config->'operational'->>'number_kind' <> 'demo'
        and coalesce(k.config->'operational'->>'registration', 'missing') <> 'approved' then 'not_registered'
      -- Safety texts overtake all but what answers the same text: first the help, then the confirmation (C-21).
      -- An answer does not wait for what nobody asked for: that may be held till morning.
      when exists (
        select 1 from outbound_messages e join send_policy ep on ep.class = e.class
        where e.conversation_id = o.conversation_id and e.seq < o.seq and e.state in ('queued', 'sending')
          and (p.lane <> 'safety' or e.inbound_id = o.inbound_id) and (p.lane = 'bulk' or ep.lane <> 'bulk' or e.state = 'sending')) then 'earlier_text_unsent'
      when p.cooldown is not null and exists (
        select 1 from outbound_messages e where e.guest_id = o.guest_id and e.class = o.class and e.outbound_id <> o.outbound_id
          and e.state in ('sending', 'sent', 'delivered', 'unknown') and coalesce(e.sent_at, e.created_at) > now() - p.cooldown) then 'cooldown'
      when p.cap is not null and (
        select count(*) from outbound_messages e where e.guest_id = o.guest_id and e.class = o.class and e.outbound_id <> o.outbound_id
          and e.state in ('sending', 'sent', 'delivered', 'unknown') and coalesce(e.sent_at, e.created_at) > now() - p.cap_window) >= p.cap then 'cap'
      when p.lane = 'bulk' and (
        select count(*) from outbound_messages e join send_policy ep on ep.class = e.class and ep.lane <> 'safety'
        where e.guest_id = o.guest_id and e.outbound_id <> o.outbound_id
          and e.state in ('sending', 'sent', 'delivered', 'unknown') and coalesce(e.sent_at, e.created_at) > now() - interval '24 hours')
        >= coalesce((k.config->'operational'->>'max_messages_per_guest_per_day')::int, 20) then 'cap'
      when p.needs_number_check and n.result = 'reassigned' then 'number_reassigned'
      when p.needs_number_check and n.result is null and coalesce((k.config->'regulations'->>'reassigned_number_check')::boolean, false) then 'number_unchecked'
      when o.not_before > now() then 'not_before'
    end as refusal
  from o
  join send_policy p on p.class = o.class
  join guests g on g.guest_id = o.guest_id
  join conversations c on c.conversation_id = o.conversation_id
  join casinos k on k.casino_id = o.casino_id
  left join campaigns q on q.casino_id = o.casino_id and q.campaign_id = o.campaign_id
  left join s on true
  left join number_checks n on n.key_id = g.key_id and n.phone_hash = g.phone_hash
), claimed as (
  update outbound_messages m set state = 'sending', provider = $3, reason = null, risk_score_at_send = $10
  from facts where m.outbound_id = facts.outbound_id and facts.refusal is null
  returning m.outbound_id
), attempt as (
  insert into send_attempts (casino_id, attempt_id, outbound_id, provider, deadline_at, called_at)
  select $7, $2, outbound_id, $3, now() + make_interval(secs => $4), $9 from claimed
  returning attempt_id
), doubt as (
  -- Whatever becomes of the call, somebody asks about it when its deadline and the grace are over.
  insert into due (casino_id, kind, row_id, due_at) select $7, 'attempt_doubt', attempt_id, now() + make_interval(secs => $11) from attempt
)
select facts.*, exists (select 1 from claimed) and exists (select 1 from attempt) as claimed from facts";
