//! Streams that break off, gateways and workers that die, and drafts that no visitor may see.

use std::{
    net::TcpListener,
    process::Stdio,
    time::{Duration, Instant},
};

use rand::{Rng, SeedableRng, rngs::StdRng};
use seven_settings::Worker;
use seven_testkit::models::Play;
use tokio::process::{Child, Command};
use uuid::Uuid;

use super::visitor::{Frame, Streaming, Visitor, birch, joined};
use crate::{
    harness::{House, Wanted, binary, house, until},
    hosted::{ANSWER, QUESTION, brain, content_with_all, settings},
};

/// Number of times that a stream is broken at a random point; 200 if the environment variable
/// `SEVEN_LONG` is set.
const BREAKS: usize = 12;

/// A gateway that runs as its own process and keeps its port when it is restarted.
struct Gateway {
    port: u16,
    url: String,
    process: Child,
}

impl Gateway {
    async fn start(house: &House) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let gateway = Self {
            port,
            url: format!("http://127.0.0.1:{port}"),
            process: spawn(house, port),
        };
        gateway.up().await;
        gateway
    }

    async fn up(&self) {
        let url = format!("{}/health", self.url);
        until("the gateway answers", Duration::from_secs(30), || async {
            reqwest::get(&url)
                .await
                .is_ok_and(|answer| answer.status().is_success())
        })
        .await;
    }

    /// Kills the process (SIGKILL) and starts it again.
    async fn die(&mut self, house: &House) {
        self.process.kill().await.unwrap();
        self.process = spawn(house, self.port);
    }
}

fn spawn(house: &House, port: u16) -> Child {
    Command::new(binary())
        .args(["run", "web-gateway", "--config"])
        .arg(&house.stack.config_file)
        .env("SEVEN_WEB__LISTEN", format!("127.0.0.1:{port}"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

#[tokio::test] // D33, issue L: kill -9 of the gateway, reconnect to the other
async fn a_stream_goes_on_at_the_other_gateway_where_the_first_one_died() {
    let wanted = Wanted {
        extra: "web.requests_per_minute = 10000\n".to_owned(),
        ..Wanted::default()
    };
    let mut house = house("web_gateway_dies", wanted).await;
    // Two hundred questions in a minute are more than the casino's tier allows.
    house.config.limits.casino_texts_per_minute = Some(10_000);
    birch(&mut house).await;
    let mut gateways = [Gateway::start(&house).await, Gateway::start(&house).await];
    let seed: u64 = rand::random();
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let breaks = if std::env::var_os("SEVEN_LONG").is_some() {
        200
    } else {
        BREAKS
    };
    for n in 0..breaks {
        let (first, second) = (n % 2, (n + 1) % 2);
        let visitor = Visitor::new(&gateways[first].url).await;
        let id = Uuid::new_v4();
        let mut stream = visitor
            .ask(&gateways[first].url, "Is there a steakhouse?", id)
            .await;
        let mut frames: Vec<Frame> = Vec::new();
        let most = random.random_range(0..12);
        while frames.iter().filter(|frame| frame.event == "token").count() < most {
            frames.push(stream.next().await.unwrap());
        }
        gateways[first].die(&house).await;
        drop(stream);
        let last = frames.iter().rev().find_map(|frame| frame.id.clone());
        let mut rest = visitor.say(&gateways[second].url, "Is there a steakhouse?", id);
        if let Some(last) = last {
            rest = rest.header("last-event-id", last);
        }
        frames.extend(Streaming::open(rest).await.all().await);
        let history = visitor.history(&gateways[second].url).await;
        assert_eq!(
            history["messages"].as_array().unwrap().len(),
            2,
            "{history}"
        );
        assert_eq!(
            joined(&frames),
            history["messages"][1]["content"],
            "after {most} tokens"
        );
        let told = frames
            .iter()
            .filter(|frame| frame.event == "sources")
            .count();
        assert_eq!(told, 1, "{frames:?}");
        gateways[first].up().await;
    }
    assert_eq!(
        house.number("select count(*) from turns").await,
        i64::try_from(breaks).unwrap()
    );
    house.stop().await;
}

#[tokio::test] // D4, issue L: kill -9 of the swarm between POST and commit
async fn a_question_whose_swarm_died_is_answered_once_on_the_same_stream() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::AgentSwarm);
    let wanted = Wanted {
        workers: workers.collect(),
        extra: "web.requests_per_minute = 10000\n".to_owned(),
        ..Wanted::default()
    };
    let mut house = house("web_swarm_dies", wanted).await;
    birch(&mut house).await;
    house.stack.spawn(Worker::WebGateway, None).await.unwrap();
    let gateway = house.stack.web_urls[0].clone();
    let mut doomed = house.process("agent-swarm", Some("swarm.before_commit"));
    let visitor = Visitor::new(&gateway).await;
    let stream = visitor
        .ask(&gateway, "Is there a steakhouse?", Uuid::new_v4())
        .await;
    assert!(!doomed.wait().await.unwrap().success());
    let began = Instant::now();
    let _heir = house.process("agent-swarm", None);
    let frames = stream.all().await;
    eprintln!(
        "answered {:.1} s after the death",
        began.elapsed().as_secs_f64()
    );
    assert_eq!(frames.last().unwrap().event, "end");
    assert!(
        frames.iter().all(|frame| frame.event != "error"),
        "{frames:?}"
    );
    let stored = house.texts_of("select body from outbound_messages").await;
    assert_eq!(stored, [joined(&frames)]);
    assert_eq!(house.number("select count(*) from turns").await, 1);
    house.stop().await;
}

#[tokio::test] // D34, AGENT-60, issue L: no byte of an invented price on any socket
async fn a_price_that_no_row_has_reaches_no_socket() {
    let models = brain("host").await;
    content_with_all(&models);
    models.then(Play::text("The Lakeside Pool opens at 9 AM, entry is $35."));
    models.then(Play::text(ANSWER));
    let wanted = Wanted {
        extra: format!("web.requests_per_minute = 10000\n{}", settings(&models)),
        ..Wanted::default()
    };
    let mut house = house("web_price", wanted).await;
    birch(&mut house).await;
    house.stack.spawn(Worker::WebGateway, None).await.unwrap();
    let gateway = house.stack.web_urls[0].clone();
    let visitor = Visitor::new(&gateway).await;
    let mut open = visitor.listen(&gateway, None).await;
    let id = Uuid::new_v4();
    let mut asked = visitor.ask(&gateway, QUESTION, id).await;
    let frames = asked.until("end").await;
    open.until("end").await;
    let mut again = visitor.ask(&gateway, QUESTION, id).await;
    again.until("end").await;
    let history = visitor.history(&gateway).await.to_string();
    for bytes in [asked.bytes(), open.bytes(), again.bytes(), &history] {
        assert!(bytes.contains("AM"), "{bytes}");
        assert!(
            !bytes.contains("$35") && !bytes.contains("entry"),
            "{bytes}"
        );
    }
    let said = frames.iter().find(|frame| frame.event == "replace");
    let said = said.map_or_else(|| joined(&frames), |one| one.data["content"].to_string());
    assert!(said.contains("9 AM"), "{said}");
    let spoken = models
        .requests()
        .iter()
        .filter(|request| request.model == "speaker")
        .count();
    assert_eq!(spoken, 2, "one retry");
    house.stop().await;
}
