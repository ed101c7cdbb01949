//! Events with a changed structure: fields missing, of other types or with odd content, and bodies
//! that are not JSON. Ids that ingress accepts stay unique, as Telnyx's are.

use rand::{Rng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};

use super::super::caller::Caller;

const TEXT: &str = "/data/payload/text";
const PHONE: &str = "/data/payload/from/phone_number";

/// Returns the body of the `n`th event, with a structure that was changed at random.
pub(super) fn event(call: &Caller, random: &mut StdRng, n: usize) -> Vec<u8> {
    let id = n.to_string();
    let mut event = match random.random_range(0..10) {
        0..7 => call.received(
            &id,
            &format!("+120355501{:02}", n % 100),
            "Is the pool open?",
        ),
        _ => call.finalized(
            &id,
            ["sent", "delivered", "delivery_failed", "sending_failed"]
                .choose(random)
                .unwrap(),
        ),
    };
    match random.random_range(0..12) {
        0 => drop_a_field(&mut event, random),
        1 => replace_a_field(&mut event, random, n),
        2 => drop_a_field_of(&mut event, random, "/data/payload"),
        3 => event["data"]["event_type"] = odd_type(random),
        4 => set(&mut event, TEXT, odd_text(random)),
        5 => {
            let place = ["/data/id", "/data/payload/id"].choose(random).unwrap();
            set(&mut event, place, odd_id(random, n));
        }
        6 => set(&mut event, PHONE, odd_number(random)),
        7 => set(&mut event, "/data/payload/to", odd_recipient(random)),
        8 => set(&mut event, "/data/occurred_at", odd_time(random)),
        9 => odd_extras(&mut event, random),
        10 => return odd_bytes(event.to_string().into_bytes(), random),
        _ => {}
    }
    event.to_string().into_bytes()
}

fn set(event: &mut Value, place: &str, value: Value) {
    if let Some(there) = event.pointer_mut(place) {
        *there = value;
    }
}

fn places(value: &Value, prefix: &str, into: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (key, child) in children {
        let place = format!("{prefix}/{key}");
        places(child, &place, into);
        into.push(place);
    }
}

fn a_place(event: &Value, prefix: &str, random: &mut StdRng) -> String {
    let mut all = Vec::new();
    places(event.pointer(prefix).unwrap(), prefix, &mut all);
    all.choose(random).unwrap().clone()
}

fn remove(event: &mut Value, place: &str) {
    let (parent, key) = place.rsplit_once('/').unwrap();
    match event.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.remove(key)),
        Some(Value::Array(list)) => drop(list.remove(key.parse().unwrap())),
        _ => {}
    }
}

fn drop_a_field(event: &mut Value, random: &mut StdRng) {
    let place = a_place(event, "", random);
    remove(event, &place);
}

fn drop_a_field_of(event: &mut Value, random: &mut StdRng, prefix: &str) {
    for _ in 0..random.random_range(1..4) {
        let place = a_place(event, prefix, random);
        remove(event, &place);
    }
}

fn replace_a_field(event: &mut Value, random: &mut StdRng, n: usize) {
    let place = a_place(event, "", random);
    let values = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5e300),
        json!(u64::MAX),
        json!(format!("odd-{n}")),
        json!(""),
        json!([]),
        json!({}),
        json!([[[[null]]]]),
        json!({"phone_number": 7}),
        json!("x".repeat(20_000)),
    ];
    set(event, &place, values.choose(random).unwrap().clone());
}

fn odd_type(random: &mut StdRng) -> Value {
    let types = [
        "message.sent",
        "message.finalized",
        "message.received",
        "message.queued",
        "10dlc.campaign.update",
        "MESSAGE.RECEIVED",
        "",
        "\0",
        "a.b.*.>",
    ];
    json!(types.choose(random).unwrap())
}

fn odd_text(random: &mut StdRng) -> Value {
    let texts = [
        "".to_owned(),
        " \t\r\n".to_owned(),
        "a\0b".to_owned(),
        "\0".to_owned(),
        "\u{202e}\u{feff}STOP\u{200b}".to_owned(),
        "s\u{301}top!!".to_owned(),
        "👩‍👩‍👧‍👦".repeat(300),
        "STOP ".repeat(2_000),
        "(".repeat(30_000),
        "'; drop table guests; --".to_owned(),
        "{{ casino }} {% for x in y %}".to_owned(),
        "INICIAR".to_owned(),
        "\u{10ffff}\u{fffd}\u{1}".to_owned(),
    ];
    json!(texts.choose(random).unwrap())
}

