//! Until autovacuum has gathered statistics, Postgres assumes that a table has one or two rows, and
//! may plan statements badly. A badly planned statement reads a number of rows that grows with the
//! square of the stored rows (docs/performance.md).

use std::time::Duration;

use seven_settings::Worker;
use sqlx::postgres::PgPoolOptions;

use crate::harness::{GUEST, Wanted, house, until};

/// Number of guests who write one text each.
const TEXTS: i64 = 500;
/// Maximum number of rows and index entries that the statements of one text may read per stored
/// text. Some statements read a whole index of their casino. A quiet machine reads 5 or 6; a busy
/// machine repeats more work and reads 9. A join that reads all rows for each row reads hundreds.
const WALKS: i64 = 24;

#[tokio::test] // PROD-26
async fn a_text_reads_rows_in_proportion_to_what_is_stored_and_not_to_its_square() {
    // The fleet has no scheduler, because the scheduler's periodic scans read more rows the longer
    // the test takes.
    let workers: Vec<_> = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::Scheduler)
        .collect();
    // The fleet has few connections, so that all of them have planned their statements before many
    // rows exist.
    let extra = "postgres.connections = 2".to_owned();
    let house = house(
        "uncounted",
        Wanted {
            workers,
            extra,
            ..Wanted::default()
        },
    )
    .await;
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .connect(&house.database_url)
        .await
        .unwrap();
    // Without autovacuum, the plans made for the first texts stay in use.
    sqlx::raw_sql(
        "do $$ declare each regclass; begin
            for each in select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
            loop execute format('alter table %s set (autovacuum_enabled = false)', each); end loop; end $$",
    )
    .execute(&pool)
    .await
    .unwrap();
    for n in 0..10 {
        house.text(GUEST, "where is nonna salvia?");
        house.settle(n + 1).await;
    }
    for n in 0..TEXTS {
        house.text(&format!("+1860555{:04}", 200 + n), "where is nonna salvia?");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    house.settle(10 + TEXTS).await;
    // Postgres adds a connection's reads to its statistics when the connection ends.
    house.stop().await;
    until("all connections ended", Duration::from_secs(10), || async {
        let others =
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
        sqlx::query_scalar::<_, i64>(others).fetch_one(&pool).await.unwrap() == 0
    })
    .await;
    let read: Vec<(String, i64)> = sqlx::query_as(
        "select relname::text, (coalesce(sum(idx_tup_read), 0) + max(seq))::bigint from (
            select t.relname, t.seq_tup_read as seq, i.idx_tup_read from pg_stat_user_tables t
            left join pg_stat_user_indexes i using (relid)) read group by relname order by 2 desc",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let all: i64 = read.iter().map(|(_, rows)| rows).sum();
    let most = TEXTS * TEXTS / 2 * WALKS;
    assert!(all > TEXTS, "nothing was counted: {read:?}");
    assert!(
        all < most,
        "{} rows read for {TEXTS} texts, at most {most}: {:?}",
        all,
        &read[..8]
    );
}
