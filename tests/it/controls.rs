//! Operators' commands on the fleet (D14): pauses, kill, safe mode, flags, log levels, and persons
//! who write in the host's place.

use std::time::Duration;

use seven_domain::{ConversationId, GuestHash, flags::bucket};
use seven_settings::Worker;
use tokio::time::sleep;
use uuid::Uuid;

use crate::harness::{GUEST, House, Wanted, house, until};

const QUESTION: &str = "where is nonna salvia?";
const OTHER: &str = "+18605550143";
const BY: [&str; 4] = ["--by", "Robin", "--reason", "a drill"];

fn guest(n: usize) -> String {
    format!("+147555503{n:02}")
}

async fn seven(house: &House, args: &[&str]) -> String {
    let said = house.seven(args, "").await;
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
    said.out
}

async fn order(house: &House, args: &[&str]) -> String {
    seven(house, &[args, &BY[..]].concat()).await
}

async fn stored(house: &House, texts: i64) {
    until("the texts are stored", Duration::from_secs(20), || async {
        house.number("select count(*) from inbound_messages").await >= texts
    })
    .await;
}

fn sent(house: &House) -> usize {
    house.stack.sim.ledger().snapshot().outbound.len()
}

/// Asserts that no text is sent for one and a half seconds.
async fn nothing_leaves(house: &House) {
    let before = sent(house);
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(sent(house), before, "a text left in a pause");
}

// DEP-24, DEP-26, DEP-29, SEC-125: eight workers stop sending within 2 s of the command. A worker
// that starts later sends nothing either
#[tokio::test]
async fn a_pause_holds_in_eight_workers_and_in_a_new_one() {
    let house = house(
        "controls_eight",
        Wanted {
            scale: 0.1,
            ..Wanted::default()
        },
    )
    .await;
    let more = [
        house.process("outbound-sender", None),
        house.process("agent-swarm", None),
    ];
    until("eight workers live", Duration::from_secs(20), || async {
        house.number("select count(*) from workers").await == 8
    })
    .await;
    for n in 0..30 {
        house.text(&guest(n), QUESTION);
    }
    until(
        "the first answers are out",
        Duration::from_secs(20),
        || async { sent(&house) > 0 },
    )
    .await;
    let ordered = house.stack.fleet.clock.now();
    order(&house, &["pause", "--all"]).await;
    sleep(Duration::from_secs(2)).await;
    nothing_leaves(&house).await;
    let last = house
        .stack
        .sim
        .ledger()
        .snapshot()
        .outbound
        .iter()
        .map(|text| text.accepted_at)
        .max();
    let last = last.map_or(0, |at| (at - ordered).num_milliseconds());
    println!("pause: the last text left {last} ms after the command began, 8 workers");
    // A worker that starts after the pause was announced obeys the pause, too. Guests keep writing
    // meanwhile.
    let late = house.process("outbound-sender", None);
    until("the new worker lives", Duration::from_secs(20), || async {
        house.number("select count(*) from workers").await == 9
    })
    .await;
    for n in 30..40 {
        house.text(&guest(n), QUESTION);
    }
    stored(&house, 40).await;
    nothing_leaves(&house).await;
    // During a pause, a STOP is confirmed. While the kill switch is on, a STOP is not confirmed.
    house.text(GUEST, "STOP");
    until("STOP is confirmed", Duration::from_secs(10), || async {
        house.texts_to(GUEST).len() == 1
    })
    .await;
    order(&house, &["pause", "--all", "--kill", "--yes"]).await;
    house.text(OTHER, "STOP");
    stored(&house, 42).await;
    nothing_leaves(&house).await;
    assert!(
        seven(&house, &["status"])
            .await
            .contains("ON: kill for every casino")
    );
    order(&house, &["resume", "--all", "--yes"]).await;
    until("everybody is answered", Duration::from_secs(40), || async {
        (0..40).all(|n| house.said_to(&guest(n)).contains("Nonna Salvia"))
    })
    .await;
    house.settle(42).await;
    for n in 0..40 {
        let answers = house
            .texts_to(&guest(n))
            .iter()
            .filter(|text| text.contains("Nonna Salvia"))
            .count();
        assert_eq!(answers, 1, "guest {n}: {:?}", house.texts_to(&guest(n)));
    }
    assert_eq!(
        house.count("dead", "open").await,
        0,
        "dead letters from mere waiting"
    );
    let audited = "select count(*) from audit_log where action in ('sending_stopped', 'sending_resumed') and actor = 'Robin'";
    assert_eq!(house.number(audited).await, 8);
    drop((more, late));
    house.stop().await;
}

