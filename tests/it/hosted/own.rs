//! A hosted model's answer may be unreadable or unsure, or the model may be unfit as a judge. The
//! offline host's route, plan or answer is then used. A turn with a hosted model is therefore never
//! worse than a turn without one.

use std::time::Duration;

use serde_json::json;
use seven_testkit::models::{Models, Play, Received};

use super::{ANSWER, QUESTION, answer, brain, calls, content_with_all, counts, last, node, wanted};
use crate::harness::{GUEST, Wanted, house, until};

/// Returns the settings of a fleet whose judge has to pass its trial before it is used.
fn tried_first(models: &Models) -> Wanted {
    let mut wanted = wanted(models);
    let settings = &wanted.extra;
    wanted.extra = settings.replace("judge_trial = false", "judge_trial = true");
    wanted
}

/// Returns how many drafts the judge has been asked about.
fn judged(models: &Models) -> usize {
    calls(models).get("judge").copied().unwrap_or_default()
}

/// Waits until the judge has been asked about each draft of its trial.
async fn trial(models: &Models) {
    let tried = || async { judged(models) >= 4 };
    until("the judge is tried", Duration::from_secs(20), tried).await;
}

fn speaks(request: &Received) -> bool {
    node(request) == "speak"
}

#[tokio::test] // AGENT-11, AGENT-64: a small model leaves the confidence out
async fn a_route_without_confidence_gives_way_to_the_offline_hosts() {
    let models = brain("dining").await;
    models.clear();
    models.when(
        |request| node(request) == "route",
        Play::text("Sure!\n```json\n{\"subject\": \"off_topic\", \"domain\": \"dining\"}\n```"),
    );
    models.when(
        |request| node(request) == "plan",
        Play::text("I would ask."),
    );
    models.when(speaks, Play::text(ANSWER));
    content_with_all(&models);
    let house = house("own_route", wanted(&models)).await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    assert!(answer(&house).contains(ANSWER));
    let (agent, record) = last(&house).await;
    assert_eq!(
        (agent.as_str(), record.answered_by()),
        ("host", Some("model"))
    );
    house.stop().await;
}

#[tokio::test] // AGENT-57, AGENT-58, D10: it judges four drafts, of which two are wrong
async fn a_judge_that_passes_everything_is_not_asked() {
    let models = brain("host").await;
    content_with_all(&models);
    models.when(speaks, Play::text("The Lakeside Pool is lovely."));
    let house = house("own_judge", tried_first(&models)).await;
    trial(&models).await;
    let before = models.count();
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let said = answer(&house);
    assert!(said.contains('9') && !said.contains("lovely"), "{said}");
    let (_, record) = last(&house).await;
    assert_eq!(record.answered_by(), Some("no_fit_judge"));
    assert!(record.degraded);
    assert_eq!(
        models.count(),
        before,
        "nothing is paid for that cannot be sent"
    );
    house.stop().await;
}

#[tokio::test] // AGENT-57: an unreadable verdict is asked for once more, a wrong one counts
async fn a_judge_that_is_right_at_the_second_try_only_is_not_fit() {
    let models = brain("host").await;
    for case in seven_host::trial::CASES {
        let status = if case.right { "PASS" } else { "RETRY" };
        let right = Play::json(&json!({"status": status, "reason": "not so"}));
        models.then(Play::json(
            &json!({"status": if case.right { "RETRY" } else { "PASS" }}),
        ));
        models.then(right);
    }
    let house = house("own_noisy", tried_first(&models)).await;
    trial(&models).await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let (_, record) = last(&house).await;
    assert_eq!(
        (record.answered_by(), judged(&models)),
        (Some("no_fit_judge"), 4)
    );
    house.stop().await;
}

#[tokio::test] // SEC-29: what only the newest text tells is in the prompt, and checked
async fn a_guest_under_age_is_named_no_place_for_adults() {
    let models = brain("entertainment").await;
    content_with_all(&models);
    models.when(speaks, Play::text("Late Shift DJ Night is on at 10:30 PM."));
    let house = house("own_minor", wanted(&models)).await;
    house.text(GUEST, "im 19, what's fun tonight?");
    house.settle(1).await;
    let said = house.said_to(GUEST);
    assert!(!said.contains("Late Shift"), "{said}");
    let (_, record) = last(&house).await;
    assert_eq!(record.answered_by(), Some("refused"));
    assert!(
        record
            .findings
            .iter()
            .any(|finding| finding.rule() == "for_adults")
    );
    let asked = models.requests().into_iter().find(speaks).unwrap();
    assert!(asked.body.to_string().contains("Somebody under 21 comes"));
    house.stop().await;
}

