//! Tests, on a real Postgres, that the database allows only certain changes of a ticket's state
//! (WID-21).

use seven_domain::{CasinoConfig, ConversationId, IdSource};
use seven_store::Store;
use sqlx::{Connection, PgConnection};

use crate::house;

const STATES: [&str; 4] = ["open", "pending_human", "resolved", "closed"];
/// The changes of state that the design allows. Staying in the same state is allowed, too.
const MOVES: [(&str, &str); 4] = [
    ("open", "pending_human"),
    ("open", "closed"),
    ("pending_human", "resolved"),
    ("resolved", "open"),
];

/// Returns the states through which a ticket must pass to reach `state`. A new ticket is
/// `pending_human`.
fn way_to(state: &str) -> &'static [&'static str] {
    match state {
        "pending_human" => &[],
        "resolved" => &["resolved"],
        "open" => &["resolved", "open"],
        _ => &["resolved", "open", "closed"],
    }
}

/// Returns a store with one casino and a conversation there, and the owner's connection.
async fn conversation() -> (Store, CasinoConfig, ConversationId, PgConnection) {
    let house = house::house("tickets").await;
    let mut tx = house.store.bind(&house.config.casino_id).await.unwrap();
    let (party, _) = house.party(&mut tx, "+18605550143").await;
    tx.commit().await.unwrap();
    let owner = PgConnection::connect(&house.url).await.unwrap();
    (house.store, house.config, party.conversation_id, owner)
}

#[tokio::test] // WID-21
async fn the_database_allows_the_moves_of_a_ticket_and_no_other() {
    let (_store, _, conversation, mut owner) = conversation().await;
    let insert =
        "insert into tickets (casino_id, ticket_id, number, conversation_id, state, reason)
         values ('silver_birch', gen_random_uuid(), 1, $1, $2, 'test')";
    let go = "update tickets set state = $1";
    for from in STATES {
        let mut tx = owner.begin().await.unwrap();
        let begun = sqlx::query(insert).bind(conversation.0).bind(from);
        let begun = begun.execute(&mut *tx).await;
        assert_eq!(begun.is_ok(), from == "pending_human", "begins as {from}");
        tx.rollback().await.unwrap();
        for to in STATES {
            let mut tx = owner.begin().await.unwrap();
            let begun = sqlx::query(insert).bind(conversation.0);
            begun.bind("pending_human").execute(&mut *tx).await.unwrap();
            for state in way_to(from) {
                sqlx::query(go).bind(state).execute(&mut *tx).await.unwrap();
            }
            let moved = sqlx::query(go).bind(to).execute(&mut *tx).await;
            let allowed = from == to || MOVES.contains(&(from, to));
            assert_eq!(moved.is_ok(), allowed, "{from} to {to}");
            tx.rollback().await.unwrap();
        }
    }
}

#[tokio::test] // WID-21
async fn an_open_ticket_closes_when_its_guest_wrote_nothing_for_a_day() {
    let (store, config, conversation, mut owner) = conversation().await;
    for (number, state, hours, closes) in [
        (1, "open", 25, true),
        (2, "open", 23, false),
        (3, "pending_human", 25, false),
        (4, "resolved", 25, false),
    ] {
        let ticket = IdSource::default().uuid();
        sqlx::query("delete from tickets")
            .execute(&mut owner)
            .await
            .unwrap();
        sqlx::query(
            "insert into tickets (casino_id, ticket_id, number, conversation_id, state, reason, opened_at)
             values ('silver_birch', $1, $2, $3, 'pending_human', 'test', now() - interval '2 days')",
        )
        .bind(ticket)
        .bind(number)
        .bind(conversation.0)
        .execute(&mut owner)
        .await
        .unwrap();
        for state in way_to(state) {
            let go = sqlx::query("update tickets set state = $1").bind(state);
            go.execute(&mut owner).await.unwrap();
        }
        sqlx::query(
            "update conversations set last_inbound_at = now() - make_interval(hours => $1)",
        )
        .bind(hours)
        .execute(&mut owner)
        .await
        .unwrap();
        let mut tx = store.bind(&config.casino_id).await.unwrap();
        let closed = tx.close_idle_tickets().await.unwrap();
        let now = tx.ticket(ticket).await.unwrap().unwrap().state;
        tx.commit().await.unwrap();
        assert_eq!(closed, u64::from(closes), "{state} after {hours} hours");
        let wanted = if closes { "closed" } else { state };
        assert_eq!(now.as_str(), wanted, "{state} after {hours} hours");
    }
}