// D14: after a pause, one turn answers all recent texts of a guest. Old texts are closed
#[tokio::test]
async fn the_end_of_a_pause_answers_once_and_closes_what_is_stale() {
    let house = house("controls_resume", Wanted::default()).await;
    let casino = house.casino().to_string();
    order(&house, &["pause", "--casino", &casino, "--agents"]).await;
    house.text(GUEST, QUESTION);
    house.text(GUEST, "and when does the pool open?");
    house.text(OTHER, QUESTION);
    stored(&house, 3).await;
    nothing_leaves(&house).await;
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let aged = "update inbound_messages i set stored_at = stored_at - interval '31 minutes' from guests g where g.guest_id = i.guest_id and g.phone = $1";
    sqlx::query(aged).bind(OTHER).execute(&pool).await.unwrap();
    pool.close().await;
    let said = order(&house, &["resume", "--casino", &casino]).await;
    assert!(
        said.contains("1 guest(s) get an answer to 2 text(s)") && said.contains("1 too old"),
        "{said}"
    );
    assert!(
        said.contains("  stale     ") && !said.contains(OTHER),
        "{said}"
    );
    house.settle(3).await;
    assert!(
        house.said_to(GUEST).contains("Nonna Salvia"),
        "{}",
        house.said_to(GUEST)
    );
    assert_eq!(house.number("select count(*) from turns").await, 1);
    assert!(house.texts_to(OTHER).is_empty());
    let stale =
        "select count(*) from inbound_messages where disposition = 'closed' and reason = 'stale'";
    assert_eq!(house.number(stale).await, 1);
    let twice = house
        .seven(
            &[&["resume", "--casino", &casino][..], &BY[..]].concat(),
            "",
        )
        .await;
    assert_eq!(twice.code, 1, "nothing was on: {twice:?}");
    house.stop().await;
}

#[tokio::test] // SEC-120 to SEC-124: one holding text, no turn, and the texts are answered after it
async fn safe_mode_says_once_that_the_team_answers() {
    let house = house("controls_safe", Wanted::default()).await;
    let casino = house.casino().to_string();
    order(&house, &["pause", "--casino", &casino, "--safe-mode"]).await;
    house.text(GUEST, QUESTION);
    until("the holding text", Duration::from_secs(10), || async {
        house.texts_to(GUEST).len() == 1
    })
    .await;
    assert!(
        house.said_to(GUEST).contains("answer here right now"),
        "{}",
        house.said_to(GUEST)
    );
    house.text(GUEST, "hello?");
    stored(&house, 2).await;
    nothing_leaves(&house).await;
    assert_eq!(house.number("select count(*) from turns").await, 0);
    order(&house, &["resume", "--casino", &casino, "--safe-mode"]).await;
    house.settle(2).await;
    assert!(
        house.said_to(GUEST).contains("Nonna Salvia"),
        "{}",
        house.said_to(GUEST)
    );
    let audited = "select count(*) from audit_log where action in ('safe_mode_activated', 'safe_mode_deactivated')";
    assert_eq!(house.number(audited).await, 2);
    house.stop().await;
}

