//! Compares the enums and SQL statements of the code with the migrated schema of a real Postgres.

#![expect(
    clippy::unwrap_used,
    reason = "clippy exempts test functions, not the helpers they share"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use secrecy::SecretString;
use serde_json::json;
use seven_domain::{
    AttemptOutcome, CampaignState, CaseSeverity, CaseSource, CasinoId, CasinoStatus, Channel,
    Clock, ConsentTier, ContactChannel, ContentSource, DeadOrder, DeadState, DeletionState,
    DisclosureKind, Disposition, GuestStatus, HashKey, HashKeys, HeldDecision, IdSource,
    IncidentKind, IncidentSeverity, IncidentState, Lane, Language, LetterKind, LinkPurpose,
    ListedState, LogLevel, MaterialChange, MessageClass, NumberCheck, OfferStatus, OfferTier,
    OperatorStatus, OutageKind, OutboundState, PhoneE164, PromptState, RevisionState, Role,
    Severity, Stage, SuppressionState, TicketState, TurnState,
};
use seven_guest::phase::Phase;
use seven_store::{
    Error, Store, SweepPlan,
    alerts::NoticeAction,
    controls::Switch,
    guests::{GuestLaw, NewIds},
    outbound::{NewOutbound, Origin},
    reconcile::ReconciledAs,
};
use seven_testkit::Postgres;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

/// Makes an empty, migrated database, and returns the owner's connection and its URL.
async fn migrated(name: &str) -> (PgConnection, String) {
    let postgres = Postgres::for_tests().await.unwrap();
    let name = format!("schema_{name}_{}", IdSource::default().uuid().simple());
    let url = postgres.create_database(&name, None).await.unwrap();
    Store::migrate(&SecretString::from(url.clone()))
        .await
        .unwrap();
    (PgConnection::connect(&url).await.unwrap(), url)
}

