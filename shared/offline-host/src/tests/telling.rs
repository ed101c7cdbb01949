//! Tests of how an answer is told: as an answer to the question, with what the guest said in it.

use super::fixture::assert_last_replies;

const HOUSE: &str = r#"{"schema": 1, "items": [
{"id":"rail","category":"dining","name":"Railcar","description":"Smash burgers in a rail car. Shakes too.","details":{"cuisine_type":"American","price_range":"$$","hours":"Mon-Thu 11am-10pm, Fri-Sat 11am-12am","reservations":"Walk-in only","dress_code":"Casual","dietary_options":["vegetarian"]},"keywords":["burger"]},
{"id":"slice","category":"dining","name":"Slice Junction","description":"Pizza by the slice.","details":{"cuisine_type":"Italian","price_range":"$","hours":"Daily 11am-3am","reservations":"Walk-in only"},"keywords":["pizza"]},
{"id":"grove","category":"dining","name":"Cinder Grove","description":"Steaks over oak.","details":{"cuisine_type":"Steakhouse","price_range":"$$$$","hours":"Wed-Sun 5pm-10pm","reservations":"Required","dress_code":"Smart casual"},"keywords":["steak"]},
{"id":"comics","category":"entertainment","name":"Side-Eye Comics","description":"Three comedians.","details":{"event_type":"Comedy","venue":"Aurora Hall","starts_at":"2026-11-21T19:30:00","duration_minutes":95,"age_restriction":"18+"},"keywords":["comedy"]},
{"id":"pool","category":"amenities","subcategory":"pool","name":"Lakeside Pool","description":"Heated pool with a hot tub.","details":{"hours":"Daily 9am-8pm","price":"free for hotel guests"},"keywords":["pool"]}
]}"#;

/// See [`assert_last_replies`].
const DIALOGUES: &[(&[&str], &str, &str)] = &[
    // The host repeats what it noted, and which of two days the guest means.
    (
        &[
            "where can we eat steak tomorrow?",
            "sorry not tomorrow, sunday",
        ],
        "on Sunday",
        "tomorrow",
    ),
    (
        &[
            "donde podemos comer el sábado?",
            "perdón no es el sábado es el domingo",
        ],
        "el domingo",
        "el sabado",
    ),
    (
        &["where can we eat tonight?", "oh and there are 6 of us"],
        "6 people",
        "Thanks for telling",
    ),
    // The day on which guests leave is no plan, and a month is no day.
    (
        &["where can we eat?", "we leave on sunday btw"],
        "",
        "on Sunday",
    ),
    (
        &["where can we eat?", "my sister turned 21 in october"],
        "",
        "Oct",
    ),
    // An option for a diet is no promise to a guest with celiac disease.
    (
        &["tell me about Railcar", "she is celiac, would that work?"],
        "",
        "Yes",
    ),
    // A remark names the day of the plan; "then" means it.
    (
        &["we are coming saturday with the kids. where can we get a burger?"],
        "11am-12am",
        "open until",
    ),
    (
        &["where can we eat steak on saturday?", "is it open then?"],
        "Yes, Cinder Grove is open 5pm-10pm tomorrow",
        "closed",
    ),
    (
        &["tell me about Cinder Grove", "is it open on monday?"],
        "No, Cinder Grove is closed on Monday",
        "",
    ),
    // Usual values are told as answers.
    (
        &["tell me about Railcar", "do we need a reservation?"],
        "No reservation needed at Railcar",
        "",
    ),
    (
        &["tell me about Railcar", "whats the dress code?"],
        "No need to dress up",
        "",
    ),
    (
        &["tell me about Railcar", "is it expensive?"],
        "mid-priced ($$ of $$$$)",
        "",
    ),
    (
        &[
            "tell me about Railcar",
            "my sister is vegetarian, would that work?",
        ],
        "Yes, Railcar offers: vegetarian",
        "",
    ),
    (
        &["how much is the pool?"],
        "Lakeside Pool is free for hotel guests",
        "",
    ),
    (
        &["tell me about Side-Eye Comics", "when does it end?"],
        "ends about 9:05pm",
        "",
    ),
    // Two rows of which the same is true are named in one sentence.
    (
        &[
            "any place for pizza or burgers?",
            "do they need reservations?",
        ],
        "Railcar and Slice Junction",
        "Cinder",
    ),
    // A yes comes first where the row has the word, and only there.
    (&["do you have a pool?"], "Yes! Lakeside Pool", ""),
    (&["do you have a petting zoo?"], "", "Yes"),
    // One suggestion is described; if there is no other of the kind, other kinds follow.
    (
        &["where can I get a burger?"],
        "Smash burgers in a rail car.",
        "Shakes",
    ),
    (
        &["recommend me a burger place", "no not that one. what else?"],
        "Otherwise there is",
        "Railcar",
    ),
    // The apology names what went wrong.
    (
        &["the music next door kept us up all night"],
        "sorry about the noise",
        "",
    ),
    (
        &["me cobraron dos veces el cuarto"],
        "Siento mucho lo del cobro",
        "",
    ),
    // A party is no noise, and a suit is no suite.
    (&["9 of us for my brothers bachelor party"], "", "sorry"),
    (&["it is even past midnight lol"], "", "Italian"),
    // A question that the last reply did not answer goes to a person.
    (
        &["how much is the pool?", "how much is it for my cousin?"],
        "Lakeside Pool is free for hotel guests. If that leaves your question open",
        "",
    ),
    // Thanks are answered with the day that the guest names.
    (&["thank you so much, see you on sunday"], "on Sunday", ""),
    // The row that lacks the answer is named.
    (
        &["tell me about Cinder Grove", "is it loud?"],
        "detail for Cinder Grove",
        "",
    ),
];

#[test] // CONV-24
fn an_answer_is_told_as_an_answer() {
    assert_last_replies(HOUSE, DIALOGUES);
}
