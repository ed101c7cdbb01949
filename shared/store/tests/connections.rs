//! Tests of how connections are lent and given back, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use secrecy::SecretString;
use seven_domain::IdSource;
use seven_store::{Store, SweepPlan, connections::Connections, due::DueKind};
use seven_testkit::Postgres;
use sqlx::{Connection, PgConnection};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{sleep, timeout},
};

struct House {
    url: String,
    /// The owner's connection, which observes and ends other connections.
    owner: PgConnection,
}

impl House {
    async fn build() -> Self {
        let postgres = Postgres::for_tests().await.unwrap();
        let name = format!("connections_{}", IdSource::default().uuid().simple());
        let url = postgres.create_database(&name, None).await.unwrap();
        let mut owner = PgConnection::connect(&url).await.unwrap();
        sqlx::query("create table notes (note text)")
            .execute(&mut owner)
            .await
            .unwrap();
        Self { url, owner }
    }

    fn connections(&self, most: u32) -> Connections {
        Connections::new(self.url.parse().unwrap(), most)
    }

    async fn number(&mut self, query: &'static str) -> i64 {
        sqlx::query_scalar(query)
            .fetch_one(&mut self.owner)
            .await
            .unwrap()
    }

    /// Ends all connections, as a database operator or a failover would.
    async fn end_all(&mut self) -> i64 {
        self.number(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
        )
        .await
    }
}

const OPEN: &str = "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'";

async fn note(connection: &mut PgConnection) {
    sqlx::query("insert into notes values ('a note')")
        .execute(connection)
        .await
        .unwrap();
}

async fn process(connection: &mut PgConnection) -> i32 {
    sqlx::query_scalar("select pg_backend_pid()")
        .fetch_one(connection)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_transaction_stands_when_it_is_committed_and_else_is_taken_back() {
    let mut house = House::build().await;
    let connections = house.connections(1);
    let mut dropped = connections.begin("begin").await.unwrap();
    let first = process(&mut dropped).await;
    note(&mut dropped).await;
    drop(dropped);
    let mut kept = connections.begin("begin").await.unwrap();
    note(&mut kept).await;
    assert_eq!(
        process(&mut kept).await,
        first,
        "the connection is lent again"
    );
    kept.commit().await.unwrap();
    assert_eq!(house.number("select count(*) from notes").await, 1);
    assert_eq!(house.number(OPEN).await, 0);
}

#[tokio::test]
async fn who_gets_no_connection_is_told_why() {
    // A listener that accepts no connection never answers. A socket that does not listen refuses
    // connections at once.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let deaf = tokio::net::TcpSocket::new_v4().unwrap();
    deaf.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (unheard, refused) = (silent.local_addr().unwrap(), deaf.local_addr().unwrap());
    let why = async |to: std::net::SocketAddr| {
        let connections = Connections::new(
            format!("postgres://nobody@{to}/nothing").parse().unwrap(),
            1,
        );
        seven_store::Error::from(connections.lend().await.unwrap_err())
    };
    let (of_silent, of_closed) = tokio::join!(why(unheard), why(refused));
    for (error, told) in [
        (of_silent, "does not answer"),
        (of_closed, "5 s: Connection refused"),
    ] {
        assert!(error.is_unavailable());
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(
            source.contains("no connection within 5 s") && source.contains(told),
            "{source}"
        );
    }
}

#[tokio::test]
async fn one_waits_until_another_is_given_back() {
    let house = House::build().await;
    let connections = house.connections(1);
    let first = connections.begin("begin").await.unwrap();
    let second = connections.begin("begin");
    tokio::pin!(second);
    assert!(
        timeout(Duration::from_millis(100), &mut second)
            .await
            .is_err()
    );
    first.commit().await.unwrap();
    second.await.unwrap().commit().await.unwrap();
}

#[tokio::test]
async fn who_gives_up_while_it_begins_or_asks_leaves_no_transaction_to_the_next() {
    let mut house = House::build().await;
    let connections = house.connections(1);
    let beginning = connections.begin("begin; select pg_sleep(0.2)");
    assert!(timeout(Duration::from_millis(50), beginning).await.is_err());
    let mut asking = connections.begin("begin").await.unwrap();
    note(&mut asking).await;
    let slow = sqlx::query("select pg_sleep(0.2)").execute(&mut *asking);
    assert!(timeout(Duration::from_millis(50), slow).await.is_err());
    drop(asking);
    let mut next = connections.lend().await.unwrap();
    note(&mut next).await;
    drop(next);
    assert_eq!(
        house.number("select count(*) from notes").await,
        1,
        "not in somebody else's transaction"
    );
    assert_eq!(house.number(OPEN).await, 0);
}

#[tokio::test] // D10
async fn connections_that_the_server_ended_are_replaced_and_nobody_hears_of_it() {
    let mut house = House::build().await;
    Store::migrate(&SecretString::from(house.url.clone()))
        .await
        .unwrap();
    let app = SecretString::from(house.url.replacen("postgres@", "seven_app@", 1));
    let sweep = SweepPlan {
        base: Duration::from_secs(15),
        longest: Duration::from_secs(600),
    };
    let store = Store::new(&app, 3, sweep).unwrap();
    let casino = "silver_birch".parse().unwrap();
    let open = async || {
        let all = [
            store.bind(&casino).await.unwrap(),
            store.bind(&casino).await.unwrap(),
            store.bind(&casino).await.unwrap(),
        ];
        for tx in all {
            tx.commit().await.unwrap();
        }
    };
    open().await;
    assert_eq!(store.connections(), (3, 0));
    assert_eq!(house.end_all().await, 3);
    open().await;
    assert_eq!(house.end_all().await, 3);
    store.up_since().await.unwrap();
    assert!(store.ready().await);
    // A connection that breaks while in use is not lent again.
    let held = store.bind(&casino).await.unwrap();
    house.end_all().await;
    assert!(
        held.commit()
            .await
            .is_err_and(|error| error.is_unavailable())
    );
    sleep(Duration::from_millis(50)).await;
    open().await;
}

/// A proxy between a pool and the server. The proxy can fall silent without closing anything, like
/// a machine that vanished.
struct Line {
    port: u16,
    silent: watch::Sender<bool>,
}

impl Line {
    async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, silent) = (
            listener.local_addr().unwrap().port(),
            watch::Sender::new(false),
        );
        let hears = silent.subscribe();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (server, mut hears) = (server.clone(), hears.clone());
                tokio::spawn(async move {
                    let mut upstream = TcpStream::connect(server).await.unwrap();
                    let silent = async { hears.wait_for(|silent| *silent).await.is_ok() };
                    let fell_silent = tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut upstream) => false,
                        fell_silent = silent => fell_silent,
                    };
                    if fell_silent {
                        pending::<()>().await;
                    }
                });
            }
        });
        Self { port, silent }
    }
}

