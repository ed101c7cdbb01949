//! Campaigns (SMS-31 to SMS-35). A command lists the guests, and the scheduler releases the texts.
//! Every text passes the pre-send check.

mod approval;
mod release;

use std::time::Duration;

use seven_compliance::chain::Action;
use seven_domain::{Channel, ConsentTier, PhoneE164};
use seven_store::{
    consent::Consent,
    guests::{GuestLaw, NewIds},
};

use crate::harness::{House, Wanted, house, until};

/// 11:00 in Connecticut and 6:00 in Hawaii.
const MORNING: &str = "2026-01-14T16:00:00Z";
const EN: &str = "Hi, {persona} here, the AI host of {casino}. The grill has tables on Friday. Reply YES for one, or STOP to opt out.";
const ES: &str = "Soy {persona}, anfitrion IA de {casino}. Hay mesas el viernes en el grill. Responda SI, o PARAR para salir.";
const MARK: &str = "The grill has tables";
const BY: [&str; 4] = ["--by", "Robin", "--reason", "autumn"];

/// Returns the phone of guest `n`. Guests below 50 are in Connecticut, the others in Hawaii. At
/// `MORNING`, it is too early for texts in Hawaii.
fn guest(n: usize) -> String {
    format!("+1{}55501{n:02}", if n < 50 { "203" } else { "808" })
}

/// Adds a guest with this consent.
async fn known(house: &House, n: usize, tier: ConsentTier) {
    let fleet = &house.stack.fleet;
    let phone: PhoneE164 = guest(n).parse().unwrap();
    let hash = fleet.keys.hash(house.casino(), &phone);
    let new = NewIds {
        guest: fleet.ids.next(),
        conversation: fleet.ids.next(),
    };
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let number = &house.config.operational.telnyx_phone_number;
    let party = tx
        .party(
            &phone,
            &hash,
            number,
            Channel::Sms,
            new,
            &GuestLaw::default(),
        )
        .await
        .unwrap();
    let consent = Consent {
        guest: &hash,
        guest_id: Some(party.guest_id),
        action: Action::Granted,
        method: "web_form",
        tier,
        at: fleet.clock.now(),
        evidence: serde_json::json!({}),
        actor: "test",
        trace: None,
    };
    tx.record_consent(&consent, &fleet.keys).await.unwrap();
    tx.commit().await.unwrap();
}

async fn listed(house: &House, guests: impl IntoIterator<Item = usize>) {
    for n in guests {
        known(house, n, ConsentTier::Marketing).await;
    }
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    tx.replace_exclusions(&[], "test").await.unwrap();
    tx.commit().await.unwrap();
}

fn document() -> serde_json::Value {
    let mut casino: serde_json::Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
    casino["features"]["outbound_campaigns_enabled"] = true.into();
    casino
}

fn wanted(casino: &serde_json::Value) -> Wanted {
    let documents = (casino.to_string(), seven_packs::demo::CONTENT.to_owned());
    Wanted {
        casino: Some(documents),
        at: Some(MORNING),
        ..Wanted::default()
    }
}

fn morning() -> Wanted {
    wanted(&document())
}

/// Returns settings in which the demo casino sends slowly: from a long code with an approved
/// carrier campaign, at `rate` segments per second.
fn slow(rate: u32) -> Wanted {
    let mut casino = document();
    casino["operational"]["number_kind"] = "long_code".into();
    casino["operational"]["campaign_segments_per_second"] = rate.into();
    casino["operational"]["registration"] = "approved".into();
    wanted(&casino)
}

/// Returns the arguments of `seven campaign send`. `list` has the arguments that select the guests.
fn order<'a>(house: &'a House, name: &'a str, list: &[&'a str]) -> Vec<&'a str> {
    let words = [
        "campaign",
        "send",
        "--casino",
        house.casino().as_str(),
        "--name",
        name,
        "--text-en",
        EN,
        "--text-es",
        ES,
    ];
    [&words[..], list, &BY[..]].concat()
}

async fn ran(house: &House, args: &[&str]) -> String {
    let said = house.seven(args, "").await;
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
    said.out
}

async fn send_all(house: &House, name: &str) -> String {
    ran(house, &order(house, name, &["--all-consenting", "--yes"])).await
}

async fn change(house: &House, args: &[&str]) -> String {
    ran(
        house,
        &[args, &["--casino", house.casino().as_str()], &BY[..]].concat(),
    )
    .await
}

