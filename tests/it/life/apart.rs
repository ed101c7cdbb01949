//! Tests that the database itself keeps casinos apart (DEP-13, DEP-14, DEP-17, SEC-82, SEC-160,
//! DATA-46).

use std::process::Stdio;

use secrecy::SecretString;
use seven::commands::casino::verify::verify;
use seven_carrier_sim::Plan;
use seven_settings::Worker;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use crate::{
    harness::{GUEST, House, Wanted, house, until},
    operations::{OTHER, OTHER_NUMBER},
};

/// Starts a house with two casinos. No other test uses the first casino's id, because all tests
/// share the database server's roles.
async fn two_casinos(name: &str, workers: Vec<Worker>) -> House {
    let mut document: serde_json::Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
    let id = Uuid::new_v4().simple().to_string();
    document["casino_id"] = format!("{name}_{}", &id[..8]).into();
    let casino = Some((document.to_string(), seven_packs::demo::CONTENT.to_owned()));
    // Each process gets few connections, because many processes share the tests' database server.
    let extra = "postgres.connections = 4".to_owned();
    let house = house(
        name,
        Wanted {
            workers,
            casino,
            extra,
            ..Wanted::default()
        },
    )
    .await;
    house.add_other().await;
    house
}

async fn both_were_written_to(house: &House) {
    house.text(GUEST, "where is nonna salvia?");
    let to = Some(OTHER_NUMBER.to_owned());
    let text = seven_carrier_sim::Text {
        from: GUEST.into(),
        to,
        text: Some("STOP".into()),
        ..Default::default()
    };
    house.stack.sim.text(text).unwrap();
    house.settle(2).await;
}

#[tokio::test] // DEP-17, SEC-82
async fn the_check_passes_as_built_and_finds_what_somebody_opened() {
    let house = two_casinos("verify", Worker::ALL.to_vec()).await;
    both_were_written_to(&house).await;
    let verified = verify(&house.stack.settings, house.casino(), None)
        .await
        .unwrap();
    assert!(
        verified.ok(),
        "{:#?}",
        verified
            .findings
            .iter()
            .filter(|f| !f.ok)
            .collect::<Vec<_>>()
    );
    let guests = verified
        .findings
        .iter()
        .find(|f| f.what == "guests")
        .unwrap();
    assert!(guests.found.contains("none of 1 row(s)"), "{guests:?}");
    for (opened, table, complaint) in [
        (
            "create policy backdoor on guests for select using (true)",
            "guests",
            "rows of others are read",
        ),
        (
            "alter table turns disable row level security",
            "turns",
            "row security is not enabled",
        ),
        (
            "create policy backdoor on flags for insert with check (true)",
            "flags",
            "could be added",
        ),
        (
            "create policy backdoor on suppressions using (true) with check (true)",
            "suppressions",
            "could be deleted",
        ),
        (
            "grant truncate on sessions to seven_app",
            "sessions",
            "TRUNCATE",
        ),
    ] {
        house.as_owner(opened).await;
        let verified = verify(&house.stack.settings, house.casino(), None)
            .await
            .unwrap();
        let found = verified.findings.iter().find(|f| f.what == table).unwrap();
        assert!(
            !found.ok && found.found.contains(complaint),
            "{opened}: {found:?}"
        );
    }
    let rows = house
        .number("select count(*) from suppressions where casino_id = 'amber_lake'")
        .await;
    assert_eq!(rows, 1, "what the check deletes comes back");
    let said = house
        .seven(&["casino", "verify", house.casino().as_str()], "")
        .await;
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.out.contains("FAILED  guests") && said.out.contains("is NOT apart"),
        "{said:?}"
    );
    house.stop().await;
}

