//! Tests of dialogues in which a text is understood only from what was said before it.

use super::fixture::{Fixture, assert_last_replies, at, index};

const HOUSE: &str = r#"{"schema": 1, "items": [
{"id":"grove","category":"dining","name":"Cinder Grove","description":"Steaks over oak.","details":{"cuisine_type":"Steakhouse","price_range":"$$$$","hours":"Daily 11am-11pm","reservations":"Required"},"keywords":["steak","grill","parrilla","fine dining"]},
{"id":"salvia","category":"dining","name":"Nonna Salvia","description":"House pasta and wood-fired pizza.","details":{"cuisine_type":"Italian","price_range":"$$","hours":"Daily 11am-11pm","kids_menu":true},"keywords":["italian","pasta"]},
{"id":"latch","category":"dining","subcategory":"bar","name":"Moonlatch","description":"Lounge with cocktails, small plates and live piano.","details":{"cuisine_type":"Bar","price_range":"$$","hours":"Daily 11am-11pm"},"keywords":["bar","piano","cocktails"]},
{"id":"tap","category":"dining","subcategory":"bar","name":"The Sideline Tap","description":"Sports bar with wings.","details":{"cuisine_type":"Bar","price_range":"$$","hours":"Daily 11am-11pm"},"keywords":["bar","beer"]},
{"id":"revue","category":"entertainment","name":"Lantern Revue","description":"Songs and lights.","details":{"event_type":"Show","venue":"Aurora Hall","starts_at":"2026-11-21T18:00:00","age_restriction":"All ages"}},
{"id":"tickets","category":"general_info","name":"Show tickets","description":"Buy show tickets at the Aurora Hall box office.","details":{},"keywords":["tickets","box office"]},
{"id":"deep","category":"spa","name":"Deep Massage","description":"Slow and firm.","details":{"treatment_type":"Massage","duration_minutes":90,"price":150},"keywords":["massage"]},
{"id":"calm","category":"spa","name":"Calm Facial","description":"Oils and rest.","details":{"treatment_type":"Facial","duration_minutes":60,"price":140},"keywords":["facial"]},
{"id":"shuttle","category":"amenities","subcategory":"shuttle","name":"Town Shuttle","description":"Free shuttle to the station.","details":{"hours":"Daily 8am-11pm"},"keywords":["shuttle","bus"]},
{"id":"shuttle_hours","category":"hours","name":"Town Shuttle","description":"The last shuttle leaves at 10:30pm.","details":{"hours":"Daily 8am-11pm"},"keywords":["shuttle hours"]},
{"id":"arcade","category":"amenities","subcategory":"arcade","name":"Token Arcade","description":"Pinball for all ages.","details":{"hours":"Daily 10am-10pm"},"keywords":["arcade","games"]},
{"id":"stay","category":"promotions","name":"Stay Two","description":"$40 off two nights when booked by phone.","details":{"promo_type":"Hotel discount","value":40,"valid_from":"2026-11-01","valid_until":"2026-12-31","eligibility":"Any guest","redemption_method":"Promo code"},"keywords":["hotel deal"]},
{"id":"quiet","category":"promotions","name":"Quiet Day Credit","description":"$35 off a treatment at the spa.","details":{"promo_type":"Spa credit","value":35,"valid_from":"2026-11-01","valid_until":"2026-12-31","eligibility":"Any guest","redemption_method":"Automatic"},"keywords":["spa deal"]}
]}"#;

/// The texts of a dialogue, what the last reply must contain, and what it must not contain.
const DIALOGUES: &[(&[&str], &str, &str)] = &[
    (
        &[
            "ouch my back, do you have a deep massage with oils",
            "and how long is it",
        ],
        "90",
        "passed",
    ),
    (
        &["is there a show tomorrow?", "where do we buy tickets?"],
        "box office",
        "book",
    ),
    (&["do you have a piano bar?"], "Moonlatch", "Sideline"),
    (
        &["tell me about Moonlatch", "can we eat there?"],
        "small plates",
        "Nonna",
    ),
    (
        &[
            "tell me about Moonlatch",
            "my wife wants to know if we can eat there",
        ],
        "small plates",
        "Nonna",
    ),
    (&["Hi its Priya"], "", "Cinder"),
    (
        &[
            "what about a discount if we stay two nights?",
            "how do we use it?",
        ],
        "Promo code",
        "$35",
    ),
    (
        &[
            "what about a discount if we stay two nights?",
            "and how do I book with that?",
        ],
        "555-0142",
        "Promo code",
    ),
    (
        &[
            "how late is the spa open? and how much is the deep massage",
            "any discount?",
        ],
        "Quiet Day",
        "Stay Two",
    ),
    (
        &["do you have a shuttle?", "when does the last one leave?"],
        "10:30pm",
        "8am",
    ),
    (
        &["where can we eat that isnt super fancy"],
        "Nonna Salvia",
        "nothing like",
    ),
    (
        &[
            "where can we eat today?",
            "no wait saturday. and my mom might come",
        ],
        "Nonna",
        "Thanks for telling",
    ),
    (
        &[
            "tell me about the deep massage",
            "ok skip the spa its too much",
        ],
        "",
        "Deep Massage",
    ),
    (
        &[
            "my room smells like smoke",
            "i dont know, its the one over the italian place",
        ],
        "sorry",
        "Nonna",
    ),
    (
        &["do you have ax throwing. or like an arcade."],
        "Token Arcade",
        "",
    ),
    (
        &[
            "tell me about Moonlatch",
            "what time does the deep massage open? my buddy is an hour late and im losing it",
        ],
        "",
        "Shuttle",
    ),
];

#[test] // D42
fn a_short_text_means_what_was_said_before() {
    assert_last_replies(HOUSE, DIALOGUES);
}

#[test]
fn a_half_past_four_tonight_is_in_the_afternoon() {
    let now = at("2026-11-20 12:30");
    for (time, minute) in [("4:30", 16 * 60 + 30), ("1", 60), ("7", 19 * 60)] {
        let text = format!("book Nonna Salvia for 2 tonight at {time}");
        let reply = Fixture::with(index(now, HOUSE), now).ask(&text);
        let request = reply.state.request.expect("an open booking");
        assert_eq!(request.minute, Some(minute), "{text}");
    }
}

#[test]
fn the_allergy_note_stands_beside_food_and_treatments_only() {
    let now = at("2026-11-20 12:30");
    let note = "allerg";
    for (question, is_noted) in [
        ("where should we eat?", true),
        ("any shows you recommend?", false),
    ] {
        let mut desk = Fixture::with(index(now, HOUSE), now);
        desk.learn("my son is allergic to peanuts");
        let text = desk.ask(question).text;
        assert_eq!(text.contains(note), is_noted, "{question}: {text}");
    }
}
