//! Every worker does all its work as its own NATS user, with the permissions that are rendered for
//! this user. If a permission is missing, the server's log shows a refusal.

use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use secrecy::SecretString;
use seven::{onboard, wiring};
use seven_bus::{Outgoing, subject};
use seven_carrier_sim::Text;
use seven_domain::{CasinoConfig, CasinoId, Stage};
use seven_lab::stack::{Plan, Stack};
use seven_settings::Worker;
use seven_testkit::{Postgres, Redis};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{BUSY, QUIET, QUIET_NUMBER, Secured, casino, password};
use crate::{
    harness::{GUEST, until},
    operations::seven,
};

const OTHER_GUEST: &str = "+18605550143";

fn quiet_casino() -> CasinoConfig {
    let mut document: serde_json::Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
    document["casino_id"] = QUIET.into();
    document["operational"]["telnyx_phone_number"] = QUIET_NUMBER.into();
    onboard::read_casino("quiet.json", &document.to_string()).unwrap()
}

/// A fleet whose workers each have their own connection and NATS user, as in production.
struct Roles {
    secured: Secured,
    _redis: Redis,
    stack: Stack,
    database_url: String,
    shutdown: CancellationToken,
    tasks: JoinSet<Result<()>>,
}

impl Roles {
    async fn start() -> Self {
        let secured = Secured::start("deploy_roles", None).await;
        let redis = Redis::start(&secured.scratch.path().join("redis"))
            .await
            .unwrap();
        let postgres = Postgres::for_tests().await.unwrap();
        let name = format!("deploy_roles_{}", uuid::Uuid::new_v4().simple());
        let database_url = postgres.create_database(&name, None).await.unwrap();
        let demo = onboard::read_casino("casino.json", seven_packs::demo::CASINO).unwrap();
        let plan = Plan {
            nats_url: secured.nats.url(),
            redis_url: redis.url(),
            postgres_url: database_url.clone(),
            dir: secured.scratch.path().to_path_buf(),
            scale: 0.0,
            at: None,
            workers: Vec::new(),
            casino_name: demo.prompts.casino_name_display.clone(),
            casino_number: demo.operational.telnyx_phone_number.as_str().to_owned(),
            extra: format!(
                "postgres.connections = 4\nnats.user = \"operator\"\nnats.password = \"{}\"\n",
                password("operator")
            ),
            ledger_file: None,
        };
        let stack = Box::pin(Stack::start(plan)).await.unwrap();
        for config in [demo, quiet_casino()] {
            onboard::add_casino(&stack.fleet, &config, "test")
                .await
                .unwrap();
            let content = seven_packs::demo::CONTENT;
            onboard::load_content(
                &stack.fleet,
                &config.casino_id,
                "content.json",
                content,
                "test",
            )
            .await
            .unwrap();
        }
        let (shutdown, tasks) = (CancellationToken::new(), JoinSet::new());
        Self {
            secured,
            _redis: redis,
            stack,
            database_url,
            shutdown,
            tasks,
        }
    }

    async fn run(&mut self, worker: Worker, only: Option<&CasinoId>) {
        let mut settings = self.stack.settings.clone();
        let user = seven_deploy::user(worker, only);
        settings.nats.password = Some(SecretString::from(password(&user)));
        settings.nats.user = Some(user);
        let only: Vec<CasinoId> = only.cloned().into_iter().collect();
        let fleet = wiring::fleet(
            &settings,
            only,
            seven::wiring::Nats::Needed(Duration::from_secs(10)),
            self.shutdown.clone(),
        )
        .await
        .unwrap();
        self.tasks.spawn(async move {
            let follow = fleet.roster.follow(&fleet.bus, fleet.shutdown.clone());
            let (served, ()) = tokio::join!(
                Box::pin(wiring::run(worker, fleet.clone(), &settings, None)),
                follow
            );
            served
        });
    }

    fn text(&self, from: &str, to: Option<&str>, text: &str) {
        let text = Text {
            from: from.into(),
            to: to.map(str::to_owned),
            text: Some(text.into()),
            ..Text::default()
        };
        self.stack.sim.text(text).unwrap();
    }

    async fn hears(&self, guest: &str, words: &str) {
        until(
            &format!("{guest} hears {words}"),
            Duration::from_secs(30),
            || async {
                let heard = self.stack.sim.ledger().of_guest(guest).outbound;
                heard.iter().any(|sent| {
                    sent.text
                        .as_deref()
                        .is_some_and(|text| text.contains(words))
                })
            },
        )
        .await;
    }