// SEC-59, D14: takeover, say and release. The host later knows what the person wrote. Safe mode
// does not stop the person's texts
#[tokio::test]
async fn a_person_writes_in_the_hosts_place() {
    let house = house("controls_person", Wanted::default()).await;
    let casino = house.casino().to_string();
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let of = ["--guest", GUEST, "--casino", &casino];
    let with = |verb: &'static str, more: &[&'static str]| {
        [&["conversation", verb][..], &of, more]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let run = async |args: Vec<String>| {
        house
            .seven(&args.iter().map(String::as_str).collect::<Vec<_>>(), "")
            .await
    };
    assert_eq!(
        run(with("say", &["--by", "Robin", "--text", "Hi"]))
            .await
            .code,
        1,
        "the host speaks there"
    );
    assert_eq!(run(with("takeover", &BY)).await.code, 0);
    order(&house, &["pause", "--all", "--safe-mode"]).await;
    let before = house.texts_to(GUEST).len();
    house.text(GUEST, "Can you hold my table?");
    until("the text is kept", Duration::from_secs(10), || async {
        house.count("inbound", "held").await == 1
    })
    .await;
    assert_eq!(
        house.texts_to(GUEST).len(),
        before,
        "nothing speaks but the person"
    );
    let said = run(with(
        "say",
        &[
            "--by",
            "Robin",
            "--text",
            "Robin here, your table is held until nine.",
        ],
    ))
    .await;
    assert!(
        said.code == 0
            && said
                .out
                .contains("1 text(s) of the guest count as answered"),
        "{said:?}"
    );
    until("the person's text", Duration::from_secs(10), || async {
        house.said_to(GUEST).contains("held until nine")
    })
    .await;
    order(&house, &["resume", "--all", "--yes"]).await;
    house.text(GUEST, "Which restaurants do you have?");
    until("the text is kept", Duration::from_secs(10), || async {
        house.count("inbound", "held").await == 1
    })
    .await;
    let before = house.texts_to(GUEST).len();
    assert_eq!(run(with("release", &["--by", "Robin"])).await.code, 0);
    house.settle(3).await;
    assert!(
        house.texts_to(GUEST).len() > before,
        "the host answers what the person did not"
    );
    let shown = seven_store::sessions::Shown {
        useful: Duration::from_secs(86_400),
        most: 6,
        canned: &[],
    };
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let hash = house
        .stack
        .fleet
        .keys
        .hash(house.casino(), &GUEST.parse().unwrap());
    let guest = tx.guest_by_hash(&hash).await.unwrap().unwrap();
    let conversation = tx.conversation_of(guest.0).await.unwrap().unwrap();
    let place = tx.place(conversation, shown).await.unwrap();
    tx.commit().await.unwrap();
    let told = (
        "Can you hold my table?".to_owned(),
        "Robin here, your table is held until nine.".to_owned(),
    );
    assert!(place.exchanges.contains(&told), "{:?}", place.exchanges);
    house.stop().await;
}

#[tokio::test] // D7: STOP in a takeover stands before the person's text
async fn stop_in_a_takeover_silences_the_person_too() {
    let house = house("controls_stop", Wanted::default()).await;
    let casino = house.casino().to_string();
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let of = ["--guest", GUEST, "--casino", &casino];
    order(&house, &[&["conversation", "takeover"][..], &of].concat()).await;
    house.text(GUEST, "STOP");
    house.settle(2).await;
    let before = house.texts_to(GUEST).len();
    let said = seven(
        &house,
        &[
            &["conversation", "say"][..],
            &of,
            &["--by", "Robin", "--text", "One more thing"],
        ]
        .concat(),
    )
    .await;
    assert!(said.contains("suppressed (guest_suppressed)"), "{said}");
    assert_eq!(house.texts_to(GUEST).len(), before);
    house.stop().await;
}

