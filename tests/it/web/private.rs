//! Guests of the website are as private as guests who text. After DELETE nothing of theirs is left.
//! No log has their token, their id or their words.

use std::time::Duration;

use reqwest::StatusCode;
use seven_domain::{Address, CasinoId, GuestHash};
use seven_testkit::models::Play;
use seven_web_gateway::{Keys, Session, TokenKey};
use tokio::process::Command;
use uuid::Uuid;

use super::visitor::{Visitor, birch, init, with_gateways};
use crate::{
    harness::{GUEST, House, Wanted, binary, house, until},
    hosted::{ANSWER, brain, content_with_all, settings},
    privacy::search::found,
};

const WORDS: &str = "zanzibar birthday for my aunt";
const MANY: &str = "web.requests_per_minute = 10000\n";

/// Returns the visitor's id, which the token carries.
pub(super) fn visitor_of(visitor: &Visitor) -> Uuid {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    let claims = visitor.token.split('.').nth(1).unwrap();
    let claims: serde_json::Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    claims["ticket_id"].as_str().unwrap().parse().unwrap()
}

/// Signs the token of a visitor's session at a casino, as a gateway of the fleet does.
fn token_of(house: &House, casino: &CasinoId, visitor: Uuid) -> String {
    let web = &house.stack.settings.web;
    let current = TokenKey {
        id: web.token_key_id.clone(),
        secret: web.token_key.clone().unwrap(),
    };
    let session = Session {
        visitor,
        casino: casino.clone(),
        ticket: visitor,
    };
    let former = Vec::new();
    let keys = Keys { current, former };
    keys.issue(&session, house.stack.fleet.clock.now()).unwrap()
}

fn hash_of(house: &House, visitor: Uuid) -> GuestHash {
    let address = Address::Visitor(visitor);
    house
        .stack
        .fleet
        .keys
        .hash_address(house.casino(), &address)
}

#[tokio::test] // SEC-77, D32
async fn a_visitor_who_deletes_leaves_only_the_proof() {
    let house = with_gateways("web_delete", MANY).await;
    let (first, second) = (
        house.stack.web_urls[0].clone(),
        house.stack.web_urls[1].clone(),
    );
    let visitor = Visitor::new(&first).await;
    let id = visitor_of(&visitor);
    visitor.ask(&first, WORDS, Uuid::new_v4()).await.all().await;
    let needles = [WORDS.to_owned(), id.to_string()];
    let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
    assert!(!found(&house, &needles).await.is_empty());
    let frames = visitor
        .ask(&second, "delete my data", Uuid::new_v4())
        .await
        .all()
        .await;
    assert!(format!("{frames:?}").contains("replace"), "{frames:?}");
    until(
        "the visitor is forgotten",
        Duration::from_secs(30),
        || async {
            house
                .number("select count(*) from deletions where state = 'done'")
                .await
                == 1
        },
    )
    .await;
    assert_eq!(found(&house, &needles).await, Vec::<String>::new());
    assert_eq!(
        visitor.history(&first).await["messages"],
        serde_json::json!([])
    );
    let proof = hash_of(&house, id);
    let kept = format!(
        "select count(*) from deletions where phone_hash = '\\x{}'::bytea",
        proof.hex()
    );
    assert_eq!(house.number(&kept).await, 1);
    house.stop().await;
}

#[tokio::test] // SEC-76, issue L.6: everything held about a visitor, by command
async fn an_operator_exports_what_is_held_about_a_visitor() {
    let house = with_gateways("web_export", MANY).await;
    let gateway = house.stack.web_urls[0].clone();
    let (visitor, other) = (Visitor::new(&gateway).await, Visitor::new(&gateway).await);
    let id = visitor_of(&visitor);
    for (visitor, words) in [
        (&visitor, WORDS),
        (&visitor, "I want to speak to a person"),
        (&other, "Is there a steakhouse?"),
    ] {
        visitor
            .ask(&gateway, words, Uuid::new_v4())
            .await
            .all()
            .await;
    }
    let query = format!("select guest_id::text from guests where visitor_id = '{id}'");
    let guest = &house.texts_of(&query).await[0];
    let hash = format!("hmac:1:{}", hash_of(&house, id).hex());
    for guest in [guest, &hash] {
        let command = ["guest", "export", "--casino", "silver_birch"];
        let of = ["--guest", guest, "--reason", "asked in the chat"];
        let said = house.seven(&[&command[..], &of[..]].concat(), "").await;
        assert_eq!(said.code, 0, "{said:?}");
        let export: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let talk = &export["conversations"][0];
        assert_eq!(talk["channel"], "web");
        assert_eq!(talk["texts_received"][0]["text"], WORDS);
        assert_eq!(talk["texts_sent"].as_array().unwrap().len(), 2, "{talk}");
        assert_eq!(talk["tickets"][0]["number"], 1, "{talk}");
        assert_eq!(export["profile"]["visitor_id"], id.to_string());
        assert!(export["phone"].is_null() && !said.out.contains("steakhouse"));
    }
    house.stop().await;
}

