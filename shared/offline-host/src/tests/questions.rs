//! Questions that guests ask, with what the answer must and must not contain.

use seven_domain::{Language, ReplyLength};

use super::{
    super::fit::Room,
    fixture::{CONTENT, Fixture, LEAD, PHONE, index},
};

/// A question asked on Friday 2026-03-06 at 18:30, and the expected reply: its intent, the ids of
/// its sources, texts that it must contain, and texts that it must not contain.
type Row = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

const EVENING: &[Row] = &[
    // what is open
    (
        "What restaurants are open tonight?",
        "open_now",
        &["d1", "d2", "d3", "d4"],
        &[
            "Open now",
            "Ember Room",
            "Trattoria Belluno",
            "Copper Owl",
            "Velvet Perch",
        ],
        &["Morning Fern", "Closed Chapter"],
    ),
    (
        "que restaurantes estan abiertos ahora",
        "open_now",
        &["d1", "d2", "d3", "d4"],
        &["Abierto ahora", "Velvet Perch"],
        &["Morning Fern", "Open"],
    ),
    (
        "¿Qué restaurantes están abiertos esta noche?",
        "open_now",
        &["d1", "d2", "d3", "d4"],
        &["Abierto ahora"],
        &["Morning Fern"],
    ),
    (
        "restaurants open right now please",
        "open_now",
        &["d1", "d2", "d3", "d4"],
        &["Open now"],
        &["Morning Fern"],
    ),
    (
        "anywhere open late?",
        "open_now",
        &["d3", "d4"],
        &["late tonight"],
        &["Ember Room", "Belluno"],
    ),
    (
        "food at 3am",
        "recommend",
        &["d3"],
        &["Copper Owl"],
        &["Velvet"],
    ),
    (
        "Hola, ¿qué hay para comer a las 2 de la mañana?",
        "recommend",
        &["d3", "d4"],
        &["Copper Owl"],
        &["Ember"],
    ),
    (
        "any bars open now?",
        "open_now",
        &["d4"],
        &["Velvet Perch"],
        &["Ember", "Owl"],
    ),
    (
        "any Italian place open now?",
        "open_now",
        &["d2"],
        &["Trattoria Belluno"],
        &["Ember"],
    ),
    (
        "pizza places open now",
        "open_now",
        &["d2"],
        &["Trattoria Belluno"],
        &["Owl"],
    ),
    (
        "where can I get coffee right now",
        "recommend",
        &["d5"],
        &["Morning Fern", "tomorrow at 6am"],
        &["Owl"],
    ),
    (
        "where can I get breakfast tomorrow?",
        "recommend",
        &["d3", "d5"],
        &["Morning Fern"],
        &["Ember"],
    ),
    (
        "which restaurants are open at 11pm?",
        "open_now",
        &["d3", "d4"],
        &["Open then"],
        &["Ember"],
    ),
    (
        "what restaurants are open at 11:30 tonight",
        "open_now",
        &["d3", "d4"],
        &["Open then"],
        &["Ember"],
    ),
    (
        "can you help me find dinner?",
        "recommend",
        &[],
        &["open until"],
        &["Fern"],
    ),
    (
        "where is the casino",
        "general",
        &["i3"],
        &["7 Juniper Way"],
        &[],
    ),
    (
        "Necesito un lugar para cenar esta noche",
        "recommend",
        &[],
        &["abierto hasta"],
        &["Fern"],
    ),
    // one venue
    (
        "when does Ember Room close?",
        "venue_hours",
        &["d1"],
        &["Ember Room is open until 10pm"],
        &[],
    ),
    (
        "is the embre room open",
        "venue_hours",
        &["d1"],
        &["Yes, Ember Room"],
        &[],
    ),
    (
        "a que hora cierra Ember Room?",
        "venue_hours",
        &["d1"],
        &["hasta las 10pm"],
        &["until"],
    ),
    (
        "Is Ember Room open on Monday?",
        "venue_hours",
        &["d1"],
        &["closed on Monday", "Wed-Sun 5pm-10pm"],
        &[],
    ),
    (
        "is Morning Fern open?",
        "venue_hours",
        &["d5"],
        &["closed", "tomorrow at 6am"],
        &[],
    ),
    (
        "How late is Velvet Perch open?",
        "venue_hours",
        &["d4"],
        &["until 3am"],
        &[],
    ),
    (
        "what are Belluno's hours",
        "venue_hours",
        &["d2"],
        &["Daily 11am-10pm"],
        &[],
    ),
    (
        "Tell me about the Copper Owl",
        "venue_info",
        &["d3"],
        &["pancakes", "Casino floor"],
        &[],
    ),
    (
        "where is Trattoria Belluno",
        "venue_info",
        &["d2"],
        &["Market Hall"],
        &[],
    ),
    (
        "¿Dónde está Trattoria Belluno?",
        "venue_info",
        &["d2"],
        &["Market Hall", "se encuentra"],
        &[],
    ),
    (
        "is Ember Room expensive?",
        "venue_info",
        &["d1"],
        &["$$$$"],
        &[],
    ),
    (
        "Does Trattoria Belluno have a kids menu?",
        "venue_info",
        &["d2"],
        &["kids menu"],
        &["no kids"],
    ),
    (
        "do I need a reservation at Ember Room?",
        "venue_info",
        &["d1"],
        &["required"],
        &[],
    ),
    (
        "does Belluno have vegan food",
        "venue_info",
        &["d2"],
        &["vegan"],
        &[],
    ),
    (
        "What time does Ember Room close and is there a dress code?",
        "venue_hours",
        &["d1"],
        &["10pm", "smart casual"],
        &[],
    ),
    (
        "Book a table for 4 at Ember Room",
        "booking",
        &["d1"],
        &["required", PHONE],
        &[],
    ),
    ("is the gift shop open", "unanswered", &[], &[PHONE], &[]),
    // wishes
    (
        "any Italian place?",
        "recommend",
        &["d2"],
        &["Trattoria Belluno"],
        &["Ember"],
    ),
    (
        "We love Italian food",
        "recommend",
        &["d2"],
        &["Belluno"],
        &[],
    ),
    (
        "my husband is gluten free",
        "recommend",
        &["d1", "d2"],
        &["Ember Room", "Belluno", "gluten-free"],
        &["Owl"],
    ),
    (
        "¿Tienen opciones veganas?",
        "cuisine",
        &["d2"],
        &["Belluno"],
        &["Ember"],
    ),
    // The other place with a children's menu is on the casino floor, so it is left out.
    (
        "kid friendly restaurants",
        "recommend",
        &["d2"],
        &["kids' menu"],
        &["Ember", "Owl"],
    ),
    (
        "cheap eats",
        "recommend",
        &["d3", "d5"],
        &["Copper Owl"],
        &["Ember"],
    ),
    (
        "any korean food?",
        "unanswered",
        &[],
        &[PHONE],
        &["Ember", "Owl"],
    ),
    (
        "What restaurants do you have?",
        "dining",
        &["d1", "d2", "d3", "d4", "d5"],
        &["Morning Fern"],
        &["Closed Chapter"],
    ),
    (
        "recommend somewhere for a steak",
        "recommend",
        &["d1"],
        &["Ember Room"],
        &[],
    ),
    // shows
    (
        "what's on tonight?",
        "events",
        &["e1"],
        &["Riverlight Trio", "today at 8pm"],
        &["Dry Wit", "Gala"],
    ),
    (
        "what shows this weekend",
        "events",
        &["e1", "e2"],
        &["Riverlight Trio", "Dry Wit Night tomorrow at 9pm"],
        &["Gala", "Needle"],
    ),
    (
        "any shows on thursday?",
        "events",
        &["e3"],
        &["Needle Drop", "10pm"],
        &["Riverlight"],
    ),
    (
        "what's happening at Juniper Hall tomorrow",
        "events",
        &["e2"],
        &["Dry Wit Night"],
        &["Riverlight"],
    ),
    (
        "any comedy?",
        "events",
        &["e2"],
        &["Dry Wit Night"],
        &["Riverlight"],
    ),
    (
        "que espectaculos hay mañana",
        "events",
        &["e2"],
        &["Noche Dry Wit", "9pm"],
        &["Riverlight"],
    ),
    (
        "how much are tickets for Riverlight Trio",
        "venue_info",
        &["e1"],
        &["$25-$45"],
        &[],
    ),
    (
        "what time is Riverlight Trio",
        "venue_hours",
        &["e1"],
        &["today at 8pm", "Juniper Hall"],
        &[],
    ),
    // spa, rooms, games, offers, rewards
    (
        "is the spa open?",
        "venue_hours",
        &["h2"],
        &["Fernwater Spa", "until 9pm"],
        &[],
    ),
    (
        "how much is a massage?",
        "spa",
        &["s1"],
        &["$145", "60"],
        &["$130"],
    ),
    (
        "¿Cuánto cuesta un masaje?",
        "spa",
        &["s1"],
        &["$145", "Masaje de pino"],
        &[],
    ),
    (
        "what spa treatments do you have",
        "spa",
        &["s1", "s2"],
        &["Pine Massage", "Clay Facial"],
        &[],
    ),
    (
        "how much is a room",
        "rooms",
        &["r1", "r2"],
        &["$159", "$349"],
        &[],
    ),
    (
        "do you have suites?",
        "rooms",
        &["r2"],
        &["Canopy Suite"],
        &["Grove"],
    ),
    (
        "what's the minimum bet on blackjack?",
        "gaming",
        &["g1"],
        &["$15"],
        &[],
    ),
    (
        "is poker open now",
        "venue_hours",
        &["g2"],
        &["Tamarack Poker Room", "until 4am"],
        &[],
    ),
    (
        "what promotions do you have",
        "promotions",
        &["p1"],
        &["Welcome Free Play", "$20"],
        &["Winter"],
    ),
    (
        "how do I join the rewards program",
        "loyalty",
        &["l1"],
        &["Leaf Circle", "desk"],
        &[],
    ),
    // the casino itself
    (
        "what time do you open",
        "venue_hours",
        &["h1"],
        &["24 hours"],
        &[],
    ),
    (
        "¿A qué hora cierra la piscina?",
        "venue_hours",
        &["h3"],
        &["Piscina Lagoon", "hasta las 8pm"],
        &[],
    ),
    (
        "do you have wifi?",
        "amenities",
        &["a1"],
        &["no password"],
        &[],
    ),
    (
        "is parking free?",
        "amenities",
        &["a2"],
        &["Free covered garage"],
        &[],
    ),
    ("what is check-in time", "general", &["i1"], &["4pm"], &[]),
    ("can I bring my dog?", "general", &["i2"], &["$50"], &[]),
    (
        "¿Aceptan mascotas?",
        "general",
        &["i2"],
        &["$50 la estancia"],
        &["stay"],
    ),
    (
        "where are you located?",
        "general",
        &["i3"],
        &["7 Juniper Way"],
        &[],
    ),
    (
        "how old do you have to be to gamble",
        "regulations",
        &["x1"],
        &["21"],
        &[],
    ),
    (
        "can I smoke inside?",
        "regulations",
        &["x2"],
        &["smoke-free"],
        &[],
    ),
    (
        "is there a dress code?",
        "regulations",
        &["x3"],
        &["Casual clothes"],
        &[],
    ),
    // conversation
    ("hi", "greeting", &[], &["AI host", "Pine Hollow"], &[]),
    ("Hola", "greeting", &[], &["IA"], &["host"]),
    ("thanks!", "thanks", &[], &[], &[PHONE]),
    ("gracias", "thanks", &[], &[], &["welcome"]),
    ("thanks, bye", "goodbye", &[], &["Pine Hollow"], &[]),
    (
        "are you a bot?",
        "identity",
        &[],
        &["AI host", "not a person"],
        &[],
    ),
    (
        "¿Es usted un robot?",
        "identity",
        &[],
        &["IA", "no una persona"],
        &[],
    ),
    ("can I talk to a real person", "human", &[], &[PHONE], &[]),
    ("my name is Maria", "statement", &[], &[], &[PHONE]),
    (
        "we are coming saturday with 2 kids",
        "statement",
        &[],
        &[],
        &["Belluno"],
    ),
    ("what's your phone number", "contact", &[], &[PHONE], &[]),
    ("do you have a helipad?", "unanswered", &[], &[PHONE], &[]),
    (
        "¿tienen helipuerto?",
        "unanswered",
        &[],
        &[PHONE, "a nuestro equipo"],
        &["tell"],
    ),
    (
        "what is the capital of France?",
        "unanswered",
        &[],
        &[PHONE],
        &["Paris"],
    ),
    ("asdf qwerty", "unclear", &[], &["?"], &[]),
];

