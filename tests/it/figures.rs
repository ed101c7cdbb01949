//! Compares a manager's figures with the hand-written queries of `docs/metrics.md` (OBS-33,
//! CONV-52). The rows of the compared month come from a file, not from the code under test.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use seven_compliance::chain::Action;
use seven_domain::{ConsentTier, GuestHash, GuestId, Language, OptOutReason};
use seven_figures::{Figure, Period, Report, Unit};
use seven_store::consent::Consent;
use sqlx::{AssertSqlSafe, PgPool, Row};

use crate::harness::{House, Wanted, house};

const METRICS: &str = include_str!("../../docs/metrics.md");

/// A fleet without workers, so that nothing but the test writes rows.
pub(crate) fn silent() -> Wanted {
    Wanted {
        workers: Vec::new(),
        extra:
            "[cost]\nsegment_out = \"0.0041\"\nsegment_in = \"0.0032\"\nsurcharge = \"0.0029\"\n"
                .to_owned(),
        ..Wanted::default()
    }
}

/// Adds rows for about forty days (`figures/month.sql`), and returns the period of the last 31
/// days.
pub(crate) async fn month(house: &House) -> Period {
    let zone = house.config.operational.timezone;
    let now = house.stack.fleet.clock.now();
    let period = Period::last(31, now, zone);
    let (from, to) = period.bounds();
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    // Adds a second casino. It gets rows that no figure of the first casino may count.
    let other = "insert into casinos (casino_id, timezone, state, config)
                 select 'other_casino', timezone, state, config from casinos limit 1";
    sqlx::query(other).execute(&pool).await.unwrap();
    let rows = include_str!("figures/month.sql");
    let rows = rows
        .replace("'CASINO'", &format!("'{}'", house.casino()))
        .replace("'OTHER'", "'other_casino'")
        .replace("FROM'", &format!("{}'", from.to_rfc3339()))
        .replace("TO'", &format!("{}'", to.to_rfc3339()));
    sqlx::raw_sql(AssertSqlSafe(rows))
        .execute(&pool)
        .await
        .unwrap();
    leave(house, &pool).await;
    pool.close().await;
    period
}

/// Lets nine guests opt out today, all but one with a reason, and records the opt-outs as the gate
/// does.
async fn leave(house: &House, pool: &PgPool) {
    let guests = "select guest_id, key_id, phone_hash from guests where casino_id = $1 order by guest_id limit 9";
    let guests = sqlx::query(guests).bind(house.casino().as_str());
    let fleet = &house.stack.fleet;
    for (n, row) in guests.fetch_all(pool).await.unwrap().iter().enumerate() {
        let guest = GuestHash {
            key_id: row.get(1),
            bytes: row.get::<Vec<u8>, _>(2).try_into().unwrap(),
        };
        let reason = OptOutReason::ALL[n % 4];
        let mut tx = fleet.store.bind(house.casino()).await.unwrap();
        let change = Consent {
            guest: &guest,
            guest_id: Some(GuestId(row.get(0))),
            action: Action::Revoked,
            method: "sms_stop_keyword",
            tier: if n == 8 {
                ConsentTier::Transactional
            } else {
                ConsentTier::None
            },
            at: fleet.clock.now(),
            evidence: match n {
                7 => serde_json::json!({}),
                _ => serde_json::json!({ "reason": reason }),
            },
            actor: "test",
            trace: None,
        };
        tx.record_consent(&change, &fleet.keys).await.unwrap();
        tx.commit().await.unwrap();
    }
}

/// Returns the queries of `docs/metrics.md`, keyed by figure.
fn queries() -> BTreeMap<Figure, String> {
    let sections = METRICS.split("\n### ").skip(1);
    let queries = sections.filter_map(|section| {
        let figure = section.lines().next()?.parse().ok()?;
        let query = section.split("```sql\n").nth(1)?.split("```").next()?;
        Some((figure, query.to_owned()))
    });
    queries.collect()
}

