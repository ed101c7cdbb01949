//! The widget on a casino's page (D32 to D34): by keyboard, in several tabs, offline, under a
//! strict content security policy, and with hostile texts. Also tests the concierge's page.

use std::time::Duration;

use axum::{
    Router,
    http::{StatusCode, header},
    response::Html,
    routing::get,
};
use seven::onboard;
use seven_domain::Role;
use seven_settings::Worker;
use seven_telemetry::metrics;
use tokio::{net::TcpListener, time::sleep};

use super::{SOON, driver::Browser};
use crate::{
    console::{hostile, staff::Staff},
    harness::{House, Wanted, house, until},
};

/// Time for which the guest is offline if `SEVEN_LONG` is set.
const OFFLINE: Duration = Duration::from_secs(30);
/// JavaScript expression for the widget's shadow root, which contains all elements of the widget.
const ROOT: &str = "document.querySelector('seven-chat').shadowRoot";

/// Starts a fleet with a gateway and a console, and serves a casino's page with the widget. The
/// page's content security policy allows only the widget. Also returns the page's address.
async fn with_page(name: &str) -> (House, String) {
    let wanted = Wanted {
        workers: [&Worker::ALL[..], &[Worker::Console]].concat(),
        extra: "web.casino = \"silver_birch\"\nweb.requests_per_minute = 10000\n".to_owned(),
        ..Wanted::default()
    };
    let mut house = house(name, wanted).await;
    house.stack.spawn(Worker::WebGateway, None).await.unwrap();
    let gateway = house.stack.web_urls[0].clone();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let domain = format!("localhost:{}", listener.local_addr().unwrap().port());
    house.config.operational.web_domains = vec![domain.clone()];
    onboard::add_casino(&house.stack.fleet, &house.config, "test")
        .await
        .unwrap();
    let policy = format!(
        "default-src 'none'; script-src {gateway}; connect-src {gateway}; \
         require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'"
    );
    let page = move |language: &'static str| {
        let html = format!(
            "<!doctype html><html lang=\"{language}\"><head><title>Birch</title>\
             <meta name=\"viewport\" content=\"width=device-width\"></head><body><main><h1>Birch</h1>\
             </main><script src=\"{gateway}/w.js\" data-casino=\"silver_birch\" async></script></body></html>"
        );
        let headers = [(header::CONTENT_SECURITY_POLICY, policy.clone())];
        (headers, Html(html))
    };
    let spanish = page.clone();
    let app = Router::new()
        .route("/", get(async move || page("en")))
        .route("/es", get(async move || spanish("es")));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (house, format!("http://{domain}"))
}

impl Browser {
    /// Waits until the conversation shows the words.
    async fn chat_shows(&self, words: &str) {
        until(words, SOON, || async { self.chat().await.contains(words) }).await;
    }

