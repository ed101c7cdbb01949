//! Tests how the scheduler changes streams that an older release or a person created.

use std::time::Duration;

use async_nats::jetstream::{self, stream};
use seven_bus::{permissions, topology};

use super::{Secured, password};

const USER: &str = "scheduler";

/// The scheduler's user raises the streams' limits to those of this release, lowers no limit and
/// keeps all messages. A NATS server before 2.15 refuses to change the maximum number of consumers.
/// On such a server the limits stay.
#[tokio::test] // DEP-44
async fn streams_that_allow_less_are_given_what_ours_allow() {
    let secured = Secured::start("deploy_older", None).await;
    let client = async_nats::ConnectOptions::with_user_and_password(USER.into(), password(USER))
        .custom_inbox_prefix(permissions::inbox_of(USER))
        .connect(secured.nats.url())
        .await
        .unwrap();
    let version = client.server_info().version;
    let version: Vec<u32> = version
        .split('.')
        .take(2)
        .map(|part| part.parse().unwrap())
        .collect();
    let js = jetstream::new(client);
    let ours = |name: &str| {
        topology::streams(&topology::Limits::default())
            .into_iter()
            .find(|config| config.name == name)
            .unwrap()
    };
    let minute = Duration::from_secs(60);
    let older = stream::Config {
        max_consumers: 2,
        duplicate_window: minute,
        ..ours("OUTBOUND")
    };
    let by_hand = stream::Config {
        max_consumers: 200_000,
        duplicate_window: 30 * minute,
        ..ours("INGRESS")
    };
    for config in [older, by_hand] {
        js.create_stream(config).await.unwrap();
    }
    js.publish("outbound.silver_birch.reply", "kept".into())
        .await
        .unwrap()
        .await
        .unwrap();

    secured.bus(USER).await.ensure_streams().await.unwrap();
    let there = async |name: &str| js.get_stream(name).await.unwrap().cached_info().clone();
    let raised = there("OUTBOUND").await;
    let limits = |config: &stream::Config| (config.max_consumers, config.duplicate_window);
    let wanted = if version >= vec![2, 15] {
        limits(&ours("OUTBOUND"))
    } else {
        (2, minute)
    };
    assert_eq!((limits(&raised.config), raised.state.messages), (wanted, 1));
    assert_eq!(
        limits(&there("INGRESS").await.config),
        (200_000, 30 * minute)
    );
    assert_eq!(secured.violations(), Vec::<String>::new());
}

/// A stream without a byte limit gets one that leaves room for its messages. A full stream refuses
/// new messages and keeps the old ones.
#[tokio::test] // PROD-36
async fn a_full_stream_refuses_and_drops_nothing() {
    let secured = Secured::start("deploy_full", None).await;
    let client = async_nats::ConnectOptions::with_user_and_password(USER.into(), password(USER))
        .custom_inbox_prefix(permissions::inbox_of(USER))
        .connect(secured.nats.url())
        .await
        .unwrap();
    let js = jetstream::new(client);
    let small = topology::Limits {
        stream_bytes: 64 << 10,
        ..topology::Limits::default()
    };
    for config in topology::streams(&small) {
        let unbounded = config.name == "CLEARED";
        let max_bytes = if unbounded { -1 } else { config.max_bytes };
        js.create_stream(stream::Config {
            max_bytes,
            ..config
        })
        .await
        .unwrap();
    }
    let publish = async |subject: &str| {
        js.publish(subject.to_owned(), vec![0; 8 << 10].into())
            .await
            .unwrap()
            .await
    };
    for _ in 0..20 {
        publish("cleared.silver_birch").await.unwrap();
    }
    let mut stored = 0;
    let refused = loop {
        match publish("outbound.silver_birch.reply").await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        assert!(
            stored < 20,
            "a stream of 64 KiB took {stored} messages of 8 KiB"
        );
    };
    assert!(
        refused.to_string().contains("maximum bytes exceeded"),
        "{refused}"
    );

    let bus = secured.bus(USER).await;
    bus.ensure_streams().await.unwrap();
    let storage = bus.storage().await.unwrap();
    let room = |name: &str| storage.iter().find(|room| room.stream == name).unwrap();
    assert!(
        room("OUTBOUND").held_bytes >= stored * (8 << 10),
        "{storage:?}"
    );
    let (held, limit) = (room("CLEARED").held_bytes, room("CLEARED").limit_bytes);
    assert_eq!(
        limit,
        Some((1 << 30).max(2 * held)),
        "the default, with room for what is there"
    );
    publish("cleared.silver_birch").await.unwrap();
    assert_eq!(secured.violations(), Vec::<String>::new());
}
