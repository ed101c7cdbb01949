use proptest::prelude::*;

use super::*;

fn nearest<'a>(query: &str, documents: &[&'a str]) -> &'a str {
    let offline = Offline::new();
    let asked = offline.query(query);
    let score = |text: &str| asked.similarity(&offline.vector(text, Purpose::Document));
    documents
        .iter()
        .copied()
        .max_by(|a, b| score(a).total_cmp(&score(b)))
        .unwrap()
}

const POOL: &str =
    "Lakeside Pool; pool, swim\nLakeside Pool: heated, with a hot tub. Hours: Daily 9am-8pm.";
const CAFE: &str =
    "Crumb & Clover; coffee, breakfast\nCrumb & Clover: Cafe cuisine. Hours: Daily 6am-4pm.";
const GARAGE: &str = "Self Parking; garage, car\nSelf Parking: free covered garage.";
const PETS: &str = "Pets; dog, cat\nPets: Dogs up to 50 pounds are welcome.";

#[test] // RAG-9, RAG-12: words of both languages that are not in the row's text
fn meaning_crosses_words_and_languages() {
    let all = [POOL, CAFE, GARAGE, PETS];
    for (query, expected) in [
        ("somewhere to take a dip", POOL),
        ("¿dónde puedo nadar?", POOL),
        ("dónde desayunar", CAFE),
        ("dónde dejo el coche, hay estacionamiento", GARAGE),
        ("mi perrito viene con nosotros", PETS),
        ("estasionamiento", GARAGE),
        ("swimmimg", POOL),
    ] {
        assert_eq!(nearest(query, &all), expected, "{query}");
    }
}

#[test] // RAG-20
fn similarity_is_one_for_the_same_and_bounded() {
    let offline = Offline::new();
    let (a, b) = (offline.query("pool"), offline.query("quantum helicopter"));
    assert!((a.similarity(&a) - 1.0).abs() < 1e-5);
    assert!(a.similarity(&b) < 0.3, "{}", a.similarity(&b));
    assert_eq!(a.similarity(&Vector::normalised(vec![1.0, 0.0])), 0.0);
    assert!(offline.query("").is_silent() && offline.query("¿¡!?").is_silent());
    assert_eq!(Vector::normalised(vec![f32::NAN, 3.0]).values(), [0.0, 1.0]);
}

#[test] // RAG-12, RAG-29: the same vectors on every machine
fn the_space_is_pinned_and_the_vectors_repeat() {
    let (one, two) = (Offline::new(), Offline::new());
    assert_eq!(one.space(), two.space());
    assert_eq!(
        one.space().to_string().split_once('@').unwrap().0,
        "offline"
    );
    assert_eq!(one.query("late night tacos"), two.query("late night tacos"));
    assert_eq!(one.query("pool").values().len(), one.space().dimension);
    assert_eq!(lexicon::problems(), Vec::<String>::new());
}

#[test]
fn embedders_are_kept_as_objects() {
    let embedder: std::sync::Arc<dyn Embedder> = std::sync::Arc::new(Offline::new());
    let mut future = embedder.embed(&["a pool", ""], Purpose::Query);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Ok(vectors)) = future.as_mut().poll(&mut context) else {
        panic!("not ready")
    };
    assert_eq!(vectors.len(), 2);
}

proptest! {
    #[test]
    fn any_text_has_a_vector_of_unit_length_or_none(text in "\\PC{0,80}") {
        let offline = Offline::new();
        let vector = offline.query(&text);
        let length: f32 = vector.values().iter().map(|v| v * v).sum();
        prop_assert!(vector.is_silent() || (length - 1.0).abs() < 1e-3);
        prop_assert!(vector.values().iter().all(|v| v.is_finite()));
    }
}