    /// Returns the text of the conversation.
    async fn chat(&self) -> String {
        let asked = "const s = document.querySelector('seven-chat')?.shadowRoot; \
             return s ? s.querySelector('.log').innerText : ''";
        self.ask(asked)
            .await
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    async fn say(&self, words: &str) {
        self.ask(&format!("{ROOT}.querySelector('textarea').focus()"))
            .await;
        self.type_keys(words).await;
        self.enter().await;
    }
}

#[tokio::test] // WID-1..24, D33: by keyboard, a person who answers, offline, tabs
async fn a_guest_asks_a_person_answers_and_nothing_is_lost_offline_or_over_tabs() {
    let (house, page) = with_page("browser_widget").await;
    let browser = Browser::start_at(&page).await;
    browser.page("/").await;
    browser.tab_to("seven-chat").await;
    browser.enter().await;
    browser.chat_shows("an AI host of").await;
    browser.type_keys("Is there a steakhouse?").await;
    browser.enter().await;
    browser.chat_shows("From: Dining").await;
    // The guest asks for a person, who answers from the console in another browser.
    let person = format!("{ROOT}.querySelector('.person').click()");
    browser.ask(&person).await;
    browser.chat_shows("I would like to talk to a person").await;
    let staff = Staff::new(&house);
    let host = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = host.logged_in(&house).await;
    house.settle(2).await;
    let conversation = staff.conversation().await;
    let console = Browser::start(&house).await;
    let thread = format!("/c/silver_birch/conversations/{conversation}");
    console.open_as(&luis, &thread).await;
    console.see("#texts", "Is there a steakhouse?").await;
    console.fill("reason", "the guest asked").await;
    console.submit("#who form[action$='takeover'] button").await;
    console.fill("text", "Luis here, at the front desk.").await;
    console.submit("#say button").await;
    browser.chat_shows("Luis here, at the front desk.").await;
    console.submit("#who form[action$='release'] button").await;
    console.see("#who", "The host answers here.").await;
    console.stop().await;
    // While the guest is offline, three messages wait. When the guest is online again, they are
    // sent in order.
    browser.offline(true).await;
    for words in [
        "What time does the pool open?",
        "And the spa?",
        "Is parking free?",
    ] {
        browser.say(words).await;
    }
    browser.chat_shows("waiting to be sent").await;
    if std::env::var_os("SEVEN_LONG").is_some() {
        sleep(OFFLINE).await;
    }
    browser.offline(false).await;
    until("all three are stored", SOON, || async {
        house.number("select count(*) from inbound_messages where body in ('What time does the pool open?', 'And the spa?', 'Is parking free?')").await == 3
    })
    .await;
    // Orders by `occurred_at`: the time of storing may be the same for two successive messages.
    let order: Vec<String> = house
        .texts_of("select body from inbound_messages order by occurred_at desc limit 3")
        .await;
    assert_eq!(
        order,
        [
            "Is parking free?",
            "And the spa?",
            "What time does the pool open?"
        ]
    );
    house.settle(5).await;
    // Eight tabs of one browser share one stream, and all show the same conversation.
    for _ in 0..7 {
        browser.new_tab("/").await;
        browser
            .ask(&format!("{ROOT}.querySelector('.launch').click()"))
            .await;
        browser.chat_shows("Luis here, at the front desk.").await;
    }
    browser.say("Thank you!").await;
    until("one stream", SOON, || async {
        metrics().web.streams.get() == 1
    })
    .await;
    house.settle(6).await;
    for tab in 0..8 {
        browser.tab(tab).await;
        browser.chat_shows("Thank you!").await;
        let chat = browser.chat().await;
        assert_eq!(chat.matches("Luis here").count(), 1, "{chat}");
    }
    // A new conversation starts empty in every tab and belongs to a new guest.
    browser
        .ask(&format!(
            "{ROOT}.querySelectorAll('.more button')[1].click()"
        ))
        .await;
    until("an empty chat", SOON, || async {
        !browser.chat().await.contains("Luis here")
    })
    .await;
    browser.chat_shows("an AI host of").await;
    browser.say("Is there a steakhouse?").await;
    browser.chat_shows("From: Dining").await;
    assert_eq!(house.number("select count(*) from guests").await, 2);
    browser.tab(0).await;
    browser.chat_shows("From: Dining").await;
    assert!(!browser.chat().await.contains("Luis here"));
    assert_eq!(browser.violations().await, Vec::<String>::new());
    browser.stop().await;
    house.stop().await;
}

#[tokio::test] // WEB-62, D27: six states, two languages, desk, phone and zoom
async fn the_widget_and_the_concierge_are_accessible_in_every_state_and_language() {
    let (house, page) = with_page("browser_widget_axe").await;
    let browser = Browser::start_at(&page).await;
    for (path, language, question, long) in [
        (
            "/",
            "en",
            "Is there a steakhouse?",
            "Which restaurants do you have?",
        ),
        (
            "/es",
            "es",
            "¿Hay restaurante de carnes?",
            "¿Qué restaurantes tienen?",
        ),
    ] {
        browser.page(path).await;
        browser.ask("localStorage.clear()").await;
        browser.page(path).await;
        browser.tab_to("seven-chat").await;
        browser
            .is_accessible(&format!("widget-closed-{language}"))
            .await;
        browser.enter().await;
        until("an open chat", SOON, || async {
            !browser.chat().await.is_empty()
        })
        .await;
        browser
            .is_accessible(&format!("widget-open-{language}"))
            .await;
        browser.say(question).await;
        let sources = if language == "en" { "From:" } else { "Fuente:" };
        browser.chat_shows(sources).await;
        browser
            .is_accessible(&format!("widget-answer-{language}"))
            .await;
        browser.say(long).await;
        until("a second answer", SOON, || async {
            browser.chat().await.matches(sources).count() >= 2
        })
        .await;
        browser
            .is_accessible(&format!("widget-long-{language}"))
            .await;
        browser.offline(true).await;
        browser.say("?").await;
        let waits = if language == "en" {
            "waiting to be sent"
        } else {
            "en espera de envío"
        };
        browser.chat_shows(waits).await;
        browser
            .is_accessible(&format!("widget-offline-{language}"))
            .await;
        browser.offline(false).await;
    }
    let concierge = Browser::start_at(&house.stack.web_urls[0]).await;
    for language in ["en", "es"] {
        concierge.page(&format!("/?lang={language}")).await;
        until("the page's chat", SOON, || async {
            !concierge.chat().await.is_empty()
        })
        .await;
        concierge.click("button[data-say]").await;
        let sources = if language == "en" { "From:" } else { "Fuente:" };
        concierge.chat_shows(sources).await;
        concierge
            .is_accessible(&format!("concierge-{language}"))
            .await;
    }
    assert_eq!(concierge.violations().await, Vec::<String>::new());
    concierge.stop().await;
    browser.stop().await;
    house.stop().await;
}

#[tokio::test] // WEB-62, issue L: dark mode from the page, reduced motion
async fn the_chat_follows_the_pages_colours_and_the_guests_motion() {
    let (house, page) = with_page("browser_widget_dark").await;
    let browser = Browser::start_at(&page).await;
    browser.page("/").await;
    let style = async |browser: &Browser, css: &str, property: &str| {
        let of = format!("getComputedStyle({ROOT}.querySelector('{css}')).{property}");
        let asked = browser.ask(&format!("return {of}")).await;
        asked.as_str().unwrap().to_owned()
    };
    // The casino's page decides the widget's color scheme, whatever the guest's system prefers.
    browser.prefers("prefers-color-scheme", "dark").await;
    let scheme = "document.documentElement.style.colorScheme";
    let mut papers = Vec::new();
    for of_page in ["light", "dark"] {
        browser.ask(&format!("{scheme} = '{of_page}'")).await;
        browser
            .is_accessible(&format!("widget-{of_page}-page"))
            .await;
        papers.push(style(&browser, ".launch", "backgroundColor").await);
    }
    assert_ne!(papers[0], papers[1]);
    for (motion, scrolls) in [("reduce", "auto"), ("no-preference", "smooth")] {
        browser.prefers("prefers-reduced-motion", motion).await;
        assert_eq!(style(&browser, ".log", "scrollBehavior").await, scrolls);
    }
    browser.stop().await;
    // The concierge's page is ours and follows the guest's system.
    let concierge = Browser::start_at(&house.stack.web_urls[0]).await;
    concierge.prefers("prefers-color-scheme", "dark").await;
    concierge.page("/").await;
    concierge.click("button[data-say]").await;
    concierge.chat_shows("From:").await;
    concierge.is_accessible("concierge-dark").await;
    let paper = "return getComputedStyle(document.body).backgroundColor";
    assert_eq!(concierge.ask(paper).await, "rgb(15, 17, 20)");
    concierge.stop().await;
    house.stop().await;
}

#[tokio::test] // issue L: hostile texts are shown as text
async fn a_persons_hostile_words_stay_text_in_the_widget() {
    let (house, page) = with_page("browser_widget_hostile").await;
    let browser = Browser::start_at(&page).await;
    browser.page("/").await;
    browser.tab_to("seven-chat").await;
    browser.enter().await;
    browser.chat_shows("an AI host of").await;
    let texts = hostile::texts();
    assert!(texts.len() >= 40);
    let elements = format!(
        "return [...{ROOT}.querySelectorAll('.log *')].filter((one) => \
         !['DIV', 'B', 'P'].includes(one.tagName)).length"
    );
    // A person's replies arrive through the stream. After a reload of the page, they come from the
    // history.
    browser.say("Is there a steakhouse?").await;
    browser.chat_shows("From: Dining").await;
    let staff = Staff::new(&house);
    let host = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = host.logged_in(&house).await;
    let conversation = staff.conversation().await;
    let thread = format!("/c/silver_birch/conversations/{conversation}");
    let asked = [("reason", "the guest asked")];
    luis.act(&format!("{thread}/takeover"), &asked).await;
    let mut written = 0;
    for text in &texts {
        let page = luis.get(&thread).await.body;
        let read = page.split("name=\"read\" value=\"").nth(1).unwrap();
        let write = [
            ("text", text.as_str()),
            ("read", read.split('"').next().unwrap()),
        ];
        let page = luis.act(&format!("{thread}/say"), &write).await;
        written += u64::from(page.status == StatusCode::SEE_OTHER);
    }
    assert!(written >= 30, "{written} of {} were taken", texts.len());
    let lines = format!("return {ROOT}.querySelectorAll('.line:not(.guest)').length");
    for reload in [false, true] {
        if reload {
            browser.page("/").await;
        }
        until("all that was written is shown", SOON, || async {
            browser.ask(&lines).await.as_u64().unwrap() > written
        })
        .await;
        assert_eq!(browser.ask(&elements).await, 0, "only our own elements");
        assert!(browser.chat().await.contains(&texts[0]));
        assert_eq!(browser.title().await, "Birch");
    }
    for text in &texts {
        let say = format!(
            "document.querySelector('seven-chat').say({})",
            serde_json::json!(text)
        );
        browser.ask(&say).await;
    }
    assert_eq!(browser.ask(&elements).await, 0, "only our own elements");
    let shown = format!(
        "return [...{ROOT}.querySelectorAll('.guest .text')].map((one) => one.textContent)"
    );
    let shown: Vec<String> = serde_json::from_value(browser.ask(&shown).await).unwrap();
    assert_eq!(shown[shown.len() - texts.len()..], texts);
    assert_eq!(browser.ask("return document.cookie").await, "");
    assert_eq!(browser.title().await, "Birch");
    assert_eq!(browser.violations().await, Vec::<String>::new());
    browser.stop().await;
    house.stop().await;
}
