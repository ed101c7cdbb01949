use chrono::TimeZone;
use proptest::prelude::*;
use serde_json::json;

use super::{verify::HeadState, *};

const CASINO: &str = "mohegan_sun";
const GUEST: &str = "sha256:1b2f9728d488302609607bfb749e9000444d3119d96f820174cb299ad085b085";

fn change(action: Action, method: &str, previous: Value, new: Value, at: DateTime<Utc>) -> Change {
    Change {
        action,
        casino_id: CASINO.into(),
        guest_phone_hash: GUEST.into(),
        method: method.into(),
        previous_state: previous,
        new_state: new,
        at,
        metadata: None,
    }
}

fn state(sms: bool, marketing: bool) -> Value {
    json!({ "sms_opt_in": sms, "marketing_consent": marketing })
}

#[test] // SEC-75
fn the_fixed_vectors() {
    let first = change(
        Action::Revoked,
        "sms_stop_keyword",
        state(true, true),
        state(false, false),
        Utc.with_ymd_and_hms(2026, 3, 15, 14, 30, 0).unwrap()
            + chrono::TimeDelta::milliseconds(123),
    )
    .link(0, GENESIS);
    assert_eq!(
        first.content_hash,
        "9ec8b0d9337571c75476fef96ded70be11c0444407d2e36b88ea379523ca59dd"
    );
    let second = change(
        Action::Granted,
        "sms_start_keyword",
        state(false, false),
        state(true, false),
        Utc.with_ymd_and_hms(2026, 4, 5, 10, 15, 0).unwrap(),
    )
    .link(1, &first.content_hash);
    assert_eq!(
        second.content_hash,
        "4be4c92e90c38d03b95e65387f2466976bb4ca941b3def78b5de234b7bcbdeb7"
    );
}

fn seal(what: &str) -> [u8; 32] {
    Sha256::digest(format!("key|{what}").as_bytes()).into()
}

fn chain(length: u64) -> (Vec<Stored>, Head) {
    let (mut chain, mut previous) = (Vec::new(), GENESIS.to_owned());
    for position in 0..length {
        let at = Utc
            .timestamp_millis_opt(1_790_000_000_000 + i64::try_from(position).unwrap())
            .unwrap();
        let link = change(
            Action::Updated,
            "web_form",
            state(true, false),
            state(true, true),
            at,
        )
        .link(position, &previous);
        previous.clone_from(&link.content_hash);
        chain.push(Stored {
            position: i64::try_from(position).unwrap(),
            event: link.event,
            content_hash: link.content_hash,
        });
    }
    let mac = seal(&seal_input(CASINO, GUEST, length, &previous)).to_vec();
    (
        chain,
        Head {
            length: i64::try_from(length).unwrap(),
            head_hash: previous,
            mac,
        },
    )
}

fn check(chain: &[Stored], head: Option<&Head>) -> Report {
    verify(CASINO, GUEST, chain, head, seal)
}

#[test] // SEC-72
fn whole_and_empty_chains_are_valid() {
    let (stored, head) = chain(5);
    let report = check(&stored, Some(&head));
    assert!(report.valid && report.broken_links.is_empty());
    assert_eq!(
        (report.chain_length, report.latest_hash.as_deref()),
        (5, Some(head.head_hash.as_str()))
    );
    assert!(check(&[], None).valid);
}

#[test] // SEC-73
fn cut_tails_holes_and_forged_heads_are_found() {
    let (stored, head) = chain(5);
    assert_eq!(check(&stored[..4], Some(&head)).head, HeadState::Truncated);
    assert_eq!(check(&[], Some(&head)).head, HeadState::Truncated);
    assert_eq!(check(&stored, None).head, HeadState::Missing);
    // An attacker cuts off the last event and shortens the head to match. Without the key, the
    // attacker cannot seal the changed head.
    let shortened = Head {
        length: 4,
        head_hash: stored[3].content_hash.clone(),
        mac: head.mac.clone(),
    };
    assert_eq!(
        check(&stored[..4], Some(&shortened)).head,
        HeadState::Forged
    );
    let mut hole = stored.clone();
    hole.remove(2);
    assert_eq!(check(&hole, Some(&head)).broken_links, [3, 4]);
    // A chain stored under another guest's or casino's name is invalid, even when it is complete.
    assert!(!verify(CASINO, "sha256:other", &stored, Some(&head), seal).valid);
    assert!(!verify("other", GUEST, &stored, Some(&head), seal).valid);
}

#[test] // D8: a change of any byte of any event is noticed
fn any_changed_byte_is_found_at_its_position() {
    let (stored, head) = chain(3);
    for (at, original) in stored.iter().enumerate() {
        for byte in 0..original.event.len() {
            let mut bytes = original.event.clone().into_bytes();
            bytes[byte] = if bytes[byte] == b'x' { b'y' } else { b'x' };
            let mut changed = stored.clone();
            changed[at].event = String::from_utf8(bytes).unwrap();
            assert_eq!(
                check(&changed, Some(&head)).broken_links,
                [original.position],
                "byte {byte} of {at}"
            );
        }
        let mut changed = stored.clone();
        changed[at].content_hash = changed[at]
            .content_hash
            .replace(|c: char| c.is_ascii_digit(), "a");
        assert!(
            check(&changed, Some(&head))
                .broken_links
                .contains(&original.position)
        );
    }
}

proptest! {
    #[test] // SEC-70a
    fn the_canonical_form_ignores_the_order_of_keys(mut pairs in prop::collection::vec(
        ("[a-z\"é ]{1,6}", any::<i64>()),
        0..8,
    )) {
        pairs.dedup_by(|a, b| a.0 == b.0);
        let unique: std::collections::BTreeMap<_, _> = pairs.iter().cloned().collect();
        let forward: Map<String, Value> =
            unique.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        let backward: Map<String, Value> = unique
            .iter()
            .rev()
            .map(|(k, v)| (k.clone(), json!(v)))
            .collect();
        let text = canonical(&json!({ "outer": forward, "list": [forward] }));
        prop_assert_eq!(
            &text,
            &canonical(&json!({ "list": [backward], "outer": backward }))
        );
        prop_assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!({ "outer": forward, "list": [forward] })
        );
    }
}
