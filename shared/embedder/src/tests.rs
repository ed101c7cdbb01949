//! Tests that need no weights. They read a small neural network in the file format, and run the
//! embedder with a computation that the test supplies.

use std::{
    fs,
    io::Cursor,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use seven_knowledge::{EmbedError, Embedder, Purpose};

use crate::{
    error::Error,
    local::{Compute, Local, Settings},
    model::{FILE, Model, WIDTH},
};

mod small;

/// A deadline that no test reaches.
const LONG: Duration = Duration::from_secs(60);

fn settings(folder: PathBuf) -> Settings {
    Settings {
        folder,
        batch: 2,
        query_deadline: LONG,
        document_deadline: LONG,
    }
}

/// Returns an embedder whose vectors contain the text's length, and a counter of its computations.
fn counting() -> (Local, Arc<AtomicUsize>) {
    let count = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&count);
    let compute = move |text: &str, _: Purpose| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(one(text.len() as f32))
    };
    (local(Arc::new(compute), 4, LONG), count)
}

fn one(value: f32) -> Vec<f32> {
    let mut values = vec![1.0; WIDTH];
    values[0] = value;
    values
}

fn local(compute: Arc<Compute>, computations: usize, query_deadline: Duration) -> Local {
    let settings = Settings {
        query_deadline,
        ..settings(PathBuf::new())
    };
    Local::of(compute, computations, settings)
}

/// Creates a folder for this test. If `file` is given, it becomes the folder's file of weights.
fn folder(name: &str, file: Option<&[u8]>) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("seven-embedder-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    if let Some(bytes) = file {
        fs::write(folder.join(FILE), bytes).unwrap();
    }
    folder
}

#[test]
fn a_folder_without_the_weights_is_an_error_that_names_the_command() {
    let folder = folder("empty", None);
    let error = Local::open(settings(folder.clone())).unwrap_err();
    assert!(matches!(error, Error::Open { .. }), "{error:?}");
    let said = error.to_string();
    assert!(
        said.contains("./scripts/weights") && said.contains(&*folder.to_string_lossy()),
        "{said}"
    );
    let why = std::error::Error::source(&error).map(ToString::to_string);
    assert!(why.is_some(), "the system's reason");
    fs::remove_dir_all(folder).unwrap();
}