#[tokio::test] // DEP-14, SEC-160, DATA-46
async fn a_casinos_login_serves_it_and_can_name_no_other() {
    let workers = vec![Worker::IngressWebhook, Worker::Scheduler];
    let house = two_casinos("login", workers).await;
    let casino = house.casino().as_str().to_owned();
    let said = house
        .seven(&["casino", "login", &casino, "--quiet"], "")
        .await;
    assert_eq!(said.code, 0, "{said:?}");
    let address = said.out.trim().to_owned();
    assert!(
        address.contains(&format!("seven_casino_{casino}:")),
        "{address}"
    );

    let environment = [("SEVEN_POSTGRES__URL", address.as_str())];
    let stages = [
        "compliance-gate",
        "agent-swarm",
        "persona-envelope",
        "outbound-sender",
    ];
    let _workers = stages.map(|stage| {
        house.process_with(&[stage, "--casino", &casino], &environment, Stdio::null())
    });
    house.text(GUEST, "where is nonna salvia?");
    until(
        "the casino's own workers answer",
        std::time::Duration::from_secs(60),
        || async { house.said_to(GUEST).contains("Nonna Salvia") },
    )
    .await;

    let mut pinned = PgConnection::connect(&address).await.unwrap();
    for (bound, guests) in [(casino.as_str(), 1i64), (OTHER, 0), ("", 0)] {
        sqlx::query("select set_config('app.casino', $1, false)")
            .bind(bound)
            .execute(&mut pinned)
            .await
            .unwrap();
        let seen: i64 = sqlx::query_scalar("select count(*) from guests")
            .fetch_one(&mut pinned)
            .await
            .unwrap();
        assert_eq!(seen, guests, "bound to `{bound}`");
    }
    for forbidden in [
        "set role seven_app",
        "set session authorization seven_app",
        "select * from fleet_counts()",
        "create function public.f() returns int language sql as 'select 1'",
        "insert into fleet_controls (name, actor, reason) values ('kill', 'x', 'x')",
        "update routes set casino_id = casino_id",
        "insert into due (casino_id, kind, row_id, due_at) values ('amber_lake', 'send', gen_random_uuid(), now())",
        "insert into provider_stops (provider, casino_id, error_code, actor) values ('telnyx', '', '20100', 'x')",
        "insert into alerts (alert_id, key, name, severity, summary, standing)
         values (gen_random_uuid(), 'x', 'x', 'info', 'x', false)",
        "insert into workers (instance, worker, version, login) values ('x', 'scheduler', '0', 'seven_app')",
    ] {
        let refused = sqlx::query(forbidden).execute(&mut pinned).await;
        assert!(refused.is_err(), "{forbidden}");
    }
    // A casino's login may read the fleet's rows that every send needs, but may not change them.
    house
        .as_owner("insert into provider_stops (provider, casino_id, error_code, actor) values ('telnyx', '', 'x', 'x')")
        .await;
    house
        .as_owner(
            "insert into alerts (alert_id, key, name, severity, summary, standing)
             values (gen_random_uuid(), 'fleet', 'store_down', 'info', 'x', true)",
        )
        .await;
    for untouched in [
        "update provider_stops set until = now() where casino_id = ''",
        "delete from provider_stops where casino_id = ''",
        "update alerts set resolved_at = now() where casino_id = ''",
        "delete from alerts where casino_id = ''",
        "delete from workers where worker = 'scheduler'",
        "update workers set seen_at = now() - interval '1 hour' where worker = 'ingress-webhook'",
    ] {
        let done = sqlx::query(untouched).execute(&mut pinned).await;
        assert!(
            done.is_err() || done.is_ok_and(|done| done.rows_affected() == 0),
            "{untouched}"
        );
    }
    house
        .as_owner("delete from provider_stops where casino_id = ''")
        .await;
    let others: i64 = sqlx::query_scalar("select count(*) from due where casino_id = 'amber_lake'")
        .fetch_one(&mut pinned)
        .await
        .unwrap();
    assert_eq!(others, 0);

    let mut settings = house.stack.settings.clone();
    settings.postgres.url = SecretString::from(address.clone());
    let verified = verify(&settings, house.casino(), None).await.unwrap();
    assert!(
        verified.ok(),
        "{:#?}",
        verified
            .findings
            .iter()
            .filter(|f| !f.ok)
            .collect::<Vec<_>>()
    );
    assert_eq!(verified.login.pinned.as_deref(), Some(casino.as_str()));

    for (arguments, why) in [
        (
            vec!["scheduler", "--casino", &casino],
            "serves every casino",
        ),
        (vec!["compliance-gate"], "start it with --casino"),
        (
            vec!["compliance-gate", "--casino", OTHER],
            "start it with --casino",
        ),
    ] {
        let output = house
            .process_with(&arguments, &environment, Stdio::piped())
            .wait_with_output()
            .await
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains(why),
            "{arguments:?}: {said}"
        );
    }
    // A new password does not affect open connections, but new connections need it.
    let said = house
        .seven(&["casino", "login", &casino, "--quiet"], "")
        .await;
    assert_ne!(said.out.trim(), address);
    assert!(sqlx::query("select 1").execute(&mut pinned).await.is_ok());
    assert_eq!(
        house
            .seven(&["casino", "login", &casino, "--remove"], "")
            .await
            .code,
        0
    );
    house.stop().await;
}

