//! Tests that the servers start, answer, fail on demand, and never outlive the process that started
//! them.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    io::{Read, Write},
    net::TcpStream,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use seven_testkit::{DirLock, Nats, Options, Postgres, Redis, Scratch, Servers, signal_group};

fn port_of(url: &str) -> u16 {
    let address = url.split("://").nth(1).unwrap().split('/').next().unwrap();
    address.rsplit(':').next().unwrap().parse().unwrap()
}

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

fn redis_says(url: &str, commands: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port_of(url))).unwrap();
    stream
        .write_all(format!("{commands}\r\nQUIT\r\n").as_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Calls `ready` every 10 ms until it is true, or returns false after `limit`.
async fn within(limit: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if ready() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn nats_keeps_port_and_data_over_a_crash_until_wiped() {
    let dir = Scratch::new("nats").unwrap();
    let nats = Nats::start(dir.path()).await.unwrap();
    let config = std::fs::read_to_string(dir.path().join("nats.conf")).unwrap();
    assert!(config.contains("sync_interval: always"), "{config}");
    let (url, pid) = (nats.url(), nats.pid().unwrap());
    let kept = nats.data_dir().unwrap().join("jetstream/kept");
    std::fs::write(&kept, "x").unwrap();

    nats.kill().unwrap();
    assert!(!listens(port_of(&url)) && nats.pid().is_none());
    nats.restart().await.unwrap();
    assert_eq!(nats.url(), url);
    assert_ne!(nats.pid().unwrap(), pid);
    assert!(kept.exists());

    nats.wipe_data().await.unwrap();
    assert!(!kept.exists() && !listens(port_of(&url)));
    nats.restart().await.unwrap();
    assert!(listens(port_of(&url)));
    nats.stop().await.unwrap();
    assert!(!listens(port_of(&url)));
}

#[tokio::test]
async fn redis_forgets_over_a_restart_unless_it_was_told_to_save() {
    let dir = Scratch::new("redis").unwrap();
    let redis = Redis::start(dir.path()).await.unwrap();
    let url = redis.url();
    assert!(redis_says(&url, "SET a 1").starts_with("+OK"));
    redis.restart().await.unwrap();
    assert!(redis_says(&url, "GET a").starts_with("$-1"));
    redis_says(&url, "SET a 1\r\nSAVE\r\nSET a 2");
    redis.kill().unwrap();
    redis.restart().await.unwrap();
    assert!(
        redis_says(&url, "GET a").starts_with("$1\r\n1"),
        "the older snapshot"
    );
    let port = port_of(&url);
    drop(redis);
    assert!(!listens(port));
}

#[tokio::test]
async fn a_frozen_server_keeps_its_connections_and_says_nothing() {
    let dir = Scratch::new("frozen").unwrap();
    let redis = Redis::start(dir.path()).await.unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port_of(&redis.url()))).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    redis.freeze().unwrap();
    stream.write_all(b"PING\r\n").unwrap();
    let mut answer = [0; 7];
    assert!(stream.read(&mut answer).is_err());
    redis.thaw().unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+PONG\r\n");
    // Stopping a frozen server must not hang.
    redis.freeze().unwrap();
    redis.stop().await.unwrap();
}

#[tokio::test]
async fn postgres_keeps_its_data_over_a_crash_and_copies_databases() {
    let dir = Scratch::new("postgres").unwrap();
    let postgres = Postgres::start(dir.path(), true).await.unwrap();
    let url = postgres.create_database("first", None).await.unwrap();
    assert!(url.ends_with("/first?sslmode=disable"), "{url}");
    postgres
        .run_sql("first", "CREATE TABLE t AS SELECT 'señor' AS v".into())
        .await
        .unwrap();
    postgres
        .create_database("second", Some("first"))
        .await
        .unwrap();
    assert!(
        postgres.create_database("second", None).await.is_err(),
        "there is one already"
    );
    assert!(postgres.create_database("x\"; DROP", None).await.is_err());
    assert!(
        postgres.has_database("second").await.unwrap()
            && !postgres.has_database("third").await.unwrap()
    );

    postgres.kill().unwrap();
    postgres.restart().await.unwrap();
    // Neither the encoding nor the upper case of non-ASCII letters depends on the machine's locale.
    let settings =
        "SELECT upper(v), getdatabaseencoding(), current_setting('unix_socket_directories') FROM t";
    let upper = if cfg!(target_os = "linux") {
        "SEÑOR"
    } else {
        "SEñOR"
    };
    assert_eq!(
        postgres
            .run_sql("second", settings.into())
            .await
            .unwrap()
            .trim(),
        format!("{upper}|UTF8|")
    );
    postgres.drop_database("second").await.unwrap();
    assert!(!postgres.has_database("second").await.unwrap());

    let data = postgres.data_dir().unwrap().to_owned();
    drop(postgres);
    assert!(!data.exists(), "a fast one leaves nothing behind");
}

/// Environment variable that the test below sets in its child process.
const LEAVES_A_DATABASE: &str = "SEVEN_TEST_LEAVES_A_DATABASE";

