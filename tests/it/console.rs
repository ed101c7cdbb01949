//! The console over HTTP (D26, D27): logins, the pages that each role may see, and forged input,
//! which is refused.

mod compliance;
mod content;
mod dead;
mod desk;
mod held;
pub(crate) mod hostile;
pub(crate) mod own_login;
mod pages;
mod shift;
pub(crate) mod staff;

use std::time::Duration;

use reqwest::{StatusCode, header};
use seven_domain::{OperatorId, Role};
use seven_settings::Worker;
use seven_staff::{account, lockout::MOST_PER_PAIR};

use self::staff::{Caller, PASSWORD, Staff, form};
use crate::harness::{GUEST, House, Wanted, house};

/// Starts a fleet with a console.
pub(crate) async fn with_console(name: &str) -> House {
    let mut house = house(name, Wanted::default()).await;
    house.stack.spawn(Worker::Console, None).await.unwrap();
    house
}

#[tokio::test] // D26
async fn a_login_asks_for_password_and_code_and_begins_a_fresh_session() {
    let house = with_console("console_login").await;
    let staff = Staff::new(&house);
    let host = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let mut caller = Caller::new(&house);
    let page = caller.get("/c/silver_birch/conversations").await;
    assert_eq!(
        (page.status, &*page.location),
        (StatusCode::SEE_OTHER, "/login")
    );
    // The right password opens a session, but this session shows no page until the code is entered.
    let page = caller
        .post(
            "/login",
            &form(&[("email", " Luis@Example.com"), ("password", PASSWORD)]),
        )
        .await;
    assert_eq!(&*page.location, "/login/code");
    let first = caller.cookie.clone().unwrap();
    let page = caller.get("/c/silver_birch/conversations").await;
    assert_eq!(&*page.location, "/login", "the code is still missing");
    let page = caller
        .post("/login/code", &form(&[("code", "000000")]))
        .await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    let code = host.next_code();
    let page = caller.post("/login/code", &form(&[("code", &code)])).await;
    assert_eq!(&*page.location, "/", "{}", page.body);
    // After the code, the session has a new token. A token that was planted before the login is
    // worthless.
    assert_ne!(caller.cookie.clone().unwrap(), first);
    assert_eq!(
        caller.get("/c/silver_birch/conversations").await.status,
        StatusCode::OK
    );
    let planted = Caller::with(&house, &first);
    assert_eq!(&*planted.get("/").await.location, "/login");
    // A code that was used once is refused.
    let mut again = Caller::new(&house);
    again
        .post(
            "/login",
            &form(&[("email", "luis@example.com"), ("password", PASSWORD)]),
        )
        .await;
    let page = again.post("/login/code", &form(&[("code", &code)])).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED, "a code counts once");
    house.stop().await;
}

#[tokio::test] // D26: nobody can lock a host out from elsewhere
async fn too_many_wrong_logins_refuse_the_pair_and_say_nothing_about_names() {
    let house = with_console("console_lockout").await;
    let staff = Staff::new(&house);
    staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let mut caller = Caller::new(&house);
    let mut bodies = Vec::new();
    for email in ["luis@example.com", "nobody@example.com"] {
        for n in 0..MOST_PER_PAIR {
            let wrong = form(&[("email", email), ("password", "four red boats too")]);
            let page = caller.post("/login", &wrong).await;
            assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{email} {n}");
            bodies.push(page.body.replace(email, ""));
        }
        let right = form(&[("email", email), ("password", PASSWORD)]);
        let page = caller.post("/login", &right).await;
        assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS, "{email}");
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "known and unknown names look alike");
    let entries = house
        .number("select count(*) from audit_log where action = 'operator_locked_out'")
        .await;
    assert_eq!(entries, 2);
    // A login to the same account from another address still succeeds.
    let store = staff.store();
    let from_elsewhere = seven_staff::login::with_password(
        &store,
        "luis@example.com",
        PASSWORD.into(),
        "198.51.100.7",
        true,
    );
    assert!(from_elsewhere.await.is_ok());
    house.stop().await;
}

