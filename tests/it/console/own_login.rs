//! Logins through a casino's own login provider (D26, OpenID Connect): people who are let in, and
//! wrong tokens and answers, which are all refused.

use reqwest::{StatusCode, header};
use seven_domain::Role;
use seven_settings::Worker;
use seven_testkit::identity::{Lie, Provider};

use super::staff::{Caller, PASSWORD, Page, Staff, form};
use crate::harness::{House, Wanted, house};

const BEGIN: &str = "/login/with/silver";

pub(crate) async fn with_provider(name: &str) -> (House, Provider) {
    let provider = Provider::start().await.unwrap();
    let wanted = Wanted {
        extra: provider.settings(),
        ..Wanted::default()
    };
    let mut house = house(name, wanted).await;
    house.stack.spawn(Worker::Console, None).await.unwrap();
    (house, provider)
}

/// Returns the name and value of a cookie that a page sets.
fn set(page: &Page, name: &str) -> Option<String> {
    let cookies = page.headers.get_all(header::SET_COOKIE).into_iter();
    let texts = cookies.map(|cookie| cookie.to_str().unwrap());
    let pairs = texts.map(|text| text.split(';').next().unwrap().to_owned());
    pairs
        .into_iter()
        .find(|pair| pair.starts_with(&format!("{name}=")))
}

/// Follows the link to the provider, as a browser does. Returns the path on the console to which
/// the provider redirects.
async fn at_provider(caller: &mut Caller) -> String {
    let page = caller.get(BEGIN).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    caller.cookie = set(&page, "seven-login-here");
    let answer = caller.http.get(&page.location).send().await.unwrap();
    let back = answer.headers()[header::LOCATION].to_str().unwrap();
    back.strip_prefix(&caller.base).unwrap().to_owned()
}

/// Logs in at the provider and follows its redirect back to the console.
async fn log_in(house: &House) -> (Caller, Page) {
    let mut caller = Caller::new(house);
    let back = at_provider(&mut caller).await;
    let page = caller.get(&back).await;
    caller.cookie = set(&page, "seven-here");
    (caller, page)
}

#[tokio::test] // D26
async fn an_account_is_let_in_by_its_casinos_own_login_and_bound_to_the_person() {
    let (house, provider) = with_provider("own_login").await;
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    // Ana is invited and has no password; luis has one.
    staff
        .invite("ana@silverbirch.example", Role::Host, here)
        .await;
    staff
        .add("luis@silverbirch.example", Role::Host, here)
        .await;

    let stranger = Caller::new(&house);
    let page = stranger.get("/login").await.body;
    assert!(
        page.contains("href=\"/login/with/silver\">Silver Birch<"),
        "{page}"
    );
    let (ana, page) = log_in(&house).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(
        page.body.contains("content=\"0; url=/\""),
        "a page of ours goes on"
    );
    let kept = page.headers.get_all(header::SET_COOKIE).into_iter();
    let kept: Vec<&str> = kept.map(|cookie| cookie.to_str().unwrap()).collect();
    assert!(
        kept[0].contains("SameSite=Strict") && kept[0].contains("HttpOnly"),
        "{kept:?}"
    );
    assert!(kept[1].contains("Max-Age=0"), "{kept:?}");
    let list = ana.get("/c/silver_birch/conversations").await;
    assert_eq!(list.status, StatusCode::OK);
    let entry = "select detail->>'provider' from audit_log where action = 'operator_logged_in'";
    assert_eq!(house.texts_of(entry).await, ["silver"]);
    // The login made one call of each kind to the provider.
    assert_eq!(provider.calls(), ["document", "keys", "authorize", "token"]);

    // Another person gets Ana's address. Then Ana gets Luis's address.
    provider.person("p-2", "ana@silverbirch.example");
    let (_, page) = log_in(&house).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.body.contains("this console does not"), "{}", page.body);
    provider.person("p-1", "luis@silverbirch.example");
    assert_eq!(log_in(&house).await.1.status, StatusCode::UNAUTHORIZED);
    let forget = |email: &'static str| ["operator", "reset", email, "--identity", "--by", "test"];
    let done = house.seven(&forget("ana@silverbirch.example"), "").await;
    assert!(done.out.contains("bound to nobody now"), "{done:?}");
    assert_eq!(
        &*ana.get("/").await.location,
        "/login",
        "her sessions ended"
    );
    let again = house.seven(&forget("ana@silverbirch.example"), "").await;
    assert!(
        again.err.contains("logged in at no casino's own login"),
        "{again:?}"
    );
    provider.person("p-2", "Ana@SilverBirch.example");
    let (other, page) = log_in(&house).await;
    assert_eq!(page.status, StatusCode::OK);

    // The first login through the provider removes the account's console password.
    provider.person("p-3", "luis@silverbirch.example");
    assert_eq!(log_in(&house).await.1.status, StatusCode::OK);
    let password = [
        ("email", "luis@silverbirch.example"),
        ("password", PASSWORD),
    ];
    let by_password = Caller::new(&house).post("/login", &form(&password)).await;
    assert_eq!(by_password.status, StatusCode::UNAUTHORIZED);
    // A person with a role at another casino, or at all casinos, cannot log in this way.
    let roles = "insert into operator_roles (operator_id, casino_id, role, granted_by)
        select operator_id, $1, 'host', 'test' from operators where oidc_subject like '% p-3'";
    for elsewhere in ["'other_casino'", "''"] {
        house.change(&roles.replace("$1", elsewhere)).await;
        assert_eq!(log_in(&house).await.1.status, StatusCode::UNAUTHORIZED);
        house
            .change(&format!(
                "delete from operator_roles where casino_id = {elsewhere}"
            ))
            .await;
    }
    assert_eq!(log_in(&house).await.1.status, StatusCode::OK);
    let bound = "select count(*) from audit_log where detail->>'identity' = 'bound'";
    assert_eq!(house.number(bound).await, 3);
    provider.person("p-2", "ana@silverbirch.example");

    // A disabled person is not let in, and an unknown person is not added.
    let disable = [
        "operator",
        "disable",
        "ana@silverbirch.example",
        "--by",
        "test",
    ];
    assert_eq!(house.seven(&disable, "").await.code, 0);
    assert_eq!(&*other.get("/").await.location, "/login");
    assert_eq!(log_in(&house).await.1.status, StatusCode::UNAUTHORIZED);
    provider.person("p-9", "eve@silverbirch.example");
    assert_eq!(log_in(&house).await.1.status, StatusCode::UNAUTHORIZED);
    let accounts = "select count(*) from operators";
    assert_eq!(house.number(accounts).await, 2);
    house.stop().await;
}

