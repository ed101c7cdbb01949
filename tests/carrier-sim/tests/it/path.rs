//! Tests `/sim/path`, which forwards the fleet's explanation of a reply.

use serde_json::{Value, json};
use seven_carrier_sim::Explain;

use crate::double::World;

const KNOWN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
const UNKNOWN: &str = "01890a5d-ac96-774b-bcce-b302099a8058";

fn told() -> Value {
    json!({
        "verdict": "pass",
        "agent": "host",
        "sources": ["dining_001"],
        "steps": [{"stage": "ingress", "ms": 0}],
    })
}

async fn explaining() -> World {
    let explain =
        Explain::new(async |attempt: uuid::Uuid| (attempt.to_string() == KNOWN).then(told));
    World::start_with(|settings| settings.explain = Some(explain)).await
}

#[tokio::test]
async fn a_known_attempt_is_explained_in_the_fleets_own_words() {
    let world = explaining().await;
    assert_eq!(
        world.get(&format!("/sim/path?attempt={KNOWN}")).await,
        (200, told())
    );
}

#[tokio::test]
async fn an_unknown_attempt_is_not_found_and_what_is_no_attempt_is_refused() {
    let world = explaining().await;
    for (query, expected) in [
        (format!("?attempt={UNKNOWN}"), 404),
        ("?attempt=x".to_owned(), 400),
        (String::new(), 400),
    ] {
        let url = format!("{}/sim/path{query}", world.sim.url());
        assert_eq!(
            world.http.get(url).send().await.unwrap().status(),
            expected,
            "{query}"
        );
    }
}

#[tokio::test]
async fn without_a_fleet_to_ask_no_attempt_is_known() {
    let world = World::start().await;
    let url = format!("{}/sim/path?attempt={KNOWN}", world.sim.url());
    assert_eq!(world.http.get(url).send().await.unwrap().status(), 404);
}
