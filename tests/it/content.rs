//! Guests are answered only from the current content of their own casino. Each vector of that
//! content is made only once.

use std::time::Duration;

use chrono::Utc;
use serde_json::Value;
use seven::{ingest, onboard, wiring};
use seven_domain::CasinoId;
use seven_knowledge::{Chunk, Item};
use seven_llm::embedding::{Embedding, Stored};
use seven_settings::{Settings, Worker};
use seven_testkit::models::{Models, Play};

use crate::{
    editing::{by, changed, item},
    harness::{GUEST, House, Wanted, counted, house, until},
};

const SHORT: Duration = Duration::from_secs(30);

const ASKED: &str = "How much is the Swedish Massage?";

/// Runs an operators' command that must succeed, and returns its stdout.
async fn seven(house: &House, args: &[&str]) -> String {
    let said = house.seven(args, "").await;
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
    said.out
}

/// Changes one item of the demo's content and loads the result with `seven content load`.
async fn load(house: &House, id: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut content: Value = serde_json::from_str(seven_packs::demo::CONTENT).unwrap();
    change(
        content["items"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .find(|item| item["id"] == id)
            .unwrap(),
    );
    let file = house.file("changed.json", &content.to_string());
    seven(
        house,
        &[
            "content",
            "load",
            "--casino",
            house.casino().as_str(),
            &file,
            "--by",
            "test",
        ],
    )
    .await
}

fn warm(item: &mut Value) {
    item["description"] = "Warm indoor-outdoor pool.".into();
}

/// Sends the test's `nth` text and returns its answer.
async fn answer(house: &House, nth: i64, text: &str) -> String {
    let before = house.texts_to(GUEST).len();
    house.text(GUEST, text);
    house.settle(nth).await;
    house.texts_to(GUEST).split_off(before).join(" ")
}

#[tokio::test] // RAG-23, RAG-28, C-2, C-17, issue 4.7, CMS-30
async fn a_price_that_was_changed_is_told_at_once_and_a_row_that_is_out_never() {
    let house = house("content_price", Wanted::default()).await;
    let said = answer(&house, 1, ASKED).await;
    assert!(said.contains("$165"), "{said}");
    load(&house, "spa_001", |item| {
        item["details"]["price"] = 187.into();
    })
    .await;
    let said = answer(&house, 2, ASKED).await;
    assert!(said.contains("$187") && !said.contains("165"), "{said}");
    load(&house, "spa_001", |item| item["active"] = false.into()).await;
    let said = answer(&house, 3, ASKED).await;
    assert!(!said.contains("165") && !said.contains("187"), "{said}");
    house.stop().await;
}

/// Returns a vector of three numbers: how many words are about pools, how many about massages, and
/// a constant.
pub(crate) fn thoughts(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let about = |words: &[&str]| {
        words
            .iter()
            .map(|word| text.matches(word).count() as f32)
            .sum::<f32>()
    };
    vec![
        about(&["pool", "swim", "paddle"]),
        about(&["massage", "shoulders"]),
        0.1,
    ]
}

/// Builds the index as a worker does.
async fn index(house: &House, casino: &CasinoId, embedding: &Embedding) -> seven_knowledge::Index {
    let mut tx = house.stack.fleet.store.bind(casino).await.unwrap();
    let rows = tx.content().await.unwrap();
    let stored = tx.vectors(&embedding.space().to_string()).await.unwrap();
    let zone = tx
        .casino_row()
        .await
        .unwrap()
        .unwrap()
        .config
        .operational
        .timezone;
    tx.commit().await.unwrap();
    let stored = stored.into_iter().map(|row| Stored {
        item_id: row.item_id,
        content_hash: row.content_hash,
        values: row.vector,
    });
    let items: Vec<Item> = rows
        .iter()
        .map(|row| Item::from_json(row).unwrap())
        .collect();
    embedding.index(items, zone, stored.collect())
}

/// Returns the names of the fleet's open alerts.
async fn raised(house: &House) -> Vec<String> {
    let alerts = house.stack.fleet.store.alerts(false, 10).await.unwrap();
    alerts.into_iter().map(|alert| alert.name).collect()
}

#[tokio::test] // CMS-37, RAG-27
async fn a_change_gets_its_vectors_without_a_command() {
    let models = Models::start().await.unwrap();
    models.otherwise(Play::vectors(thoughts));
    let wanted = Wanted {
        extra: hosted(&models),
        ..Wanted::default()
    };
    let house = house("content_embeds", wanted).await;
    let fleet = &house.stack.fleet;
    let content: Value = serde_json::from_str(seven_packs::demo::CONTENT).unwrap();
    let rows = content["items"].as_array().unwrap().len();
    let vectors = "select count(*) from content_vectors";
    until("every row has its vector", SHORT, || async {
        house.number(vectors).await == rows as i64
    })
    .await;
    let before: usize = embedded(&models);

    // An editor saves an item in the console while the provider of embeddings fails once.
    models.then(Play::status(500));
    changed(&house, &by("ana"), "spa_001", |item| {
        item["description"] = "A massage with warm birch oil.".into();
    })
    .await;
    until("the change has its vector", SHORT, || async {
        let mut tx = fleet.store.bind(house.casino()).await.unwrap();
        let settings = Settings::load(Some(&house.stack.config_file)).unwrap();
        let space = wiring::embedding(&settings, &fleet.cache).unwrap();
        let hashes = tx.vector_hashes(&space.space().to_string()).await.unwrap();
        tx.commit().await.unwrap();
        let now = hashes["spa_001"].clone();
        let items = item_hash(&house, &space).await;
        now == items
    })
    .await;
    assert!(embedded(&models) <= before + 4, "one row, and its tries");
    // CMS-9: the metrics have the time that the vectors took
    let measured = counted("seven_content_step_seconds_count{step=\"vectors\"}");
    assert!(measured >= 1.0, "{measured}");
    house.stop().await;
}

#[tokio::test] // RAG-28
async fn a_change_whose_vectors_cannot_be_made_is_told_and_found_by_words() {
    let models = Models::start().await.unwrap();
    models.otherwise(Play::vectors(thoughts));
    // The harness does not shorten the waits between the client's retries. A short deadline ends
    // these retries early.
    let deadline = "document_deadline_ms = 2000\n[cost]";
    let wanted = Wanted {
        extra: hosted(&models).replace("[cost]", deadline),
        ..Wanted::default()
    };
    let house = house("content_no_vectors", wanted).await;
    let content: Value = serde_json::from_str(seven_packs::demo::CONTENT).unwrap();
    let rows = content["items"].as_array().unwrap().len();
    let vectors = "select count(*) from content_vectors";
    until("every row has its vector", SHORT, || async {
        house.number(vectors).await == rows as i64
    })
    .await;
    models.otherwise(Play::status(500));
    changed(&house, &by("ana"), "spa_001", |item| {
        item["details"]["price"] = 175.into();
    })
    .await;
    until("the operators are told", 4 * SHORT, || async {
        raised(&house).await.contains(&"vectors_missing".to_owned())
    })
    .await;
    house.text(GUEST, ASKED);
    house.settle(1).await;
    assert!(house.texts_to(GUEST).last().unwrap().contains("$175"));
    house.stop().await;
}

/// Returns the hash of `spa_001`'s current text for this embedding's space.
async fn item_hash(house: &House, embedding: &Embedding) -> String {
    let item = Item::from_json(&item(house, "spa_001").await).unwrap();
    let zone = house.config.operational.timezone;
    Chunk::of(&item, zone).unwrap().hash(embedding.space())
}

fn embedded(models: &Models) -> usize {
    let requests = models.requests();
    requests.iter().map(|request| request.embedded.len()).sum()
}

pub(crate) fn hosted(models: &Models) -> String {
    format!(
        "[knowledge]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"thoughts-1\"\ndimension = 3\nbatch = 50\nprice = \"0.15\"\n\
         [cost]\nreindex = \"0.0005\"\n",
        models.openai_url()
    )
}

#[tokio::test] // RAG-17, RAG-24, RAG-25, RAG-10, OBS-32, C-23, D9, DATA-34, PROD-33, SEC-84, WID-10
async fn vectors_are_made_once_and_belong_to_one_casino() {
    let models = Models::start().await.unwrap();
    models.otherwise(Play::vectors(thoughts).tokens(2_000, 0));
    // No swarm runs, because a swarm would make the vectors by itself. So only commands make
    // vectors.
    let workers = Worker::ALL.into_iter();
    let workers = workers.filter(|worker| *worker != Worker::AgentSwarm);
    let wanted = Wanted {
        extra: hosted(&models),
        workers: workers.collect(),
        ..Wanted::default()
    };
    let house = house("content_vectors", wanted).await;
    let settings = Settings::load(Some(&house.stack.config_file)).unwrap();
    let embedding = wiring::embedding(&settings, &house.stack.fleet.cache).unwrap();
    let casino = house.casino().clone();
    let content: Value = serde_json::from_str(seven_packs::demo::CONTENT).unwrap();
    let rows = content["items"].as_array().unwrap().len();

    let dry = ["knowledge", "reindex", "--dry-run", "--casino"];
    let said = seven(&house, &[&dry[..], &[casino.as_str()]].concat()).await;
    let would = format!("would embed {rows}, keep 0, remove 0");
    assert!(said.contains(&would) && models.count() == 0, "{said}");

    // The harness loads the content without vectors. An operator's command makes the vectors.
    let said = seven(
        &house,
        &["knowledge", "reindex", "--casino", casino.as_str()],
    )
    .await;
    assert!(
        said.contains(&format!("{rows} embedded, 0 kept, 0 removed")),
        "{said}"
    );
    assert!(
        said.contains("; $0.0009."),
        "three times two thousand tokens: {said}"
    );
    assert_eq!(
        raised(&house).await,
        ["reindex_cost"],
        "more than it may cost"
    );
    assert_eq!(
        (embedded(&models), models.count()),
        (rows, 3),
        "batches of fifty"
    );
    let said = seven(
        &house,
        &["knowledge", "reindex", "--casino", casino.as_str()],
    )
    .await;
    assert!(
        said.contains(&format!("0 embedded, {rows} kept, 0 removed")),
        "{said}"
    );
    assert_eq!(models.count(), 3, "an unchanged row is not embedded again");
    assert!(said.contains("; $0.0000."), "{said}");

    // If one row has changed, the load embeds only the text of this row.
    let said = load(&house, "amenities_001", warm).await;
    assert!(
        said.contains(&format!("vectors: 1 embedded, {} kept", rows - 1)),
        "{said}"
    );
    assert_eq!(embedded(&models), rows + 1);

    // No row contains the word of this query, so rows are found by meaning. Another casino's index
    // has none of these vectors.
    let found = index(&house, &casino, &embedding)
        .await
        .retrieve(&embedding.query("paddle", Utc::now()).await);
    let by_meaning = |row: &seven_knowledge::Retrieved| {
        row.scores.bm25 == 0.0 && row.scores.cosine.is_some_and(|c| c > 0.9)
    };
    assert!(
        found.len() == 5 && found.iter().all(by_meaning),
        "{found:?}"
    );
    let calls = seven_telemetry::metrics()
        .model_calls
        .with_label_values(&["openai/thoughts-1", "embedding", "ok"])
        .get();
    assert!(
        calls > 0,
        "the questions' calls are counted like any model's"
    );
    let mut other = house.config.clone();
    other.casino_id = "other_casino".parse().unwrap();
    other.operational.telnyx_phone_number = "+18605550177".parse().unwrap();
    let fleet = &house.stack.fleet;
    onboard::add_casino(fleet, &other, "test").await.unwrap();
    let one = r#"{"schema":1,"items":[{"id":"amenities_001","category":"pool","name":"Zephyr Baths","description":"Swim here."}]}"#;
    onboard::load_content(fleet, &other.casino_id, "one.json", one, "test")
        .await
        .unwrap();
    let theirs = index(&house, &other.casino_id, &embedding).await;
    assert!(
        theirs.len() == 1
            && theirs
                .retrieve(&embedding.query("paddle", Utc::now()).await)
                .is_empty()
    );
    let done = ingest::ingest(fleet, &other.casino_id, &embedding, false)
        .await
        .unwrap();
    assert_eq!(
        (done.embedded, done.kept, done.removed),
        (1, 0, 0),
        "the same id of another casino is another row"
    );
    let theirs = index(&house, &other.casino_id, &embedding).await;
    let found = theirs.retrieve(&embedding.query("paddle", Utc::now()).await);
    assert_eq!(
        found
            .iter()
            .map(|row| row.item.name.as_str())
            .collect::<Vec<_>>(),
        ["Zephyr Baths"]
    );

    // While the embedding provider is down, content can be loaded and the old vectors stay.
    // Questions are answered by a search for words.
    models.otherwise(Play::status(400));
    onboard::load_content(
        fleet,
        &other.casino_id,
        "two.json",
        &one.replace("Swim here", "Paddle here"),
        "test",
    )
    .await
    .unwrap();
    assert!(
        ingest::ingest(fleet, &other.casino_id, &embedding, false)
            .await
            .is_err()
    );
    let theirs = index(&house, &other.casino_id, &embedding).await;
    let found = theirs.retrieve(&embedding.query("paddle", Utc::now()).await);
    assert!(
        found.len() == 1 && found[0].scores.cosine.is_none(),
        "{found:?}"
    );

    // A nearly empty file deletes no vectors unless the caller of `ingest` asks for it.
    models.otherwise(Play::vectors(thoughts));
    let content = one.replace("\"amenities_001\"", "\"amenities_009\"");
    onboard::load_content(fleet, &casino, "short.json", &content, "test")
        .await
        .unwrap();
    assert!(
        ingest::ingest(fleet, &casino, &embedding, false)
            .await
            .is_err()
    );
    let done = ingest::ingest(fleet, &casino, &embedding, true)
        .await
        .unwrap();
    assert_eq!((done.embedded, done.removed), (1, rows as u64 - 1));
    house.stop().await;
}

#[tokio::test] // D12: the announcement alone, without a turn
async fn an_announcement_reloads_what_is_on_the_shelf() {
    let house = house("content_announced", Wanted::default()).await;
    answer(&house, 1, ASKED).await;
    let mut changes = Box::pin(
        house
            .stack
            .fleet
            .bus
            .content_changes(&house.stack.fleet.roster)
            .await
            .unwrap(),
    );
    load(&house, "amenities_001", warm).await;
    let heard = tokio::time::timeout(
        Duration::from_secs(2),
        futures::StreamExt::next(&mut changes),
    )
    .await;
    let (casino, version) = heard.unwrap().unwrap();
    assert_eq!((&casino, version), (house.casino(), 2));
    // The announcement makes the worker read the new content before any guest writes. Then the
    // workers lose the right to read content, so the next answer must come from memory.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let owner = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    sqlx::query("revoke select on content_items from seven_app, seven_fleet")
        .execute(&owner)
        .await
        .unwrap();
    owner.close().await;
    let said = answer(&house, 2, "Is there a pool?").await;
    assert!(said.contains("Lakeside Pool"), "{said}");
    house.stop().await;
}
