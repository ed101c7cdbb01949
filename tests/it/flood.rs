//! Two casinos whose stages run in their own processes (`seven run <worker> --casino ID`). While
//! one casino is flooded, the other's guests are answered in order. When the flooded casino's
//! processes are drained, no text is lost or answered twice. `./scripts/bench --only isolation`
//! measures the delay.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    process::Stdio,
    time::Duration,
};

use futures::future::join_all;
use seven::onboard;
use seven_carrier_sim::{DeliveryState, Inbound, Outbound, Snapshot, Text};
use seven_domain::{CasinoConfig, CasinoId, config::RateLimitTier};
use seven_settings::Worker;
use tokio::{process::Child, time::sleep};

use crate::{
    drain::terminated,
    harness::{House, Wanted, house, until},
};

/// During the flood, this many of the flooded casino's texts wait for an answer.
const WAITING: usize = 100;
/// Maximum number of webhooks in progress at once. If there were more, the carrier would give up on
/// some of them after three tries.
const CALLS: usize = 12;
const FLOOD_TIMEOUT: Duration = Duration::from_secs(240);

const CALM: &str = "amber_lake";
const CALM_NUMBER: &str = "+18605550101";
const CALM_GUESTS: usize = 4;
/// Questions that each guest asks, in this order, each with words that only its answer contains.
const ASKED: [(&str, &str); 4] = [
    ("where is nonna salvia?", "Nonna Salvia"),
    ("how much is the swedish massage?", "$165"),
    ("is there a pool?", "Heated indoor-outdoor"),
    ("what time is checkout?", "by 11am"),
];

/// The stages that run in separate processes for each casino (`own_workers` in the casino's
/// values).
const OWN: [Worker; 4] = [
    Worker::ComplianceGate,
    Worker::AgentSwarm,
    Worker::PersonaEnvelope,
    Worker::OutboundSender,
];

const AREAS: [&str; 24] = [
    "201", "203", "207", "212", "215", "267", "301", "302", "315", "401", "410", "412", "413",
    "475", "508", "516", "518", "603", "609", "617", "716", "718", "802", "914",
];

fn flooding_guest(n: usize) -> String {
    format!("+1{}55501{:02}", AREAS[n / 100], n % 100)
}

fn calm_guest(n: usize) -> String {
    format!("+191455501{n:02}")
}

/// Gives the document this id and number, and limits so high that they stop no text of this test.
fn open(mut config: CasinoConfig, id: &str, number: &str) -> CasinoConfig {
    config.casino_id = id.parse().unwrap();
    config.operational.telnyx_phone_number = number.parse().unwrap();
    config.limits.rate_limit_tier = RateLimitTier::Enterprise;
    config.limits.casino_texts_per_minute = Some(100_000);
    config.features.human_like_delay_enabled = false;
    config
}

async fn two_casinos() -> House {
    let demo = onboard::read_casino("casino.json", seven_packs::demo::CASINO).unwrap();
    let flooded = open(
        demo.clone(),
        demo.casino_id.as_str(),
        demo.operational.telnyx_phone_number.as_str(),
    );
    let casino = Some((
        serde_json::to_string(&flooded).unwrap(),
        seven_packs::demo::CONTENT.to_owned(),
    ));
    // Each process gets few connections, because many processes share the tests' database server.
    let extra = "postgres.connections = 4\nlimits.fleet_texts_per_minute = 100000\n".to_owned();
    // At scale 0 a busy machine would exceed the deadline of a send, and texts would end as
    // `unknown`.
    let wanted = Wanted {
        scale: 0.3,
        workers: Vec::new(),
        casino,
        extra,
        ..Wanted::default()
    };
    let house = house("flood", wanted).await;
    let (fleet, calm) = (&house.stack.fleet, open(demo, CALM, CALM_NUMBER));
    onboard::add_casino(fleet, &calm, "test").await.unwrap();
    onboard::load_content(
        fleet,
        &calm.casino_id,
        "content.json",
        seven_packs::demo::CONTENT,
        "test",
    )
    .await
    .unwrap();
    house
}

/// Starts the stages of one casino, as a fleet with `own_workers` runs them.
fn own_workers(house: &House, casino: &CasinoId) -> Vec<Child> {
    let start = |worker: Worker| {
        let log = house
            .scratch
            .path()
            .join(format!("{}-{casino}.log", worker.name()));
        let log = File::options().create(true).append(true).open(log).unwrap();
        house.process_with(
            &[worker.name(), "--casino", casino.as_str()],
            &[],
            Stdio::from(log),
        )
    };
    OWN.map(start).into()
}

