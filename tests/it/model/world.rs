//! Two casinos on real servers. Their gate, sender and scheduler do only what a step says.

mod sending;

use std::sync::Arc;

use seven::onboard;
use seven_bus::{Delivery, Handler, Outcome, events, topology};
use seven_compliance::chain::Action;
use seven_compliance_gate::Gate;
use seven_domain::{CasinoId, ConsentTier, PhoneE164, Stage, TimeScale, TraceContext};
use seven_outbound_sender::{Receipts, Sender};
use seven_providers::{Provider, SendRequest};
use seven_runtime::{Fleet, Timing};
use seven_settings::Worker;
use seven_store::consent::Consent;
use sqlx::{AssertSqlSafe, PgPool, postgres::PgPoolOptions};

use super::{
    carrier::{Attempt, Carrier, Plan},
    desk::{PHONES, Workers},
    faults::Fault,
    ground::{CLEAR, PREPARE, shift, tell, understood},
    steps::{EVERYBODY, Reach, Receipt, Said, Step, When, Who},
};
use crate::{
    harness::{House, Wanted, house},
    operations::{OTHER_NUMBER, other_document},
};

pub(crate) struct World {
    house: House,
    owner: PgPool,
    casinos: [CasinoId; 2],
    desk: Arc<Workers>,
    carrier: Arc<Carrier>,
    gate: Gate,
    sender: Sender,
    receipts: Receipts,
    /// The fleet with the long waits of production. The test's clock jumps over these waits.
    fleet: Fleet,
    /// Statements that move the times in every table back when the clock jumps.
    shift: String,
    requests: Vec<Attempt>,
    fault: Option<Fault>,
    /// Requests that the sender with the planted fault checked when their text was queued. It sends
    /// them later without a second check.
    looked: Vec<SendRequest>,
    pub(crate) steps: usize,
}

// === impl World ===

impl World {
    pub(crate) async fn new(unique: &str, fault: Option<Fault>) -> Self {
        for said in Said::ALL {
            understood(*said);
        }
        let house = house(
            unique,
            Wanted {
                workers: vec![Worker::IngressWebhook],
                ..Wanted::default()
            },
        )
        .await;
        let other = onboard::read_casino("casino.json", &other_document()).unwrap();
        onboard::add_casino(&house.stack.fleet, &other, "test")
            .await
            .unwrap();
        let owner = PgPoolOptions::new()
            .max_connections(2)
            .connect(&house.database_url)
            .await
            .unwrap();
        sqlx::raw_sql(PREPARE).execute(&owner).await.unwrap();
        if let Some(fault) = fault {
            sqlx::raw_sql(fault.plant()).execute(&owner).await.unwrap();
        }
        let numbers = [
            house
                .config
                .operational
                .telnyx_phone_number
                .as_str()
                .to_owned(),
            OTHER_NUMBER.to_owned(),
        ];
        let desk = Arc::new(Workers::new(&house, numbers));
        let carrier = Arc::new(Carrier::new(Arc::clone(&desk), owner.clone()));
        let fast = house.stack.fleet.clone();
        let fleet = Fleet {
            timing: Timing::new(TimeScale::default()),
            ..fast.clone()
        };
        let gate = Gate {
            fleet: fleet.clone(),
            fleet_per_minute: 1_000,
            second_reader: false,
        };
        let provider: Arc<dyn Provider> = Arc::clone(&carrier) as Arc<dyn Provider>;
        Self {
            casinos: [house.casino().clone(), other.casino_id.clone()],
            shift: shift(&owner).await,
            sender: Sender::new(fast.clone(), vec![provider], None),
            receipts: Receipts::new(fast),
            house,
            owner,
            desk,
            carrier,
            gate,
            fleet,
            requests: Vec::new(),
            fault,
            looked: Vec::new(),
            steps: 0,
        }
    }

    pub(crate) fn desk(&self) -> &Workers {
        &self.desk
    }

    pub(crate) async fn stop(self) {
        self.owner.close().await;
        self.house.stop().await;
    }

    /// Plays the steps from an empty world. Returns the complaint, if there is one, with the index
    /// of the step that caused it.
    pub(crate) async fn play(&mut self, steps: &[Step]) -> Result<(), (usize, String)> {
        self.begin().await;
        for (n, step) in steps.iter().enumerate() {
            self.steps += 1;
            self.step(step).await.map_err(|complaint| (n, complaint))?;
        }
        Ok(())
    }

    async fn begin(&mut self) {
        self.sql(CLEAR.to_owned()).await;
        self.wipe_redis().await;
        self.purge_streams().await;
        self.desk.begin();
        self.requests.clear();
        self.looked.clear();
        *self.carrier.plan.lock().unwrap() = Plan::default();
        self.sql(format!(
            "update model_clock set zone = '{}'",
            self.desk.zone()
        ))
        .await;
    }

