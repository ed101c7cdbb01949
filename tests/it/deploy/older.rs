//! Streams that an older release made, or somebody by hand.

use std::time::Duration;

use async_nats::jetstream::{self, stream};
use seven_bus::{permissions, topology};

use super::{Secured, password};

const USER: &str = "scheduler";

/// The scheduler's own user gives them what this release allows, lowers nothing and keeps what is in them. A server before 2.15 refuses
/// another number of consumers; then they stay as they are, and the fleet works.
#[tokio::test] // DEP-44
async fn streams_that_allow_less_are_given_what_ours_allow() {
    let secured = Secured::start("deploy_older", None).await;
    let client = async_nats::ConnectOptions::with_user_and_password(USER.into(), password(USER))
        .custom_inbox_prefix(permissions::inbox_of(USER))
        .connect(secured.nats.url())
        .await
        .unwrap();
    let version = client.server_info().version;
    let version: Vec<u32> = version.split('.').take(2).map(|part| part.parse().unwrap()).collect();
    let js = jetstream::new(client);
    let ours = |name: &str| {
        topology::streams(&topology::Limits::default()).into_iter().find(|config| config.name == name).unwrap()
    };
    let minute = Duration::from_secs(60);
    let older = stream::Config { max_consumers: 2, duplicate_window: minute, ..ours("OUTBOUND") };
    let by_hand = stream::Config { max_consumers: 200_000, duplicate_window: 30 * minute, ..ours("INGRESS") };
    for config in [older, by_hand] {
        js.create_stream(config).await.unwrap();
    }
    js.publish("outbound.silver_birch.reply", "kept".into()).await.unwrap().await.unwrap();

    secured.bus(USER).await.ensure_streams().await.unwrap();
    let there = async |name: &str| js.get_stream(name).await.unwrap().cached_info().clone();
    let raised = there("OUTBOUND").await;
    let limits = |config: &stream::Config| (config.max_consumers, config.duplicate_window);
    let wanted = if version >= vec![2, 15] { limits(&ours("OUTBOUND")) } else { (2, minute) };
    assert_eq!((limits(&raised.config), raised.state.messages), (wanted, 1));
    assert_eq!(limits(&there("INGRESS").await.config), (200_000, 30 * minute));
    assert_eq!(secured.violations(), Vec::<String>::new());
}
