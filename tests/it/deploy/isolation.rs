//! One casino's NATS user may use the subjects of its own casino, and is refused on all others
//! (SEC-81, SEC-160, DEP-17).

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_nats::jetstream::{self, consumer::PullConsumer};
use bytes::Bytes;
use futures::StreamExt;
use seven_bus::permissions;
use seven_domain::{Stage, TraceContext};

use super::{BUSY, QUIET, Secured, casino, password};
use crate::harness::until;

const USER: &str = "agent-swarm-silver-birch";

struct Intruder {
    client: async_nats::Client,
    js: jetstream::Context,
    refused: Arc<Mutex<Vec<String>>>,
}

async fn intruder(secured: &Secured) -> Intruder {
    let refused = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&refused);
    let client =
        async_nats::ConnectOptions::with_user_and_password(USER.to_owned(), password(USER))
            .custom_inbox_prefix(permissions::inbox_of(USER))
            .event_callback(move |event| {
                seen.lock().unwrap().push(event.to_string());
                async {}
            })
            .connect(secured.nats.url())
            .await
            .unwrap();
    let mut js = jetstream::new(client.clone());
    js.set_timeout(Duration::from_millis(300));
    Intruder {
        client,
        js,
        refused,
    }
}

impl Intruder {
    /// Waits until the server has reported a refusal that contains all of these words.
    async fn was_refused(&self, words: &[&str]) {
        until(
            &format!("refused: {words:?}"),
            Duration::from_secs(5),
            || async {
                let refused = self.refused.lock().unwrap();
                refused.iter().any(|event| {
                    let event = event.to_lowercase();
                    event.contains("permissions violation")
                        && words
                            .iter()
                            .all(|word| event.contains(&word.to_lowercase()))
                })
            },
        )
        .await;
    }

    async fn publish(&self, subject: &str) -> bool {
        match self
            .js
            .publish(subject.to_owned(), Bytes::from_static(b"x"))
            .await
        {
            Ok(ack) => matches!(
                tokio::time::timeout(Duration::from_millis(500), ack).await,
                Ok(Ok(_))
            ),
            Err(_) => false,
        }
    }

    async fn asks(&self, api: &str, body: serde_json::Value) -> Option<serde_json::Value> {
        let asked = self
            .client
            .request(format!("$JS.API.{api}"), body.to_string().into());
        let answer = tokio::time::timeout(Duration::from_millis(500), asked)
            .await
            .ok()?
            .ok()?;
        serde_json::from_slice(&answer.payload).ok()
    }
}