    async fn step(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            Step::Says {
                who,
                said,
                when,
                reach,
            } => self.says(who, said, when, reach).await,
            Step::Retry { nth, reach } => {
                let Some((n, who, said, at)) = self.nth(nth) else {
                    return Ok(());
                };
                self.desk.post(n, who, said, at).await?;
                if reach == Reach::Gate {
                    self.gate(n, true).await
                } else {
                    Ok(())
                }
            }
            Step::Redeliver { nth } => match self.nth(nth) {
                Some((n, ..)) => self.gate(n, false).await,
                None => Ok(()),
            },
            Step::Queue { who, class } => self.queue(who, class).await,
            Step::Send {
                nth,
                answer,
                meanwhile,
            } => self.send(nth, answer, meanwhile).await,
            Step::Receipt { nth, receipt } => self.receipt(nth, receipt).await,
            Step::Due => self.due().await,
            Step::Wait { seconds } => self.wait(seconds).await,
            Step::WipeRedis => {
                self.wipe_redis().await;
                Ok(())
            }
            Step::RecordConsent { who } => self.record_consent(who).await,
        }
    }

    fn nth(&self, nth: usize) -> Option<(usize, Who, Said, i64)> {
        let n = self.desk.nth_text(nth)?;
        let book = self.desk.book();
        let text = book.text(n);
        Some((n, text.who, text.said, text.at))
    }

    async fn says(&mut self, who: Who, said: Said, when: When, reach: Reach) -> Result<(), String> {
        let now = self.desk.now();
        let at = match when {
            When::Now => now,
            When::SecondsAgo(seconds) => now - seconds * 1000,
            When::AsTheLastOne => self.desk.book().last_of(who).unwrap_or(now),
        };
        let n = self.desk.next_text();
        self.desk.post(n, who, said, at).await?;
        if reach == Reach::Gate {
            self.gate(n, false).await
        } else {
            Ok(())
        }
    }

    /// Gives the gate the first copy of the text that ingress stored. If `retried`, gives it the
    /// copy from Telnyx's last retry instead.
    async fn gate(&mut self, n: usize, retried: bool) -> Result<(), String> {
        let text = self.desk.book().text(n).clone();
        let received = self.desk.real(if retried {
            text.last_taken
        } else {
            text.first_taken
        });
        let body = self.desk.event(n, text.who, text.said, text.at);
        let seven_intake::Intake::Text { event, .. } = seven_intake::intake(&body, None, received)
        else {
            return Err("ingress reads something else in a text".to_owned());
        };
        done(
            &self
                .gate
                .handle(self.delivery(text.who.casino, event))
                .await,
            "the gate",
        )?;
        let mut book = self.desk.book();
        book.handled(n);
        Ok(())
    }

    fn delivery<E>(&self, casino: usize, event: E) -> Delivery<E> {
        let casino = self.casinos[casino].clone();
        Delivery {
            casino,
            event,
            trace: TraceContext::start(),
            key: String::new(),
            stream_seq: 0,
            deliveries: 1,
            tries: 1,
        }
    }

    async fn receipt(&mut self, nth: usize, receipt: Receipt) -> Result<(), String> {
        if self.requests.is_empty() {
            return Ok(());
        }
        let Attempt { id, who, at } =
            self.requests[self.requests.len() - 1 - nth % self.requests.len()];
        let (status, code) = match receipt {
            Receipt::Delivered => ("delivered", ""),
            Receipt::Failed => ("delivery_failed", "40008"),
            Receipt::SaysOptedOut => ("delivery_failed", "40300"),
        };
        let event = events::Receipt {
            provider: seven_domain::TELNYX.to_owned(),
            provider_message_id: id.to_string(),
            status: status.to_owned(),
            event_id: self.fleet.ids.uuid().to_string(),
            attempt_id: seven_bus::id_bytes(id.0),
            error_code: code.to_owned(),
            carrier: String::new(),
            occurred_at: self.fleet.clock.now().timestamp_millis(),
        };
        let there: Option<i32> =
            sqlx::query_scalar("select 1 from send_attempts where attempt_id = $1")
                .bind(id.0)
                .fetch_optional(&self.owner)
                .await
                .map_err(|e| e.to_string())?;
        done(
            &self.receipts.handle(self.delivery(who.casino, event)).await,
            "receipts",
        )?;
        // If the rows of a request were deleted, a 40300 for it concerns no guest any more.
        if receipt == Receipt::SaysOptedOut && there.is_some() {
            self.desk.book().blocked(who, at);
        }
        Ok(())
    }

    // --- time, operators, accidents ---

    async fn due(&mut self) -> Result<(), String> {
        // A deletion would wait for unread texts, and in this test no gate reads them from the bus.
        // So the streams are emptied first.
        self.purge_streams().await;
        seven_scheduler::fire_due(&self.fleet)
            .await
            .map_err(|e| format!("the scheduler: {e:?}"))?;
        let rows: Vec<(String, String)> = sqlx::query_as("select casino_id, phone from guests")
            .fetch_all(&self.owner)
            .await
            .map_err(|e| e.to_string())?;
        let there = |who: Who| {
            rows.iter().any(|(casino, phone)| {
                *casino == self.casinos[who.casino].as_str() && phone == PHONES[who.phone]
            })
        };
        let mut book = self.desk.book();
        for who in book.known() {
            if !there(who) {
                self.desk.count("forgotten");
                book.forgot(who, self.desk.now());
            }
        }
        Ok(())
    }

    /// Lets the test's clock jump: all stored times move back, and the guests' time zones show the
    /// new hour.
    async fn wait(&mut self, seconds: i64) -> Result<(), String> {
        let mut refusals = Vec::new();
        for who in EVERYBODY {
            let (casino, guest) = self.hash(who);
            if let Some(as_of) = self.fleet.cache.refused(&casino, &guest).await {
                refusals.push((casino, guest, as_of));
            }
        }
        self.wipe_redis().await;
        for (casino, guest, as_of) in refusals {
            self.fleet
                .cache
                .refuse(&casino, &guest, as_of - chrono::TimeDelta::seconds(seconds))
                .await;
        }
        self.desk.jump(seconds * 1000);
        let zone = self.desk.zone();
        let shift = self.shift.replace("{seconds}", &seconds.to_string());
        self.sql(format!(
            "{shift}; update model_clock set zone = '{zone}'; update guests set zone = '{zone}'"
        ))
        .await;
        Ok(())
    }

    fn hash(&self, who: Who) -> (CasinoId, seven_domain::GuestHash) {
        let casino = self.casinos[who.casino].clone();
        let phone: PhoneE164 = PHONES[who.phone].parse().unwrap();
        let hash = self.fleet.keys.hash(&casino, &phone);
        (casino, hash)
    }

    /// Records a consent as `seven consent record` does.
    async fn record_consent(&mut self, who: Who) -> Result<(), String> {
        let (casino, hash) = self.hash(who);
        let mut tx = self
            .fleet
            .store
            .bind(&casino)
            .await
            .map_err(|e| e.to_string())?;
        let guest = tx.guest_by_hash(&hash).await.map_err(|e| e.to_string())?;
        if guest.is_none() || tx.is_stopped(&hash).await.map_err(|e| e.to_string())? {
            return Ok(());
        }
        let change = Consent {
            guest: &hash,
            guest_id: guest,
            action: Action::Updated,
            method: "paper_form",
            tier: ConsentTier::Marketing,
            at: self.fleet.clock.now(),
            evidence: serde_json::json!({ "evidence": "a form" }),
            actor: "seven consent record",
            trace: None,
        };
        tx.record_consent(&change, &self.fleet.keys)
            .await
            .map_err(|e| e.to_string())?;
        tx.commit().await.map_err(|e| e.to_string())?;
        self.desk.book().consented(who, self.desk.now());
        Ok(())
    }

    async fn wipe_redis(&self) {
        let answer = tell(&self.house.redis.url(), b"FLUSHALL\r\n").await;
        assert!(answer.starts_with("+OK"), "{answer}");
    }

    /// Empties the streams. A deletion reads each stream from its start, and must not find texts of
    /// other sequences there.
    async fn purge_streams(&self) {
        let mut lines = "CONNECT {\"verbose\":false}\r\n".to_owned();
        for stage in [Stage::Gate, Stage::Sender, Stage::Swarm] {
            lines.push_str(&format!(
                "PUB $JS.API.STREAM.PURGE.{} 0\r\n\r\n",
                topology::stream_of(stage)
            ));
        }
        lines.push_str("PING\r\n");
        tell(&self.house.nats.url(), lines.as_bytes()).await;
    }

    async fn sql(&self, statements: String) {
        sqlx::raw_sql(AssertSqlSafe(statements))
            .execute(&self.owner)
            .await
            .unwrap();
    }
}

fn done(outcome: &Outcome, whose: &str) -> Result<(), String> {
    if *outcome == Outcome::Done {
        Ok(())
    } else {
        Err(format!("{whose}: {outcome:?}"))
    }
}
