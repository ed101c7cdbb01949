//! Texts of different guests never wait for the same row, and a turn writes no more rows and index
//! entries than docs/sizing.md says (PROD-25, DATA-29, DATA-30). Also checks the indexes (DEP-19).

use std::{collections::BTreeMap, time::Duration};

use sqlx::PgPool;

use crate::{
    harness::{GUEST, House, Wanted, counted, house, until},
    tenancy::database,
};

/// Tables whose rows are shared by all guests of a casino, or by all casinos. A counter in such a
/// row would make texts of different guests wait for each other.
const SHARED: [&str; 10] = [
    "casinos",
    "routes",
    "controls",
    "fleet_controls",
    "flags",
    "fleet_flags",
    "send_policy",
    "provider_stops",
    "nightly",
    "content_items",
];

#[tokio::test(flavor = "multi_thread")] // PROD-25
async fn a_text_is_answered_while_somebody_writes_every_row_that_guests_share() {
    let house = house("counters", Wanted::default()).await;
    // A casino's first text creates rows. One guest writes first, so that these rows exist before
    // the test locks them.
    house.text(GUEST, "Is the pool open?");
    house.settle(1).await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    let mut writer = pool.begin().await.unwrap();
    for table in SHARED {
        let lock = format!("select 1 from {table} for no key update");
        sqlx::query(sqlx::AssertSqlSafe(lock))
            .execute(&mut *writer)
            .await
            .unwrap();
    }
    house.text(GUEST, "What restaurants do you have?");
    house.text("+18605550143", "Is there a steakhouse?");
    house.settle(3).await;
    assert_eq!(house.count("inbound", "answered").await, 3);
    assert!(
        !house.sent_to("+18605550143").is_empty(),
        "a guest who is new, too"
    );
    writer.rollback().await.unwrap();
    house.stop().await;
}

