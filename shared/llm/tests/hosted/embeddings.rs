//! Embedders over both wire formats: their requests, and their errors on bad answers.

use std::{sync::Arc, time::Duration};

use seven_cache::Cache;
use seven_knowledge::{EmbedError, Embedder, Offline, Purpose};
use seven_llm::{
    chat::Error,
    embedding::{self, Embedding, Hosted, Provider, Settings},
};
use seven_testkit::models::{Format, Play};

use crate::house::{BOTH, Heard, House, KEY, quick};

/// Counts the letters `a`, `b`, `c` and `d` in the text.
fn letters(text: &str) -> Vec<f32> {
    ['a', 'b', 'c', 'd']
        .map(|letter| text.matches(letter).count() as f32)
        .to_vec()
}

fn three(_: &str) -> Vec<f32> {
    vec![1.0, 2.0, 3.0]
}

fn settings(house: &House, format: Format) -> Settings {
    let (provider, url, model) = match format {
        Format::Gemini => (Provider::Gemini, house.models.url(), "gemini-embedding-001"),
        Format::OpenAi => (
            Provider::Openai,
            house.models.openai_url(),
            "text-embedding-3-small",
        ),
    };
    Settings {
        provider,
        folder: None,
        base_url: Some(url.parse().unwrap()),
        api_key: Some(KEY.into()),
        model: model.into(),
        version: "1".into(),
        dimension: 4,
        ask_for_dimension: true,
        batch: 2,
        query_deadline_ms: 400,
        document_deadline_ms: 5_000,
        price: seven_llm::guarded::UsdPerMillion::default(),
    }
}

fn cache(house: &House) -> Cache {
    let cache = seven_cache::Settings {
        url: house.redis.url(),
        prefix: "t:".into(),
        senders: 1,
    };
    Cache::new(&cache, seven_domain::Clock::default()).unwrap()
}

fn hosted(house: &House, format: Format) -> (Hosted, Arc<Heard>) {
    let heard = Arc::<Heard>::default();
    (
        Hosted::new(
            &settings(house, format),
            &cache(house),
            quick(),
            heard.clone(),
        )
        .unwrap(),
        heard,
    )
}

#[tokio::test] // RAG-12, RAG-13, RAG-15
async fn documents_go_out_in_batches_and_come_back_in_order() {
    let house = House::open("embed-batches").await;
    for format in BOTH {
        house.models.otherwise(Play::vectors(letters));
        let (hosted, _) = hosted(&house, format);
        let before = house.models.count();
        let texts = ["Alpha; a\nbody a", "  ", "bbb", "c d"];
        let vectors = hosted.embed(&texts, Purpose::Document).await.unwrap();
        let near = |n: usize, text: &str| {
            vectors[n].similarity(&seven_knowledge::Vector::normalised(letters(text))) > 0.999
        };
        assert!(
            vectors[1].is_silent() && near(0, "Alpha; a body a") && near(2, "b") && near(3, "cd"),
            "{vectors:?}"
        );
        let asked = house.models.requests().split_off(before);
        assert_eq!(
            asked.len(),
            2,
            "three texts that say something, two in a batch"
        );
        assert!(
            asked
                .iter()
                .all(|request| request.key.as_deref() == Some(KEY))
        );
        let first = &asked[0].body;
        match format {
            Format::Gemini => {
                assert_eq!(
                    asked[0].path,
                    "/v1beta/models/gemini-embedding-001:batchEmbedContents"
                );
                let one = &first["requests"][0];
                assert_eq!(one["taskType"], "RETRIEVAL_DOCUMENT");
                assert_eq!(
                    (&one["title"], &one["outputDimensionality"]),
                    (&"Alpha; a".into(), &4.into())
                );
                assert_eq!(one["content"]["parts"][0]["text"], "body a");
                assert_eq!(
                    first["requests"][1].get("title"),
                    None,
                    "one line is no title"
                );
            }
            Format::OpenAi => {
                assert_eq!(asked[0].path, "/v1/embeddings");
                assert_eq!(first["input"][0], texts[0]);
                assert_eq!(
                    (&first["dimensions"], &first["encoding_format"]),
                    (&4.into(), &"float".into())
                );
            }
        }
    }
}

#[tokio::test] // RAG-13
async fn a_question_is_embedded_as_one() {
    let house = House::open("embed-question").await;
    house.models.otherwise(Play::vectors(letters));
    let (hosted, _) = hosted(&house, Format::Gemini);
    let embedding = Embedding::Model(Arc::new(hosted));
    let vectors = embedding
        .embedder()
        .embed(&["dad\nand bad"], Purpose::Query)
        .await
        .unwrap();
    assert!((vectors[0].values().iter().map(|v| v * v).sum::<f32>() - 1.0).abs() < 1e-5);
    let request = house.models.requests().pop().unwrap();
    assert_eq!(
        request.path,
        "/v1beta/models/gemini-embedding-001:embedContent"
    );
    assert_eq!(request.body["taskType"], "RETRIEVAL_QUERY");
    assert_eq!(
        request.embedded,
        ["dad\nand bad"],
        "the whole question, and no title"
    );
    assert_eq!(embedding.space().to_string(), "gemini-embedding-001@1:4");
}

