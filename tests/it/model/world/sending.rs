//! The steps that queue texts as the swarm does, and give them to the sender as the worker loop
//! does.

use std::time::Duration;

use seven_bus::{Handler, Outcome, events::OutboundReady};
use seven_domain::{CasinoId, ConversationId, GuestId, MessageClass, OutboundId};
use seven_providers::{Provider, SendRequest};
use seven_store::{
    outbound::{NewOutbound, Origin, Recipient},
    presend_check::{Claim, PresendCheck},
};
use uuid::Uuid;

use super::World;
use crate::model::{
    carrier::Plan,
    desk::PHONES,
    faults::Fault,
    steps::{Answer, Said, Who},
};

impl World {
    pub(super) async fn queue(&mut self, who: Who, class: MessageClass) -> Result<(), String> {
        let casino = self.casinos[who.casino].clone();
        let party: Option<(Uuid, Uuid)> = sqlx::query_as(
            "select g.guest_id, c.conversation_id from guests g join conversations c on c.casino_id = g.casino_id and c.guest_id = g.guest_id
             where g.casino_id = $1 and g.phone = $2",
        )
        .bind(casino.as_str())
        .bind(PHONES[who.phone])
        .fetch_optional(&self.owner)
        .await
        .map_err(|e| e.to_string())?;
        let Some((guest, conversation)) = party else {
            return Ok(());
        };
        let answer = matches!(class, MessageClass::Reply | MessageClass::Holding);
        let text = NewOutbound::new(
            self.fleet.ids.next(),
            Recipient {
                conversation_id: ConversationId(conversation),
                guest_id: GuestId(guest),
            },
            Origin::Canned {
                inbound: self.fleet.ids.next(),
                key: "model",
            },
            class,
            "Good evening.".to_owned(),
            Duration::from_secs(if answer { 1_800 } else { 3 * 86_400 }),
        )
        .answers_at(answer.then(|| self.fleet.clock.now()));
        let mut tx = self
            .fleet
            .store
            .bind(&casino)
            .await
            .map_err(|e| e.to_string())?;
        tx.queue(&text).await.map_err(|e| e.to_string())?;
        tx.commit().await.map_err(|e| e.to_string())?;
        if self.fault == Some(Fault::LooksTooEarly) && class == MessageClass::Reply {
            self.look_early(casino, who, text.outbound_id).await;
        }
        Ok(())
    }

    pub(super) async fn send(
        &mut self,
        nth: usize,
        answer: Answer,
        meanwhile: Option<Said>,
    ) -> Result<(), String> {
        {
            let mut plan = self.carrier.plan.lock().unwrap();
            *plan = Plan {
                answer: Some(answer),
                meanwhile,
                ..Plan::default()
            };
        }
        if !self.looked.is_empty() {
            let request = self.looked.remove(nth % self.looked.len());
            tokio::select! {
                _ = self.carrier.send(&request) => {},
                () = self.carrier.died.notified() => {}
            }
            return self.sent();
        }
        let due: Vec<(String, Uuid)> = sqlx::query_as(
            "select o.casino_id, o.outbound_id from outbound_messages o join send_policy p on p.class = o.class
             where o.state = 'queued' and o.not_before <= now() order by p.lane <> 'safety', o.created_at, o.seq limit 20",
        )
        .fetch_all(&self.owner)
        .await
        .map_err(|e| e.to_string())?;
        if due.is_empty() {
            return Ok(());
        }
        let (casino, outbound) = &due[nth % due.len()];
        let casino = usize::from(self.casinos[1].as_str() == casino.as_str());
        let ready = self.delivery(
            casino,
            OutboundReady {
                outbound_id: seven_bus::id_bytes(*outbound),
            },
        );
        tokio::select! {
            outcome = self.sender.handle(ready) => match outcome {
                Outcome::Done | Outcome::Wait { .. } => {}
                Outcome::Park { reason, .. } if reason == "send_failed" => {}
                other => return Err(format!("the sender: {other:?}")),
            },
            () = self.carrier.died.notified() => {}
        }
        self.sent()
    }

    fn sent(&mut self) -> Result<(), String> {
        let plan = std::mem::take(&mut *self.carrier.plan.lock().unwrap());
        if plan.requests.is_empty() {
            self.desk.count("refused by the pre-send check");
        }
        self.requests.extend(plan.requests);
        if let Some((who, at)) = plan.opted_out {
            self.desk.count("40300");
            self.desk.book().blocked(who, at);
        }
        plan.complaint.map_or(Ok(()), Err)
    }

    // --- a planted sender ---

    async fn look_early(&mut self, casino: CasinoId, who: Who, outbound_id: OutboundId) {
        let (casino_hash, hash) = self.hash(who);
        let mut tx = self.fleet.store.bind(&casino).await.unwrap();
        let sender = tx
            .casino_row()
            .await
            .unwrap()
            .unwrap()
            .config
            .operational
            .telnyx_phone_number
            .clone();
        let check = PresendCheck {
            outbound_id,
            attempt_id: self.fleet.ids.next(),
            provider: seven_domain::TELNYX,
            sender: Some(sender.clone()),
            deadline: Duration::from_secs(10),
            grace: Duration::from_secs(30),
            window_open: true,
            exclusion_list_needed: false,
            called_at: self.fleet.clock.now(),
            refused_as_of: self.fleet.cache.refused(&casino_hash, &hash).await,
            risk: Some(0.0),
        };
        let verdict = tx.presend_check(&check).await.unwrap();
        tx.commit().await.unwrap();
        if let Ok(Claim { to, body, .. }) = verdict {
            let request = SendRequest {
                casino,
                attempt: check.attempt_id,
                from: sender,
                to: to.unwrap().parse().unwrap(),
                text: body,
                messaging_profile_id: None,
            };
            self.looked.push(request);
        }
    }
}