#[tokio::test]
async fn a_casinos_user_neither_reads_nor_writes_anothers_subjects() {
    let secured = Secured::start("deploy_isolation", None).await;
    let operator = secured.bus("operator").await;
    for id in [BUSY, QUIET] {
        operator.onboard(&casino(id)).await.unwrap();
        let signal = uuid::Uuid::new_v4();
        let trace = TraceContext::start().to_string();
        operator
            .signal_conversation(&casino(id), signal, signal, None, &trace)
            .await
            .unwrap();
    }
    let waiting = async |id: &str| {
        let name = format!("swarm-{id}");
        operator
            .lag(Stage::Swarm)
            .await
            .unwrap()
            .into_iter()
            .find(|lag| lag.consumer == name)
            .unwrap()
            .pending
    };
    let before = waiting(QUIET).await;
    let intruder = intruder(&secured).await;

    // The casino's user may publish to, pull from and acknowledge on its own subjects.
    assert!(
        intruder.publish(&format!("drafted.{BUSY}")).await,
        "{:?}",
        intruder.refused.lock().unwrap()
    );
    let stream = intruder.js.get_stream_no_info("CLEARED").await.unwrap();
    let own: PullConsumer = stream.get_consumer(&format!("swarm-{BUSY}")).await.unwrap();
    let mut batch = own
        .batch()
        .max_messages(1)
        .expires(Duration::from_secs(2))
        .messages()
        .await
        .unwrap();
    batch.next().await.unwrap().unwrap().ack().await.unwrap();
    until("its message is done", Duration::from_secs(5), || async {
        waiting(BUSY).await == 0
    })
    .await;
    assert!(
        intruder
            .refused
            .lock()
            .unwrap()
            .iter()
            .all(|event| !event.contains("iolation"))
    );

    // A message to another casino's subject is not stored, and the server reports a refusal.
    for subject in [
        format!("cleared.{QUIET}"),
        format!("drafted.{QUIET}"),
        format!("outbound.{QUIET}.reply"),
        format!("$KV.fleet.{QUIET}"),
        format!("dead.swarm.{QUIET}"),
        format!("ingress.{BUSY}"),
    ] {
        assert!(!intruder.publish(&subject).await, "{subject}");
        intruder.was_refused(&["publish", &subject]).await;
    }
    assert_eq!(waiting(QUIET).await, before);

    // Another casino's messages cannot be read: neither through its consumer, a new consumer or the
    // stream, nor through anybody's inbox.
    assert!(
        stream
            .get_consumer::<jetstream::consumer::pull::Config>(&format!("swarm-{QUIET}"))
            .await
            .is_err()
    );
    for (api, body) in [
        (
            format!("CONSUMER.MSG.NEXT.CLEARED.swarm-{QUIET}"),
            serde_json::json!({ "batch": 1, "no_wait": true }),
        ),
        (
            "CONSUMER.CREATE.CLEARED".to_owned(),
            serde_json::json!({ "stream_name": "CLEARED", "config": {} }),
        ),
        (
            "STREAM.MSG.GET.CLEARED".to_owned(),
            serde_json::json!({ "seq": 1 }),
        ),
        (
            format!("DIRECT.GET.CLEARED.cleared.{QUIET}"),
            serde_json::json!({}),
        ),
        (
            format!("DIRECT.GET.KV_fleet.$KV.fleet.{QUIET}"),
            serde_json::json!({}),
        ),
        (
            "CONSUMER.CREATE.KV_fleet.mine.$KV.fleet.>".to_owned(),
            serde_json::json!({}),
        ),
        ("STREAM.PURGE.CLEARED".to_owned(), serde_json::json!({})),
        (
            "STREAM.MSG.DELETE.CLEARED".to_owned(),
            serde_json::json!({ "seq": 1 }),
        ),
        (
            format!("CONSUMER.DELETE.CLEARED.swarm-{QUIET}"),
            serde_json::json!({}),
        ),
    ] {
        assert_eq!(intruder.asks(&api, body).await, None, "{api}");
        intruder.was_refused(&["publish", &api]).await;
    }
    for subject in [
        format!("cleared.{QUIET}"),
        "cleared.*".to_owned(),
        format!("content.{QUIET}"),
        "_INBOX.>".to_owned(),
        "_INBOX.agent-swarm.>".to_owned(),
        "$JS.>".to_owned(),
        ">".to_owned(),
    ] {
        let _subscription = intruder.client.subscribe(subject.clone()).await.unwrap();
        intruder.was_refused(&["subscription", &subject]).await;
    }
    // The request's body names a different filter from its subject. The server refuses the request,
    // because the user's permission covers only the filter in the subject.
    let lie = serde_json::json!({
        "stream_name": "KV_fleet", "action": "create",
        "config": {
            "name": "mine",
            "filter_subject": "$KV.fleet.>",
            "ack_policy": "none",
            "deliver_policy": "all",
        },
    });
    let answer = intruder
        .asks(
            &format!("CONSUMER.CREATE.KV_fleet.mine.$KV.fleet.{BUSY}"),
            lie,
        )
        .await
        .unwrap();
    assert_eq!(answer["error"]["err_code"], 10_131, "{answer}");
}

#[tokio::test]
async fn nobody_connects_without_a_password_of_its_own() {
    let secured = Secured::start("deploy_passwords", None).await;
    assert!(async_nats::connect(secured.nats.url()).await.is_err());
    let wrong =
        async_nats::ConnectOptions::with_user_and_password("scheduler".to_owned(), password(USER));
    assert!(wrong.connect(secured.nats.url()).await.is_err());
}
