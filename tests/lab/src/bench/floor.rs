//! The floor of the measurements: a bare relay without the fleet's logic. It makes the publishes,
//! commits and Redis reads of `tests/bench/floor.toml` with the fleet's own clients and worker
//! loop. Its figures are therefore the cost of bus, stores and network connections alone.

use std::{sync::LazyLock, time::Duration};

use anyhow::{Context, Result};
use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::post};
use prost::Message;
use secrecy::ExposeSecret;
use serde::Deserialize;
use seven::wiring;
use seven_bus::{
    Delivery, Handler, Outcome, Outgoing, Worker as Loop, WorkerSettings,
    events::{ConversationSignal, InboundText},
    subject,
};
use seven_domain::{AttemptId, CasinoId, Queue, Stage};
use seven_providers::{Provider, SendRequest, telnyx};
use seven_runtime::Fleet;
use seven_settings::Settings;
use seven_store::connections::Connections;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{ingress, options::Hop};

/// The content of `tests/bench/floor.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recipe {
    pub(super) publishes: Vec<String>,
    pub(super) commits: Vec<String>,
    pub(super) redis: Vec<String>,
    pub(super) concurrency: Vec<usize>,
}

pub(super) static RECIPE: LazyLock<Recipe> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../bench/floor.toml"))
        .expect("the recipe is part of the crate")
});

/// Creates the relay's only table.
pub(super) const TABLE: &str = "create table relay (id uuid primary key, phone text not null, number text not null, \
                                body text not null, step int not null); grant select, insert, update on relay to seven_app";

/// Runs one hop, a stage of the relay, until its process is killed.
pub(super) async fn run(hop: Hop, settings: &Settings) -> Result<()> {
    let fleet = wiring::fleet(
        settings,
        Vec::new(),
        wiring::Nats::Needed(Duration::from_secs(10)),
        CancellationToken::new(),
    )
    .await?;
    let loops = WorkerSettings {
        concurrency: settings.worker.concurrency,
        ..WorkerSettings::default()
    };
    let rows = Connections::new(
        settings.postgres.url.expose_secret().parse()?,
        settings.postgres.connections,
    );
    let relay = Relay {
        fleet: fleet.clone(),
        rows,
    };
    let follow = fleet.roster.follow(&fleet.bus, fleet.shutdown.clone());
    let work = async {
        match hop {
            Hop::Ingress => webhooks(relay, settings).await?,
            Hop::Verify => ingress::bare(fleet.clone(), settings).await?,
            Hop::Gate => looped(First(relay), loops).await,
            Hop::Swarm => looped(Next::<SWARM>(relay), loops).await,
            Hop::Envelope => looped(Next::<ENVELOPE>(relay), loops).await,
            Hop::Sender => {
                let provider = wiring::telnyx(settings)?;
                let loops = WorkerSettings {
                    concurrency: settings.worker.sender_concurrency,
                    ..loops
                };
                looped(Last { relay, provider }, loops).await;
            }
        }
        anyhow::Ok(())
    };
    let (worked, ()) = tokio::join!(work, follow);
    worked
}

#[derive(Debug, Clone)]
struct Relay {
    fleet: Fleet,
    rows: Connections,
}

async fn looped<H: Handler + HasFleet>(handler: H, loops: WorkerSettings) {
    let fleet = handler.fleet().clone();
    Loop::new(handler, fleet.bus, fleet.roster, loops, fleet.shutdown)
        .run()
        .await;
}

trait HasFleet {
    fn fleet(&self) -> &Fleet;
}

/// Serves webhooks: each call reads one Redis key, publishes one message and answers 200.
async fn webhooks(relay: Relay, settings: &Settings) -> Result<()> {
    let listener = tokio::net::TcpListener::bind(settings.ingress.listen)
        .await
        .context("listening for webhooks")?;
    let app = Router::new()
        .route("/webhooks/telnyx", post(webhook))
        .with_state(relay);
    axum::serve(listener, app).await.context("serving")
}

