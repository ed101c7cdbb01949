//! A backup of a working fleet is restored on another server (DEP-31..33, PROD-41, D5).

use std::{path::PathBuf, time::Duration};

use secrecy::SecretString;
use seven::life::{backup::backup, restore::restore};
use seven_bus::Outgoing;
use seven_settings::{Settings, Worker};
use seven_testkit::Postgres;
use uuid::Uuid;

use crate::{
    harness::{GUEST, House, Wanted, house, house_on, until},
    operations::{OTHER, seven},
    web::visitor::{Visitor, with_gateways},
    webhook::caller::Caller,
};

const STOPPED: &str = "+18605550143";

/// Starts a house with one guest who asked something and one who sent STOP. Makes a backup while
/// more guests write.
async fn backed_up(name: &str) -> (House, PathBuf) {
    let house = house(name, Wanted::default()).await;
    house.add_other().await;
    house.text(GUEST, "where is nonna salvia?");
    house.text(STOPPED, "hi");
    house.settle(2).await;
    house.text(STOPPED, "STOP");
    house.settle(3).await;
    let dir = house.scratch.path().join("backup");
    let writing = async {
        for n in 0..20 {
            house.text(&format!("+186055502{n:02}"), "where is nonna salvia?");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let (manifest, ()) = tokio::join!(backup(&house.stack.settings, &dir), writing);
    let manifest = manifest.unwrap();
    assert_eq!(
        manifest.contents.casinos[house.casino().as_str()]
            .consent_heads
            .rows,
        1,
        "the STOP's chain"
    );
    house.settle(23).await;
    (house, dir)
}

async fn empty(server: &Postgres, settings: &Settings, name: &str) -> (Settings, String) {
    let owner = server.create_database(name, None).await.unwrap();
    let mut settings = settings.clone();
    settings.postgres.owner_url = Some(SecretString::from(owner.clone()));
    settings.postgres.url = SecretString::from(owner.replacen("postgres@", "seven_app@", 1));
    (settings, owner)
}

#[tokio::test] // DEP-31, PROD-41, D5
async fn what_is_restored_elsewhere_equals_the_manifest_and_sends_nothing_until_recovered() {
    let (old, dir) = backed_up("backup_old").await;
    let server = Postgres::start(&old.scratch.path().join("elsewhere"), true)
        .await
        .unwrap();
    let (settings, owner) = empty(&server, &old.stack.settings, "seven").await;
    let restored = restore(&settings, &dir, true, "test").await.unwrap();
    let (walked, broken) = restored.chains.unwrap();
    assert_eq!((walked, broken), (1, Vec::<String>::new()));

    // A second restore is refused, because the database is not empty any more.
    let refused = restore(&settings, &dir, true, "test").await.unwrap_err();
    assert!(format!("{refused:#}").contains("not empty"), "{refused:#}");

    // A new fleet on the new server: its workers, bus and Redis have no data from before the
    // restore.
    let new = house_on("backup_new", Wanted::default(), owner).await;
    new.text(GUEST, "where is nonna salvia?");
    new.text(STOPPED, "STOP");
    until("the texts are stored", Duration::from_secs(30), || async {
        new.number("select count(*) from inbound_messages where body = 'STOP'")
            .await
            > 1
    })
    .await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(
        new.sent_to(GUEST).len() + new.sent_to(STOPPED).len(),
        0,
        "nothing leaves a restored fleet"
    );
    let killed = new
        .number("select count(*) from fleet_controls where actor = 'seven restore'")
        .await;
    assert_eq!(killed, 2);
    assert_eq!(
        new.number(
            "select count(*) from audit_log where action = 'restored' and severity = 'critical'"
        )
        .await,
        1
    );
    // No turn was made and nothing was sent, but the STOP from before the backup still holds.
    assert_eq!(
        new.number("select count(*) from suppressions where state = 'stopped'")
            .await,
        1
    );

    // A NATS server that survived the loss may deliver a text again that the lost fleet had already
    // answered.
    help_of_before_the_restore(&new).await;

    let resume = [
        "resume",
        "--all",
        "--kill",
        "--yes",
        "--by",
        "test",
        "--reason",
        "too early",
    ];
    let early = new.seven(&resume, "").await;
    assert!(
        early.code == 1 && early.err.contains("seven recover"),
        "{early:?}"
    );
    let recovered = new.seven(&["recover", "--by", "test"], "").await;
    // The casino also has a number at a second provider, whose records are not read. If `recover`
    // reports this as a gap, the operator accepts it.
    let recovered = match recovered.out.contains("gap ") {
        true => {
            assert_eq!(recovered.code, 1, "{recovered:?}");
            new.seven(
                &[
                    "recover",
                    "--by",
                    "test",
                    "--accept-gaps",
                    "no text ever went there",
                ],
                "",
            )
            .await
        }
        false => recovered,
    };
    assert_eq!(recovered.code, 0, "{recovered:?}");
    assert!(
        recovered.out.contains(&format!("ok      {OTHER}"))
            && recovered.out.contains("seven resume --all-casinos --kill"),
        "{recovered:?}"
    );
    assert_eq!(
        new.number("select count(*) from audit_log where action = 'recovered'")
            .await,
        1
    );
    let resumed = new.seven(&resume, "").await;
    assert_eq!(resumed.code, 0, "{resumed:?}");
    until("the guest is answered", Duration::from_secs(30), || async {
        new.said_to(GUEST).contains("Nonna Salvia")
    })
    .await;
    assert!(
        new.texts_to(HELPED).is_empty(),
        "answered before, so not again: {:?}",
        new.texts_to(HELPED)
    );
    new.stop().await;
    old.stop().await;
    drop(server);
}

#[tokio::test] // DEP-31, D32: a guest without a phone
async fn a_visitor_of_a_website_is_restored_with_words_and_ticket() {
    let old = with_gateways("backup_web", "").await;
    let gateway = old.stack.web_urls[0].clone();
    let visitor = Visitor::new(&gateway).await;
    let asks = "I want to speak to a person";
    let stream = visitor.ask(&gateway, asks, Uuid::new_v4()).await;
    stream.all().await;
    let dir = old.scratch.path().join("backup");
    backup(&old.stack.settings, &dir).await.unwrap();
    let server = Postgres::start(&old.scratch.path().join("elsewhere"), true)
        .await
        .unwrap();
    let (settings, owner) = empty(&server, &old.stack.settings, "seven").await;
    restore(&settings, &dir, true, "test").await.unwrap();
    let restored = sqlx::PgPool::connect(&owner).await.unwrap();
    for query in [
        "select visitor_id::text from guests where phone is null",
        "select body from inbound_messages order by body",
        "select body from outbound_messages order by body",
        "select concat(number, ' ', reason, ' ', ticket_id) from tickets",
    ] {
        let before = old.texts_of(query).await;
        let after = sqlx::query_scalar(query).fetch_all(&restored).await;
        let after: Vec<String> = after.unwrap();
        assert!(!before.is_empty() && after == before, "{query}: {after:?}");
    }
    old.stop().await;
    drop(server);
}

const HELPED: &str = "+18605550177";

async fn help_of_before_the_restore(house: &House) {
    let (fleet, before) = (
        &house.stack.fleet,
        house.stack.fleet.clock.now() - chrono::TimeDelta::minutes(10),
    );
    let event = Caller::of(house)
        .received("before", HELPED, "HELP")
        .to_string();
    let intake = seven_intake::intake(event.as_bytes(), None, before);
    let (stage, key, payload) = intake.message().unwrap();
    let subject = seven_bus::subject(stage, house.casino(), None);
    let message = Outgoing {
        subject,
        key: &key,
        copy: None,
        trace: "",
        payload,
    };
    fleet
        .bus
        .publish(&message, Duration::from_secs(5))
        .await
        .unwrap();
    until("its answer waits", Duration::from_secs(30), || async {
        house
            .number(
                "select count(*) from outbound_messages where class = 'help' and state = 'queued'",
            )
            .await
            == 1
    })
    .await;
}

#[tokio::test] // DEP-31
async fn a_backup_that_cannot_be_right_is_refused_before_anything_is_written() {
    let (house, dir) = backed_up("backup_bad").await;
    let server = seven_testkit::Postgres::for_tests().await.unwrap();
    let name = format!("backup_bad_{}", uuid::Uuid::new_v4().simple());
    let (mut settings, _) = empty(server, &house.stack.settings, &name).await;
    let again = backup(&house.stack.settings, &dir).await.unwrap_err();
    assert!(format!("{again:#}").contains("is not empty"), "{again:#}");

    settings.guest_hash.secret = Some("another secret".to_owned().into());
    let wrong_key = restore(&settings, &dir, false, "test").await.unwrap_err();
    assert!(
        format!("{wrong_key:#}").contains("no opt-out"),
        "{wrong_key:#}"
    );
    settings
        .guest_hash
        .secret
        .clone_from(&house.stack.settings.guest_hash.secret);

    let dump = dir.join("seven.dump");
    let mut bytes = std::fs::read(&dump).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&dump, bytes).unwrap();
    let damaged = restore(&settings, &dir, false, "test").await.unwrap_err();
    assert!(format!("{damaged:#}").contains("SHA-256"), "{damaged:#}");

    std::fs::remove_file(dir.join("manifest.json")).unwrap();
    let unfinished = restore(&settings, &dir, false, "test").await.unwrap_err();
    assert!(
        format!("{unfinished:#}").contains("no finished backup"),
        "{unfinished:#}"
    );
    let owner = settings.postgres.owner_url.unwrap();
    assert_eq!(
        seven_store::backup::tables_in(&owner).await.unwrap(),
        0,
        "nothing was written"
    );
    house.stop().await;
}

#[tokio::test] // DEP-31, SEC-53
async fn an_encrypted_dump_holds_no_plain_byte_and_needs_the_command_that_decrypts() {
    let house = house(
        "backup_encrypted",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    // This command stands in for encryption. It flips the top bit of each byte, so the same command
    // decrypts. Real encryption needs a program that a machine may lack.
    let swap = words(&[
        "env",
        "LC_ALL=C",
        "tr",
        r"\000-\177\200-\377",
        r"\200-\377\000-\177",
    ]);
    let mut settings = house.stack.settings.clone();
    settings.backup.encrypt.clone_from(&swap);
    let dir = house.scratch.path().join("backup");
    let manifest = backup(&settings, &dir).await.unwrap();
    assert!(manifest.dump.encrypted);
    let dump = std::fs::read(dir.join("seven.dump")).unwrap();
    assert!(
        !dump.starts_with(b"PGDMP") && dump[0] == b'P' ^ 0x80,
        "{:?}",
        &dump[..8]
    );

    let server = seven_testkit::Postgres::for_tests().await.unwrap();
    let name = format!("backup_encrypted_{}", uuid::Uuid::new_v4().simple());
    let (mut settings, owner) = empty(server, &settings, &name).await;
    let without = restore(&settings, &dir, false, "test").await.unwrap_err();
    assert!(
        format!("{without:#}").contains("backup.decrypt"),
        "{without:#}"
    );
    settings.backup.decrypt = words(&["false"]);
    let wrong = restore(&settings, &dir, false, "test").await.unwrap_err();
    assert!(format!("{wrong:#}").contains("false failed"), "{wrong:#}");
    assert_eq!(
        seven_store::backup::tables_in(&owner.into()).await.unwrap(),
        0,
        "nothing was written"
    );
    settings.backup.decrypt = swap;
    restore(&settings, &dir, false, "test").await.unwrap();

    settings.backup.encrypt = words(&["no-such-program"]);
    settings
        .postgres
        .owner_url
        .clone_from(&house.stack.settings.postgres.owner_url);
    let dir = house.scratch.path().join("another");
    let missing = backup(&settings, &dir).await.unwrap_err();
    assert!(
        format!("{missing:#}").contains("starting no-such-program"),
        "{missing:#}"
    );
    assert!(
        !seven::life::manifest::Manifest::is_in(&dir),
        "a backup that failed is none"
    );
    house.stop().await;
}

#[tokio::test] // D5: the lost fleet may have answered, and no text leaves twice
async fn what_waited_at_the_backup_is_answered_by_nobody_and_told() {
    let workers = vec![Worker::IngressWebhook, Worker::ComplianceGate];
    let house = house(
        "backup_waits",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, "where is nonna salvia?");
    house.text(STOPPED, "STOP");
    until("both are stored", Duration::from_secs(20), || async {
        house.number("select count(*) from inbound_messages").await == 2
    })
    .await;
    let dir = house.scratch.path().join("backup");
    backup(&house.stack.settings, &dir).await.unwrap();
    let server = seven_testkit::Postgres::for_tests().await.unwrap();
    let (_, owner) = empty(
        server,
        &house.stack.settings,
        &format!("backup_waits_{}", uuid::Uuid::new_v4().simple()),
    )
    .await;
    let mut config: toml::Table = std::fs::read_to_string(&house.stack.config_file)
        .unwrap()
        .parse()
        .unwrap();
    let postgres = config["postgres"].as_table_mut().unwrap();
    postgres.insert(
        "url".into(),
        owner.replacen("postgres@", "seven_app@", 1).into(),
    );
    postgres.insert("owner_url".into(), owner.clone().into());
    let config = house.file("elsewhere.toml", &config.to_string());
    let said = seven(
        &[
            "--config",
            &config,
            "restore",
            "--from",
            dir.to_str().unwrap(),
            "--by",
            "test",
        ],
        b"",
    )
    .await;
    assert_eq!(said.code, 0, "{said:?}");
    // The command ended the queued confirmation of the STOP and closed the open question about a
    // restaurant. The STOP was already handled, so it is not closed.
    for told in [
        "1 queued text(s) and 0 answer(s) were ended",
        "1 text(s) of guests were closed",
    ] {
        assert!(said.out.contains(told), "{told}: {said:?}");
    }
    let pool = sqlx::PgPool::connect(&owner).await.unwrap();
    let rows = "select body, disposition, reason from inbound_messages order by body";
    let rows: Vec<(String, String, Option<String>)> =
        sqlx::query_as(rows).fetch_all(&pool).await.unwrap();
    assert_eq!(rows[0].1, "canned", "{rows:?}");
    assert_eq!(
        (rows[1].1.as_str(), rows[1].2.as_deref()),
        ("closed", Some("restored")),
        "{rows:?}"
    );
    pool.close().await;
    house.stop().await;
}

#[tokio::test] // DEP-31
async fn a_schedule_fills_a_folder_and_clears_what_was_kept_long_enough() {
    let house = house(
        "backup_shelf",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let shelf = house.scratch.path().join("backups");
    let old = shelf.join("2020-01-02T030000Z");
    std::fs::create_dir_all(&old).unwrap();
    std::fs::write(old.join("manifest.json"), "{}").unwrap();
    let both = [
        "backup",
        "--into",
        shelf.to_str().unwrap(),
        "--out",
        "elsewhere",
    ];
    assert_eq!(house.seven(&both, "").await.code, 2);
    let said = house.seven(&both[..3], "").await;
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out.contains("Removed") && said.out.contains("2020-01-02T030000Z"),
        "{}",
        said.out
    );
    let left: Vec<_> = std::fs::read_dir(&shelf)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].join("manifest.json").is_file() && left[0] != old);
    let refused = house.seven(&["backup"], "").await;
    assert!(
        refused.code == 2 && refused.err.contains("--into"),
        "{}",
        refused.err
    );
    house.stop().await;
}