#[tokio::test] // D26, D27, SEC-138
async fn each_role_sees_its_own_casino_and_its_own_pages() {
    let house = with_console("console_roles").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    let conversation = staff.conversation().await;
    let other = "another_casino".parse().unwrap();
    let here = Some(house.casino());
    let thread = format!("/c/silver_birch/conversations/{conversation}");
    let pages = [
        "/c/silver_birch/conversations",
        "/c/silver_birch/cases",
        &thread,
        "/operators",
        "/c/silver_birch/incidents",
        "/c/silver_birch/held",
        "/c/silver_birch/campaigns",
        "/c/silver_birch/contacts",
        "/c/silver_birch/compliance",
        "/c/silver_birch/audit",
        "/c/silver_birch/figures",
    ];
    // The last field has one character for each of `pages`: `x` if the role sees the page, `-` if
    // not.
    for (email, role, casino, sees) in [
        ("host@example.com", Role::Host, here, "xxx-xx-x---"),
        (
            "marketing@example.com",
            Role::Marketing,
            here,
            "------x----",
        ),
        ("editor@example.com", Role::Editor, here, "-----------"),
        (
            "compliance@example.com",
            Role::Compliance,
            here,
            "xxx-x--xxx-",
        ),
        ("manager@example.com", Role::Manager, None, "xxx-x-xxxxx"),
        ("admin@example.com", Role::Admin, here, "---x---xxx-"),
        ("auditor@example.com", Role::Auditor, here, "--------xx-"),
        (
            "stranger@example.com",
            Role::Host,
            Some(&other),
            "-----------",
        ),
    ] {
        let person = staff.add(email, role, casino).await;
        let caller = person.logged_in(&house).await;
        for (path, sees) in pages.iter().zip(sees.chars()) {
            let page = caller.get(path).await;
            let wanted = if sees == 'x' {
                StatusCode::OK
            } else {
                StatusCode::NOT_FOUND
            };
            assert_eq!(page.status, wanted, "{email} {path}");
        }
        // A missing page and a forbidden one look alike.
        let nowhere = format!("/c/silver_birch/conversations/{}", uuid::Uuid::now_v7());
        let page = caller.get(&nowhere).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{email}");
        let words = caller
            .get(&thread)
            .await
            .body
            .contains("What time is check-in?");
        assert_eq!(
            words,
            matches!(role, Role::Host | Role::Manager) && sees.chars().nth(2) == Some('x'),
            "{email}"
        );
        if role == Role::Manager {
            let page = caller
                .act(&format!("{thread}/takeover"), &[("reason", "x")])
                .await;
            assert_eq!(page.status, StatusCode::NOT_FOUND, "a manager only reads");
        }
        if role == Role::Compliance {
            let reveal = format!("{thread}/reveal");
            caller.act(&reveal, &[("reason", " ")]).await;
            assert!(!caller.get(&thread).await.body.contains("check-in?"));
            caller.act(&reveal, &[("reason", "complaint 12")]).await;
            assert!(
                caller
                    .get(&thread)
                    .await
                    .body
                    .contains("What time is check-in?")
            );
            let entries = house
                .number("select count(*) from audit_log where action = 'personal_data_revealed' and detail->>'reason' = 'complaint 12'")
                .await;
            assert_eq!(entries, 1);
        }
    }
    house.stop().await;
}

#[tokio::test] // D26: rights are those of this moment
async fn a_role_or_an_account_that_ends_ends_at_once() {
    let house = with_console("console_ended").await;
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    let luis = staff.add("luis@example.com", Role::Host, here).await;
    let caller = luis.logged_in(&house).await;
    let path = "/c/silver_birch/conversations";
    assert_eq!(caller.get(path).await.status, StatusCode::OK);
    let grant = (here, Role::Host);
    account::set_role(&staff.store(), luis.id, grant, false, "test")
        .await
        .unwrap();
    assert_eq!(caller.get(path).await.status, StatusCode::NOT_FOUND);
    // The person lost the role while a page was open. The page's next request for a fragment is
    // redirected, and its stream is refused.
    let fragment = caller.fetch("/c/silver_birch/conversations/list").await;
    assert_eq!(fragment.headers["hx-redirect"], "/");
    let stream = caller.fetch("/c/silver_birch/stream").await;
    assert_eq!(stream.status, StatusCode::NOT_FOUND);
    account::set_role(&staff.store(), luis.id, grant, true, "test")
        .await
        .unwrap();
    assert_eq!(caller.get(path).await.status, StatusCode::OK);
    account::set_disabled(&staff.store(), luis.id, true, "test")
        .await
        .unwrap();
    assert_eq!(&*caller.get(path).await.location, "/login");
    account::set_disabled(&staff.store(), luis.id, false, "test")
        .await
        .unwrap();
    assert_eq!(
        &*caller.get(path).await.location,
        "/login",
        "an old session stays ended"
    );
    let fragment = caller.fetch("/c/silver_birch/conversations/list").await;
    assert_eq!(fragment.headers["hx-redirect"], "/login");
    let stream = caller.fetch("/c/silver_birch/stream").await;
    assert_eq!(stream.status, StatusCode::UNAUTHORIZED);
    // An idle session expires, and logging out ends a session.
    let caller = luis.logged_in(&house).await;
    house
        .change("update operator_sessions set seen_at = now() - interval '31 minutes'")
        .await;
    assert_eq!(&*caller.get(path).await.location, "/login");
    let caller = luis.logged_in(&house).await;
    assert_eq!(&*caller.act("/logout", &[]).await.location, "/login");
    assert_eq!(&*caller.get(path).await.location, "/login");
    house.stop().await;
}