/// Returns the numbers of the guests who got the campaign's text. A guest who got two copies
/// appears twice.
fn reached(house: &House) -> Vec<usize> {
    let outbound = house.stack.sim.ledger().snapshot().outbound;
    let mut reached: Vec<usize> = outbound
        .iter()
        .filter(|sent| sent.text.as_deref().is_some_and(|text| text.contains(MARK)))
        .filter_map(|sent| (0..100).find(|n| sent.to == guest(*n)))
        .collect();
    reached.sort_unstable();
    reached
}

async fn done(house: &House) {
    until("the campaign is done", Duration::from_secs(30), || async {
        house
            .number("select count(*) from campaigns where state = 'done'")
            .await
            == 1
            && house
                .number(
                    "select count(*) from outbound_messages where state in ('queued', 'sending')",
                )
                .await
                == 0
    })
    .await;
}

// SMS-31, SMS-32, SMS-33, SMS-35, CONV-10: the dry run forecasts the outcome for thirty guests, and
// the campaign has exactly this outcome
#[tokio::test]
async fn a_dry_run_says_it_and_the_campaign_does_it_once() {
    let house = house("campaign_thirty", morning()).await;
    listed(&house, (0..10).chain(50..55)).await;
    for n in 10..15 {
        known(&house, n, ConsentTier::Transactional).await;
    }
    listed(&house, 15..20).await;
    for n in 15..20 {
        house.text(&guest(n), "STOP");
    }
    house.settle(5).await;
    // Five of the guests have no row in our database.
    let phones: String = (0..25)
        .chain(50..55)
        .map(|n| format!("{}\n", guest(n)))
        .collect();
    let file = house.file(
        "guests.txt",
        &format!("# the autumn list\n{phones}{}\n", guest(0)),
    );
    let before = house.stack.sim.ledger().snapshot().outbound.len();
    let said = ran(
        &house,
        &order(
            &house,
            "autumn",
            &["--guests", &file, "--dry-run", "--json"],
        ),
    )
    .await;
    let plan: serde_json::Value = serde_json::from_str(&said).unwrap();
    let wanted = serde_json::json!({
        "now": 10, "deferred: quiet_hours": 5, "refused: consent_tier": 5,
        "refused: guest_suppressed": 5, "refused: unknown_guest": 5,
    });
    assert_eq!(plan["counts"], wanted, "{plan}");
    assert_eq!(
        (plan["guests"].as_array().unwrap().len(), &plan["segments"]),
        (30, &15.into())
    );
    let lines = ran(
        &house,
        &order(&house, "autumn", &["--guests", &file, "--dry-run"]),
    )
    .await;
    assert!(
        lines.contains("15 segment(s): about 1 s at 400 a second")
            && lines.contains("Nothing was written"),
        "{lines}"
    );
    assert!(
        !lines.contains("86055501"),
        "a phone in the output: {lines}"
    );
    for table in [
        "select count(*) from campaigns",
        "select count(*) from outbound_messages where campaign_id is not null",
    ] {
        assert_eq!(house.number(table).await, 0, "{table}");
    }
    assert_eq!(
        house.stack.sim.ledger().snapshot().outbound.len(),
        before,
        "the dry run sent something"
    );
    // Without a terminal, the command needs `--yes`.
    let asked = house
        .seven(&order(&house, "autumn", &["--guests", &file]), "")
        .await;
    assert!(
        asked.code == 1
            && asked
                .err
                .contains("this would send to 15 guest(s); say --yes"),
        "{asked:?}"
    );
    ran(
        &house,
        &order(&house, "autumn", &["--guests", &file, "--yes"]),
    )
    .await;
    until("all who may have it", Duration::from_secs(20), || async {
        reached(&house).len() >= 10
    })
    .await;
    let again = house
        .seven(&order(&house, "autumn", &["--guests", &file, "--yes"]), "")
        .await;
    assert!(
        again.code == 1 && again.err.contains("has a campaign `autumn` already"),
        "{again:?}"
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(reached(&house), (0..10).collect::<Vec<_>>());
    let waiting = "select count(*) from campaign_guests where state = 'listed' and reason = 'quiet_hours' and not_before > now()";
    assert_eq!(house.number(waiting).await, 5);
    let scored = "select count(*) from outbound_messages where campaign_id is not null and risk_score_at_send = 0";
    assert_eq!(house.number(scored).await, 10);
    let shown = ran(
        &house,
        &[
            "campaign",
            "show",
            "--casino",
            house.casino().as_str(),
            "autumn",
        ],
    )
    .await;
    assert!(
        shown.contains("running, by Robin") && shown.contains("5  listed       quiet_hours"),
        "{shown}"
    );
    assert_eq!(
        house
            .number(
                "select count(*) from audit_log where action = 'campaign_changed' and actor = 'Robin'",
            )
            .await,
        1
    );
    house.stop().await;
}

// SMS-33, SMS-34: the command names the faults of the text and the parts of the risk score. It
// stores nothing
#[tokio::test]
async fn a_text_that_carriers_would_filter_is_refused() {
    let house = house("campaign_risky", morning()).await;
    listed(&house, 0..2).await;
    let risky =
        "{casino}, your AI host: LIMITED TIME! Get $50 at bit.ly/x. Reply YES or STOP to opt out.";
    let mut args = order(&house, "autumn", &["--all-consenting", "--yes"]);
    args[7] = risky;
    let said = house.seven(&args, "").await;
    assert_eq!(said.code, 1);
    let parts = "risk 0.90 (link 0.30, 2 x word in capitals 0.20, exclamation mark 0.05, dollar amount 0.20, urgency 0.15)";
    assert!(said.err.contains(parts), "{said:?}");
    args[7] = "{casino}: a table for {name}?";
    let said = house.seven(&args, "").await;
    for fault in ["`{name}` is no slot", "an AI writes", "how to stop"] {
        assert!(
            said.code == 1 && said.err.contains(fault),
            "{fault}: {said:?}"
        );
    }
    assert_eq!(house.number("select count(*) from campaigns").await, 0);
    house.stop().await;
}

// SMS-34, SMS-35: the same words are refused for a guest who got them before, but not for another
// guest
#[tokio::test]
async fn words_the_guest_has_had_count_against_them() {
    let house = house("campaign_again", morning()).await;
    listed(&house, 0..2).await;
    let louder = "{casino}, your AI host: The grill has tables, from $20. Last chance! Reply YES or STOP to opt out.";
    let mut args = order(&house, "first", &["--guests", "-", "--yes"]);
    args[7] = louder;
    let said = house.seven(&args, &guest(0)).await;
    assert_eq!(said.code, 0, "{said:?}");
    done(&house).await;
    assert_eq!(reached(&house), [0]);
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    sqlx::query(
        "update outbound_messages set sent_at = now() - interval '2 days', created_at = now() - interval '2 days'",
    )
    .execute(&pool)
    .await
    .unwrap();
    pool.close().await;
    let mut args = order(
        &house,
        "second",
        &["--all-consenting", "--dry-run", "--json"],
    );
    args[7] = louder;
    let plan: serde_json::Value = serde_json::from_str(&ran(&house, &args).await).unwrap();
    assert_eq!(
        plan["counts"],
        serde_json::json!({ "now": 1, "refused: content_risk": 1 }),
        "{plan}"
    );
    house.stop().await;
}

#[tokio::test] // DEP-10: a casino has campaigns only where its document says so
async fn campaigns_are_off_by_default() {
    let house = house(
        "campaign_off",
        Wanted {
            at: Some(MORNING),
            ..Wanted::default()
        },
    )
    .await;
    listed(&house, 0..1).await;
    let said = house
        .seven(&order(&house, "autumn", &["--all-consenting", "--yes"]), "")
        .await;
    assert!(
        said.code == 1 && said.err.contains("features.outbound_campaigns_enabled"),
        "{said:?}"
    );
    assert_eq!(house.number("select count(*) from campaigns").await, 0);
    house.stop().await;
}

#[tokio::test] // SEC-76, DATA-57: who is forgotten stands in no list; who asks is told of it
async fn a_forgotten_guest_stands_in_no_list() {
    let house = house("campaign_forgotten", morning()).await;
    listed(&house, 0..2).await;
    send_all(&house, "autumn").await;
    done(&house).await;
    let export = [
        "guest",
        "export",
        "--casino",
        house.casino().as_str(),
        "--guest",
        &guest(0),
        "--reason",
        "asked",
    ];
    let export: serde_json::Value = serde_json::from_str(&ran(&house, &export).await).unwrap();
    assert_eq!(export["campaigns"][0]["campaign"], "autumn", "{export}");
    house.text(&guest(0), "DELETE");
    until(
        "the guest is forgotten",
        Duration::from_secs(20),
        || async {
            house
                .number("select count(*) from deletions where state = 'done'")
                .await
                == 1
        },
    )
    .await;
    assert_eq!(
        house.number("select count(*) from campaign_guests").await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from outbound_messages where campaign_id is not null")
            .await,
        1
    );
    house.stop().await;
}