/// One casino's texts and answers, from the carrier's ledger.
struct Stands {
    texts: Vec<Inbound>,
    answers: Vec<Outbound>,
}

impl Stands {
    fn of(house: &House, number: &str) -> Self {
        let Snapshot {
            inbound, outbound, ..
        } = house.stack.sim.ledger().snapshot();
        Self {
            texts: inbound
                .into_iter()
                .filter(|text| text.to == number)
                .collect(),
            answers: outbound
                .into_iter()
                .filter(|send| send.from.as_deref() == Some(number))
                .collect(),
        }
    }

    /// Returns the number of texts without an answer. Each guest of the flood writes one text.
    fn waiting(&self) -> usize {
        let told: HashSet<&str> = self.answers.iter().map(|send| send.to.as_str()).collect();
        self.texts
            .iter()
            .filter(|text| !told.contains(text.from.as_str()))
            .count()
    }

    fn calls(&self) -> usize {
        self.texts
            .iter()
            .filter(|text| text.delivery.state == DeliveryState::Pending)
            .count()
    }

    fn saying(&self, guest: &str, says: &str) -> impl Iterator<Item = &Outbound> {
        let says_it = move |send: &&Outbound| {
            send.to == guest && send.text.as_deref().unwrap_or_default().contains(says)
        };
        self.answers.iter().filter(says_it)
    }