#[tokio::test]
async fn a_database_on_a_shared_server_goes_with_its_process() {
    const NAME: &str = "a_database_on_a_shared_server_goes_with_its_process";
    if std::env::var_os(LEAVES_A_DATABASE).is_some() {
        let shared = Postgres::from_env().unwrap();
        shared.create_database("left", None).await.unwrap();
        // Ends as a crashing test does: nothing is dropped.
        std::process::abort();
    }
    let dir = Scratch::new("shared").unwrap();
    let postgres = Postgres::start(dir.path(), true).await.unwrap();
    postgres.create_database("own", None).await.unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env(LEAVES_A_DATABASE, "1")
        .env("SEVEN_TEST_POSTGRES", postgres.url())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(6), "the child made its database");
    let deadline = Instant::now() + Duration::from_secs(30);
    while postgres.has_database("left").await.unwrap() {
        assert!(Instant::now() < deadline, "the database is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(postgres.has_database("own").await.unwrap());
}

#[tokio::test]
async fn kept_postgres_data_is_there_at_the_next_start() {
    let dir = Scratch::new("kept").unwrap();
    let first = Servers::start(dir.path(), Options::default())
        .await
        .unwrap();
    first.postgres.create_database("kept", None).await.unwrap();
    assert_eq!(
        first
            .postgres
            .run_sql("kept", "SHOW fsync".into())
            .await
            .unwrap()
            .trim(),
        "on"
    );
    let taken = Servers::start(dir.path(), Options::default())
        .await
        .unwrap_err();
    assert!(
        format!("{taken:#}").contains(&std::process::id().to_string()),
        "{taken:#}"
    );
    first.stop().await.unwrap();

    let second = Servers::start(dir.path(), Options::default())
        .await
        .unwrap();
    assert!(second.postgres.has_database("kept").await.unwrap());
    second.postgres.wipe_data().await.unwrap();
    second.postgres.restart().await.unwrap();
    assert!(!second.postgres.has_database("kept").await.unwrap());
    second.postgres.wipe_data().await.unwrap();
}

#[test]
fn the_lock_goes_with_its_holder() {
    let dir = Scratch::new("lock").unwrap();
    let held = DirLock::acquire(dir.path()).unwrap();
    assert!(DirLock::acquire(dir.path()).is_err());
    drop(held);
    DirLock::acquire(dir.path()).unwrap();
}

/// A running `seven-servers run` whose command is a sleep, with its pids and ports.
struct Run {
    parent: Child,
    sleeper: u32,
    ports: Vec<u16>,
}

impl Run {
    async fn start(dir: &Path) -> Self {
        let script = r#"echo "$$ $SEVEN_TEST_POSTGRES $SEVEN_NATS_URL $SEVEN_REDIS_URL" > "$0.part"; mv "$0.part" "$0"; exec sleep 60"#;
        let told = dir.join("told");
        let parent = Command::new(env!("CARGO_BIN_EXE_seven-servers"))
            .args(["run", "--postgres", "--nats", "--redis", "--dir"])
            .arg(dir)
            .args(["--", "sh", "-c", script])
            .arg(&told)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        assert!(
            within(Duration::from_secs(30), || told.exists()).await,
            "the servers did not start"
        );
        let text = std::fs::read_to_string(&told).unwrap();
        let mut words = text.split_whitespace();
        let sleeper = words.next().unwrap().parse().unwrap();
        let ports: Vec<u16> = words.map(port_of).collect();
        assert_eq!(ports.len(), 3);
        assert!(ports.iter().all(|port| listens(*port)));
        Self {
            parent,
            sleeper,
            ports,
        }
    }

    async fn nothing_left(&self) -> bool {
        within(Duration::from_secs(3), || {
            !alive(self.sleeper) && !self.ports.iter().any(|port| listens(*port))
        })
        .await
    }
}

#[tokio::test]
async fn killing_the_parent_leaves_no_server_behind() {
    let dir = Scratch::new("orphans").unwrap();
    let mut run = Run::start(dir.path()).await;
    run.parent.kill().unwrap();
    run.parent.wait().unwrap();
    assert!(run.nothing_left().await);
    let pid_files = || {
        ["nats", "redis", "postgres"]
            .iter()
            .any(|name| dir.path().join(format!("{name}.pid")).exists())
    };
    assert!(
        within(Duration::from_secs(3), || !pid_files()).await,
        "the watchdog leaves the pid files"
    );
}

#[tokio::test]
async fn a_signal_ends_the_command_and_then_the_servers() {
    let dir = Scratch::new("signal").unwrap();
    let mut run = Run::start(dir.path()).await;
    Command::new("/bin/sh")
        .args(["-c", "kill -TERM $0", &run.parent.id().to_string()])
        .status()
        .unwrap();
    assert_eq!(run.parent.wait().unwrap().code(), Some(128 + 15));
    assert!(run.nothing_left().await);
}

#[test]
fn the_command_decides_the_exit_code() {
    let run = |script: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seven-servers"));
        command
            .args(["run", "--", "sh", "-c", script])
            .status()
            .unwrap()
            .code()
    };
    assert_eq!(run("exit 0"), Some(0));
    assert_eq!(run("exit 7"), Some(7));
    assert_eq!(run("kill -KILL $$"), Some(137));
}

#[test]
fn a_signal_to_nobody_is_an_error() {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    assert!(signal_group(child.id(), "TERM").is_err());
}

#[tokio::test]
async fn a_private_bus_and_cache_are_cheap() {
    let dir = Scratch::new("cheap").unwrap();
    let started = Instant::now();
    for round in 0..3 {
        let dir = dir.path().join(round.to_string());
        let (nats, redis) = tokio::join!(Nats::start(&dir), Redis::start(&dir));
        nats.unwrap().stop().await.unwrap();
        redis.unwrap().stop().await.unwrap();
    }
    // The aim is 200 ms for each pair of servers; the bound leaves room for a busy machine.
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}
