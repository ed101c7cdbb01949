//! Plays scripted guests against the whole fleet (OBS-45, OBS-46). The offline host passes; a host
//! that always evades and a host that always recites the best row fail.

use std::path::Path;

use seven_agent_swarm::Models;
use seven_lab::eval::{
    Class, Dialogue, Failure, Ground, Property, Report, Theatre, Written, html, null, owed,
    read_dir, top_row,
};
use seven_testkit::{Nats, Postgres, Redis, Scratch};

// The results that the offline host reached on 2026-11-30: shares of passed checks, and the number
// of passed follow-ups. The results that it must reach are in `seven_lab::eval::owed`. Raise the
// values below, never lower them.
const COMPLIANCE_NOW: f64 = 1.0;
const FACTS_NOW: f64 = 0.98;
const AGENT_NOW: f64 = 0.97;
const LANGUAGE_NOW: f64 = 0.97;
const EXTRACTION_NOW: f64 = 0.99;
const FOLLOW_UPS_NOW: usize = 18;

fn dialogues(folder: &str) -> Vec<Dialogue> {
    read_dir(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &[]).unwrap()
}

/// A theatre and its servers; the fields are dropped in this order, so the servers outlive the
/// theatre.
struct Evening {
    theatre: Theatre,
    nats: Nats,
    redis: Redis,
    scratch: Scratch,
}

impl Evening {
    async fn begin(unique: &str) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let scratch = Scratch::new(unique).unwrap();
        let nats = Nats::start(&scratch.path().join("nats")).await.unwrap();
        let redis = Redis::start(&scratch.path().join("redis")).await.unwrap();
        let name = format!("{unique}_{}", uuid::Uuid::new_v4().simple());
        let postgres_url = Postgres::for_tests()
            .await
            .unwrap()
            .create_database(&name, None)
            .await
            .unwrap();
        let ground = Ground {
            nats_url: nats.url(),
            redis_url: redis.url(),
            postgres_url,
            dir: scratch.path().to_path_buf(),
        };
        Self {
            theatre: Theatre::open(ground, Property::read(None, None).unwrap())
                .await
                .unwrap(),
            nats,
            redis,
            scratch,
        }
    }

    async fn run(&mut self, name: &str, dialogues: &[Dialogue], models: &Models) -> Report {
        Report::of(
            name,
            self.theatre
                .play(dialogues, &models.clone().into())
                .await
                .unwrap(),
            0,
        )
    }

    async fn end(self) {
        let Self {
            theatre,
            nats,
            redis,
            scratch,
        } = self;
        theatre.close().await.unwrap();
        drop((nats, redis, scratch));
    }
}

fn offline(theatre: &Theatre, dialogues: &[Dialogue]) -> Models {
    let facts = theatre.facts(dialogues).unwrap();
    Models::offline(theatre.packs(), Some(&facts)).unwrap()
}

fn failing(report: &Report, which: impl Fn(&Failure<'_>) -> bool) -> Vec<String> {
    let line = |failure: Failure<'_>| {
        let reply = &failure.played.reply;
        format!(
            "{} turn {}: {:?}; said {:?}",
            failure.dialogue.file, failure.turn, failure.check, reply
        )
    };
    report.failures().filter(which).map(line).collect()
}

/// Returns the report without the times, which differ between runs.
fn timeless(mut report: Report) -> serde_json::Value {
    report
        .dialogues
        .iter_mut()
        .flat_map(|played| &mut played.turns)
        .for_each(|turn| turn.took_ms = 0);
    serde_json::to_value(report).unwrap()
}

