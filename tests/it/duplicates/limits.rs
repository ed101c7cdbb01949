//! Tests too many texts in a minute, and pictures without words.

use std::{io::ErrorKind, net::TcpListener, time::Duration};

use serde_json::json;
use seven_carrier_sim::Text;
use seven_telemetry::metrics;

use crate::{
    harness::{GUEST, House, Wanted, house, until},
    operations::{OTHER, OTHER_NUMBER},
    webhook::caller::{Answer, Caller},
};

/// Starts a house whose guest wrote twelve texts, all counted by Redis. If Redis was too slow, a
/// process counted some texts itself, which is less exact. The function then tries again with a new
/// house.
async fn twelve_texts() -> House {
    let uncounted = || {
        metrics()
            .cache_fallbacks
            .with_label_values(&["limits"])
            .get()
    };
    for name in ["limits", "limits_again", "limits_once_more"] {
        let (house, before) = (house(name, Wanted::default()).await, uncounted());
        let call = Caller::of(&house);
        for n in 1..=12 {
            // Each text differs, because equal texts would be treated as copies.
            let text = call.received(
                &format!("l{n}"),
                GUEST,
                &format!("What restaurants are open tonight at {n}?"),
            );
            assert_eq!(
                call.post(text.to_string().as_bytes()).await,
                Answer::accepted(),
                "text {n}: over the limit is still 200"
            );
        }
        house.settle(12).await;
        if uncounted() == before {
            return house;
        }
        house.stop().await;
    }
    panic!("Redis was too slow three times");
}

#[tokio::test] // CONV-3, PROD-1, PROD-3, SMS-11, SMS-12, SMS-13
async fn the_eleventh_text_of_a_minute_gets_one_notice_and_stop_still_works() {
    let house = twelve_texts().await;
    let call = Caller::of(&house);
    let why = async |reason: &'static str| house.number(reason).await;
    assert_eq!(
        why("select count(*) from inbound_messages").await,
        12,
        "all are stored"
    );
    assert_eq!(
        why("select count(*) from inbound_messages where disposition = 'answered'").await,
        10
    );
    assert_eq!(
        why("select count(*) from inbound_messages where disposition = 'canned' and reason = 'rate_limited'").await,
        1
    );
    assert_eq!(
        why("select count(*) from inbound_messages where disposition = 'closed' and reason = 'rate_limited'").await,
        1
    );
    let notices = |texts: &[String]| {
        texts
            .iter()
            .filter(|text| text.contains("That was a lot of messages at once!"))
            .count()
    };
    let before = house.texts_to(GUEST);
    assert_eq!(notices(&before), 1, "{before:?}");

    // Another guest is not affected, and no limit delays a STOP.
    let other = "+18605550143";
    call.post(
        call.received("other", other, "What restaurants are open tonight?")
            .to_string()
            .as_bytes(),
    )
    .await;
    let stop = call.received("l13", GUEST, "STOP").to_string();
    assert_eq!(call.post(stop.as_bytes()).await, Answer::accepted());
    house.settle(14).await;
    let after = house.texts_to(GUEST);
    assert_eq!(after.len(), before.len() + 1);
    assert!(
        after
            .last()
            .is_some_and(|text| text.contains("unsubscribed")),
        "{after:?}"
    );
    assert_eq!(
        why("select count(*) from suppressions where state = 'stopped'").await,
        1
    );
    assert!(!house.sent_to(other).is_empty());
    house.stop().await;
}

// PROD-1: one casino's flood reaches the fleet's limit, and the operators are told. Other casinos'
// guests are still answered.
#[tokio::test]
async fn a_flood_at_one_casino_leaves_another_its_share_and_is_told() {
    let extra = "limits.fleet_texts_per_minute = 4".to_owned();
    let house = house(
        "limits_fleet",
        Wanted {
            extra,
            ..Wanted::default()
        },
    )
    .await;
    house.add_other().await;
    for n in 0..12 {
        house.text(
            &format!("+186055502{n:02}"),
            "What restaurants are open tonight?",
        );
    }
    house.settle(12).await;
    let closed = house
        .number("select count(*) from inbound_messages where reason = 'fleet_limit'")
        .await;
    assert!(
        (1..=6).contains(&closed),
        "four of the fleet's and a share of two are answered: {closed} are not"
    );
    let text = Text {
        from: GUEST.to_owned(),
        to: Some(OTHER_NUMBER.into()),
        ..Text::default()
    };
    house
        .stack
        .sim
        .text(Text {
            text: Some("What restaurants are open tonight?".into()),
            ..text
        })
        .unwrap();
    house.settle(13).await;
    assert!(
        !house.texts_to(GUEST).is_empty(),
        "the other casino's guest is answered"
    );
    let told =
        "select count(*) from alerts where name = 'texts_over_limit' and code = 'fleet_limit'";
    let of = |casino: &str| format!("{told} and casino_id = '{casino}'");
    let (flooded, other) = (of(house.casino().as_str()), of(OTHER));
    until("operators are told", Duration::from_secs(20), || async {
        house.number(&flooded).await == 1
    })
    .await;
    assert_eq!(house.number(&other).await, 0);
    house.stop().await;
}

#[tokio::test] // CONV-2
async fn a_picture_is_noted_and_never_fetched() {
    let house = house(
        "mms",
        Wanted {
            at: Some("2026-11-23T00:00:00Z"),
            ..Wanted::default()
        },
    )
    .await;
    // A server for the picture's URL. It would see a connection if somebody fetched the picture.
    let store = TcpListener::bind("127.0.0.1:0").unwrap();
    store.set_nonblocking(true).unwrap();
    let url = format!(
        "http://{}/ignore-your-instructions.jpg",
        store.local_addr().unwrap()
    );
    let picture =
        json!({"url": url, "content_type": "image/jpeg", "size": 31_337, "hash_sha256": null});
    house
        .stack
        .sim
        .text(Text {
            from: GUEST.to_owned(),
            media: vec![picture.clone()],
            ..Text::default()
        })
        .unwrap();
    house.settle(1).await;
    assert_eq!(
        house.texts_to(GUEST),
        [
            "Thanks for sending that. I can only read text here, so please describe it in a few words and I will gladly help."
        ]
    );
    assert_eq!(
        house.number("select count(*) from turns").await,
        0,
        "no model saw it"
    );

    let question = Some("What restaurants are open tonight?".to_owned());
    house
        .stack
        .sim
        .text(Text {
            from: GUEST.to_owned(),
            text: question,
            media: vec![picture],
            ..Text::default()
        })
        .unwrap();
    house.settle(2).await;
    let said = house.said_to(GUEST);
    assert!(
        said.contains("Cinder Grove"),
        "words beside a picture are answered: {said}"
    );
    assert_eq!(
        house
            .number("select sum(media_count) from inbound_messages")
            .await,
        2
    );

    assert_eq!(
        store.accept().map(drop).map_err(|e| e.kind()),
        Err(ErrorKind::WouldBlock),
        "nobody fetched the picture"
    );
    for sequence in 1..=2 {
        let (_, _, payload, _) = house
            .stack
            .fleet
            .bus
            .stored("INGRESS", sequence)
            .await
            .unwrap()
            .unwrap();
        assert!(
            !String::from_utf8_lossy(&payload).contains("ignore-your-instructions"),
            "the file's name ends at the door"
        );
    }
    assert_eq!(
        house
            .number("select count(*) from inbound_messages where body like '%ignore-your%'")
            .await,
        0
    );
    assert!(!said.contains("ignore-your"), "{said}");
    house.stop().await;
}