// DEP-23, DEP-25, DEP-27: a flag that an operator sets applies from the next turn on. It applies to
// the same guests in every turn
#[tokio::test]
async fn flags_choose_guests_stably() {
    let workers = Worker::ALL.to_vec();
    let house = house(
        "controls_flags",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    let casino = house.casino().to_string();
    let name = "features/comp_agent_enabled";
    order(&house, &["flag", "set", name, "--off", "--yes"]).await;
    let set = [
        "flag",
        "set",
        name,
        "--casino",
        &casino,
        "--percentage",
        "40",
        "--allow",
        GUEST,
    ];
    let said = order(&house, &set).await;
    assert!(said.contains("40 % of the guests and 1 listed"), "{said}");
    let fleet = &house.stack.fleet;
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let flags = tx
        .waiting(ConversationId(Uuid::nil()))
        .await
        .unwrap()
        .unwrap()
        .flags;
    tx.commit().await.unwrap();
    let on = |guest: &GuestHash| {
        seven_domain::flags::applied(&house.config.features, &flags, guest, fleet.clock.now())
            .comp_agent_enabled
    };
    assert!(
        on(&fleet.keys.hash(house.casino(), &GUEST.parse().unwrap())),
        "listed"
    );
    for n in 0..40 {
        let hash = fleet.keys.hash(house.casino(), &guest(n).parse().unwrap());
        assert_eq!(on(&hash), bucket(name, &hash) < 40, "guest {n}");
    }
    let listed = seven(&house, &["flag", "list"]).await;
    assert!(
        listed.contains("(every)") && listed.contains(&casino) && !listed.contains(GUEST),
        "{listed}"
    );
    assert_eq!(
        house
            .seven(
                &[&["flag", "set", "features/no_such"][..], &BY].concat(),
                ""
            )
            .await
            .code,
        1
    );
    order(&house, &["flag", "clear", name, "--casino", &casino]).await;
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'flag_changed'")
            .await,
        3
    );
    // A guest is still answered while a flag is set.
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    assert!(house.said_to(GUEST).contains("Nonna Salvia"));
    house.stop().await;
}

#[tokio::test] // PROD-43
async fn a_workers_log_level_is_raised_while_it_runs_and_falls_back() {
    let house = house("log_level", Wanted::default()).await;
    let _gate = house.process("compliance-gate", None);
    let log = house.scratch.path().join("compliance-gate.log");
    let lines = |word: &str| {
        let written = std::fs::read_to_string(&log).unwrap_or_default();
        written.lines().filter(|line| line.contains(word)).count()
    };
    let written = async |word: &str| {
        until(word, Duration::from_secs(30), async || lines(word) > 0).await;
    };
    written("\"ready\"").await;
    let raise = [
        "log",
        "raise",
        "--worker",
        "compliance-gate",
        "--minutes",
        "5",
        "--by",
        "ana",
    ];
    let said = seven(&house, &raise).await;
    assert!(said.contains("before: the configured level"), "{said}");
    written("the log level was raised").await;
    assert_eq!(lines("\"severity\":\"DEBUG\""), 0, "nothing to say yet");
    // When NATS restarts, a worker's request for messages ends early. The worker logs this at
    // DEBUG.
    house.nats.kill().unwrap();
    house.nats.restart().await.unwrap();
    written("\"severity\":\"DEBUG\"").await;
    let list = seven(&house, &["log", "list"]).await;
    assert!(
        list.contains("compliance-gate") && list.contains("ana"),
        "{list}"
    );
    seven(
        &house,
        &["log", "reset", "--worker", "compliance-gate", "--by", "ana"],
    )
    .await;
    written("the log level is the configured one again").await;
    let before = lines("\"severity\":\"DEBUG\"");
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(lines("\"severity\":\"DEBUG\""), before);
    let libraries = lines("\"logger\":\"async_nats") + lines("\"logger\":\"sqlx");
    let warned = lines("\"severity\":\"WARN\"") + lines("\"severity\":\"ERROR\"");
    assert!(libraries <= warned, "a library's level was raised, too");
    let long = ["log", "raise", "--minutes", "31", "--by", "ana"];
    assert_eq!(house.seven(&long, "").await.code, 2);
    let audited = "select count(*) from audit_log where action = 'log_level_changed'";
    assert_eq!(house.number(audited).await, 2);
    house.stop().await;
}
