//! The requests that a turn sends to models: the texts that each model gets, and the settings of
//! its call (AGENT-30, WEB-22, WEB-24, WEB-27, WEB-36).

use serde_json::{Value, json};
use seven_staff::profile::{Corrected, revoke};
use seven_testkit::models::{Models, Play, Received};

use super::{ANSWER, QUESTION, brain, calls, content_with_all, last, node, settings};
use crate::harness::{GUEST, House, Wanted, house};

/// Returns the newest request of this step of a turn, such as `speak`.
fn newest(models: &Models, kind: &str) -> Received {
    let mut requests = models.requests().into_iter().rev();
    requests.find(|request| node(request) == kind).unwrap()
}

/// Returns the texts of the request's messages with this role, oldest first.
fn said(request: &Received, role: &str) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap();
    let of_role = messages.iter().filter(|message| message["role"] == role);
    let text = |message: &Value| message["content"].as_str().unwrap().to_owned();
    of_role.map(text).collect()
}

async fn warm_house(name: &str, models: &Models) -> House {
    let more = "temperature = 0.5\nmax_output_tokens = 350\n";
    let wanted = Wanted {
        extra: settings(models).replace("[model]\n", &format!("[model]\n{more}")),
        ..Wanted::default()
    };
    house(name, wanted).await
}

#[tokio::test] // WEB-22, WEB-24, WEB-27, WEB-36, AGENT-30
async fn each_model_is_told_what_it_needs_and_no_more() {
    let models = brain("host").await;
    content_with_all(&models);
    models.when(|request| node(request) == "speak", Play::text(ANSWER));
    let house = warm_house("hosted_asked", &models).await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;

    let asked = newest(&models, "speak");
    assert_eq!(asked.body["temperature"], json!(0.5));
    assert_eq!(asked.body["max_completion_tokens"], json!(350));
    let told = said(&asked, "system").concat();
    for part in [
        "] Lakeside Pool",
        "at the property",
        "never of another casino",
        "Match the guest",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(said(&asked, "user"), [QUESTION]);

    let judged = newest(&models, "judge");
    assert_eq!(judged.body["temperature"], json!(0.0));
    let criteria = said(&judged, "system").concat();
    for part in [
        "true to the content",
        "answers what was asked",
        "advice on how or how much to bet",
        "booked, reserved or granted is wrong",
        "a price, time, name, offer or booking that is not in it is wrong",
        "promises that gambling pays",
        "is PASS",
        "is FAIL",
        "] Lakeside Pool",
    ] {
        assert!(criteria.contains(part), "{part}: {criteria}");
    }
    let shown = said(&judged, "user").concat();
    assert!(
        shown.contains(QUESTION) && shown.contains(ANSWER),
        "{shown}"
    );

    // The history contains as many of the newest exchanges as fit.
    let padding = "please and thank you ".repeat(30);
    for n in 1..=8 {
        house.text(GUEST, &format!("{QUESTION} {n} {padding}"));
        house.settle(n + 1).await;
    }
    let request = newest(&models, "speak");
    let user = said(&request, "user");
    let (new, earlier) = user.split_last().unwrap();
    assert!(new.starts_with(&format!("{QUESTION} 8")), "{new}");
    assert!(
        earlier
            .last()
            .unwrap()
            .starts_with(&format!("{QUESTION} 7"))
    );
    assert!((2..7).contains(&earlier.len()), "{user:?}");
    assert_eq!(said(&request, "assistant").len(), earlier.len());
    house.stop().await;
}

#[tokio::test] // DATA-41, DATA-42, D47
async fn a_guest_who_wants_nothing_kept_is_asked_nothing_whatever_the_planner_wants() {
    let models = Models::start().await.unwrap();
    let route = json!({"subject": "domain", "domain": "host", "confidence": 0.9});
    let plan = json!({
        "next_topic": "visit_date", "offer_readiness": 0.1, "conversation_note": "",
        "sentiment": "neutral",
    });
    models.when(|request| node(request) == "route", Play::json(&route));
    models.when(|request| node(request) == "plan", Play::json(&plan));
    content_with_all(&models);
    models.when(|request| node(request) == "speak", Play::text(ANSWER));
    let house = warm_house("hosted_revoked", &models).await;
    house.text(GUEST, &format!("We are 4 people. {QUESTION}"));
    house.settle(1).await;
    let told = said(&newest(&models, "speak"), "system").concat();
    assert!(told.contains("find out about visit_date"), "{told}");
    assert!(told.contains("Party of 4"), "{told}");

    let fleet = &house.stack.fleet;
    let conversations = "select conversation_id::text from conversations";
    let conversation = house.texts_of(conversations).await[0].parse().unwrap();
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let now = fleet.clock.property_now();
    let revoked = revoke(&mut tx, conversation, "asked", "test", now).await;
    assert_eq!(revoked.unwrap(), Corrected::Done);
    tx.commit().await.unwrap();
    house.text(GUEST, "And is it heated?");
    house.settle(2).await;
    let told = said(&newest(&models, "speak"), "system").concat();
    assert!(!told.contains("find out about"), "{told}");
    assert!(!told.contains("Party of 4"), "{told}");
    house.stop().await;
}

#[tokio::test] // AGENT-59, WEB-25, D10
async fn a_first_draft_leaves_unjudged_only_where_the_casino_permits_it() {
    let models = brain("host").await;
    models.when(|request| node(request) == "judge", Play::status(500));
    models.when(|request| node(request) == "speak", Play::text(ANSWER));
    let house = warm_house("hosted_unjudged", &models).await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    assert_eq!(last(&house).await.1.answered_by(), Some("not_judged"));

    house
        .change("update casinos set config = jsonb_set(config, '{features,unjudged_first_draft_allowed}', 'true')")
        .await;
    house.text("+18605550143", QUESTION);
    house.settle(2).await;
    assert!(house.said_to("+18605550143").contains(ANSWER));
    assert_eq!(last(&house).await.1.answered_by(), Some("model"));
    assert!(calls(&models)["judge"] >= 2, "it was asked each time");
    house.stop().await;
}