/// Runs a query of `docs/metrics.md`. A query with one column returns the figure's whole value. A
/// query with two columns returns the names and values of the figure's parts.
async fn by_hand(
    pool: &PgPool,
    query: &str,
    casino: &str,
    (from, to): (DateTime<Utc>, DateTime<Utc>),
) -> BTreeMap<String, f64> {
    let query = query
        .replace(":casino", &format!("'{casino}'"))
        .replace(":from", &format!("'{}'", from.to_rfc3339()))
        .replace(":to", &format!("'{}'", to.to_rfc3339()))
        .replace(":segment_out", "0.0041")
        .replace(":segment_in", "0.0032")
        .replace(":surcharge", "0.0029");
    let parted = query.contains("group by");
    let columns = if parted {
        "a::text, b::float8"
    } else {
        "''::text, a::float8"
    };
    let names = if parted { "(a, b)" } else { "(a)" };
    let query = format!("select {columns} from ({query}) q{names}");
    let rows = sqlx::query_as::<_, (String, Option<f64>)>(AssertSqlSafe(query.clone()));
    let rows = rows.fetch_all(pool).await;
    let rows = rows
        .unwrap_or_else(|error| panic!("{error}: {query}"))
        .into_iter();
    rows.filter_map(|(part, value)| Some((part, value?)))
        .collect()
}

#[tokio::test] // OBS-33
async fn a_month_equals_hand_written_queries_in_every_figure() {
    let house = house("figures", silent()).await;
    let period = month(&house).await;
    let settings = seven_settings::Settings::load(Some(&house.stack.config_file)).unwrap();
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    let queries = queries();
    for period in [period, period.before()] {
        let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
        let report = Report::read(&mut tx, &settings.cost, period).await.unwrap();
        tx.commit().await.unwrap();
        for figure in Figure::ALL {
            let query = &queries[figure];
            let by_hand = by_hand(&pool, query, house.casino().as_str(), period.bounds()).await;
            let ours = report.values.iter().filter(|value| value.figure == *figure);
            let ours: BTreeMap<_, _> = ours.map(|of| (of.part.clone(), of.value)).collect();
            assert_eq!(
                ours.keys().collect::<Vec<_>>(),
                by_hand.keys().collect::<Vec<_>>(),
                "{figure} {period:?}"
            );
            for (part, value) in &ours {
                let wanted = by_hand[part];
                let near = (value - wanted).abs() < 1e-6 * wanted.abs().max(1.0);
                assert!(near, "{figure} {part}: {value}, by hand {wanted}");
            }
        }
        days_add_up(&report);
    }
    // Every figure of the month must be above zero, because comparing zeros would prove nothing.
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let report = Report::read(&mut tx, &settings.cost, period).await.unwrap();
    for figure in Figure::ALL {
        let mut values = report.values.iter().filter(|value| value.figure == *figure);
        assert!(values.any(|value| value.value > 0.0), "{figure} is nothing");
    }
    assert_eq!(
        report.parts(Figure::OptOuts).count(),
        5,
        "{:?}",
        report.values
    );
    drop(tx);
    house.stop().await;
}

/// Asserts that the figures of the single days add up to those of the period.
fn days_add_up(report: &Report) {
    let days = &report.days;
    assert_eq!(
        days.len() as i64,
        (report.period.to - report.period.from).num_days() + 1
    );
    let sum = |of: fn(&seven_figures::Day) -> i64| days.iter().map(of).sum::<i64>() as f64;
    let whole = |figure| report.value(figure).unwrap_or_default();
    let parts = |figure| report.parts(figure).map(|part| part.value).sum::<f64>();
    assert_eq!(sum(|day| day.counted.texts_in), whole(Figure::TextsIn));
    assert_eq!(sum(|day| day.counted.answered), whole(Figure::Answered));
    assert_eq!(sum(|day| day.counted.texts_out), whole(Figure::TextsOut));
    assert_eq!(sum(|day| day.counted.cases), parts(Figure::Cases));
    assert_eq!(sum(|day| day.counted.opt_outs), parts(Figure::OptOuts));
    let cost = days.iter().map(|day| day.cost.dollars()).sum::<f64>();
    assert!((cost - whole(Figure::Cost)).abs() < 1e-6);
}

#[test]
fn the_page_defines_every_figure_in_the_words_of_the_pages() {
    let queries = queries();
    for figure in Figure::ALL {
        assert!(queries.contains_key(figure), "{figure} has no query");
        let line = format!(
            "### {figure}\n\n{}. {}\n",
            figure.name(Language::En),
            figure.definition(Language::En)
        );
        assert!(METRICS.contains(&line), "{line}");
    }
    assert!(
        Figure::ALL
            .iter()
            .all(|figure| figure.unit() != Unit::Share || figure.as_str().ends_with("_share"))
    );
}
