//! The weekly job checks a casino's content and answers, and reports once what got worse (RAG-21,
//! RAG-45, RAG-46, OBS-48, OBS-49, PROD-34).

use std::time::Duration;

use chrono::{Days, NaiveDate};
use seven_domain::Role;
use seven_settings::Worker;
use seven_testkit::{
    models::{Models, Play},
    pagers::{Pagers, Side},
};
use sqlx::PgPool;

use crate::{
    console::staff::Staff,
    content::{hosted, thoughts},
    harness::{GUEST, House, Wanted, house, until},
    notices::contact,
};

const SHORT: Duration = Duration::from_secs(30);
const SET: &str = "/c/silver_birch/content/set";

/// Starts a house without a scheduler, so that the weekly job runs only when a test calls it. Tests
/// start the scheduler later, to deliver letters.
async fn without_scheduler(name: &str) -> House {
    let workers = Worker::ALL.into_iter();
    let workers = workers.filter(|worker| *worker != Worker::Scheduler);
    let wanted = Wanted {
        workers: workers.collect(),
        ..Wanted::default()
    };
    house(name, wanted).await
}

/// Starts the scheduler and makes the letters due.
async fn deliver(house: &mut House) {
    house
        .change("update contact_letters set next_at = now()")
        .await;
    let scheduler = house.stack.spawn(Worker::Scheduler, None).await;
    scheduler.unwrap();
}

fn today(house: &House) -> NaiveDate {
    let zone = house.config.operational.timezone;
    chrono::Utc::now().with_timezone(&zone).date_naive()
}

async fn night(house: &House, date: NaiveDate) {
    let done = seven_scheduler::night(&house.stack.fleet, &house.config, date).await;
    done.unwrap();
}

/// Returns the result that the newest run of the weekly job stored.
async fn noted(house: &House) -> serde_json::Value {
    let result = "select result::text from nightly where job = 'weekly_checks'";
    serde_json::from_str(&house.texts_of(result).await[0]).unwrap()
}