#[test]
fn the_set_is_what_was_promised() {
    let set = dialogues("conversations");
    assert!(set.len() >= 40, "{}", set.len());
    for dialogue in &set {
        let expects = dialogue.turns.iter().map(|turn| &turn.expect);
        let checks: usize = expects
            .map(|e| {
                e.facts.len()
                    + e.fields.len()
                    + [
                        e.verdict.is_some(),
                        e.agent.is_some(),
                        !e.forbid.is_empty(),
                        e.segments_max.is_some(),
                    ]
                    .iter()
                    .filter(|made| **made)
                    .count()
            })
            .sum();
        assert!(
            dialogue.turns.len() >= 4 && checks >= 6,
            "{}: {} turns, {checks} checks",
            dialogue.file,
            dialogue.turns.len()
        );
    }
    let before = set
        .iter()
        .filter(|dialogue| dialogue.written == Written::Before)
        .count();
    assert!(
        before * 3 >= set.len(),
        "{before} of {} were written before the code",
        set.len()
    );
    let follow_ups = dialogues("conversations/followups");
    let marked = follow_ups
        .iter()
        .flat_map(|d| &d.turns)
        .filter(|turn| turn.tags.iter().any(|tag| tag == "follow-up"));
    assert!(marked.count() >= 20);
}

#[tokio::test]
async fn the_offline_host_reaches_what_is_owed() {
    let mut evening = Evening::begin("eval_offline").await;
    let (set, short) = (
        dialogues("conversations"),
        dialogues("conversations/followups"),
    );
    let models = offline(&evening.theatre, &[set.as_slice(), &short].concat());
    let report = evening.run("offline", &set, &models).await;
    let follow_ups = evening.run("offline", &short, &models).await;
    let broken = failing(&report, |failure| failure.check.class == Class::Compliance);
    for (class, least) in [
        (Class::Compliance, COMPLIANCE_NOW),
        (Class::Facts, FACTS_NOW),
        (Class::Extraction, EXTRACTION_NOW),
        (Class::Agent, AGENT_NOW),
        (Class::Language, LANGUAGE_NOW),
    ] {
        let ratio = report.ratio(class);
        assert!(
            ratio >= least,
            "{}: {ratio:.3} is less than {least}\n{}",
            class.as_str(),
            broken.join("\n")
        );
    }
    assert_eq!(follow_ups.follow_ups.made, 20);
    let kept = follow_ups.follow_ups.passed >= FOLLOW_UPS_NOW;
    assert!(
        kept,
        "{:?} follow-ups\n{}",
        follow_ups.follow_ups,
        failing(&follow_ups, |_| true).join("\n")
    );
    let page = html(&report);
    assert!(
        page.starts_with("<!doctype html>")
            && page.trim_end().ends_with("</html>")
            && !page.contains(" src=")
    );
    let read: Report = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(timeless(read), timeless(report));
    evening.end().await;
}

#[tokio::test]
async fn a_host_that_evades_and_one_that_recites_are_seen_through() {
    let mut evening = Evening::begin("eval_poor").await;
    let set = dialogues("conversations");
    let models = null(evening.theatre.packs());
    let evades = evening.run("null", &set, &models).await.score.ratio();
    assert!(evades < owed::NULL, "always the fallback: {evades:.3}");
    let models = top_row(evening.theatre.packs());
    let recites = evening.run("top-row", &set, &models).await.score.ratio();
    assert!(recites < owed::TOP_ROW, "always the best row: {recites:.3}");
    evening.end().await;
}

#[tokio::test]
async fn two_runs_differ_in_times_only_and_a_guest_without_an_answer_fails_alone() {
    let mut evening = Evening::begin("eval_twice").await;
    let set: Vec<Dialogue> = dialogues("conversations").into_iter().step_by(6).collect();
    let models = offline(&evening.theatre, &set);
    let first = timeless(evening.run("offline", &set, &models).await);
    let second = timeless(evening.run("offline", &set, &models).await);
    assert_eq!(first, second);
    // Daylight saving time skips this hour, so the first dialogue cannot be played. The second
    // dialogue can.
    let mut odd = set[..2].to_vec();
    odd[0].at = "2026-03-08T02:30:00".parse().unwrap();
    let report = evening.run("offline", &odd, &models).await;
    assert!(
        report.dialogues[0].score.passed == 0 && report.dialogues[1].score.passed > 0,
        "{:?}",
        report.score
    );
    evening.end().await;
}