async fn webhook(State(relay): State<Relay>, body: Bytes) -> StatusCode {
    let Ok(telnyx::webhook::Event::Received(text)) = telnyx::webhook::parse(&body) else {
        return StatusCode::OK;
    };
    let Some(to) = text.to.into_iter().next() else {
        return StatusCode::NOT_FOUND;
    };
    let Some(casino) = relay.fleet.roster.casino_of(&to) else {
        return StatusCode::NOT_FOUND;
    };
    relay.fleet.cache.is_done(&casino, &text.message_id).await;
    let event = InboundText {
        from: text.from,
        to,
        text: text.text.unwrap_or_default(),
        ..InboundText::default()
    };
    match relay
        .publish(Stage::Gate, &casino, &text.message_id, &event)
        .await
    {
        Outcome::Done => StatusCode::OK,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}

struct First(Relay);
struct Next<const STAGE: u8>(Relay);
struct Last {
    relay: Relay,
    provider: telnyx::Telnyx,
}

const SWARM: u8 = 0;
const ENVELOPE: u8 = 1;

impl HasFleet for First {
    fn fleet(&self) -> &Fleet {
        &self.0.fleet
    }
}

impl<const STAGE: u8> HasFleet for Next<STAGE> {
    fn fleet(&self) -> &Fleet {
        &self.0.fleet
    }
}

impl HasFleet for Last {
    fn fleet(&self) -> &Fleet {
        &self.relay.fleet
    }
}

impl Handler for First {
    type Event = InboundText;
    const STAGE: Stage = Stage::Gate;

    async fn handle(&self, delivery: Delivery<InboundText>) -> Outcome {
        let InboundText { from, to, text, .. } = delivery.event;
        let id = self.0.fleet.ids.uuid();
        let row = sqlx::query(
            "insert into relay (id, phone, number, body, step) values ($1, $2, $3, $4, 0)",
        );
        let Ok(mut rows) = self.0.rows.lend().await else {
            return away();
        };
        let stored = row
            .bind(id)
            .bind(from)
            .bind(to)
            .bind(text)
            .execute(&mut *rows)
            .await;
        drop(rows);
        match stored {
            Ok(_) => self.0.pass(Stage::Swarm, &delivery.casino, id).await,
            Err(_) => away(),
        }
    }

    async fn ready(&self) -> bool {
        self.0.fleet.ready().await
    }
}

impl<const AT: u8> Handler for Next<AT> {
    type Event = ConversationSignal;
    const STAGE: Stage = if AT == SWARM {
        Stage::Swarm
    } else {
        Stage::Envelope
    };

    async fn handle(&self, delivery: Delivery<ConversationSignal>) -> Outcome {
        let onto = if AT == SWARM {
            Stage::Envelope
        } else {
            Stage::Sender
        };
        match self.0.step(&delivery.event).await {
            Some((id, ..)) => self.0.pass(onto, &delivery.casino, id).await,
            None => away(),
        }
    }

    async fn ready(&self) -> bool {
        self.0.fleet.ready().await
    }
}

impl Handler for Last {
    type Event = ConversationSignal;
    const STAGE: Stage = Stage::Sender;

    async fn handle(&self, delivery: Delivery<ConversationSignal>) -> Outcome {
        let fleet = &self.relay.fleet;
        fleet.cache.is_done(&delivery.casino, &delivery.key).await;
        let Some((_, to, from, text)) = self.relay.step(&delivery.event).await else {
            return away();
        };
        let (Ok(to), Ok(from)) = (to.parse(), from.parse()) else {
            return away();
        };
        let attempt: AttemptId = fleet.ids.next();
        let casino = delivery.casino;
        self.provider
            .send(&SendRequest {
                casino,
                attempt,
                from,
                to,
                text,
                messaging_profile_id: None,
            })
            .await;
        self.relay
            .step(&delivery.event)
            .await
            .map_or_else(away, |_| Outcome::Done)
    }

    async fn ready(&self) -> bool {
        self.relay.fleet.ready().await
    }
}

fn away() -> Outcome {
    Outcome::Unavailable {
        what: "the relay's database".to_owned(),
    }
}

impl Relay {
    /// Increments the step of the event's row in one transaction and returns the row.
    async fn step(&self, event: &ConversationSignal) -> Option<(Uuid, String, String, String)> {
        let id = Uuid::from_slice(&event.conversation_id).ok()?;
        let row = sqlx::query_as(
            "update relay set step = step + 1 where id = $1 returning id, phone, number, body",
        );
        row.bind(id)
            .fetch_one(&mut *self.rows.lend().await.ok()?)
            .await
            .ok()
    }

    async fn pass(&self, onto: Stage, casino: &CasinoId, id: Uuid) -> Outcome {
        let event = ConversationSignal {
            conversation_id: id.as_bytes().to_vec().into(),
        };
        self.publish(onto, casino, &id.to_string(), &event).await
    }

    async fn publish(
        &self,
        onto: Stage,
        casino: &CasinoId,
        key: &str,
        event: &impl Message,
    ) -> Outcome {
        let queue = (onto == Stage::Sender).then_some(Queue::Reply);
        let payload = event.encode_to_vec().into();
        let message = Outgoing {
            subject: subject(onto, casino, queue),
            key,
            copy: None,
            trace: "",
            payload,
        };
        match self
            .fleet
            .bus
            .publish(&message, Duration::from_secs(5))
            .await
        {
            Ok(()) => Outcome::Done,
            Err(error) => Outcome::Unavailable {
                what: error.to_string(),
            },
        }
    }
}