#[tokio::test(flavor = "multi_thread")] // RAG-45, RAG-46, PROD-34
async fn a_search_that_finds_less_is_told_to_those_who_look_after_content() {
    let chat = Pagers::start().await.unwrap();
    let mut house = without_scheduler("weekly_search").await;
    house.stack.spawn(Worker::Console, None).await.unwrap();
    let ours = house.casino().as_str().to_owned();
    let desk = ["--name", "Desk", "--content"];
    contact(&house, &ours, &chat.slack_url(), &desk).await;
    let staff = Staff::new(&house);
    let eva = staff
        .add("eva@example.com", Role::Editor, Some(house.casino()))
        .await
        .logged_in(&house)
        .await;
    let set = [
        ("what", "add"),
        ("question", "is there a swedish massage?"),
        ("expected", "spa_001"),
    ];
    assert!(eva.act(SET, &set).await.body.is_empty());
    night(&house, today(&house)).await;
    let runs = "select count(*) from content_runs where recall = 1 and ran_by = 'scheduler'";
    assert_eq!(house.number(runs).await, 1);
    assert_eq!(noted(&house).await["content"], serde_json::Value::Null);
    assert!(eva.get(SET).await.body.contains("scheduler"));

    // The item is switched off, but no further letter is planned before the next week.
    house
        .change("update content_items set active = false where item_id = 'spa_001'")
        .await;
    let planned = "select count(*) from contact_letters where kind = 'content_week'";
    for later in [1, 7] {
        let week = |date: NaiveDate| date.week(chrono::Weekday::Mon).first_day();
        let date = today(&house) + Days::new(later);
        night(&house, date).await;
        night(&house, date).await;
        let is_new = i64::from(week(date) > week(today(&house)));
        assert_eq!(house.number(planned).await, is_new, "{date}");
    }
    deliver(&mut house).await;
    let told = "select count(*) from contact_letters where delivered_at is not null";
    until("the letter is told", SHORT, || async {
        house.number(told).await == 1
    })
    .await;
    let posts = chat.taken(Side::Slack);
    let text = posts[0]["text"].as_str().unwrap();
    assert!(
        text.contains("finds 0 %") && text.contains("80 %"),
        "{text}"
    );
    assert!(text.contains("1 of 1"), "{text}");
    assert!(text.contains("/c/silver_birch/content/set"), "{text}");
    assert!(!text.contains("massage"), "no question: {text}");
    let alert =
        "select count(*) from alerts where name = 'retrieval_low' and casino_id = 'silver_birch'";
    until("the alert is stored", SHORT, || async {
        house.number(alert).await == 1
    })
    .await;
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // RAG-45, PROD-34
async fn a_set_is_searched_by_the_vectors_that_guests_are_answered_by() {
    let models = Models::start().await.unwrap();
    models.otherwise(Play::vectors(thoughts));
    let wanted = Wanted {
        extra: hosted(&models),
        ..Wanted::default()
    };
    let mut house = house("weekly_vectors", wanted).await;
    house.stack.spawn(Worker::Console, None).await.unwrap();
    let staff = Staff::new(&house);
    let eva = staff
        .add("eva@example.com", Role::Editor, Some(house.casino()))
        .await
        .logged_in(&house)
        .await;
    let space = "select content_space from casinos where content_space is not null";
    until("a swarm notes its embedding", SHORT, || async {
        house.texts_of(space).await.len() == 1
    })
    .await;
    let rows = house.number("select count(*) from content_items").await;
    until("every row has its vector", SHORT, || async {
        house.number("select count(*) from content_vectors").await == rows
    })
    .await;
    // No item contains the word "paddle", so only a search by vectors finds the answer.
    let set = [
        ("what", "add"),
        ("question", "where can we paddle?"),
        ("expected", "hours_005"),
    ];
    assert!(eva.act(SET, &set).await.body.is_empty());
    let vectors = "select count(*) from content_question_vectors";
    until("the question has its vector", SHORT, || async {
        house.number(vectors).await == 1
    })
    .await;
    let asked = models.count();
    eva.act(SET, &[("what", "run")]).await;
    let run = "select space || ' ' || recall from content_runs order by ran_at desc limit 1";
    let space = house.texts_of(space).await.remove(0);
    assert_eq!(house.texts_of(run).await, [format!("{space} 1")]);
    assert_eq!(models.count(), asked, "a run asks no model");

    // A question without a vector is searched by words, as guests' questions are during an outage.
    house.change("delete from content_question_vectors").await;
    eva.act(SET, &[("what", "run")]).await;
    assert_eq!(house.texts_of(run).await, [format!("{space} 0")]);
    // The weekly run waits for the vectors. Otherwise it would report their absence as a fault of
    // the content.
    let by_itself = "select count(*) from content_runs where ran_by = 'scheduler'";
    night(&house, today(&house) + Days::new(7)).await;
    assert_eq!(house.number(by_itself).await, 0);
    let ours = house.casino().as_str().to_owned();
    let reindex = ["knowledge", "reindex", "--casino", &ours];
    let made = house.seven(&reindex, "").await.out;
    assert!(made.contains("1 of its own questions embedded"), "{made}");
    night(&house, today(&house) + Days::new(14)).await;
    assert_eq!(house.number(by_itself).await, 1);
    house.change("delete from content_questions").await;
    assert_eq!(house.number(vectors).await, 0);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // RAG-21
async fn questions_of_several_guests_without_an_answer_are_told_without_their_words() {
    let chat = Pagers::start().await.unwrap();
    let mut house = without_scheduler("weekly_gaps").await;
    let ours = house.casino().as_str().to_owned();
    let desk = ["--name", "Desk", "--content", "--language", "es"];
    contact(&house, &ours, &chat.slack_url(), &desk).await;
    // On this date the job checks the week in which the guests write.
    let after = today(&house) + Days::new(7);
    for (n, guest) in [GUEST, "+18605550143"].into_iter().enumerate() {
        house.text(guest, "do you sell stamps?");
        house.settle(i64::try_from(n).unwrap() + 1).await;
        house.change("delete from nightly").await;
        night(&house, after).await;
        let content = &noted(&house).await["content"];
        let groups = content["groups"].as_i64();
        assert_eq!(groups, (n == 1).then_some(1), "{content}");
    }
    deliver(&mut house).await;
    let told = "select count(*) from contact_letters where delivered_at is not null";
    until("the letter is told", SHORT, || async {
        house.number(told).await == 1
    })
    .await;
    let text = chat.taken(Side::Slack)[0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.contains("2 mensajes"), "{text}");
    assert!(text.contains("/content/gaps?weeks=1"), "{text}");
    assert!(!text.contains("stamps"), "{text}");
    house.stop().await;
}

/// Stores the facts of 500 turns in the week that begins on `monday`; `grounded` of these turns are
/// grounded.
async fn turns(pool: &PgPool, monday: NaiveDate, grounded: i32) {
    sqlx::query(
        "insert into turn_facts (casino_id, turn_id, trace_id, at, waited_ms, agent, model, intent, language,
           grounded, degraded, retries, handoffs, input_tokens, output_tokens, nano_usd, learnt, found, confidence)
         select 'silver_birch', gen_random_uuid(), '', $1::date + interval '2 days', 0, 'host', 'm', 'i', 'en',
           n <= $2, false, 0, 0, 0, 0, 0, 0, 1, 0.9 from generate_series(1, 500) n",
    )
    .bind(monday)
    .bind(grounded)
    .execute(pool)
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")] // OBS-48, OBS-49, RAG-47
async fn a_week_whose_answers_got_worse_is_told_and_shown() {
    let mut house = without_scheduler("weekly_drift").await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    let monday = chrono::Utc::now()
        .date_naive()
        .week(chrono::Weekday::Mon)
        .first_day();
    let week = |ago: u64| monday - Days::new(7 * ago);
    for ago in [2, 3, 4] {
        turns(&pool, week(ago), 500).await;
    }
    turns(&pool, week(1), 460).await;
    night(&house, monday).await;
    assert_eq!(noted(&house).await["worse"], 1);
    deliver(&mut house).await;
    let alert = "select summary from alerts where name = 'answers_worse'";
    until("the alert is stored", SHORT, || async {
        house.texts_of(alert).await.len() == 1
    })
    .await;
    let text = house.texts_of(alert).await.remove(0);
    let worse = "grounded 92.0 % (before: 100.0 %, -8.0 %)";
    assert!(text.contains(worse), "{text}");
    let shown = house
        .seven(&["turn", "weeks", "--casino", "silver_birch"], "")
        .await;
    assert!(shown.out.contains(worse), "{shown:?}");
    assert!(shown.out.contains("judge's confidence 90.0 %"), "{shown:?}");
    house.stop().await;
}