#[tokio::test]
async fn what_is_counted_is_counted_once_it_stands() {
    let house = House::build().await;
    Store::migrate(&SecretString::from(house.url.clone()))
        .await
        .unwrap();
    let app = SecretString::from(house.url.replacen("postgres@", "seven_app@", 1));
    let sweep = SweepPlan {
        base: Duration::from_secs(15),
        longest: Duration::from_secs(600),
    };
    let store = Store::new(&app, 2, sweep).unwrap();
    let casino = "silver_birch".parse().unwrap();
    let counted = Arc::new(AtomicUsize::new(0));
    let opened = async || {
        let mut tx = store.bind(&casino).await.unwrap();
        let counted = Arc::clone(&counted);
        tx.once_committed(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        tx
    };
    drop(opened().await);
    opened().await.rollback().await.unwrap();
    assert_eq!(counted.load(Ordering::Relaxed), 0);
    opened().await.commit().await.unwrap();
    opened().await.commit_meanwhile().await.unwrap().unwrap();
    assert_eq!(counted.load(Ordering::Relaxed), 2);
}

#[tokio::test] // D10
async fn a_server_that_goes_without_a_word_does_not_keep_its_places() {
    let house = House::build().await;
    let (user, place) = house.url.split_once('@').unwrap();
    let (server, database) = place.split_once('/').unwrap();
    let line = Line::to(server.to_owned()).await;
    let url = format!("{user}@127.0.0.1:{}/{database}", line.port);
    let connections = Connections::new(url.parse().unwrap(), 1);
    let mut asking = connections.begin("begin").await.unwrap();
    note(&mut asking).await;
    line.silent.send_replace(true);
    let asked = sqlx::query("select 1").execute(&mut *asking);
    assert!(timeout(Duration::from_millis(100), asked).await.is_err());
    drop(asking);
    line.silent.send_replace(false);
    // The rollback of the dropped transaction times out. The next caller then gets a new
    // connection.
    let next = timeout(Duration::from_secs(20), async {
        loop {
            if let Ok(next) = connections.begin("begin").await {
                break next;
            }
        }
    });
    next.await.unwrap().commit().await.unwrap();
}

#[tokio::test] // D10
async fn a_server_that_takes_no_writes_is_away() {
    let mut house = House::build().await;
    Store::migrate(&SecretString::from(house.url.clone()))
        .await
        .unwrap();
    let app = SecretString::from(house.url.replacen("postgres@", "seven_app@", 1));
    let sweep = SweepPlan {
        base: Duration::from_secs(15),
        longest: Duration::from_secs(600),
    };
    let store = Store::new(&app, 3, sweep).unwrap();
    let name: String = sqlx::query_scalar("select current_database()")
        .fetch_one(&mut house.owner)
        .await
        .unwrap();
    let mut closed = async |how: &str| {
        let all = format!("alter database {name} set default_transaction_read_only = {how}");
        sqlx::query(sqlx::AssertSqlSafe(all))
            .execute(&mut house.owner)
            .await
            .unwrap();
    };
    closed("on").await;
    assert!(!store.ready().await);
    let casino = "silver_birch".parse().unwrap();
    let mut tx = store.bind(&casino).await.unwrap();
    let written = tx
        .put_due(DueKind::Send, IdSource::default().uuid(), Duration::ZERO)
        .await;
    assert!(
        written.is_err_and(|error| error.is_unavailable()),
        "to be tried again, not a failure of the text"
    );
    drop(tx);
    closed("off").await;
    // A connection opened before the change keeps the old setting; each call of `ready` closes one
    // such connection.
    let mut looks = 0;
    while !store.ready().await {
        looks += 1;
        assert!(looks <= 3, "no connection is replaced");
    }
}
