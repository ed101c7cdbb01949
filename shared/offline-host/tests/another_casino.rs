//! Asks about a casino for which the pack was not written. Its content is in English only, has no
//! keywords, and uses other names.

mod desk;

use desk::{PHONE, Property, Row, wrong};

const CONTENT: &str = include_str!("content/plateau.json");

const ANSWERED: &[Row] = &[
    (
        "is the chophouse open?",
        &["Copperline Chophouse", "11pm"],
        &[],
    ),
    ("do i need a reservation at copperline", &["required"], &[]),
    (
        "any vegan options",
        &["Tula Bistro", "Pho Lantern"],
        &["Copperline"],
    ),
    ("where can i get pho", &["Pho Lantern"], &[]),
    ("vietnamese food?", &["Pho Lantern"], &["I see no"]),
    ("comida vietnamita?", &["Pho Lantern"], &["No veo"]),
    ("crab legs?", &["The Prairie Table"], &[]),
    ("where can i get coffee at 6am", &["Daybreak Beans"], &[]),
    ("whats open at 2am", &["Pho Lantern"], &["Ledger"]),
    ("how much is a massage", &["$130"], &[]),
    ("cuanto cuesta el masaje", &["$130"], &["No veo"]),
    ("whats the cheapest spa treatment", &["$40"], &["$185"]),
    ("is the spa open monday", &["closed on Monday"], &[]),
    ("do i need to book a manicure", &["no booking"], &[]),
    ("any concerts this week", &["Marisol Vega"], &["Laugh"]),
    (
        "hay conciertos esta semana?",
        &["Marisol Vega"],
        &["No veo"],
    ),
    ("how much are marisol vega tickets", &["$55-$140"], &[]),
    ("what time is the magic show", &["2pm"], &[]),
    ("how long is the magic show", &["60"], &[]),
    (
        "is there comedy on wednesday",
        &["Laugh Ledger at 8pm"],
        &[],
    ),
    ("is laugh ledger 21+", &["21+"], &[]),
    (
        "any shows tonight?",
        &["nothing on the calendar tonight", "Whiskers"],
        &[],
    ),
    (
        "any comedy on sunday",
        &[
            "no comedy",
            "Whiskers the Magician at 2pm",
            "Laugh Ledger on Wednesday",
        ],
        &["nothing"],
    ),
    ("entry fee for thunder cup", &["$25"], &[]),
    ("what time is bingo", &["1pm", "7pm"], &[]),
    ("min bet at craps", &["$5"], &[]),
    (
        "is there a room with a kitchenette",
        &["Juniper Suite"],
        &["Bluestem"],
    ),
    ("how much is the suite", &["$279"], &["$119"]),
    ("does the pool have a slide", &["slide"], &[]),
    ("a que hora abre la piscina", &["7am"], &[]),
    ("hay estacionamiento gratis?", &["Gratis"], &[]),
    ("how much is valet", &["$12"], &[]),
    ("how much is the airport shuttle", &["$8"], &[]),
    ("can i bring my dog", &["not allowed"], &[]),
    ("aceptan perros?", &["Pets"], &["I see"]),
    ("can kids be in the casino", &["21"], &[]),
    ("what time can i check in", &["3pm"], &["24 hours"]),
    ("late check out fee?", &["$25"], &[]),
    ("senior discount?", &["55 and over"], &["turkey"]),
    ("hay descuento para mayores", &["55 and over"], &["No veo"]),
    ("how do i get a players card", &["Ridge Rewards"], &[]),
    ("whats your address", &["1200 Plateau Road"], &[]),
    (
        "can you get me a table at tula for 6",
        &["recommended", PHONE],
        &[],
    ),
    (
        "does tula have gluten free",
        &["no gluten free", "vegan, vegetarian"],
        &[],
    ),
    (
        "whats the most expensive restaurant",
        &["Copperline"],
        &["Tula"],
    ),
];

const ABSENT: &[&str] = &[
    "any sushi?",
    "do you have facials",
    "is there roulette",
    "do you have a poker room",
    "poker room hours",
    "do you have a gym",
    "golf?",
    "is there a bowling alley",
    "what time does the bowling alley close",
    "do you have atm",
    "military discount?",
    "presidential suite?",
    "are there fireworks on new years",
    "any karaoke?",
    "tienen helipuerto?",
    "hay ruleta?",
    "hay sushi abierto ahora?",
    "descuento para militares",
];

#[test] // D11, RAG-2: answers come from the content, not from the pack
fn what_the_content_holds_is_answered() {
    let mut desk = Property::new(CONTENT, "2026-11-21 18:00");
    let wrong = wrong(&mut desk, ANSWERED);
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test] // RAG-4, RAG-7, SUP-7
fn what_it_does_not_hold_is_not_answered_and_the_phone_is_named() {
    let desk = Property::new(CONTENT, "2026-11-21 18:00");
    for text in ABSENT {
        let reply = desk.ask(text);
        assert!(
            !reply.grounded && reply.text.contains(PHONE),
            "{text}: {}",
            reply.text
        );
    }
}