// DEP-14, SMS-41: if our account at the provider has a fault, a casino's own sender stops only the
// texts of this casino.
#[tokio::test]
async fn a_casinos_own_sender_stops_its_casino_alone() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::OutboundSender)
        .collect();
    let house = two_casinos("own_stop", workers).await;
    let casino = house.casino().as_str().to_owned();
    let address = house
        .seven(&["casino", "login", &casino, "--quiet"], "")
        .await
        .out
        .trim()
        .to_owned();
    house
        .stack
        .sim
        .set_rules(Plan {
            account_error: Some("10009".to_owned()),
            ..Plan::default()
        })
        .unwrap();
    let environment = [("SEVEN_POSTGRES__URL", address.as_str())];
    let _sender = house.process_with(
        &["outbound-sender", "--casino", &casino],
        &environment,
        Stdio::null(),
    );
    house.text(GUEST, "where is nonna salvia?");
    let long = std::time::Duration::from_secs(60);
    let told = "select count(*) from alerts where name = 'provider_stopped' and casino_id like 'own_stop_%'";
    until("its casino's alert stands", long, || async {
        house.number(told).await == 1
    })
    .await;
    let stops = house.stack.fleet.store.provider_stops().await.unwrap();
    let found: Vec<_> = stops
        .iter()
        .map(|stop| (stop.casino_id.as_str(), stop.is_park()))
        .collect();
    assert_eq!(
        found,
        [(casino.as_str(), false)],
        "a stop of its casino, which leaves it the other provider"
    );
    // The sender lifts its stop once the provider works again.
    house.stack.sim.set_rules(Plan::default()).unwrap();
    until("the guest is answered", long, || async {
        !house.texts_to(GUEST).is_empty()
    })
    .await;
    assert!(
        house
            .stack
            .fleet
            .store
            .provider_stops()
            .await
            .unwrap()
            .is_empty()
    );
    house.stop().await;
}

#[tokio::test] // DEP-13
async fn a_pinned_role_may_what_the_workers_may_in_every_tenant_table() {
    let db = crate::tenancy::database("pinned").await;
    let unlike: Vec<String> = sqlx::query_scalar(
        "select c.relname || ' ' || r from pg_class c cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate']) r
         where c.relkind = 'r' and c.relforcerowsecurity
           and has_table_privilege('seven_app', c.oid, r) <> has_table_privilege('seven_pinned', c.oid, r)",
    )
    .fetch_all(&db.owner)
    .await
    .unwrap();
    assert!(
        unlike.is_empty(),
        "grant a new table to seven_pinned too: {unlike:?}"
    );
}

#[tokio::test] // DEP-13
async fn the_check_knows_the_tables_of_the_fleet() {
    let exempt: Vec<&str> = crate::tenancy::exempt();
    assert_eq!(
        exempt.iter().collect::<std::collections::BTreeSet<_>>(),
        seven_store::isolation::FLEET_TABLES.iter().collect()
    );
}

#[tokio::test] // DEP-30, DEP-43, SMS-59
async fn go_live_names_what_the_demo_lacks_and_has() {
    let house = house("go_live", Wanted::default()).await;
    let said = house
        .seven(
            &["casino", "go-live", house.casino().as_str(), "--json"],
            "",
        )
        .await;
    assert_eq!(said.code, 1, "{said:?}");
    let answer: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let checks = answer["checks"].as_array().unwrap();
    let ok = |what: &str| checks.iter().find(|check| check["what"] == what).unwrap()["ok"] == true;
    for has in [
        "status",
        "content",
        "vectors",
        "public key",
        "signature",
        "isolation",
        "texts",
        "consent",
    ] {
        assert!(ok(has), "{has}: {answer:#}");
    }
    for lacks in ["number", "sending laws", "rehearsal"] {
        assert!(!ok(lacks), "{lacks}: {answer:#}");
    }
    let without = checks
        .iter()
        .filter(|check| check["ok"] == false && check["todo"].is_null())
        .count();
    assert_eq!(
        (without, &answer["ready"]),
        (0, &serde_json::json!(false)),
        "each says what to do"
    );
    let refused = house
        .number("select count(*) from audit_log where action = 'auth_failure'")
        .await;
    assert_eq!(refused, 1, "the probe was taken for what it is");
    house.stop().await;
}
