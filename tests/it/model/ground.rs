//! The statements that prepare the world's database and clear it between sequences. When the test's
//! clock jumps, other statements here move the times in the database's rows.

use sqlx::PgPool;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::steps::Said;

pub(crate) const CLEAR: &str = "
delete from consent_prompts; delete from receipts; delete from send_attempts; delete from outbound_messages; delete from turns;
delete from inbound_messages; delete from conversations; delete from escalations; delete from number_checks; delete from guests;
delete from deletions; delete from suppressions; delete from consent_heads; delete from consent_events; delete from due;
delete from dead_letters; delete from spool; delete from provider_stops";

/// SQL that gives each guest the time zone in which it is the test's local hour. The SQL also lets
/// sequences delete consent events, which are append-only in production.
pub(crate) const PREPARE: &str = "
create table model_clock (zone text not null);
insert into model_clock values ('Etc/GMT');
grant select on model_clock to seven_app;
create function model_zone() returns trigger language plpgsql as $$
begin new.zone := (select zone from model_clock); new.state := 'CT'; return new; end $$;
create trigger model_zone before insert on guests for each row execute function model_zone();
alter table consent_events disable trigger consent_append_only;
insert into exclusion_lists (casino_id, entries) select casino_id, 0 from casinos";

/// Asserts that the classifier finds the intent that the model expects in this text.
pub(crate) fn understood(said: Said) {
    use seven_compliance::Intent::{Affirm, Delete, Help, OptIn, OptOut};
    let wanted = match said {
        _ if said.is_stop() => Some(OptOut),
        _ if said.is_start() => Some(OptIn),
        Said::Yes => Some(Affirm),
        Said::Help => Some(Help),
        Said::Delete => Some(Delete),
        _ => None,
    };
    let found = seven_compliance::classify(said.text());
    assert_eq!(
        found.as_ref().map(|keyword| keyword.intent),
        wanted,
        "{:?}",
        said.text()
    );
    let Some(keyword) = found else { return };
    let known = seven_compliance::provider::reacts(seven_domain::TELNYX, said.text());
    assert_eq!(known, said.known_to_provider(), "{:?}", said.text());
    assert_eq!(
        keyword.pattern_id.starts_with("optout.nl"),
        said.in_words(),
        "{:?}",
        said.text()
    );
}

/// Returns statements that move the times in every table back by `{seconds}`, except in append-only
/// and static tables.
pub(crate) async fn shift(owner: &PgPool) -> String {
    let columns: Vec<(String, String)> = sqlx::query_as(
        "select c.table_name::text, string_agg(format('%1$I = %1$I - interval ''{seconds} s''', c.column_name), ', ')
         from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
         where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type = 'timestamp with time zone'
           and c.table_name not in ('audit_log', 'consent_events', 'casinos', 'content_items', 'nightly', '_sqlx_migrations')
         group by 1",
    )
    .fetch_all(owner)
    .await
    .unwrap();
    columns
        .into_iter()
        .map(|(table, set)| format!("update {table} set {set}"))
        .collect::<Vec<_>>()
        .join("; ")
}

/// Sends lines to a server with a text protocol and returns the first bytes of the answer.
pub(crate) async fn tell(url: &str, lines: &[u8]) -> String {
    let address = url
        .split("//")
        .last()
        .unwrap()
        .trim_end_matches('/')
        .split('/')
        .next()
        .unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(lines).await.unwrap();
    let mut answer = vec![0; 4096];
    let n = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..n]).into_owned()
}