    async fn stop(mut self) -> Secured {
        self.shutdown.cancel();
        while let Some(done) = self.tasks.join_next().await {
            done.unwrap().unwrap();
        }
        self.stack.stop().await.unwrap();
        self.secured
    }
}

#[tokio::test]
async fn every_role_does_its_work_and_nothing_is_refused() {
    let mut roles = Roles::start().await;
    let busy = casino(BUSY);
    for worker in [
        Worker::IngressWebhook,
        Worker::ComplianceGate,
        Worker::PersonaEnvelope,
        Worker::Scheduler,
    ] {
        roles.run(worker, None).await;
    }
    // First, workers run that serve only one casino.
    for worker in [Worker::AgentSwarm, Worker::OutboundSender] {
        roles.run(worker, Some(&busy)).await;
    }
    let health = format!("{}/health/live", roles.stack.ingress_url);
    until("ingress answers", Duration::from_secs(15), || async {
        reqwest::get(&health).await.is_ok()
    })
    .await;
    roles.text(GUEST, None, "where is nonna salvia?");
    roles.hears(GUEST, "Nonna Salvia").await;
    roles.text(OTHER_GUEST, Some(QUIET_NUMBER), "where is nonna salvia?");
    until(
        "the other casino's text waits",
        Duration::from_secs(15),
        || async {
            let lag = roles.stack.fleet.bus.lag(Stage::Swarm).await.unwrap();
            lag.iter()
                .any(|lag| lag.consumer == format!("swarm-{QUIET}") && lag.pending == 1)
        },
    )
    .await;
    assert!(
        roles
            .stack
            .sim
            .ledger()
            .of_guest(OTHER_GUEST)
            .outbound
            .is_empty()
    );

    for worker in [Worker::AgentSwarm, Worker::OutboundSender] {
        roles.run(worker, None).await;
    }
    roles.hears(OTHER_GUEST, "Nonna Salvia").await;

    // The next steps test four more things: the gate's own answers, the deletion of a card number
    // from the stream, a dead letter that the scheduler files, and new content.
    roles.text(
        OTHER_GUEST,
        Some(QUIET_NUMBER),
        "my card is 4111 1111 1111 1111 exp 04/29",
    );
    roles.text(GUEST, None, "STOP");
    roles.hears(GUEST, "unsubscribed").await;
    let garbage = Outgoing {
        subject: subject(Stage::Swarm, &busy, None),
        key: "garbage",
        copy: None,
        trace: "",
        payload: Bytes::from_static(b"\xff\xff\xff"),
    };
    roles
        .stack
        .fleet
        .bus
        .publish(&garbage, Duration::from_secs(5))
        .await
        .unwrap();
    let content = seven_packs::demo::CONTENT;
    onboard::load_content(&roles.stack.fleet, &busy, "content.json", content, "test")
        .await
        .unwrap();
    let pool = sqlx::PgPool::connect(&roles.database_url).await.unwrap();
    until(
        "the dead letter is filed",
        Duration::from_secs(20),
        || async {
            let filed: i64 = sqlx::query_scalar("select count(*) from dead_letters")
                .fetch_one(&pool)
                .await
                .unwrap();
            filed == 1
        },
    )
    .await;
    let card: i64 =
        sqlx::query_scalar("select count(*) from inbound_messages where body like '%4111%'")
            .fetch_one(&pool)
            .await
            .unwrap();
    assert_eq!(card, 0);
    pool.close().await;
    assert!(
        roles
            .stack
            .settled(4, Duration::from_secs(30))
            .await
            .unwrap()
    );
    let ingress = roles.stack.fleet.bus.stored("INGRESS", 3).await.unwrap();
    assert!(
        ingress
            .is_none_or(|(_, _, payload, _)| !String::from_utf8_lossy(&payload).contains("4111"))
    );

    // `seven deploy values` reads the casino's document from the database and prints the casino's
    // values.
    let config = roles.stack.config_file.display().to_string();
    let said = seven(&["--config", &config, "deploy", "values", QUIET], b"").await;
    assert!(
        said.code == 0 && said.out.contains(&format!("number: '{QUIET_NUMBER}'\n")),
        "{said:?}"
    );

    let secured = roles.stop().await;
    assert_eq!(secured.violations(), Vec::<String>::new());
}
