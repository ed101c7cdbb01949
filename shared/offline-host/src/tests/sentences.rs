//! Tests of facts that only a sentence of a row states: exceptional hours, facts without a field,
//! rules for a person of a certain age.

use super::fixture::{Fixture, at, index};

const ROWS: &str = r#"{"schema": 1, "items": [
{"id":"pool","category":"amenities","name":"Otter Lagoon","description":"Heated outdoor pool. Closed for resurfacing November 30 through December 4.","details":{"hours":"Daily 9am-8pm"}},
{"id":"steak","category":"dining","name":"Flint Room","description":"Steaks over oak. Splitting a plate adds $9. On Thanksgiving Day (November 26) open 2pm to 7pm only.","details":{"cuisine_type":"Steakhouse","price_range":"$$$$","hours":"Daily 5pm-10pm","dress_code":"Smart casual"}},
{"id":"cafe","category":"dining","name":"Daylight","description":"Coffee and bagels.","details":{"cuisine_type":"Cafe","price_range":"$","hours":"Daily 6am-11pm"}},
{"id":"family","category":"entertainment","name":"Puppet Parade","description":"Marionettes.","details":{"event_type":"Show","venue":"Birch Hall","starts_at":"2026-11-21 15:00","age_restriction":"All ages"}},
{"id":"adults","category":"entertainment","name":"Blue Hour","description":"Stand-up.","details":{"event_type":"Comedy","venue":"Birch Hall","starts_at":"2026-11-21 21:00","age_restriction":"21+"}},
{"id":"age","category":"regulations","name":"Casino floor","description":"Guests must be 21 to step onto the floor.","details":{"regulation_type":"Age restriction","state":"NY"}},
{"id":"marina","category":"general_info","name":"Boat slips","description":"Overnight dockage is $2 a foot.","details":{}}
]}"#;

fn desk() -> Fixture {
    let now = at("2026-11-20 18:30");
    Fixture::with(index(now, ROWS), now)
}

#[test]
fn what_a_sentence_tells_of_a_day_goes_before_the_usual_hours() {
    for (text, holds, lacks) in [
        (
            "is the Otter Lagoon open on december 2?",
            "Closed for resurfacing",
            "9am-8pm",
        ),
        (
            "what time does the Otter Lagoon close on dec 6?",
            "8pm",
            "resurfacing",
        ),
        (
            "what are the Flint Room hours on thanksgiving?",
            "2pm to 7pm",
            "5pm-10pm",
        ),
        ("is the Flint Room open tomorrow?", "5pm", "2pm"),
    ] {
        let reply = desk().ask(text);
        assert!(
            reply.grounded && reply.text.contains(holds) && !reply.text.contains(lacks),
            "{text}: {}",
            reply.text
        );
    }
}

#[test]
fn a_sentence_that_stands_out_answers_and_nothing_stands_in_for_what_is_missing() {
    for (text, holds) in [
        (
            "hey whats it gonna run us for overnight dockage if we come by boat",
            "$2 a foot",
        ),
        ("what do they charge for splitting a plate", "$9"),
        // Because the text has unknown words, only a sentence that stands out may answer.
        ("whats overnight dockage for cuzzo brenda", "$2 a foot"),
    ] {
        let reply = desk().ask(text);
        assert!(
            reply.grounded && reply.text.contains(holds),
            "{text}: {}",
            reply.text
        );
    }
    for text in [
        "do you have a helicopter pad?",
        "how much is a ferret license?",
    ] {
        let reply = desk().ask(text);
        assert!(
            !reply.grounded && reply.text.contains(super::fixture::PHONE),
            "{text}: {}",
            reply.text
        );
    }
}

#[test] // SEC-29
fn a_minor_spoken_of_is_shown_what_is_for_all_ages() {
    let mut desk = desk();
    desk.talk("My son turns 17 next Saturday");
    let reply = desk.ask("what shows can he see tomorrow?");
    assert!(
        reply.text.contains("Puppet Parade") && !reply.text.contains("Blue Hour"),
        "{}",
        reply.text
    );
    let reply = desk.ask("what shows can my husband and me see tomorrow?");
    assert!(reply.text.contains("Blue Hour"), "{}", reply.text);
    let reply = desk.ask("can my 19 year old son gamble?");
    assert!(reply.text.contains("21"), "{}", reply.text);
}

#[test] // AGENT-29: what the party is allergic to
fn a_kitchen_that_serves_the_allergen_is_not_suggested() {
    const FOOD: &str = r#"{"schema": 1, "items": [
{"id":"tide","category":"dining","name":"Low Tide","description":"Seafood grill on the pier.","details":{"cuisine_type":"Seafood","price_range":"$$","hours":"Daily 11am-11pm"}},
{"id":"wok","category":"dining","name":"Jade Wok","description":"Noodles and dumplings.","notes":"Fries in peanut oil.","details":{"cuisine_type":"Chinese","price_range":"$$","hours":"Daily 11am-11pm"}},
{"id":"slice","category":"dining","name":"Slice","description":"Pizza by the slice.","details":{"cuisine_type":"Italian","price_range":"$","hours":"Daily 11am-11pm"}}
]}"#;
    let now = at("2026-11-20 12:30");
    for (allergy, unfit) in [("shellfish", "Low Tide"), ("peanuts", "Jade Wok")] {
        let mut desk = Fixture::with(index(now, FOOD), now);
        desk.learn(&format!("I'm allergic to {allergy}"));
        let reply = desk.ask("where shall we eat?").text;
        assert!(!reply.contains(unfit), "{allergy}: {reply}");
        assert!(reply.contains("Slice"), "{allergy}: {reply}");
    }
}

#[test] // a row's own warning
fn a_row_that_warns_of_itself_is_not_suggested_to_whom_it_warns() {
    const SPA: &str = r#"{"schema": 1, "items": [
{"id":"stone","category":"spa","name":"Hot Stone Massage","description":"Warm basalt stones. Not recommended during pregnancy.","details":{"treatment_type":"Massage","duration_minutes":60,"price":150}},
{"id":"calm","category":"spa","name":"Calm Massage","description":"Light pressure, on the side; made for guests who are expecting.","details":{"treatment_type":"Massage","duration_minutes":60,"price":140}}
]}"#;
    let now = at("2026-11-20 12:30");
    let mut desk = Fixture::with(index(now, SPA), now);
    let any = desk.ask("can you recommend a massage").text;
    assert!(any.contains("Hot Stone") && any.contains("Calm"), "{any}");
    let text = "I'm pregnant, can you recommend a massage?";
    let reply = desk.ask(text).text;
    assert!(
        reply.contains("Calm Massage") && !reply.contains("Hot Stone"),
        "{reply}"
    );
    desk.history.push(seven_llm::Exchange {
        guest: "my wife is pregnant".into(),
        host: "Congratulations!".into(),
    });
    let later = desk.ask("can you recommend a massage").text;
    assert!(
        later.contains("Calm") && !later.contains("Hot Stone"),
        "{later}"
    );
}
