//! Tests texts in a burst, and texts that arrive while the model thinks (D4). The swarm runs in the
//! test's process with a model whose answers the test can delay.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use seven_agent_swarm::Models;
use seven_bus::WorkerSettings;
use seven_carrier_sim::Text;
use seven_domain::Stage;
use seven_llm::{Model, Request, Responding};
use seven_offline_host::OfflineModel;
use seven_settings::Worker;
use tokio::{sync::Semaphore, task::JoinHandle, time::sleep};

use crate::harness::{GUEST, House, Wanted, house, until};

/// Wraps the offline model. Records the texts of each call, and answers a call only when
/// `may_answer` has a permit.
struct Held {
    inner: Arc<dyn Model>,
    asked: Mutex<Vec<Vec<String>>>,
    may_answer: Semaphore,
}

// === impl Held ===

impl Held {
    fn new(answers: usize) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::new(OfflineModel::from_toml(&seven_packs::CASINO.host).unwrap()),
            asked: Mutex::default(),
            may_answer: Semaphore::new(answers),
        })
    }

    fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().unwrap().clone()
    }
}

impl Model for Held {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request.texts.clone());
            self.may_answer.acquire().await.unwrap().forget();
            self.inner.respond(request).await
        })
    }
}

/// Starts a house whose swarm runs in this test with this model.
async fn house_with(unique: &str, scale: f64, model: &Arc<Held>) -> (House, JoinHandle<()>) {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::AgentSwarm)
        .collect();
    let house = house(
        unique,
        Wanted {
            scale,
            at: Some("2026-11-23T00:00:00Z"),
            workers,
            ..Wanted::default()
        },
    )
    .await;
    let settings = seven_agent_swarm::Settings {
        embedding: seven_agent_swarm::Embedding::default(),
        models: Models::same(
            &house.stack.fleet.packs,
            &(Arc::clone(model) as Arc<dyn Model>),
        ),
        hosted: None,
        web_limits: seven_agent_swarm::WebLimits::default(),
        model_deadline: Duration::from_secs(20),
        index_bytes: 64 << 20,
    };
    let swarm = tokio::spawn(seven_agent_swarm::run(
        house.stack.fleet.clone(),
        settings,
        WorkerSettings::default(),
    ));
    (house, swarm)
}

async fn close(house: House, swarm: JoinHandle<()>) {
    house.stop().await;
    swarm.await.unwrap();
}

#[tokio::test] // SMS-6
async fn five_texts_within_a_second_get_one_answer() {
    let model = Held::new(10);
    let (house, swarm) = house_with("duplicates_burst", 1.0, &model).await;
    let texts = [
        "Hi",
        "we are two",
        "hungry",
        "What restaurants",
        "are open tonight?",
    ];
    for text in texts {
        house.text(GUEST, text);
        // Pauses between the texts as a guest would, so that they also arrive in this order.
        sleep(Duration::from_millis(100)).await;
    }
    house.settle(5).await;
    let read = [
        "Hi",
        "we are two hungry",
        "What restaurants are open tonight?",
    ];
    assert_eq!(
        model.asked(),
        [read],
        "one call with all five in order, pieces of a sentence put together"
    );
    assert_eq!(house.number("select count(*) from turns").await, 1);
    assert_eq!(
        house
            .number(
                "select count(*) from inbound_messages i join turns t on t.turn_id = i.disposition_ref",
            )
            .await,
        5
    );
    assert_eq!(
        house
            .number("select count(distinct turn_id) from outbound_messages")
            .await,
        1
    );
    let said = house.said_to(GUEST);
    assert!(
        said.contains("Cinder Grove"),
        "the question in two texts was understood as one: {said}"
    );
    assert!(house.texts_to(GUEST).len() <= 2, "{said}");
    close(house, swarm).await;
}

#[tokio::test] // SMS-6
async fn texts_that_arrive_during_the_model_call_are_the_next_turns() {
    let model = Held::new(0);
    let (house, swarm) = house_with("duplicates_during", 0.0, &model).await;
    let stored = async |n| {
        until("the text is stored", Duration::from_secs(10), async || {
            house.count("inbound", "open").await == n
        })
        .await;
    };
    house.text(GUEST, "What restaurants are open tonight?");
    until("the model is asked", Duration::from_secs(10), async || {
        model.asked().len() == 1
    })
    .await;
    // The next two texts arrive in reverse order: the text that was written first arrives second.
    let written = Some(house.stack.fleet.clock.now());
    sleep(Duration::from_millis(5)).await;
    house.text(GUEST, "And is there valet parking?");
    stored(2).await;
    let first = Text {
        from: GUEST.to_owned(),
        text: Some("When does the spa open?".to_owned()),
        occurred_at: written,
        ..Text::default()
    };
    house.stack.sim.text(first).unwrap();
    stored(3).await;
    // The first turn holds the lease. The signals of the new texts are therefore delivered again,
    // but the model is not called a second time.
    let again = async || {
        house
            .stack
            .fleet
            .bus
            .lag(Stage::Swarm)
            .await
            .unwrap()
            .iter()
            .any(|lag| lag.redelivered >= 2)
    };
    until("the signals came again", Duration::from_secs(10), again).await;
    assert_eq!(model.asked().len(), 1);
    assert!(
        house.sent_to(GUEST).is_empty(),
        "nobody speaks before the model"
    );

    model.may_answer.add_permits(10);
    house.settle(3).await;
    let asked = model.asked();
    assert_eq!(
        asked,
        [
            &["What restaurants are open tonight?"][..],
            &["When does the spa open?", "And is there valet parking?"]
        ]
    );
    assert_eq!(house.number("select count(*) from turns").await, 2);
    let answered = "select count(*) from inbound_messages where disposition = 'answered'";
    assert_eq!(house.number(answered).await, 3, "none is skipped");
    assert_eq!(
        house
            .number("select count(distinct disposition_ref) from inbound_messages")
            .await,
        2
    );
    let said = house.said_to(GUEST);
    let restaurants = said
        .find("Cinder Grove")
        .unwrap_or_else(|| panic!("{said}"));
    let spa = said
        .to_lowercase()
        .rfind("spa")
        .unwrap_or_else(|| panic!("{said}"));
    assert!(
        restaurants < spa,
        "answers leave in the order of the turns: {said}"
    );
    close(house, swarm).await;
}
