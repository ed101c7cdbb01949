//! Searches for words wherever the fleet stores data: rows, streams, Redis, logs.

use std::path::{Path, PathBuf};

use futures::StreamExt;
use sqlx::AssertSqlSafe;

use crate::harness::House;

/// Returns the places where these words are found, one line each.
pub(crate) async fn found(house: &House, words: &[&str]) -> Vec<String> {
    let mut found = rows(house, words).await;
    found.extend(messages(house, words).await);
    found.extend(keys(house, words).await);
    for file in logs(house.scratch.path()) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap_or_default()).into_owned();
        found.extend(
            words
                .iter()
                .filter(|w| text.contains(**w))
                .map(|w| format!("{} holds `{w}`", file.display())),
        );
    }
    found
}

async fn rows(house: &House, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        "select table_name::text from information_schema.tables where table_schema = 'public'",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    for (table, word) in tables
        .iter()
        .flat_map(|table| words.iter().map(move |word| (table, word)))
    {
        // Binary columns are shown as hex, so the word is searched for in both forms.
        let hex: String = word.bytes().map(|b| format!("{b:02x}")).collect();
        let query = format!(
            "select count(*) from {table} t where t::text like '%{word}%' or t::text like '%{hex}%'"
        );
        let hits: i64 = sqlx::query_scalar(AssertSqlSafe(query))
            .fetch_one(&pool)
            .await
            .unwrap();
        if hits > 0 {
            found.push(format!("{hits} row(s) of {table} hold `{word}`"));
        }
    }
    pool.close().await;
    found
}

async fn messages(house: &House, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let js = async_nats::jetstream::new(async_nats::connect(house.nats.url()).await.unwrap());
    let mut names = js.stream_names();
    while let Some(name) = names.next().await {
        let name = name.unwrap();
        let stream = js.get_stream(&name).await.unwrap();
        let state = stream.get_info().await.unwrap().state;
        for sequence in state.first_sequence..=state.last_sequence {
            let Ok(message) = stream.get_raw_message(sequence).await else {
                continue;
            };
            let payload = String::from_utf8_lossy(&message.payload);
            let all = format!("{} {:?} {payload}", message.subject, message.headers);
            found.extend(
                words
                    .iter()
                    .filter(|w| all.contains(**w))
                    .map(|w| format!("{name} #{sequence} holds `{w}`")),
            );
        }
    }
    found
}

async fn keys(house: &House, words: &[&str]) -> Vec<String> {
    let client = redis::Client::open(house.redis.url()).unwrap();
    let mut connection = client.get_connection_manager().await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg("*")
        .query_async(&mut connection)
        .await
        .unwrap();
    let mut found = Vec::new();
    for key in keys {
        // The dump of a value of any type contains the value's bytes.
        let dump: Vec<u8> = redis::cmd("DUMP")
            .arg(&key)
            .query_async(&mut connection)
            .await
            .unwrap_or_default();
        let all = format!("{key} {}", String::from_utf8_lossy(&dump));
        found.extend(
            words
                .iter()
                .filter(|w| all.contains(**w))
                .map(|w| format!("Redis {key} holds `{w}`")),
        );
    }
    found
}

/// Returns the files that the fleet wrote. The stores' files are left out, since the stores are
/// searched by query.
fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(logs(&path));
        } else if path.extension().is_some_and(|e| e == "log") {
            files.push(path);
        }
    }
    files
}