#[tokio::test] // D11: the offline host would have passed the question on to a person
async fn a_question_that_a_model_calls_off_topic_is_not_lost() {
    let models = brain("host").await;
    models.clear();
    let route = json!({"subject": "off_topic", "confidence": 0.9});
    models.when(|request| node(request) == "route", Play::json(&route));
    let house = house("own_off_topic", wanted(&models)).await;
    house.text(GUEST, "do you sell umbrellas with polka dots?");
    house.settle(1).await;
    let (_, record) = last(&house).await;
    let cases = house
        .seven(
            &["escalation", "list", "--casino", house.casino().as_str()],
            "",
        )
        .await;
    assert!(
        cases.out.contains("open_question"),
        "{record:?} {}",
        cases.out
    );
    assert_eq!(record.answered_by(), Some("off_topic"));
    house.stop().await;
}

#[tokio::test] // AGENT-58, D10: right verdicts on all four drafts
async fn a_judge_that_passes_its_trial_is_asked() {
    let models = brain("host").await;
    for case in seven_host::trial::CASES {
        let status = if case.right { "PASS" } else { "RETRY" };
        models.when(
            move |r| node(r) == "judge" && r.last_text.contains(case.draft),
            Play::json(&json!({"status": status, "reason": "not so"})),
        );
    }
    content_with_all(&models);
    models.when(speaks, Play::text(ANSWER));
    let house = house("own_fit", tried_first(&models)).await;
    trial(&models).await;
    // When the swarm answers the first text, it may not have the trial's last verdict yet. The test
    // therefore sends texts until the swarm uses the judge.
    for texts in 1..=20 {
        house.text(GUEST, QUESTION);
        house.settle(texts).await;
        if last(&house).await.1.answered_by() != Some("no_fit_judge") {
            break;
        }
    }
    assert!(house.said_to(GUEST).contains(ANSWER));
    assert_eq!(
        (judged(&models), last(&house).await.1.answered_by()),
        (5, Some("model"))
    );
    house.stop().await;
}

#[tokio::test] // D42: who promises that a person will do something opens the case
async fn what_a_person_has_to_do_is_answered_by_the_offline_host() {
    let models = brain("host").await;
    content_with_all(&models);
    let house = house("own_staff", wanted(&models)).await;
    house.text(
        GUEST,
        "can you book us a table for 4 at nonna salvia tomorrow at 7pm",
    );
    house.settle(1).await;
    assert_eq!(calls(&models), counts([]));
    let (_, record) = last(&house).await;
    assert_eq!(record.answered_by(), Some("needs_person"));
    let said = house.said_to(GUEST);
    assert!(
        said.contains("Nothing is booked yet") && said.contains("1-860-555-0199"),
        "{said}"
    );
    let cases = house
        .seven(
            &["escalation", "list", "--casino", house.casino().as_str()],
            "",
        )
        .await;
    assert!(cases.out.contains("booking_request"), "{}", cases.out);
    house.stop().await;
}

#[tokio::test] // D11: status and the turn say who answered, and why not the model
async fn status_tells_how_many_turns_the_model_answered() {
    let models = brain("host").await;
    content_with_all(&models);
    models.then(Play::text(ANSWER));
    models.when(speaks, Play::status(500));
    let house = house("own_status", wanted(&models)).await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    models.clear();
    house.text("+18605550178", QUESTION);
    house.settle(2).await;
    let status = house.seven(&["status"], "").await.out;
    // The reasons are not compared, because the breaker may open between the two turns.
    assert!(
        status.contains("Hosted model: answered 0 of 2 turns; the others: "),
        "{status}"
    );
    let id = {
        let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
        let turns = tx.newest_turns(1).await.unwrap();
        tx.commit().await.unwrap();
        turns[0].turn_id.to_string()
    };
    let shown = house
        .seven(
            &["turn", "show", &id, "--casino", house.casino().as_str()],
            "",
        )
        .await
        .out;
    assert!(
        shown.contains("the hosted model did not answer: "),
        "{shown}"
    );
    house.stop().await;
}