#[tokio::test] // D27
async fn a_form_from_elsewhere_changes_nothing() {
    let house = with_console("console_forms").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    let conversation = staff.conversation().await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let caller = luis.logged_in(&house).await;
    let path = format!("/c/silver_birch/conversations/{conversation}/takeover");
    let forms = caller.forms();
    let right = form(&[("forms", &forms), ("reason", "x")]);
    let url = format!("{}{path}", caller.base);
    for (header, value, body) in [
        ("sec-fetch-site", "cross-site", &right),
        ("sec-fetch-site", "same-site", &right),
        ("origin", "https://evil.example", &right),
        ("x-nothing", "x", &right),
        ("sec-fetch-site", "same-origin", &form(&[("reason", "x")])),
        (
            "sec-fetch-site",
            "same-origin",
            &form(&[("forms", "0"), ("reason", "x")]),
        ),
    ] {
        let answer = caller
            .http
            .post(&url)
            .header(header, value)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::COOKIE, caller.cookie.clone().unwrap())
            .body(body.clone())
            .send()
            .await
            .unwrap();
        assert_eq!(
            answer.status(),
            StatusCode::FORBIDDEN,
            "{header} {value} {body}"
        );
    }
    let taken = "select count(*) from conversation_holders";
    assert_eq!(house.number(taken).await, 0);
    assert_eq!(
        caller.act(&path, &[("reason", "x")]).await.status,
        StatusCode::SEE_OTHER
    );
    assert_eq!(house.number(taken).await, 1);
    house.stop().await;
}

#[tokio::test] // D26, D27
async fn headers_cookies_and_paths_give_nothing_away() {
    let house = with_console("console_headers").await;
    let staff = Staff::new(&house);
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let caller = luis.logged_in(&house).await;
    for path in ["/", "/login", "/c/silver_birch/conversations", "/nowhere"] {
        let page = caller.get(path).await;
        let header = |name: &str| page.headers.get(name).map(|value| value.to_str().unwrap());
        assert_eq!(header("cache-control"), Some("no-store"), "{path}");
        let policy = header("content-security-policy").unwrap();
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("trusted-types"));
        assert_eq!(header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    let cookie = luis.set_cookie(&house).await;
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let asset = caller.get("/assets/x/console.css").await;
    assert_eq!(asset.status, StatusCode::OK);
    for path in [
        "/assets/x/../../etc/passwd",
        "/assets/x/..%2f..%2fetc%2fpasswd",
        "/c/..%2f/conversations",
        "/c/Silver_Birch/conversations",
        "/c/silver_birch/conversations/not-an-id",
        "/link/0000",
    ] {
        let status = caller.get(path).await.status;
        assert!(status.is_client_error(), "{path}: {status}");
    }
    // Two session cookies are refused, because one of them may have been planted.
    let cookie = caller.cookie.clone().unwrap();
    let two = Caller::with(&house, &format!("{cookie}; {cookie}"));
    assert_eq!(&*two.get("/").await.location, "/login");
    house.stop().await;
}

#[tokio::test] // D26
async fn an_admin_adds_people_for_their_own_casino_only() {
    let house = with_console("console_admin").await;
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    let admin = staff.add("ana@example.com", Role::Admin, here).await;
    let caller = admin.logged_in(&house).await;
    let fields = [
        ("email", "new@example.com"),
        ("name", "New Host"),
        ("role", "host"),
    ];
    let add = |casino: &'static str| [&fields[..], &[("casino", casino)]].concat();
    for casino in ["", "another_casino"] {
        let page = caller.act("/operators", &add(casino)).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{casino}");
    }
    let bad = [
        ("email", "new"),
        ("name", " "),
        ("role", "host"),
        ("casino", "silver_birch"),
    ];
    let page = caller.act("/operators", &bad).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    for words in ["one @ with a name", "1 to 80 characters"] {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    let page = caller.act("/operators", &add("silver_birch")).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(page.body.contains("/link/"), "{}", page.body);
    let page = caller.act("/operators", &add("silver_birch")).await;
    assert!(page.body.contains("This address has an account."));
    // An administrator of one casino cannot disable a person who has a role at other casinos.
    let elsewhere: OperatorId = staff.add("boss@example.com", Role::Admin, None).await.id;
    let path = format!("/operators/{elsewhere}");
    let page = caller.act(&path, &[("what", "disable")]).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    let statuses = house
        .number("select count(*) from operators where status = 'disabled'")
        .await;
    assert_eq!(statuses, 0);
    house.stop().await;
}

#[tokio::test] // D27: faults
async fn without_postgres_a_page_says_so_and_comes_back() {
    let house = with_console("console_no_postgres").await;
    let staff = Staff::new(&house);
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let caller = luis.logged_in(&house).await;
    let path = "/c/silver_birch/conversations";
    let connect = |verb: &str, to: &str| {
        format!(
            "do $$ begin execute format('{verb} connect on database %I {to} public, seven_app, seven_console', current_database()); end $$"
        )
    };
    house.change(&connect("revoke", "from")).await;
    house
        .change("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'seven_console' and datname = current_database()")
        .await;
    let page = caller.get(path).await;
    house.change(&connect("grant", "to")).await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        page.body.contains("The database did not answer."),
        "{}",
        page.body
    );
    crate::harness::until("the page is back", Duration::from_secs(20), || async {
        caller.get(path).await.status == StatusCode::OK
    })
    .await;
    house.stop().await;
}
