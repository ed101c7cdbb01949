//! Export of all data about one guest, for the guest (SEC-76).

use serde_json::Value;
use seven_domain::GuestHash;

use crate::{Result, Tx};

impl Tx {
    /// Returns the profile, conversations with every text, offers, campaigns, consent with its
    /// chain, and audit entries. For an unknown guest it returns the data that is kept after a
    /// deletion, if any: suppression, chain and audit entries.
    pub async fn export_guest(&mut self, guest: &GuestHash) -> Result<Value> {
        Ok(sqlx::query_scalar(EXPORT)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(guest.tag())
            .fetch_one(self.conn())
            .await?)
    }

    /// Returns the trace ids of the guest's texts and audit entries, for deleting them in the trace
    /// backend (OBS-38). After the guest's deletion, only those of the audit entries remain.
    pub async fn guest_traces(&mut self, guest: &GuestHash) -> Result<Vec<String>> {
        Ok(sqlx::query_scalar(
            "with g as (select guest_id from guests where key_id = $1 and phone_hash = $2)
             select distinct split_part(trace, '-', 2) as id from (
               select trace from inbound_messages join g using (guest_id) union all
               select trace from outbound_messages join g using (guest_id) union all
               select trace from turns join g using (guest_id) union all
               select trace from audit_log where guest_hash = $3) all_of_it
             where split_part(trace, '-', 2) <> '' order by 1",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .bind(guest.tag())
        .fetch_all(self.conn())
        .await?)
    }
}

const EXPORT: &str = "
with g as (select * from guests where key_id = $1 and phone_hash = $2)
select jsonb_build_object(
  'profile', coalesce((select to_jsonb(g) - 'phone_hash' - 'key_id' from g), '{}'),
  'known', coalesce((select p.document from profiles p join g using (guest_id)), '{}'),
  'conversations', coalesce((select jsonb_agg(jsonb_build_object(
      'conversation_id', c.conversation_id, 'channel', c.channel, 'created_at', c.created_at, 'last_inbound_at', c.last_inbound_at,
      'texts_received', (select jsonb_agg(jsonb_build_object('at', i.occurred_at, 'text', i.body, 'media', i.media_count, 'verdict', i.verdict, 'outcome', i.disposition, 'reason', i.reason) order by i.occurred_at)
                         from inbound_messages i where i.conversation_id = c.conversation_id),
      'texts_sent', (select jsonb_agg(jsonb_build_object('at', coalesce(o.sent_at, o.created_at), 'text', o.body, 'class', o.class, 'state', o.state, 'reason', o.reason) order by o.seq)
                     from outbound_messages o where o.conversation_id = c.conversation_id),
      'sessions', (select jsonb_agg(jsonb_build_object('started_at', s.started_at, 'last_at', s.last_at, 'phase', s.phase, 'answers', s.turns, 'summary', s.summary, 'counts', s.counts) order by s.started_at)
                   from sessions s where s.conversation_id = c.conversation_id),
      'cases', (select jsonb_agg(jsonb_build_object('at', e.created_at, 'reason', e.reason, 'severity', e.severity, 'resolved_at', e.resolved_at) order by e.created_at)
                from escalations e where e.conversation_id = c.conversation_id),
      'answers', (select jsonb_agg(jsonb_build_object('at', t.created_at, 'agent', t.agent, 'model', t.model, 'intent', t.intent, 'draft', t.draft, 'state', t.state) order by t.created_at)
                  from turns t where t.conversation_id = c.conversation_id)))
    from conversations c join g using (guest_id)), '[]'),
  'offers', coalesce((select jsonb_agg(jsonb_build_object('at', o.issued_at, 'offer', o.item, 'dollars', o.dollars, 'state', o.status, 'expires_at', o.expires_at, 'redeemed_at', o.redeemed_at) order by o.issued_at)
                      from offers o join g using (guest_id)), '[]'),
  'campaigns', coalesce((select jsonb_agg(jsonb_build_object('at', coalesce(l.released_at, m.created_at), 'campaign', m.name, 'state', l.state, 'reason', l.reason) order by m.created_at)
                         from campaign_guests l join campaigns m on m.campaign_id = l.campaign_id join g using (guest_id)), '[]'),
  'behavioral_signals', '[]'::jsonb,
  'consent_records', jsonb_build_object(
    'legal_sender', (select config->'regulations'->'legal_sender' from casinos),
    'suppression', (select jsonb_build_object('state', s.state, 'as_of', s.as_of, 'method', s.method) from suppressions s where s.key_id = $1 and s.phone_hash = $2),
    'events', coalesce((select jsonb_agg(e.event::jsonb order by e.position) from consent_events e where e.key_id = $1 and e.phone_hash = $2), '[]')),
  'audit', coalesce((select jsonb_agg(jsonb_build_object('at', a.at, 'event', a.action, 'actor', a.actor, 'detail', a.detail) order by a.entry)
                     from audit_log a where a.guest_hash = $3), '[]'),
  'data_categories', jsonb_build_array('Identity (name, email, phone)', 'Preferences (dining, entertainment, gaming)', 'Conversation history', 'Behavioral signals', 'Consent records'))";