/// Returns an id that is unique, or of a form that ingress must refuse.
fn odd_id(random: &mut StdRng, n: usize) -> Value {
    let ids = [
        format!("{n} with spaces"),
        format!("{n}\r\nNats-Msg-Id: taken"),
        format!("{n}\n"),
        format!("{n}\0"),
        format!("{n}\u{7f}\u{1b}[2J"),
        format!("{n}.*.>"),
        format!("ñ{n}👍"),
        format!(" {n}"),
        format!("{n} "),
        format!("{n:0>200}"),
        format!("{n:0>201}"),
        format!("{n}:{n}#dup"),
        String::new(),
    ];
    json!(ids.choose(random).unwrap())
}

fn odd_number(random: &mut StdRng) -> Value {
    let numbers = [
        "",
        "+",
        "+0",
        "8605550142",
        "+1 860 555 0142",
        "+1860555014２",
        "88811",
        "ALERTS",
        "+12",
        "+1860555014200000",
        "+18605550142\n",
    ];
    json!(numbers.choose(random).unwrap())
}

fn odd_recipient(random: &mut StdRng) -> Value {
    let one = json!({"phone_number": "+18605550100", "status": "webhook_delivered"});
    let recipients = [
        json!([]),
        json!("+18605550100"),
        json!(["+18605550100"]),
        one.clone(),
        json!([{"phone_number": "+18605550199", "status": "delivered"}]),
        json!([{"phone_number": "18605550100"}]),
        json!([{"phone_number": "ONE"}]),
        json!([{"phone_number": "+18605550142", "status": "bad\0status"}]),
        json!([{"phone_number": "+18605550142", "status": "status_of_tomorrow"}]),
        json!([{"phone_number": "+18605550142", "status": ""}]),
        Value::Array(vec![one; 700]),
        json!([[[]]]),
    ];
    recipients.choose(random).unwrap().clone()
}

fn odd_time(random: &mut StdRng) -> Value {
    let times = [
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00-23:59",
        "9999-12-31T23:59:59.999999999+14:00",
        "1969-12-31T23:59:59Z",
        "2026-06-30T23:59:60Z",
        "2026-02-30T00:00:00Z",
        "+262142-12-31T23:59:59Z",
        "2026-11-22T19:00:00",
        "2026-11-22 19:00:00+00:00",
        "1700000000",
        "now",
    ];
    json!(times.choose(random).unwrap())
}

fn odd_extras(event: &mut Value, random: &mut StdRng) {
    let payload = event["data"]["payload"].as_object_mut().unwrap();
    match random.random_range(0..6) {
        0 => drop(payload.insert(
            "media".into(),
            Value::Array(vec![json!({"url": "http://127.0.0.1:9/x"}); 500]),
        )),
        1 => drop(payload.insert("media".into(), json!("one picture"))),
        2 => drop(payload.insert("autoresponse_type".into(), json!("STOP\0"))),
        3 => drop(payload.insert("errors".into(), json!([{"code": "4\0"}, {"code": [1]}]))),
        4 => drop(payload.insert("errors".into(), json!({"code": u64::MAX}))),
        _ => drop(payload.insert("autoresponse_type".into(), json!("x".repeat(30_000)))),
    }
}

fn odd_bytes(mut body: Vec<u8>, random: &mut StdRng) -> Vec<u8> {
    let place = random.random_range(0..body.len());
    match random.random_range(0..9) {
        0 => body.truncate(place),
        1 => body.splice(0..0, [0xef, 0xbb, 0xbf]).for_each(drop),
        2 => body[place] = 0xff,
        3 => body.extend_from_within(..),
        4 => body = "[".repeat(60_000).into_bytes(),
        5 => body = [b"[", body.as_slice(), b"]"].concat(),
        6 => {
            body = String::from_utf8(body)
                .unwrap()
                .replace("Is the pool", "Is the \\ud800 pool")
                .into_bytes();
        }
        7 => {
            body = String::from_utf8(body)
                .unwrap()
                .replace("\"text\":", "\"text\":\"earlier\",\"text\":")
                .into_bytes();
        }
        _ => body = (0..place).map(|_| random.random()).collect(),
    }
    body
}