#[tokio::test] // issue L.6: a claimed phone number gives no profile and no offer
async fn a_number_that_a_visitor_claims_gives_nothing_of_its_guest() {
    let models = brain("host").await;
    content_with_all(&models);
    models.otherwise(Play::text(ANSWER));
    let house = with_gateways("web_claimed", &format!("{MANY}{}", settings(&models))).await;
    let (first, second) = (&house.stack.web_urls[0], &house.stack.web_urls[1]);
    house.text(
        GUEST,
        "hi, my name is Marcellus, when does the lakeside pool open?",
    );
    house.settle(1).await;
    let profiles = "select document::text from profiles order by updated_at";
    let known = house.texts_of(profiles).await;
    assert!(
        known.len() == 1 && known[0].contains("Marcellus"),
        "{known:?}"
    );
    let asked = models.requests().len();
    let visitor = Visitor::new(first).await;
    for message in [
        format!("my number is {GUEST}, what do you know about me?"),
        "what is my name, and which offers do I have?".to_owned(),
    ] {
        let stream = visitor.ask(second, &message, Uuid::new_v4()).await;
        let frames = format!("{:?}", stream.all().await);
        assert!(!frames.contains("Marcellus"), "{frames}");
    }
    assert!(
        models.requests().len() > asked,
        "a model wrote these answers"
    );
    for request in &models.requests()[asked..] {
        assert!(
            !request.body.to_string().contains("Marcellus"),
            "{}",
            request.body
        );
    }
    assert_eq!(house.texts_of(profiles).await[0], known[0]);
    let guests = "select count(*) from guests where (phone is null) = (visitor_id is not null)";
    assert_eq!(house.number(guests).await, 2);
    house.stop().await;
}

#[tokio::test] // WID-4, D9: a session belongs to one casino
async fn a_session_of_one_casino_reads_and_writes_nothing_at_another() {
    let house = with_gateways("web_apart", MANY).await;
    let (first, second) = (&house.stack.web_urls[0], &house.stack.web_urls[1]);
    let mut other = house.config.clone();
    other.casino_id = "red_maple".parse().unwrap();
    other.operational.telnyx_phone_number = "+18605550177".parse().unwrap();
    other.operational.twilio_phone_number = None;
    other.operational.web_domains = vec!["www.maple.example".to_owned()];
    seven::onboard::add_casino(&house.stack.fleet, &other, "test")
        .await
        .unwrap();
    let visitor = Visitor::new(first).await;
    let stream = visitor.ask(first, WORDS, Uuid::new_v4()).await;
    stream.all().await;
    // A page of the other casino can neither begin a session at this casino nor use one.
    let maple = "https://www.maple.example";
    let begun = init(&visitor.client, first, Some(maple), "silver_birch").await;
    assert_eq!(begun.status(), StatusCode::FORBIDDEN);
    for call in [
        visitor.client.get(format!("{second}/api/v1/chat/history")),
        visitor.client.get(format!("{second}/api/v1/chat/stream")),
        visitor
            .client
            .post(format!("{second}/api/v1/chat/stream"))
            .json(&serde_json::json!({ "message": "hi", "message_id": Uuid::new_v4() })),
    ] {
        let call = call.bearer_auth(&visitor.token).header("origin", maple);
        assert_eq!(call.send().await.unwrap().status(), StatusCode::FORBIDDEN);
    }
    // A visitor with the same id at the other casino is another guest, with a separate history.
    let id = visitor_of(&visitor);
    let mut twin = visitor.clone();
    twin.token = token_of(&house, house.casino(), id);
    let own = twin.history(second).await;
    assert_eq!(
        own["messages"][0]["content"], WORDS,
        "the token is read: {own}"
    );
    twin.token = token_of(&house, &other.casino_id, id);
    for gateway in [first, second] {
        let call = twin.client.get(format!("{gateway}/api/v1/chat/history"));
        let call = call.bearer_auth(&twin.token).header("origin", maple);
        let history: serde_json::Value = call.send().await.unwrap().json().await.unwrap();
        assert_eq!(history["messages"], serde_json::json!([]), "{history}");
    }
    house.stop().await;
}

#[tokio::test] // WID-4, WEB-3: tokens and texts in no log
async fn the_gateways_log_knows_nobody() {
    let mut house = house(
        "web_log",
        Wanted {
            extra: MANY.to_owned(),
            ..Wanted::default()
        },
    )
    .await;
    birch(&mut house).await;
    let log = house.scratch.path().join("gateway.log");
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let gateway = format!("http://127.0.0.1:{port}");
    let mut process = Command::new(binary())
        .args(["run", "web-gateway", "--config"])
        .arg(&house.stack.config_file)
        .env("SEVEN_WEB__LISTEN", format!("127.0.0.1:{port}"))
        .env("SEVEN_LOG", "debug")
        .env("RUST_LOG", "debug")
        .stdout(std::process::Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    until("the gateway answers", Duration::from_secs(30), || async {
        reqwest::get(format!("{gateway}/health"))
            .await
            .is_ok_and(|one| one.status().is_success())
    })
    .await;
    let visitor = Visitor::new(&gateway).await;
    visitor
        .ask(&gateway, WORDS, Uuid::new_v4())
        .await
        .all()
        .await;
    let history = reqwest::Client::new()
        .get(format!("{gateway}/api/v1/chat/history"))
        .query(&[("token", &visitor.token)]);
    assert!(history.send().await.unwrap().status().is_success());
    process.kill().await.unwrap();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(
        log.contains("web call") && log.contains("/api/v1/chat/history"),
        "{log}"
    );
    let id = visitor_of(&visitor).to_string();
    for secret in [
        visitor.token.as_str(),
        id.as_str(),
        "zanzibar",
        "127.0.0.1\"",
    ] {
        assert!(!log.contains(secret), "{secret}");
    }
    house.stop().await;
}