#[tokio::test] // PROD-13, RAG-16
async fn a_provider_that_is_busy_or_unwell_is_asked_again() {
    let house = House::open("embed-retries").await;
    for format in BOTH {
        let (hosted, heard) = hosted(&house, format);
        house.models.clear();
        house.models.then(Play::status(429));
        house.models.then(Play::status(500));
        house.models.then(Play::vectors(letters).cut_body());
        house.models.otherwise(Play::vectors(letters));
        let before = house.models.count();
        assert_eq!(
            hosted.embed(&["a"], Purpose::Document).await.unwrap().len(),
            1
        );
        assert_eq!(
            (
                house.models.count() - before,
                *heard.retries.lock().unwrap()
            ),
            (4, 3)
        );
    }
}

#[tokio::test] // RAG-12: never a vector that is compared with others though it is another kind
async fn useless_answers_are_errors_and_not_vectors() {
    let house = House::open("embed-useless").await;
    for format in BOTH {
        let (hosted, _) = hosted(&house, format);
        let cases = [
            (Play::vectors(three), "wrong kind"),
            (Play::vectors(letters).truncated(), "ends too early"),
            (Play::raw("{}"), "expected form"),
            (Play::raw(r#"{"embeddings":[],"data":[]}"#), "wrong kind"),
            (
                Play::raw(r#"{"embeddings":[{"values":[]}],"data":[{"index":7,"embedding":[]}]}"#),
                "",
            ),
        ];
        for (play, words) in cases {
            house.models.otherwise(play);
            let before = house.models.count();
            let error = hosted
                .embed(&["a", "b"], Purpose::Document)
                .await
                .unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(
                house.models.count() - before,
                1,
                "asking the same again helps nobody"
            );
            assert!(!format!("{error:?}").contains(KEY));
        }
    }
}

#[tokio::test] // RAG-8, D10
async fn a_question_without_a_vector_in_time_is_searched_by_words() {
    let house = House::open("embed-slow").await;
    let (hosted, _) = hosted(&house, Format::OpenAi);
    house
        .models
        .otherwise(Play::vectors(letters).after(Duration::from_secs(3)));
    let error = hosted.embed(&["pool"], Purpose::Query).await.unwrap_err();
    assert!(matches!(error, EmbedError::Timeout { .. }), "{error:?}");
    let embedding = Embedding::Model(Arc::new(hosted));
    let item = serde_json::json!({
        "id": "p",
        "category": "pool",
        "name": "Lake Pool",
        "description": "Warm water.",
    });
    let now = seven_domain::Clock::default().now();
    let reference = seven_knowledge::Reference {
        now,
        zone: chrono_tz::Tz::UTC,
    };
    let items = vec![seven_knowledge::Item::read(&item, reference).unwrap()];
    let index = embedding.index(items, chrono_tz::Tz::UTC, Vec::new());
    assert_eq!(index.space(), Some(embedding.space()));
    let begun = std::time::Instant::now();
    let found = index.retrieve(&embedding.query("is the pool warm", now).await);
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(found.len() == 1 && found[0].scores.cosine.is_none());
}

#[tokio::test] // AGENT-62, D11
async fn five_failures_open_the_breaker_of_this_embedder() {
    let house = House::open("embed-breaker").await;
    let (hosted, _) = hosted(&house, Format::Gemini);
    house.models.otherwise(Play::vectors(three));
    for _ in 0..5 {
        hosted.embed(&["a"], Purpose::Query).await.unwrap_err();
    }
    let before = house.models.count();
    let error = hosted.embed(&["a"], Purpose::Query).await.unwrap_err();
    assert!(error.to_string().contains("breaker"), "{error}");
    assert_eq!(
        (house.models.count(), hosted.breaker().name()),
        (before, "embedding/gemini/gemini-embedding-001")
    );
}

#[tokio::test] // RAG-12
async fn what_cannot_work_is_refused_at_start() {
    let house = House::open("embed-setup").await;
    let good = settings(&house, Format::Gemini);
    let bad = [
        Settings {
            model: "gemini-embedding-latest".into(),
            ..good.clone()
        },
        Settings {
            dimension: 0,
            ..good.clone()
        },
        Settings {
            batch: 0,
            ..good.clone()
        },
        Settings {
            api_key: None,
            ..good.clone()
        },
    ];
    for settings in bad {
        let refused = Embedding::new(&settings, &cache(&house), Arc::new(()));
        assert!(
            matches!(refused, Err(embedding::Error::Hosted(Error::Setup { .. }))),
            "{settings:?}"
        );
    }
    let local = |folder: Option<&str>| {
        let local = Settings {
            provider: Provider::Local,
            folder: folder.map(Into::into),
            ..good.clone()
        };
        Embedding::new(&local, &cache(&house), Arc::new(())).unwrap_err()
    };
    assert!(matches!(local(None), embedding::Error::NoFolder));
    let absent = local(Some("/no/such/folder"));
    assert!(
        matches!(absent, embedding::Error::Local(_))
            && absent.to_string().contains("./scripts/weights"),
        "{absent}"
    );
    let offline = Settings {
        provider: Provider::Offline,
        ..good
    };
    let offline = Embedding::new(&offline, &cache(&house), Arc::new(())).unwrap();
    assert!(!offline.is_stored() && offline.space() == Offline::new().as_space());
}