pub(crate) fn all_texts() -> impl Iterator<Item = &'static str> {
    EVENING.iter().map(|row| row.0)
}

#[test] // CONV-23, CONV-24, D11
fn every_question_gets_its_answer() {
    assert!(EVENING.len() >= 60);
    let mut wrong = Vec::new();
    for (text, intent, sources, holds, lacks) in EVENING {
        for seed in [0, 7, 1 << 40] {
            let mut desk = Fixture::at("2026-03-06 18:30");
            desk.seed = seed;
            let reply = desk.ask(text);
            let grounded = *intent != "unanswered";
            let mut got = reply.sources.clone();
            got.sort_unstable();
            let fine = reply.intent == *intent
                && (sources.is_empty() || got == *sources)
                && holds.iter().all(|h| reply.text.contains(h))
                && !lacks.iter().any(|l| reply.text.contains(l))
                && reply.grounded == grounded;
            if !fine {
                wrong.push(format!(
                    "{text}\n  {} {:?} grounded {}: {}",
                    reply.intent, got, reply.grounded, reply.text
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test] // CONV-24, C-34, C-35
fn replies_are_plain_short_and_ask_at_most_once() {
    for text in all_texts() {
        for local in ["2026-03-06 18:30", "2026-03-04 03:30", "2026-03-09 13:00"] {
            let reply = Fixture::at(local).ask(text).text;
            assert!(
                Room::behind(None).two(&reply) && !reply.is_empty(),
                "{text}: {reply}"
            );
            assert!(reply.matches('?').count() <= 1, "{text}: {reply}");
            assert!(
                !reply.contains(['\n', '{', '}', '*', '#', 'á', 'í', 'ó', 'ú']),
                "{text}: {reply}"
            );
            assert!(
                !reply.contains("  ") && !reply.contains(" .") && !reply.contains(".."),
                "{text}: {reply}"
            );
        }
    }
    let short = all_texts()
        .filter(|t| Room::behind(None).one(&Fixture::at("2026-03-06 18:30").ask(t).text))
        .count();
    assert!(
        short * 100 >= EVENING.len() * 90,
        "only {short} of {} in one text",
        EVENING.len()
    );
}

#[test] // WEB-29
fn a_message_of_the_web_may_be_longer_and_keeps_its_accents() {
    const QUESTIONS: [&str; 6] = [
        "What restaurants do you have?",
        "what's on tonight?",
        "tell me about Ember Room",
        "tell me about Copper Owl",
        "tell me about Velvet Perch",
        "is parking free?",
    ];
    let message = ReplyLength::Message {
        usual: 320,
        most: 800,
    };
    let mut desk = Fixture::at("2026-03-06 18:30");
    let texts = desk.ask_all(&QUESTIONS);
    desk.length = message;
    let whole = desk.ask_all(&QUESTIONS);
    assert!(whole.text.chars().count() <= 800, "{}", whole.text);
    assert!(
        whole.text.len() > texts.text.len() && whole.sources.len() > texts.sources.len(),
        "{}; {}",
        texts.text,
        whole.text
    );
    let accented = CONTENT.replace("todo el dia", "todo el día");
    let mut desk = Fixture::with(index(desk.now, &accented), desk.now);
    desk.length = message;
    let reply = desk.ask("cuentame de Copper Owl").text;
    assert!(reply.contains("todo el día"), "{reply}");
    let sent = seven_sms::shape(&reply, 2).texts.join(" ");
    assert!(sent.contains("todo el dia"), "{sent}");
}

#[test] // SEC-49, CONV-24: the disclosure displaces nothing from the first reply
fn a_lead_costs_no_answer() {
    let phrase = |text: &str| {
        text.split(['.', '!', ':', ','])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    for (text, intent, sources, ..) in EVENING {
        for seed in [0, 7, 1 << 40] {
            let mut desk = Fixture::at("2026-03-06 18:30");
            desk.seed = seed;
            let alone = desk.ask(text);
            desk.lead = Some(LEAD.into());
            let led = desk.ask(text);
            assert!(
                Room::behind(Some(LEAD)).two(&led.text),
                "{text}: {}",
                led.text
            );
            assert_eq!(
                (led.intent.as_str(), led.grounded),
                (*intent, alone.grounded),
                "{text}: {}",
                led.text
            );
            let mut got = led.sources.clone();
            got.sort_unstable();
            assert!(
                sources.is_empty() || got == *sources,
                "{text}: {got:?}: {}",
                led.text
            );
            assert!(led.text.matches('?').count() <= 1, "{text}: {}", led.text);
            let chat = ["greeting", "identity", "human"].contains(intent);
            assert!(
                chat || phrase(&led.text) == phrase(&alone.text),
                "{text}: {} / {}",
                led.text,
                alone.text
            );
            assert!(
                !chat
                    || !["Seven", "Pine Hollow", "AI host", "la IA de"]
                        .iter()
                        .any(|w| led.text.contains(w)),
                "{}",
                led.text
            );
        }
    }
}

#[test] // CONV-40, C-28
fn language_follows_the_newest_text_then_the_profile() {
    let model = crate::OfflineModel::from_toml(super::fixture::PACK).unwrap();
    for (text, expected) in [
        ("Prefiero hablar en espanol", Some(Language::Es)),
        ("dónde está el spa", Some(Language::Es)),
        (
            "Hola, quiero reservar para dos personas",
            Some(Language::Es),
        ),
        ("Hola", Some(Language::Es)),
        ("gracias", Some(Language::Es)),
        ("Hola, donde esta el spa?", Some(Language::Es)),
        ("Sí", Some(Language::Es)),
        ("Table at Como restaurant", Some(Language::En)),
        ("what time does La Cocina close", Some(Language::En)),
        ("can we speak English please", Some(Language::En)),
        ("4", None),
    ] {
        assert_eq!(model.detect_language(text), expected, "{text}");
    }
    let mut desk = Fixture::at("2026-03-06 18:30");
    desk.language = Some(Language::Es);
    assert_eq!(desk.ask("ok").language, Language::Es);
    assert_eq!(
        desk.ask("what time does Ember Room close").language,
        Language::En
    );
    assert_eq!(desk.ask_all(&["Hi there", "4"]).language, Language::En);
}

#[test] // CONV-40: a switch of the language keeps the context
fn asking_for_spanish_repeats_the_last_answer_in_spanish() {
    let mut desk = Fixture::at("2026-03-06 18:30");
    desk.talk("What restaurants do you have?");
    let reply = desk.talk("Prefiero hablar en espanol");
    assert_eq!(reply.language, Language::Es);
    assert!(
        reply.text.contains("Nuestros restaurantes") && reply.text.contains("Ember Room"),
        "{}",
        reply.text
    );
}

#[test] // CONV-40
fn a_list_asked_for_after_a_recommendation_is_the_list() {
    for (first, then) in [
        (
            "Can you recommend a restaurant?",
            "What restaurants do you have?",
        ),
        (
            "¿Me recomiendas un restaurante?",
            "¿Qué restaurantes tienen?",
        ),
        ("¿Me recomiendas un restaurante?", "¿Qué restaurantes hay?"),
        (
            "¿Dónde me recomiendas cenar?",
            "¿Cuáles son sus restaurantes?",
        ),
    ] {
        let mut desk = Fixture::at("2026-03-06 18:30");
        let told = desk.talk(first).text;
        let reply = desk.talk(then).text;
        assert!(
            reply.contains("ur restaurants") || reply.contains("uestros restaurantes"),
            "{first} {told}\n{then} {reply}"
        );
    }
}

#[test]
fn follow_ups_are_about_the_venue_named_last() {
    let mut desk = Fixture::at("2026-03-06 18:30");
    desk.talk("Tell me about Ember Room");
    for (text, holds) in [
        ("and is there a dress code?", "smart casual"),
        ("what time does it close?", "10pm"),
        ("do they have a kids menu?", "no kids menu"),
        ("y donde esta?", "North Tower"),
        ("is it open on tuesday?", "closed on Tuesday"),
    ] {
        let reply = desk.talk(text);
        assert!(
            reply.text.contains(holds) && reply.text.contains("Ember Room"),
            "{text}: {}",
            reply.text
        );
    }
    let reply = desk.talk("great, book it");
    assert!(
        reply.intent == "booking" && reply.text.contains("Ember Room"),
        "{}",
        reply.text
    );
    let mut desk = Fixture::at("2026-03-06 18:30");
    desk.talk("any restaurants open now?");
    let reply = desk.talk("what time does it close?");
    assert_eq!(reply.intent, "clarify");
    desk.talk("what's on tonight?");
    let reply = desk.talk("and tomorrow?");
    assert!(reply.text.contains("Dry Wit Night"), "{}", reply.text);
}

#[test]
fn several_texts_are_answered_together() {
    let desk = Fixture::at("2026-03-06 18:30");
    let reply = desk.ask_all(&["Hi!", "when does Ember Room close?", "and is parking free?"]);
    assert!(
        reply.text.contains("10pm")
            && reply.text.contains("garage")
            && !reply.text.contains("AI host"),
        "{}",
        reply.text
    );
    let reply = desk.ask_all(&["do you have wifi?", "and a helipad?"]);
    assert!(
        reply.text.contains("password") && reply.text.contains(PHONE) && !reply.grounded,
        "{}",
        reply.text
    );
    let many = [
        "what restaurants do you have?",
        "what spa treatments do you have",
        "can I bring my dog?",
        "what shows this weekend",
        "how much is a room",
    ];
    let reply = desk.ask_all(&many);
    assert!(
        Room::behind(None).two(&reply.text) && reply.text.contains("$159"),
        "{}",
        reply.text
    );
    let reply = desk.ask("What restaurants are open tonight? Is parking free?");
    assert!(
        reply.text.contains("Ember Room") && reply.text.contains("garage"),
        "{}",
        reply.text
    );
    let reply = desk.ask("which bars and restaurants are open now?");
    assert!(
        reply.text.contains("Ember Room") && reply.text.contains("Velvet Perch"),
        "{}",
        reply.text
    );
}

#[test]
fn a_missing_fact_is_said_to_be_missing() {
    let reply = Fixture::at("2026-03-06 18:30").ask("what is the dress code at Copper Owl?");
    assert!(
        !reply.grounded && reply.text.contains("Copper Owl") && reply.text.contains(PHONE),
        "{}",
        reply.text
    );
}

#[test]
fn broken_packs_are_refused_by_name() {
    let error = |text: &str| crate::OfflineModel::from_toml(text).unwrap_err();
    let without = super::fixture::PACK.replace("[intents.thanks]", "[intents.thx]");
    assert!(error(&without).to_string().contains("intents.thanks"));
    let without = super::fixture::PACK.replace("\nhuman = {", "\nhumane = {");
    assert!(error(&without).to_string().contains("say.human"));
    assert!(matches!(
        error("threshold = true"),
        seven_llm::Error::Pack(_)
    ));
}

#[test]
fn the_trait_answers_without_a_runtime() {
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };
    let desk = Fixture::at("2026-03-06 18:30");
    let model: &dyn seven_llm::Model =
        &crate::OfflineModel::from_toml(super::fixture::PACK).unwrap();
    let request = seven_llm::Request {
        casino_name: "Pine Hollow".into(),
        contact_phone: PHONE.into(),
        persona: "Seven".into(),
        zone: super::fixture::ZONE,
        now: desk.now,
        language: None,
        lead: None,
        length: ReplyLength::Texts,
        texts: vec!["hi".into()],
        history: vec![],
        index: desk.index,
        seed: 7,
        deadline: std::time::Duration::from_secs(1),
        profile: seven_guest::profile::Context::default(),
        summary: None,
        ask: None,
        state: seven_guest::DialogueState::default(),
    };
    let Poll::Ready(Ok(reply)) =
        pin!(model.respond(&request)).poll(&mut Context::from_waker(Waker::noop()))
    else {
        panic!("pending")
    };
    assert_eq!(
        (reply.intent.as_str(), model.name()),
        ("greeting", "offline")
    );
}

#[test] // CONV-1
fn texts_that_say_nothing_get_a_reply_too() {
    let mut desk = Fixture::at("2026-03-01 00:00");
    desk.talk("What restaurants are open tonight?");
    let reply = desk.ask_all(&["it", ""]);
    assert!(!reply.text.is_empty(), "{reply:?}");
}