#[tokio::test] // D11: a command that tries the model
async fn model_check_tells_what_a_server_can_do() {
    let models = brain("host").await;
    content_with_all(&models);
    models.when(
        |r| speaks(r) && !r.tools.is_empty(),
        Play::call("search_knowledge_base", json!({"query": "pool"})),
    );
    models.when(speaks, Play::text("After 6 PM it is for adults only."));
    let house = house("model_check", wanted(&models)).await;
    let told = house.seven(&["model", "check"], "").await;
    for part in [
        "json_schema",
        "calls search_knowledge_base",
        "2 of 4 drafts judged right",
        "After 6 PM",
    ] {
        assert!(told.out.contains(part), "{part}: {}", told.out);
    }
    assert_eq!(told.code, 1, "the judge is not fit");

    for (play, says) in [
        (Play::status(500), "unavailable (HTTP 500)"),
        (
            Play::raw("<html><body>It works!</body></html>"),
            "it is not JSON",
        ),
        (
            Play::status(500).cut(),
            "does a server listen at model.base_url?",
        ),
    ] {
        models.clear();
        models.otherwise(play);
        let told = house.seven(&["-o", "wide", "model", "check"], "").await;
        assert_eq!(told.code, 1, "{}", told.out);
        assert!(told.out.contains(says), "{says}: {}", told.out);
    }
    house.stop().await;

    let house = crate::harness::house("model_check_none", Wanted::default()).await;
    let told = house.seven(&["model", "check"], "").await;
    assert!(
        told.err.contains("the settings name no hosted model"),
        "{}",
        told.err
    );
    house.stop().await;
}

#[tokio::test] // DEP-27: two prompts, split by a flag and compared by week
async fn a_listed_guest_gets_the_second_prompt_and_the_others_the_usual_one() {
    const NEIGHBOUR: &str = "+18605550143";
    const FLAG: [&str; 3] = ["flag", "set", "features/prompt_variant_enabled"];
    let models = brain("host").await;
    content_with_all(&models);
    models.when(speaks, Play::text(ANSWER));
    let house = house("own_variant", wanted(&models)).await;
    let casino = house.casino().to_string();
    let whom = ["--casino", &casino, "--allow", NEIGHBOUR, "--yes"];
    let who = ["--by", "tester", "--reason", "compare"];
    let set = [&FLAG[..], &whom, &who].concat();
    // A casino without a second prompt has nothing to compare, so the command refuses the flag.
    let refused = house.seven(&set, "").await;
    assert!(refused.code == 1 && refused.err.contains("system_prompt_variant"));
    house
        .change(
            "update casinos set config = jsonb_set(jsonb_set(config,
               '{prompts,system_prompt_override}', '\"Speak like a friend.\"'),
               '{prompts,system_prompt_variant}', '\"Speak like a butler.\"')",
        )
        .await;
    assert_eq!(house.seven(&set, "").await.code, 0);
    let guests = [(GUEST, "friend", "butler"), (NEIGHBOUR, "butler", "friend")];
    for (texts, (guest, own, other)) in (1..).zip(guests) {
        let before = models.count();
        house.text(guest, QUESTION);
        house.settle(texts).await;
        let asked = models.requests().into_iter().skip(before).find(speaks);
        let prompt = asked.unwrap().body.to_string();
        assert!(prompt.contains(own) && !prompt.contains(other), "{guest}");
        let (_, record) = last(&house).await;
        assert_eq!(record.prompt_variant, guest == NEIGHBOUR);
    }
    let copied = house
        .seven(&["turn", "copy", "--casino", &casino], "")
        .await;
    assert_eq!(copied.code, 0, "{}", copied.err);
    let weeks = [
        "turn", "weeks", "--casino", &casino, "--per", "prompt", "--json",
    ];
    let weeks = house.seven(&weeks, "").await.out;
    let mut parts: Vec<String> = weeks
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["part"].to_string())
        .collect();
    parts.sort();
    assert_eq!(parts, ["\"usual\"", "\"variant\""]);
    house.stop().await;
}
