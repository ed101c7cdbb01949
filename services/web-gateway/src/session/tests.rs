//! Checks which tokens are accepted and refused (WID-2 to WID-4).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jwt_compact::alg::{Hs384, Hs384Key};
use serde_json::json;

use super::*;

fn key(id: &str, secret: &str) -> TokenKey {
    TokenKey {
        id: id.to_owned(),
        secret: secret.into(),
    }
}

fn keys() -> Keys {
    Keys {
        current: key("k2", "the second key, of thirty-two bytes and more"),
        former: vec![key("k1", "the first key, of thirty-two bytes and more!")],
    }
}

fn now() -> DateTime<Utc> {
    "2026-11-27T18:00:00Z".parse().unwrap()
}

fn ours() -> Session {
    Session {
        visitor: Uuid::from_u128(7),
        casino: "silver_birch".parse().unwrap(),
        ticket: Uuid::from_u128(9),
    }
}

/// Returns one of our tokens with one part (0 header, 1 claims, 2 signature) replaced.
fn with(part: usize, text: &str) -> String {
    let token = keys().issue(&ours(), now()).unwrap();
    let mut parts: Vec<&str> = token.split('.').collect();
    parts[part] = text;
    parts.join(".")
}

fn coded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// Returns the encoded claims of one of our tokens after `change`.
fn claims(change: impl FnOnce(&mut Value)) -> String {
    let token = keys().issue(&ours(), now()).unwrap();
    let claims = URL_SAFE_NO_PAD
        .decode(token.split('.').nth(1).unwrap())
        .unwrap();
    let mut claims: Value = serde_json::from_slice(&claims).unwrap();
    change(&mut claims);
    coded(&claims)
}

/// Returns a token with this header and changed claims, signed with the current key.
fn signed(header: &Value, change: impl FnOnce(&mut Value)) -> String {
    let text = format!("{}.{}", coded(header), claims(change));
    let signature = jwt_compact::Algorithm::sign(&Hs256, &keys().current.key(), text.as_bytes());
    let bytes = jwt_compact::AlgorithmSignature::as_bytes(&signature).into_owned();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(bytes))
}

#[test] // WID-2
fn a_token_carries_its_session_for_a_day_and_through_a_rotation() {
    let token = keys().issue(&ours(), now()).unwrap();
    assert!(token.len() < MOST_TOKEN_BYTES / 2, "{}", token.len());
    let later = |hours: i64| now() + TimeDelta::hours(hours);
    assert_eq!(keys().read(&token, later(23)), Ok(ours()));
    assert_eq!(keys().read(&token, later(25)), Err(Denied::Expired));
    let rotated = Keys {
        current: key("k3", "the third key, of thirty-two bytes and more."),
        former: vec![keys().current],
    };
    assert_eq!(rotated.read(&token, later(1)), Ok(ours()));
    let ended = Keys {
        former: Vec::new(),
        ..rotated
    };
    assert_eq!(ended.read(&token, later(1)), Err(Denied::UnknownKey));
}

#[test] // WID-4
fn every_other_token_is_denied() {
    let header = json!({ "alg": "HS256", "kid": "k2" });
    let same = |_: &mut Value| {};
    let set = |key: &'static str, value: Value| move |claims: &mut Value| claims[key] = value;
    assert_eq!(
        keys().read(&signed(&header, same), now()),
        Ok(ours()),
        "the tool signs as we do"
    );
    let long = format!("{}.x", "x".repeat(20 << 10));
    let cases = [
        ("nothing", String::new(), Denied::Malformed),
        ("garbage", "a.b.c".to_owned(), Denied::Malformed),
        ("20 KB", long, Denied::TooLong),
        (
            "no algorithm",
            with(0, &coded(&json!({ "alg": "none", "kid": "k2" }))),
            Denied::Forged,
        ),
        ("no signature", with(2, ""), Denied::Forged),
        (
            "another algorithm",
            with(0, &coded(&json!({ "alg": "HS384", "kid": "k2" }))),
            Denied::Forged,
        ),
        (
            "a public key's",
            with(0, &coded(&json!({ "alg": "RS256", "kid": "k2" }))),
            Denied::Forged,
        ),
        (
            "another key",
            with(0, &coded(&json!({ "alg": "HS256", "kid": "k1" }))),
            Denied::Forged,
        ),
        (
            "an unknown key",
            with(0, &coded(&json!({ "alg": "HS256", "kid": "k9" }))),
            Denied::UnknownKey,
        ),
        (
            "no key",
            with(0, &coded(&json!({ "alg": "HS256" }))),
            Denied::UnknownKey,
        ),
        (
            "changed claims",
            with(1, &claims(set("tenant_id", json!("amber_lake")))),
            Denied::Forged,
        ),
        (
            "crit",
            signed(
                &json!({ "alg": "HS256", "kid": "k2", "crit": ["exp"] }),
                same,
            ),
            Denied::Critical,
        ),
        (
            "another audience",
            signed(&header, set("aud", json!("console"))),
            Denied::Foreign,
        ),
        (
            "many audiences",
            signed(&header, set("aud", json!(["web-chat"]))),
            Denied::Malformed,
        ),
        (
            "another issuer",
            signed(&header, set("iss", json!("elsewhere"))),
            Denied::Foreign,
        ),
        (
            "an admin",
            signed(&header, set("role", json!("admin"))),
            Denied::NotACustomer,
        ),
        (
            "a name",
            signed(&header, set("sub", json!("ana"))),
            Denied::Malformed,
        ),
        (
            "no casino",
            signed(&header, set("tenant_id", json!("No Casino!"))),
            Denied::Malformed,
        ),
        (
            "no end",
            signed(&header, |claims| {
                drop(claims.as_object_mut().unwrap().remove("exp"));
            }),
            Denied::Expired,
        ),
        (
            "from the future",
            signed(&header, set("iat", json!(now().timestamp() + 600))),
            Denied::Malformed,
        ),
    ];
    for (name, token, denied) in cases {
        assert_eq!(keys().read(&token, now()), Err(denied), "{name}");
        let status = if denied == Denied::NotACustomer {
            403
        } else {
            401
        };
        assert_eq!(denied.status(), status);
    }
    // The token is signed with our secret, but by another algorithm.
    let told: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims(same)).unwrap()).unwrap();
    let told = Claims::new(told);
    let secret = Hs384Key::new(keys().current.secret.expose_secret());
    let header = Header::empty().with_key_id("k2");
    let token = Hs384.token(&header, &told, &secret).unwrap();
    assert_eq!(keys().read(&token, now()), Err(Denied::Forged));
}
