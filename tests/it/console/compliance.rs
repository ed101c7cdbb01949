//! The pages of compliance officers and managers: evidence, the audit log as each role sees it,
//! exports, sealed days and figures (SEC-136 to SEC-143, OBS-33).

use chrono::NaiveDate;
use reqwest::StatusCode;
use seven_domain::{CasinoId, Role};
use seven_figures::{Figure, Report};

use super::{
    staff::{Caller, Staff},
    with_console,
};
use crate::{
    figures::{month, silent},
    harness::{GUEST, House, house},
};

const AUDIT: &str = "/c/silver_birch/audit";
const COMPLIANCE: &str = "/c/silver_birch/compliance";

async fn person(house: &House, staff: &Staff<'_>, role: Role) -> Caller {
    let email = format!("{role}@example.com");
    let added = staff.add(&email, role, Some(house.casino())).await;
    added.logged_in(house).await
}

#[tokio::test(flavor = "multi_thread")] // SEC-72, SEC-138, CONV-52
async fn an_officer_finds_a_guests_evidence_and_sees_a_broken_chain() {
    let house = with_console("compliance_evidence").await;
    let staff = Staff::new(&house);
    let cora = person(&house, &staff, Role::Compliance).await;
    let luis = person(&house, &staff, Role::Host).await;
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    house.text(GUEST, "You text me too much, stop texting me");
    house.settle(2).await;

    let find = "/c/silver_birch/compliance/find";
    let wrong = cora.act(find, &[("guest", "Maria")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.body.contains("neither a phone nor a hash"),
        "{}",
        wrong.body
    );
    let found = cora.act(find, &[("guest", "(860) 555-0142")]).await;
    assert_eq!(found.status, StatusCode::SEE_OTHER);
    let place = found.location;
    assert!(
        place.contains("/guests/hmac:1:") && !place.contains("5550142"),
        "{place}"
    );
    let page = cora.get(&place).await.body;
    for wanted in [
        "The chain verifies",
        "revoked",
        "too_many",
        "natural_language",
        "stopped",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    assert!(
        !page.contains("too much") && !page.contains("5550142"),
        "no words, no phone: {page}"
    );
    let file = cora.get(&format!("{place}?format=json")).await;
    let json: serde_json::Value = serde_json::from_str(&file.body).unwrap();
    assert_eq!(json["chain"]["valid"], true);
    assert_eq!(
        json["events"][0]["metadata"]["reason"], "too_many",
        "{json}"
    );
    // The conversation's `consent` path redirects to the evidence page. A person with the role of
    // host may open neither.
    let thread = format!(
        "/c/silver_birch/conversations/{}",
        staff.conversation().await
    );
    assert_eq!(
        &*cora.get(&format!("{thread}/consent")).await.location,
        place
    );
    assert_eq!(luis.get(&place).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        luis.get(&format!("{thread}/consent")).await.status,
        StatusCode::NOT_FOUND
    );

    house
        .change("alter table consent_events disable trigger all")
        .await;
    house
        .change("update consent_events set event = replace(event, 'too_many', 'privacy')")
        .await;
    let page = cora.get(&place).await.body;
    assert!(page.contains("THE CHAIN DOES NOT VERIFY"), "{page}");
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // SEC-136
async fn an_auditor_reads_the_log_changes_nothing_and_is_out_after_the_last_day() {
    let house = with_console("compliance_auditor").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "STOP");
    house.settle(1).await;
    let adam = person(&house, &staff, Role::Admin).await;
    let add = |ends_on| {
        [
            ("email", "ina@example.org"),
            ("name", "Ina"),
            ("role", "auditor"),
            ("casino", "silver_birch"),
            ("ends_on", ends_on),
        ]
    };
    for wrong in ["", "2026-01-31", "soon"] {
        let refused = adam.act("/operators", &add(wrong)).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
        assert!(refused.body.contains("Choose a last day"), "{wrong}");
    }
    let shown = adam.act("/operators", &add("2999-12-31")).await;
    assert!(
        shown
            .body
            .contains("auditor (silver_birch) until 2999-12-31")
    );

    let omar = person(&house, &staff, Role::Auditor).await;
    assert_eq!(omar.get("/").await.location, COMPLIANCE);
    let log = omar.get(AUDIT).await.body;
    assert!(log.contains("consent_revoked"), "{log}");
    for path in [
        "conversations",
        "content",
        "figures",
        "switches",
        "now",
        "dead",
    ] {
        let page = omar.get(&format!("/c/silver_birch/{path}")).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
    }
    let yesterday = "update operator_roles set ends_on = (now() at time zone 'utc')::date - 1
                     where role = 'auditor'";
    house.change(yesterday).await;
    assert_eq!(omar.get(AUDIT).await.status, StatusCode::NOT_FOUND);

    // Like the page, the command demands a last day in the future for an auditor. The command can
    // also prolong the role.
    let role = [
        "operator",
        "role",
        "auditor@example.com",
        "--role",
        "auditor",
    ];
    let here = ["--casino", "silver_birch", "--by", "test"];
    let endless = house.seven(&[&role[..], &here[..]].concat(), "").await;
    assert!(endless.err.contains("needs its last day"), "{endless:?}");
    let over = [&role[..], &here[..], &["--last-day", "2026-01-31"]].concat();
    let over = house.seven(&over, "").await;
    assert!(over.err.contains("--last-day is over"), "{over:?}");
    let longer = [&role[..], &here[..], &["--last-day", "2999-12-31"]].concat();
    let longer = house.seven(&longer, "").await;
    assert!(
        longer.out.contains("until the end of 2999-12-31"),
        "{longer:?}"
    );
    assert_eq!(omar.get(AUDIT).await.status, StatusCode::OK);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // SEC-139 to SEC-143
async fn each_role_sees_and_exports_its_own_part_of_the_log() {
    let house = with_console("compliance_audit").await;
    let staff = Staff::new(&house);
    let cora = person(&house, &staff, Role::Compliance).await;
    let mia = person(&house, &staff, Role::Manager).await;
    let adam = person(&house, &staff, Role::Admin).await;
    house.text(GUEST, "I want to die");
    house.settle(1).await;
    house.text(GUEST, "STOP");
    house.settle(2).await;
    let hostile = "insert into audit_log (casino_id, actor, action, severity, subject, detail) values
        ('silver_birch', '=cmd()', 'auth_failure', 'critical', '-1+2', '{\"ip_address\": \"192.0.2.7\", \"note\": \"<b>x</b>\"}')";
    house.change(hostile).await;

    // A compliance officer sees all entries. A manager sees neither faults nor security entries. An
    // admin sees no details of texts.
    let officer = cora.get(AUDIT).await.body;
    for wanted in [
        "auth_failure",
        "consent_revoked",
        "guardrail_triggered",
        "&#60;b&#62;",
    ] {
        assert!(officer.contains(wanted), "{wanted}: {officer}");
    }
    let manager = mia.get(AUDIT).await.body;
    let rows = |page: &str| page.split("<tbody>").nth(1).unwrap_or_default().to_owned();
    assert!(!rows(&manager).contains("auth_failure") && rows(&manager).contains("consent_revoked"));
    assert!(!rows(&manager).contains("pattern_id"), "{manager}");
    let hidden = mia.get(&format!("{AUDIT}?event=auth_failure")).await.body;
    assert!(
        hidden.contains("No entries.") && !rows(&hidden).contains("auth_failure"),
        "{hidden}"
    );
    let admin = rows(&adam.get(&format!("{AUDIT}?category=text")).await.body);
    assert!(
        admin.contains("sms_inbound") && !admin.contains("<pre"),
        "{admin}"
    );

    // If a role may not see the guest of an entry, a search by that guest does not find the entry.
    let tag = house
        .texts_of("select distinct guest_hash from audit_log where guest_hash is not null")
        .await;
    let by_guest = format!("{AUDIT}?guest={}&category=text", tag[0]);
    assert!(adam.get(&by_guest).await.body.contains("No entries."));
    assert!(rows(&cora.get(&by_guest).await.body).contains("sms_inbound"));
    let evidence = format!("/c/silver_birch/guests/{}/consent", tag[0]);
    assert!(!adam.get(&evidence).await.body.contains("sms_inbound"));
    assert!(cora.get(&evidence).await.body.contains("sms_inbound"));

    // The list shows only entries that match the filters. The page refuses filters that it cannot
    // read.
    let only = rows(
        &cora
            .get(&format!("{AUDIT}?category=guardrail&layer=crisis"))
            .await
            .body,
    );
    assert!(
        only.contains("guardrail_triggered") && !only.contains("consent_revoked"),
        "{only}"
    );
    let only = rows(&cora.get(&format!("{AUDIT}?severity=critical")).await.body);
    assert!(
        only.contains("auth_failure") && !only.contains("consent_revoked"),
        "{only}"
    );
    let bad = cora.get(&format!("{AUDIT}?guest=Maria")).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    let bad = cora.get(&format!("{AUDIT}?from=2026-13-40")).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);

    // An export without a reason names no guest. Every export is audited. In every export, a cell
    // that looks like a formula is written as text.
    let export = format!("{AUDIT}/export");
    let short = cora.act(&export, &[("format", "csv")]).await;
    assert_eq!(short.status, StatusCode::OK, "{}", short.body);
    let mut reader = csv::Reader::from_reader(short.body.as_bytes());
    let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert!(lines.len() > 5);
    for cell in lines.iter().flatten() {
        assert!(!cell.starts_with(['=', '+', '-', '@']), "{cell}");
        assert!(!cell.contains("hmac:"), "{cell}");
    }
    assert!(short.body.contains("[HASH]") && short.body.contains("[REDACTED]"));
    let asked = [("format", "jsonl"), ("reason", "the regulator asked")];
    let full = cora.act(&export, &asked).await.body;
    assert!(
        full.contains("hmac:1:") && !full.contains("192.0.2.7"),
        "{full}"
    );
    let refused = mia.act(&export, &asked).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let of_mia = mia.act(&export, &[("format", "jsonl")]).await.body;
    assert!(
        !of_mia.contains("auth_failure") && of_mia.contains("consent_revoked"),
        "{of_mia}"
    );
    let exports = "select count(*) from audit_log where action = 'audit_exported'";
    assert_eq!(house.number(exports).await, 3);
    let reasons = "select count(*) from audit_log where action = 'audit_exported' and detail->>'reason' = 'the regulator asked'";
    assert_eq!(house.number(reasons).await, 1);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // SEC-139: repeatable, and a change of the log shows
async fn a_sealed_day_comes_out_the_same_and_a_changed_one_is_found() {
    let house = with_console("compliance_seals").await;
    let staff = Staff::new(&house);
    let cora = person(&house, &staff, Role::Compliance).await;
    let mia = person(&house, &staff, Role::Manager).await;
    let past = |days| chrono::Utc::now().date_naive() - chrono::Days::new(days);
    let (sealed_day, empty_day, older_day) = (past(6), past(4), past(7));
    let old = format!("insert into audit_log (casino_id, at, actor, action, severity, subject, detail)
        select 'silver_birch', timestamptz '{sealed_day} 12:00Z' + make_interval(secs => 20 * n), 'test', 'sms_inbound', 'info', 's' || n, '{{}}'
        from generate_series(1, 1500) n");
    house.change(&old).await;
    let night = async |date: &str| {
        // The fleet's own scheduler ran the nightly jobs when it started. Deleting these rows lets
        // the jobs run again.
        house.change("delete from nightly").await;
        let date: NaiveDate = date.parse().unwrap();
        let done = seven_scheduler::night(&house.stack.fleet, &house.config, date);
        done.await.unwrap();
    };
    night("2026-11-20").await;
    let sealed = house.number(&format!("select entries from audit_seals where day = '{sealed_day}' and casino_id = 'silver_birch'")).await;
    assert_eq!(sealed, 1_500);
    let page = cora.get(COMPLIANCE).await.body;
    assert!(
        page.contains(&sealed_day.to_string()) && page.contains("1500"),
        "{page}"
    );
    let day = &format!("/c/silver_birch/audit/days/{sealed_day}");
    let (one, two) = (cora.act(day, &[]).await, cora.act(day, &[]).await);
    assert_eq!(one.status, StatusCode::OK);
    assert_eq!(one.body.lines().count(), 1_500);
    assert_eq!(one.body, two.body, "the same file for ever");
    assert_eq!(mia.act(day, &[]).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        cora.act(&format!("/c/silver_birch/audit/days/{older_day}"), &[])
            .await
            .status,
        StatusCode::NOT_FOUND
    );

    let empty =
        &format!("select count(*) from audit_seals where day = '{empty_day}' and entries = 0");
    assert_eq!(
        house.number(empty).await,
        1,
        "a day without entries is sealed, too"
    );

    // The daily job writes the same bytes as the export on the page, and each file only once. The
    // job reports days whose entries no longer match their seal.
    let shelf = house.scratch.path().join("exports");
    let daily = async || {
        let into = shelf.to_str().unwrap();
        let order = ["audit", "daily", "--into", into, "--by", "daily export"];
        house.seven(&order, "").await
    };
    let done = daily().await;
    assert!(done.code == 0 && done.out.contains("2 file(s)"), "{done:?}");
    let of = |ending: &str| shelf.join(format!("silver_birch/audit-{sealed_day}.{ending}"));
    assert_eq!(std::fs::read_to_string(of("jsonl")).unwrap(), one.body);
    let table = std::fs::read_to_string(of("csv")).unwrap();
    assert_eq!(table.lines().count(), 1_501, "the head and the entries");
    let done = daily().await;
    assert!(done.out.contains("0 file(s)"), "{done:?}");
    let noted =
        "select count(*) from audit_log where action = 'audit_exported' and actor = 'daily export'";
    assert_eq!(house.number(noted).await, 1);

    // Somebody with the database owner's login changes an old entry. The seal covers every field of
    // the day's entries, so the change is found.
    house
        .change("alter table audit_log disable trigger all")
        .await;
    house
        .change("update audit_log set guest_hash = 'hmac:1:00' where subject = 's700'")
        .await;
    let broken = cora.act(day, &[]).await;
    assert_eq!(broken.status, StatusCode::CONFLICT);
    assert!(
        broken.body.contains("not the ones that were sealed"),
        "{}",
        broken.body
    );
    night("2026-11-21").await;
    let cases =
        "select count(*) from escalations where reason = 'audit_seal_broken' and severity = 'sev0'";
    assert_eq!(house.number(cases).await, 1);
    let done = daily().await;
    assert_eq!(done.code, 1, "found though its files are there: {done:?}");
    std::fs::remove_file(of("csv")).unwrap();
    let done = daily().await;
    assert!(
        done.code == 1
            && done.err.contains(&format!(
                "silver_birch: not as sealed, and not exported: {sealed_day}"
            )),
        "{done:?}"
    );
    assert!(!of("csv").exists());
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // OBS-33
async fn a_manager_sees_the_figures_and_takes_them_as_csv() {
    let house = house("compliance_figures", silent()).await;
    let mut house = house;
    house
        .stack
        .spawn(seven_settings::Worker::Console, None)
        .await
        .unwrap();
    let period = month(&house).await;
    let staff = Staff::new(&house);
    let mia = person(&house, &staff, Role::Manager).await;
    let cora = person(&house, &staff, Role::Compliance).await;
    let other: CasinoId = "other_casino".parse().unwrap();
    let away = staff
        .add("away@example.com", Role::Manager, Some(&other))
        .await;
    let away = away.logged_in(&house).await;
    let (from, to) = (period.from, period.to);
    let place = format!("/c/silver_birch/figures?from={from}&to={to}");
    assert_eq!(cora.get(&place).await.status, StatusCode::NOT_FOUND);
    assert_eq!(away.get(&place).await.status, StatusCode::NOT_FOUND);
    let page = mia.get(&place).await.body;
    let settings = seven_settings::Settings::load(Some(&house.stack.config_file)).unwrap();
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let report = Report::read(&mut tx, &settings.cost, period).await.unwrap();
    tx.commit().await.unwrap();
    for figure in Figure::ALL {
        let Some(value) = report.value(*figure) else {
            continue;
        };
        let shown = figure.unit().shown(value);
        assert!(
            page.contains(&format!(">{shown}</td>")),
            "{figure} {shown}: {page}"
        );
    }
    assert!(page.contains("<svg") && !page.contains("style="), "{page}");

    let file = mia
        .get(&format!("/c/silver_birch/figures.csv?from={from}&to={to}"))
        .await
        .body;
    let mut reader = csv::Reader::from_reader(file.as_bytes());
    let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(lines.len(), report.values.len());
    for (line, value) in lines.iter().zip(&report.values) {
        assert_eq!(&line[2], value.figure.as_str());
        assert_eq!(&line[4], value.figure.unit().written(value.value));
    }
    let days = format!("/c/silver_birch/figures.csv?from={from}&to={to}&what=days");
    assert_eq!(mia.get(&days).await.body.lines().count(), 32);
    for bad in [
        "from=2026-02-31",
        "from=2026-11-02&to=2026-11-01",
        "from=2020-01-01&to=2026-11-01",
    ] {
        let page = mia.get(&format!("/c/silver_birch/figures?{bad}")).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{bad}");
        assert!(page.body.contains("role=\"alert\""));
    }
    house.stop().await;
}