/// Returns three numbers for each table: rows inserted so far, updates so far that wrote new index
/// entries, and indexes.
async fn written(pool: &PgPool) -> BTreeMap<String, (i64, i64, i64)> {
    let rows: Vec<(String, i64, i64, i64)> = sqlx::query_as(
        "select s.relname::text, s.n_tup_ins, s.n_tup_upd - s.n_tup_hot_upd,
                (select count(*) from pg_index i where i.indrelid = s.relid) from pg_stat_user_tables s",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    rows.into_iter()
        .map(|(table, inserted, updated, indexes)| (table, (inserted, updated, indexes)))
        .collect()
}

/// Tables in which the texts of guests leave rows.
const OF_TEXTS: [&str; 5] = [
    "inbound_messages",
    "outbound_messages",
    "send_attempts",
    "turns",
    "audit_log",
];

/// Returns whether the statistics in `told` count every row of the tables in `OF_TEXTS`. Some rows
/// may be missing there: a database session that is never idle reports its rows late.
async fn are_complete(pool: &PgPool, told: &BTreeMap<String, (i64, i64, i64)>) -> bool {
    for table in OF_TEXTS {
        let count =
            sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select count(*) from {table}")));
        let count: i64 = count.fetch_one(pool).await.unwrap();
        if told
            .get(table)
            .is_none_or(|(inserted, ..)| *inserted != count)
        {
            return false;
        }
    }
    true
}

/// Waits until the statistics are complete and no longer change. Postgres updates them up to a
/// second late.
async fn at_rest(house: &House, pool: &PgPool) -> BTreeMap<String, (i64, i64, i64)> {
    let last = std::sync::Mutex::new(BTreeMap::new());
    until(
        "the statistics stand still",
        Duration::from_secs(20),
        async || {
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            let now = tables_of_texts(written(pool).await);
            let complete = are_complete(pool, &now).await;
            std::mem::replace(&mut *last.lock().unwrap(), now.clone()) == now && complete
        },
    )
    .await;
    assert_eq!(house.count("inbound", "open").await, 0);
    last.into_inner().unwrap()
}

/// Removes from `all` the tables that are written even while no guest writes.
fn tables_of_texts(
    mut all: BTreeMap<String, (i64, i64, i64)>,
) -> BTreeMap<String, (i64, i64, i64)> {
    for table in [
        "workers",
        "alerts",
        "alert_deliveries",
        "nightly",
        "ack_floors",
        "reconciliations",
    ] {
        all.remove(table);
    }
    all
}

#[tokio::test(flavor = "multi_thread")] // DATA-30
async fn a_turn_writes_no_more_rows_and_index_entries_than_the_sizing_says() {
    let house = house("sizing", Wanted::default()).await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    house.text(GUEST, "Is the pool open?");
    house.settle(1).await;
    let before = at_rest(&house, &pool).await;
    house.text(GUEST, "Is there a steakhouse?");
    house.settle(2).await;
    let after = at_rest(&house, &pool).await;
    let (mut rows, mut entries, mut told) = (0, 0, Vec::new());
    for (table, (inserted, updated, indexes)) in &after {
        let (old_inserted, old_updated, _) = before.get(table).copied().unwrap_or_default();
        let (inserted, updated) = (inserted - old_inserted, updated - old_updated);
        if inserted + updated > 0 {
            told.push(format!(
                "{table}: {inserted} inserted, {updated} updated, {indexes} indexes"
            ));
        }
        rows += inserted;
        entries += (inserted + updated) * indexes;
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    let document = std::fs::read_to_string(root.join("docs/sizing.md")).unwrap();
    let most = |what: &str| -> i64 {
        let row = document
            .lines()
            .find(|line| line.starts_with(&format!("| {what} |")))
            .expect("a row of the table");
        row.split('|').nth(2).unwrap().trim().parse().unwrap()
    };
    assert!(
        rows > 0 && rows <= most("rows written for a turn, at most"),
        "{rows}: {told:?}"
    );
    assert!(
        entries <= most("index entries for a turn, at most"),
        "{entries}: {told:?}"
    );
    house.stop().await;
}

#[tokio::test] // OBS-27
async fn a_conversation_is_counted_with_what_it_taught_us() {
    let house = house("counted", Wanted::default()).await;
    house.text(GUEST, "my name is Quillon, when does the pool open?");
    house.settle(1).await;
    house.text(GUEST, "Is there a steakhouse?");
    house.settle(2).await;
    let of = |name: &str| counted(&format!("{name}{{casino=\"silver_birch\"}}"));
    for counter in [
        "seven_sessions_total",
        "seven_profile_completeness_ratio_count",
        "seven_profile_fields_total",
    ] {
        assert!(of(counter) >= 1.0, "{counter}");
    }
    house.stop().await;
}

#[tokio::test] // DEP-19
async fn every_index_comes_with_a_migration_and_those_of_the_specification_are_there() {
    let house = house(
        "indexes",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    let there: Vec<(String, String)> = sqlx::query_as(
        "select indexname::text, indexdef from pg_indexes where schemaname = 'public'",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("migrations");
    let migrations: String = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    for (name, definition) in &there {
        // The indexes of primary and unique keys come with the table, so no migration names them.
        let of_a_key = name.ends_with("_pkey") || name.ends_with("_key");
        assert!(
            of_a_key || migrations.contains(&format!("index {name} ")),
            "{name} is in no migration: {definition}"
        );
    }
    // Audit entries are looked up by action and time, and texts by conversation. Vectors need no
    // index, because a worker reads all vectors of a casino at once.
    for wanted in [
        "audit_log USING btree (casino_id, action, at)",
        "(casino_id, conversation_id, arrival)",
    ] {
        assert!(
            there
                .iter()
                .any(|(_, definition)| definition.contains(wanted)),
            "no index {wanted}"
        );
    }
    house.stop().await;
}

/// The condition of a partial index must say that the index's key is not null. Otherwise, the
/// planner may use the index for a query without this key, and read the whole index: a small index
/// looks cheap (docs/performance.md).
#[tokio::test] // DATA-27, DATA-29
async fn a_partial_index_of_texts_and_turns_asks_for_its_own_key() {
    let db = database("partial_indexes").await;
    let found: Vec<(String, String)> = sqlx::query_as(
        "select c.relname::text, pg_get_expr(i.indpred, i.indrelid) from pg_index i join pg_class c on c.oid = i.indexrelid
         where i.indpred is not null and i.indrelid in ('inbound_messages'::regclass, 'turns'::regclass, 'outbound_messages'::regclass)",
    )
    .fetch_all(&db.owner)
    .await
    .unwrap();
    assert!(found.len() > 8, "{found:?}");
    for (index, condition) in found {
        assert!(
            condition.contains("IS NOT NULL"),
            "{index} can be used without its key: {condition}"
        );
    }
}