/// For each column whose CHECK constraint lists values, returns these values, by `table.column`.
async fn checked(owner: &mut PgConnection) -> BTreeMap<String, BTreeSet<String>> {
    let query = "
        select concat(checks.conrelid::regclass, '.', columns.attname) as place,
          array(select names[1] from regexp_matches(pg_get_constraintdef(checks.oid), '''([^'']*)''::text', 'g') names)
            as listed
        from pg_constraint checks
        join pg_attribute columns on columns.attrelid = checks.conrelid and columns.attnum = checks.conkey[1]
        where checks.contype = 'c' and cardinality(checks.conkey) = 1
          and checks.connamespace = 'public'::regnamespace
          and pg_get_constraintdef(checks.oid) ~ '^CHECK \\(\\(\\w+ = (ANY \\(ARRAY\\[)?''[^'']*''::text'";
    let rows = sqlx::query(query).fetch_all(owner).await.unwrap();
    rows.iter()
        .map(|row| {
            (
                row.get("place"),
                row.get::<Vec<String>, _>("listed").into_iter().collect(),
            )
        })
        .collect()
}

/// Returns each column whose values a CHECK constraint lists, with the values that the code knows.
fn enums() -> Vec<(&'static str, Vec<&'static str>)> {
    macro_rules! names {
        ($kind:ident) => {
            $kind::ALL
                .iter()
                .map(|value| value.as_str())
                .collect::<Vec<_>>()
        };
    }
    vec![
        (
            "ack_floors.stage",
            vec![Stage::Gate.as_str(), Stage::Receipts.as_str()],
        ),
        ("alert_deliveries.action", names!(NoticeAction)),
        ("alerts.severity", names!(Severity)),
        ("audit_log.severity", names!(Severity)),
        ("campaign_guests.state", names!(ListedState)),
        ("campaigns.class", vec![MessageClass::Marketing.as_str()]),
        ("campaigns.state", names!(CampaignState)),
        ("casinos.status", names!(CasinoStatus)),
        ("consent_prompts.state", names!(PromptState)),
        (
            "consent_prompts.tier",
            vec![
                ConsentTier::Informational.as_str(),
                ConsentTier::Marketing.as_str(),
            ],
        ),
        ("controls.name", names!(Switch)),
        ("dead_letters.state", names!(DeadState)),
        ("dead_letters.asked", names!(DeadOrder)),
        ("deletions.state", names!(DeletionState)),
        ("contact_letters.kind", names!(LetterKind)),
        ("outages.kind", names!(OutageKind)),
        ("contacts.channel", names!(ContactChannel)),
        ("contacts.severity", names!(CaseSeverity)),
        ("escalations.severity", names!(CaseSeverity)),
        ("held_turns.decision", names!(HeldDecision)),
        ("content_edits.source", names!(ContentSource)),
        ("content_revisions.source", names!(ContentSource)),
        ("content_revisions.state", names!(RevisionState)),
        ("incidents.kind", names!(IncidentKind)),
        ("incidents.severity", names!(IncidentSeverity)),
        ("incidents.state", names!(IncidentState)),
        ("log_levels.level", names!(LogLevel)),
        ("operators.status", names!(OperatorStatus)),
        ("operator_roles.role", names!(Role)),
        ("operator_links.purpose", names!(LinkPurpose)),
        ("escalations.source", names!(CaseSource)),
        ("tickets.state", names!(TicketState)),
        ("fleet_controls.name", names!(Switch)),
        ("guests.consent_tier", names!(ConsentTier)),
        ("guests.language", names!(Language)),
        ("guests.redisclose", names!(MaterialChange)),
        ("guests.status", names!(GuestStatus)),
        ("inbound_messages.disposition", names!(Disposition)),
        ("number_checks.result", names!(NumberCheck)),
        ("offers.status", names!(OfferStatus)),
        ("offers.tier", names!(OfferTier)),
        ("outbound_messages.state", names!(OutboundState)),
        ("reconciled.kind", names!(ReconciledAs)),
        ("send_attempts.outcome", names!(AttemptOutcome)),
        ("send_policy.lane", names!(Lane)),
        ("send_policy.least_tier", names!(ConsentTier)),
        ("sessions.phase", names!(Phase)),
        ("suppressions.state", names!(SuppressionState)),
        ("turns.disclosure_kind", names!(DisclosureKind)),
        ("turns.state", names!(TurnState)),
    ]
}

/// Columns of `send_policy` that have no enum, because only the SQL of the pre-send check reads
/// them.
const READ_BY_SQL_ALONE: [&str; 5] = [
    "send_policy.when_killed",
    "send_policy.when_paused",
    "send_policy.when_provider_blocks",
    "send_policy.when_state_missing",
    "send_policy.when_suppressed",
];

#[tokio::test]
async fn enums_and_check_constraints_list_the_same_values() {
    let (mut owner, _) = migrated("enums").await;
    let mut checked = checked(&mut owner).await;
    for (place, names) in enums() {
        let names: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
        assert_eq!(checked.remove(place), Some(names), "{place}");
    }
    let left: Vec<&String> = checked.keys().collect();
    assert_eq!(
        left, READ_BY_SQL_ALONE,
        "each other column with a list of values has an enum"
    );
    let classes: Vec<String> = sqlx::query_scalar("select class from send_policy")
        .fetch_all(&mut owner)
        .await
        .unwrap();
    let known: BTreeSet<&str> = MessageClass::ALL
        .iter()
        .map(|class| class.as_str())
        .collect();
    assert_eq!(
        classes.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        known,
        "send_policy"
    );
}

#[tokio::test]
async fn an_unknown_stored_value_is_a_typed_error() {
    let (mut owner, url) = migrated("unknown").await;
    let app = SecretString::from(url.replacen("postgres@", "seven_app@", 1));
    let sweep = SweepPlan {
        base: Duration::from_secs(15),
        longest: Duration::from_secs(600),
    };
    let (store, ids) = (Store::new(&app, 2, sweep).unwrap(), IdSource::default());
    let config = serde_json::from_value(json!({
        "casino_id": "silver_birch",
        "prompts": { "casino_name_display": "Silver Birch" },
        "regulations": { "state": "CT" },
        "operational": {
            "timezone": "America/New_York", "telnyx_phone_number": "+18605550100",
            "number_kind": "demo",
            "contact_phone": "1-860-555-0199"
        }
    }))
    .unwrap();
    store.put_casino(&config, "test").await.unwrap();
    let casino: CasinoId = config.casino_id.clone();
    let phone: PhoneE164 = "+18605550144".parse().unwrap();
    let keys = HashKeys::new(HashKey {
        id: 1,
        secret: SecretString::from("k".repeat(32)),
    });
    let hash = keys.hash(&casino, &phone);
    let new = NewIds {
        guest: ids.next(),
        conversation: ids.next(),
    };
    let number = &config.operational.telnyx_phone_number;
    let (id, hour) = (ids.next(), Duration::from_secs(3_600));
    let mut tx = store.bind(&casino).await.unwrap();
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
    let text = NewOutbound::new(
        id,
        party.recipient(),
        Origin::Person,
        MessageClass::Reply,
        "Hi.".into(),
        hour,
    )
    .answers_at(Some(Clock::default().now()));
    tx.queue(&text).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    // Simulates a newer release, which has a class of texts that this code does not know.
    let renamed = "update outbound_messages set class = 'postcard' where outbound_id = $1";
    sqlx::query("set app.casino = 'silver_birch'")
        .execute(&mut owner)
        .await
        .unwrap();
    sqlx::query(renamed)
        .bind(id.0)
        .execute(&mut owner)
        .await
        .unwrap();
    let mut tx = store.bind(&casino).await.unwrap();
    let read = tx.pending(id).await;
    assert!(
        matches!(
            &read,
            Err(Error::Row(
                invalid,
            )) if invalid.what == "MessageClass" && invalid.problem == "`postcard`"
        ),
        "a column of a row: {read:?}"
    );
    let read = tx.pending_here(&[id]).await.err();
    assert!(
        matches!(read, Some(Error::Row(_))),
        "a column among others: {read:?}"
    );
}

#[tokio::test]
async fn every_statement_in_a_file_fits_the_schema() {
    let (mut owner, _) = migrated("statements").await;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/sql");
    let mut problems = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 30, "{folder} holds the statements");
    for file in files {
        let statement = std::fs::read_to_string(&file).unwrap();
        let prepared = sqlx::raw_sql(AssertSqlSafe(format!("prepare checked as {statement}")))
            .execute(&mut owner)
            .await;
        match prepared {
            Ok(_) => drop(
                sqlx::raw_sql("deallocate checked")
                    .execute(&mut owner)
                    .await
                    .unwrap(),
            ),
            Err(error) => problems.push(format!("{}: {error}", file.display())),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
