//! Tests of what the learnt subjects, ages, conditions and bookings change in a reply.

use super::fixture::{Fixture, at, index};

const HOUSE: &str = r#"{"schema": 1, "items": [
{"id":"pets","category":"general_info","name":"Pets","description":"Dogs up to 50 pounds are welcome for $50 a stay.","description_es":"Perros de hasta 23 kilos son bienvenidos por $50.","details":{"question":"Are pets allowed?"},"keywords":["pets","dog","mascotas","perro"]},
{"id":"bags","category":"general_info","name":"Hotel check-out","description":"Check-out is by 11am; late check-out costs $40.","details":{"question":"When is check-out?"},"keywords":["check out","late checkout"]},
{"id":"garage","category":"amenities","subcategory":"parking","name":"North Garage","description":"Free covered garage.","details":{},"keywords":["parking","garage"]},
{"id":"shuttle","category":"amenities","subcategory":"shuttle","name":"Town Shuttle","description":"Free shuttle to the station.","details":{},"keywords":["shuttle","bus"]},
{"id":"grove","category":"dining","name":"Cinder Grove","description":"Steaks over oak.","details":{"cuisine_type":"Steakhouse","price_range":"$$$","hours":"Daily 11am-11pm","reservations":"Required"}},
{"id":"comics","category":"entertainment","name":"The Side-Eye Comics","description":"Stand-up comedy.","details":{"event_type":"Comedy","venue":"Aurora Hall","starts_at":"2026-11-21T19:30:00","age_restriction":"18+"}},
{"id":"revue","category":"entertainment","name":"Lantern Revue","description":"Songs and lights.","details":{"event_type":"Show","venue":"Aurora Hall","starts_at":"2026-11-21T18:00:00","age_restriction":"All ages"}},
{"id":"deep","category":"spa","name":"Deep Tissue","description":"Firm pressure.","details":{"treatment_type":"Massage","duration_minutes":60,"price":150}},
{"id":"calm","category":"spa","name":"Calm Massage","description":"Light pressure.","details":{"treatment_type":"Massage","duration_minutes":60,"price":140}}
]}"#;

fn desk() -> Fixture {
    let now = at("2026-11-20 12:30");
    Fixture::with(index(now, HOUSE), now)
}

#[test] // D42
fn a_wish_in_words_that_nobody_listed_finds_the_row_of_its_subject() {
    let reply = desk().ask("quiero saber si aceptan perro chiquito, es muy educado");
    assert_eq!(reply.sources, ["pets"], "{}", reply.text);
}

#[test] // AGENT-29
fn a_show_from_18_is_suggested_to_guests_of_19_and_to_no_child() {
    const ASK: &str = "can you recommend a show tomorrow?";
    let mut desk = desk();
    assert!(desk.ask(ASK).text.contains("Side-Eye"));
    desk.learn("my son is 19");
    assert!(desk.ask(ASK).text.contains("Side-Eye"));
    desk.learn("my son is 8");
    let reply = desk.ask(ASK).text;
    assert!(
        reply.contains("Lantern") && !reply.contains("Side-Eye"),
        "{reply}"
    );
}

#[test] // AGENT-29: a row need not warn of itself
fn no_deep_tissue_for_a_pregnant_guest() {
    let mut desk = desk();
    let both = desk.ask("can you recommend a massage").text;
    assert!(both.contains("Deep") && both.contains("Calm"), "{both}");
    let reply = desk.talk("I'm pregnant, can you recommend a massage?").text;
    assert!(reply.contains("Calm") && !reply.contains("Deep"), "{reply}");
}

#[test] // CONV-35: the garage is not what the guest books, a shuttle may be
fn a_booking_after_a_question_about_parking_is_for_the_restaurant() {
    let mut desk = desk();
    desk.talk("tell me about Cinder Grove");
    desk.talk("where can I park?");
    let booked = desk.talk("ok put us down for 2 at 7").text;
    assert!(booked.contains("Cinder Grove"), "{booked}");
    desk.talk("is there a shuttle?");
    let booked = desk.talk("book it for 9").text;
    assert!(!booked.contains("Cinder Grove"), "{booked}");
}