#[tokio::test] // D26
async fn no_wrong_token_and_no_planted_login_lets_anybody_in() {
    let (house, provider) = with_provider("own_login_lies").await;
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    staff
        .invite("ana@silverbirch.example", Role::Host, here)
        .await;
    staff
        .invite("ana@elsewhere.example", Role::Host, here)
        .await;
    let lies: [(&str, Lie); 15] = [
        ("another algorithm", |head, _| head["alg"] = "HS256".into()),
        ("no algorithm", |head, _| head["alg"] = "none".into()),
        ("an unknown key", |head, _| head["kid"] = "someone".into()),
        ("another issuer", |_, claims| {
            claims["iss"] = "https://accounts.example".into();
        }),
        ("another client", |_, claims| claims["aud"] = "other".into()),
        ("no client", |_, claims| {
            claims["aud"] = serde_json::json!([]);
        }),
        ("two clients", |_, claims| {
            claims["aud"] = serde_json::json!(["seven console", "other"]);
        }),
        ("made for another", |_, claims| {
            claims["azp"] = "other".into();
        }),
        ("over", |_, claims| claims["exp"] = 1_700_000_000.into()),
        ("of tomorrow", |_, claims| {
            claims["iat"] = 4_000_000_000_u64.into();
        }),
        ("of yesterday", |_, claims| {
            claims["iat"] = 1_700_000_000.into();
        }),
        ("another login", |_, claims| {
            claims["nonce"] = "0".repeat(64).into();
        }),
        ("not verified", |_, claims| {
            claims["email_verified"] = false.into();
        }),
        ("no address", |_, claims| {
            claims["email"] = serde_json::Value::Null;
        }),
        ("another domain", |_, claims| {
            claims["email"] = "ana@elsewhere.example".into();
        }),
    ];
    for (what, lie) in lies {
        provider.lie(Some(lie));
        let (caller, page) = log_in(&house).await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{what}");
        assert!(page.body.contains("did not work"), "{what}: {}", page.body);
        assert_eq!(caller.cookie, None, "{what}");
    }
    provider.lie(None);
    provider.forge(true);
    assert_eq!(
        log_in(&house).await.1.status,
        StatusCode::UNAUTHORIZED,
        "forged"
    );
    provider.forge(false);

    // The provider's code is refused in four cases:
    // - the browser has no login in progress
    // - the code belongs to a different login
    // - `state` is wrong
    // - the code was used before
    let mut caller = Caller::new(&house);
    let back = at_provider(&mut caller).await;
    let stranger = Caller::new(&house);
    assert_eq!(stranger.get(&back).await.status, StatusCode::UNAUTHORIZED);
    let mut second = Caller::new(&house);
    at_provider(&mut second).await;
    assert_eq!(second.get(&back).await.status, StatusCode::UNAUTHORIZED);
    let other = format!(
        "{}&state={}",
        back.split("&state=").next().unwrap(),
        "0".repeat(64)
    );
    assert_eq!(caller.get(&other).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(caller.get(&back).await.status, StatusCode::OK);
    assert_eq!(
        caller.get(&back).await.status,
        StatusCode::UNAUTHORIZED,
        "once"
    );
    let page = caller
        .get("/login/with/silver/done?error=access_denied")
        .await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        caller.get("/login/with/unknown").await.status,
        StatusCode::NOT_FOUND
    );
    let posted = caller.post("/login/with/silver", &form(&[])).await;
    assert_eq!(posted.status, StatusCode::NOT_FOUND);

    // The console reads the provider's keys at most once a minute. Until the next reading, a login
    // that is signed with a new key is refused.
    let read = |calls: Vec<&str>| calls.iter().filter(|call| **call == "keys").count();
    assert_eq!(read(provider.calls()), 1);
    provider.rotate(true);
    assert_eq!(log_in(&house).await.1.status, StatusCode::UNAUTHORIZED);
    assert_eq!(read(provider.calls()), 1);
    let logged_in = "select count(*) from audit_log where action = 'operator_logged_in'";
    assert_eq!(house.number(logged_in).await, 1);
    house.stop().await;
}

#[tokio::test]
async fn a_provider_that_is_away_is_said_and_the_password_stays() {
    let (house, provider) = with_provider("own_login_away").await;
    drop(provider);
    let caller = Caller::new(&house);
    let page = caller.get(BEGIN).await;
    assert_eq!(page.status, StatusCode::BAD_GATEWAY);
    assert!(
        page.body.contains("Try again in a few minutes"),
        "{}",
        page.body
    );
    assert!(page.body.contains("name=\"password\""), "{}", page.body);
    house.stop().await;
}