    /// Returns the guest's answer that contains `says`; fails unless there is exactly one.
    fn answer(&self, guest: &str, says: &str) -> &Outbound {
        let found: Vec<&Outbound> = self.saying(guest, says).collect();
        let all = || {
            self.answers
                .iter()
                .filter(|send| send.to == guest)
                .map(|send| &send.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(found.len(), 1, "{says}: {:?}", all());
        found[0]
    }
}

/// Lets guests of the flooded casino write one text each until `over` ends. Writes new texts only
/// while fewer than `WAITING` texts are unanswered.
async fn flood(house: &House, number: &str, over: impl Future<Output = ()>) {
    let writing = async {
        let mut written = 0;
        loop {
            let stands = Stands::of(house, number);
            let room = WAITING
                .saturating_sub(stands.waiting())
                .min(CALLS.saturating_sub(stands.calls()));
            for _ in 0..room {
                write(house, &flooding_guest(written), number, ASKED[0].0);
                written += 1;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! { () = over => {}, () = writing => {} }
}

fn write(house: &House, from: &str, to: &str, text: &str) {
    let text = Text {
        from: from.to_owned(),
        to: Some(to.to_owned()),
        text: Some(text.to_owned()),
        ..Text::default()
    };
    house.stack.sim.text(text).unwrap();
}

/// Lets every guest of the calm casino ask question number `nth` of `ASKED`.
async fn ask(house: &House, nth: usize) {
    for n in 0..CALM_GUESTS {
        write(house, &calm_guest(n), CALM_NUMBER, ASKED[nth].0);
        sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until each guest of the calm casino has the answers to the first `questions` of `ASKED`.
async fn answered(house: &House, questions: usize) {
    until(
        &format!("the calm guests have {questions} answers each"),
        FLOOD_TIMEOUT,
        || async {
            let calm = Stands::of(house, CALM_NUMBER);
            let said = |guest: &str, says: &str| calm.saying(guest, says).next().is_some();
            (0..CALM_GUESTS).all(|n| {
                ASKED[..questions]
                    .iter()
                    .all(|(_, says)| said(&calm_guest(n), says))
            })
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")] // DEP-20, issue E item 6
async fn a_flooded_casino_delays_no_other_and_draining_its_workers_loses_nothing() {
    let house = Box::pin(two_casinos()).await;
    let flooded = house.casino().clone();
    let number = house
        .config
        .operational
        .telnyx_phone_number
        .as_str()
        .to_owned();
    let _shared = [Worker::IngressWebhook, Worker::Scheduler]
        .map(|worker| house.process(worker.name(), None));
    let _calm = own_workers(&house, &CALM.parse().unwrap());
    let busy = own_workers(&house, &flooded);
    house.ingress_up().await;
    ask(&house, 0).await;
    answered(&house, 1).await;

    let calm_in_the_flood = async {
        until(
            "the flooded casino's backlog is full",
            FLOOD_TIMEOUT,
            || async { Stands::of(&house, &number).waiting() >= WAITING },
        )
        .await;
        // The guests ask the second and the third question without waiting for an answer in
        // between.
        ask(&house, 1).await;
        ask(&house, 2).await;
        answered(&house, 3).await;
    };
    flood(&house, &number, calm_in_the_flood).await;
    let in_the_flood = Stands::of(&house, &number);
    assert!(
        in_the_flood.waiting() > WAITING / 2,
        "the backlog was gone: {}",
        in_the_flood.waiting()
    );

    // Stops the flooded casino's processes while its backlog still waits.
    for (took, code) in join_all(busy.into_iter().map(terminated)).await {
        assert_eq!(code, Some(0), "drained after {took:?}");
    }
    let drained = Stands::of(&house, &number);
    assert!(
        drained.waiting() > 0,
        "nothing waited when its processes were gone"
    );
    ask(&house, 3).await;
    answered(&house, 4).await;
    let later = Stands::of(&house, &number);
    assert_eq!(
        later.answers.len(),
        drained.answers.len(),
        "the calm casino's processes took its texts"
    );

    let _heirs = own_workers(&house, &flooded);
    let texts = later.texts.len() + ASKED.len() * CALM_GUESTS;
    house
        .settle_within(i64::try_from(texts).unwrap(), FLOOD_TIMEOUT)
        .await;
    answered_once(&house, &flooded, &number).await;
    overtook(&house, &number);
    house.stop().await;
}

/// Asserts that each guest of the calm casino got the answers in order. Asserts also that questions
/// asked during the flood were answered before older texts of the flooded casino.
fn overtook(house: &House, number: &str) {
    let (calm, busy) = (Stands::of(house, CALM_NUMBER), Stands::of(house, number));
    let answers: BTreeMap<&str, &Outbound> = busy
        .answers
        .iter()
        .map(|send| (send.to.as_str(), send))
        .collect();
    for n in 0..CALM_GUESTS {
        let guest = calm_guest(n);
        let found = ASKED.map(|(_, says)| calm.answer(&guest, says).accepted_at);
        assert!(found.is_sorted(), "guest {n}: {found:?}");
        for (question, answered) in ASKED
            .iter()
            .map(|(question, _)| *question)
            .zip(found)
            .take(3)
            .skip(1)
        {
            let asked =
                |text: &&Inbound| text.from == guest && text.text.as_deref() == Some(question);
            let asked = calm.texts.iter().find(asked).unwrap().at;
            let passed = |text: &&Inbound| {
                text.at < asked && answers[text.from.as_str()].accepted_at > answered
            };
            let passed = busy.texts.iter().filter(passed).count();
            eprintln!(
                "guest {n}, {question}: passed {passed} texts, {} ms",
                (answered - asked).num_milliseconds()
            );
            assert!(
                passed >= WAITING / 10,
                "guest {n} waited for the flood: {question}"
            );
        }
    }
}

/// Asserts that every text was answered once, according to the carrier's ledger and to the rows in
/// the database.
async fn answered_once(house: &House, flooded: &CasinoId, number: &str) {
    let stands = Stands::of(house, number);
    for text in &stands.texts {
        assert_eq!(
            text.delivery.state,
            DeliveryState::Acknowledged,
            "{:?}",
            text.delivery.attempts
        );
        stands.answer(&text.from, ASKED[0].1);
    }
    assert_eq!(stands.answers.len(), stands.texts.len());
    // One turn may have answered a calm guest's second and third text together.
    let sent = Stands::of(house, CALM_NUMBER).answers.len();
    let (flooding, calm) = (stands.texts.len(), ASKED.len() * CALM_GUESTS);
    for (casino, texts, sent) in [(flooded.as_str(), flooding, flooding), (CALM, calm, sent)] {
        for (rows, of) in [
            (texts, "inbound_messages where disposition = 'answered'"),
            (texts, "inbound_messages where true"),
            (
                sent,
                "outbound_messages where state in ('sent', 'delivered')",
            ),
            (sent, "outbound_messages where true"),
            (sent, "send_attempts where true"),
        ] {
            let found = house
                .number(&format!(
                    "select count(*) from {of} and casino_id = '{casino}'"
                ))
                .await;
            assert_eq!(found, i64::try_from(rows).unwrap(), "{casino}: {of}");
        }
    }
    assert_eq!(house.count("dead", "open").await, 0);
}