#[test] // RAG-12
fn weights_of_another_hash_are_refused() {
    let folder = folder("other", Some(b"other weights"));
    let error = Local::open(settings(folder.clone())).unwrap_err();
    let Error::Other { got, .. } = &error else {
        panic!("{error:?}");
    };
    // printf 'other weights' | sha256sum
    assert_eq!(
        got,
        "53959fa102f31e51d8d1ee12fe89c2fd7cd556dbaf2c6102046d195a504850a0"
    );
    assert!(error.to_string().contains("./scripts/weights"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_packed_file_gives_a_vector_and_one_cut_anywhere_an_error() {
    let file = small::packed();
    let model = Model::read(&mut Cursor::new(&file)).unwrap();
    let of = |text: &str, purpose| model.vector(text, purpose).unwrap();
    let asked = of("pool", Purpose::Query);
    assert!(asked.len() == small::WIDTH && asked.iter().all(|value| value.is_finite()));
    assert_ne!(asked, of("spa", Purpose::Query));
    assert_ne!(asked, of("pool", Purpose::Document), "the prefixes differ");
    assert_eq!(asked, of("pool", Purpose::Query));
    for length in (0..file.len()).step_by(37) {
        assert!(
            Model::read(&mut Cursor::new(&file[..length])).is_err(),
            "the first {length} bytes"
        );
    }
}

#[test]
fn a_question_is_cut_to_the_pieces_of_the_second_reader_and_a_document_to_the_models_places() {
    let model = Model::read(&mut Cursor::new(small::packed())).unwrap();
    let of = |words: usize, purpose| model.vector(&"pool ".repeat(words), purpose).unwrap();
    // "query", ":" and 124 words are 126 pieces; "passage", ":" and 508 words are 510.
    for (purpose, most) in [(Purpose::Query, 124), (Purpose::Document, 508)] {
        assert_ne!(of(most - 1, purpose), of(most, purpose), "{purpose:?}");
        assert_eq!(of(most, purpose), of(most + 1, purpose), "{purpose:?}");
    }
}

#[tokio::test] // RAG-33, RAG-34
async fn a_question_asked_again_or_by_many_at_once_is_computed_once() {
    let (local, count) = counting();
    let ask = || local.embed(&["Is the pool open?"], Purpose::Query);
    let (first, second) = tokio::join!(ask(), ask());
    assert_eq!(first.unwrap(), second.unwrap());
    let again = ask().await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let other = local.embed(&["Is it?"], Purpose::Query).await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert_ne!(again, other);
}

#[tokio::test]
async fn documents_are_computed_in_order_and_blank_texts_are_silent() {
    let (local, count) = counting();
    let texts = ["a", " \n", "abc", "ab", "a"];
    let vectors = local.embed(&texts, Purpose::Document).await.unwrap();
    assert_eq!(
        count.load(Ordering::SeqCst),
        4,
        "documents are not remembered"
    );
    assert!(vectors[1].is_silent() && vectors[1].values().len() == WIDTH);
    assert_eq!(vectors[0], vectors[4]);
    let length = |n: usize| vectors[n].values()[0] / vectors[n].values()[1];
    let lengths = [0, 2, 3].map(length);
    let near = |a: f32, b: f32| (a - b).abs() < 1e-4;
    assert!(near(lengths[0], 1.0) && near(lengths[1], 3.0) && near(lengths[2], 2.0));
    let square: f32 = vectors[2].values().iter().map(|v| v * v).sum();
    assert!(near(square, 1.0), "{square}");
}

#[tokio::test] // RAG-8
async fn a_question_that_takes_too_long_has_no_vector_and_keeps_its_place_until_it_ends() {
    let (end, ended) = mpsc::channel::<()>();
    let ended = Mutex::new(ended);
    let compute = move |_: &str, _: Purpose| {
        ended.lock().unwrap().recv().unwrap();
        Ok(one(1.0))
    };
    let local = local(Arc::new(compute), 1, Duration::from_millis(30));
    for text in ["one", "two"] {
        let outcome = local.embed(&[text], Purpose::Query).await;
        assert!(
            matches!(outcome, Err(EmbedError::Timeout { .. })),
            "{outcome:?}"
        );
    }
    // The first signal ends the computation of "one", which still runs. "two" never began;
    // otherwise it would take the second signal, which "three" needs.
    end.send(()).unwrap();
    end.send(()).unwrap();
    local.embed(&["three"], Purpose::Query).await.unwrap();
}

#[tokio::test]
async fn no_more_computations_run_at_a_time_than_allowed() {
    let running = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let seen = Arc::clone(&running);
    let compute = move |_: &str, _: Purpose| {
        let now = seen.0.fetch_add(1, Ordering::SeqCst) + 1;
        seen.1.fetch_max(now, Ordering::SeqCst);
        let (_stay, wait) = mpsc::channel::<()>();
        wait.recv_timeout(Duration::from_millis(10)).unwrap_err();
        seen.0.fetch_sub(1, Ordering::SeqCst);
        Ok(one(1.0))
    };
    let local = local(Arc::new(compute), 2, LONG);
    let ask = |text: &'static str| async {
        local.embed(&[text], Purpose::Query).await.unwrap();
    };
    tokio::join!(ask("a"), ask("b"), ask("c"), ask("d"), ask("e"));
    assert_eq!(running.1.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_failed_computation_keeps_its_cause_and_tells_no_text() {
    let compute = |_: &str, _: Purpose| Err(seven_encoder::Error::Msg("the cause".into()));
    let local = local(Arc::new(compute), 1, LONG);
    let error = local.embed(&["secret"], Purpose::Query).await.unwrap_err();
    let mut chain = vec![error.to_string()];
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        chain.push(cause.to_string());
        source = cause.source();
    }
    let chain = chain.join(": ");
    assert!(
        chain.ends_with("computing a vector: the cause") && !chain.contains("secret"),
        "{chain}"
    );
    assert!(!format!("{local:?}").contains("secret"));
}
