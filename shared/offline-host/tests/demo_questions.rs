//! Questions with which guests of the demo casino may test the host. The host must not wrongly deny
//! or offer anything. If the content has the fact asked for, the host must state it.
#![expect(
    clippy::unwrap_used,
    reason = "clippy exempts test functions, not the helpers they share"
)]

mod desk;

use std::sync::LazyLock;

use desk::{PHONE, Property, Row, wrong};
use seven_llm::Exchange;
use seven_packs::{CASINO as PACK, demo};

/// A Saturday. Shows are at 8pm and 10:30pm, and on the next day at 1pm and 7:30pm.
const EVENING: &str = "2026-11-21 18:00";
const SUGGESTED: &[&str] = &[
    "Lantern Lights Revue (today at 8pm",
    "Late Shift DJ Night (today at 10:30pm",
];
const BOTH: &[&str] = &[
    "Lantern Lights Revue at 8pm",
    "Late Shift DJ Night at 10:30pm",
];
const DENIAL: &[&str] = &["nothing on the calendar"];

const SHOWS: &[Row] = &[
    ("Any shows tonight?", SUGGESTED, &[]),
    (
        "Any live music tonight?",
        &["Moonlatch", "live piano"],
        &["I see no"],
    ),
    (
        "is there a comedy show tonight",
        &[
            "no comedy listed tonight",
            BOTH[0],
            BOTH[1],
            "Side-Eye Comics tomorrow",
        ],
        DENIAL,
    ),
    (
        "any boxing tonight?",
        &["no boxing", BOTH[0], BOTH[1], "Ringside at Aurora"],
        DENIAL,
    ),
    (
        "any jazz tonight?",
        &[
            "no jazz",
            BOTH[0],
            BOTH[1],
            "Harbor Street Brass on Tuesday",
        ],
        DENIAL,
    ),
    (
        "is there a concert on saturday",
        &["no concert listed today", "Harbor Street Brass"],
        DENIAL,
    ),
    (
        "hay comedia esta noche?",
        &["No veo comedia", "Revista Lantern Lights a las 8pm"],
        &["nada en el calendario"],
    ),
    (
        "algun concierto hoy?",
        &["No veo concierto", "Revista Lantern Lights"],
        &["nada en el calendario"],
    ),
    (
        "karaoke tonight?",
        &["no karaoke", "to be sure", PHONE, BOTH[0], BOTH[1]],
        DENIAL,
    ),
    (
        "is there an opera tonight",
        &["no opera", PHONE, BOTH[0]],
        DENIAL,
    ),
    ("Do you have ballet?", &["no ballet", PHONE], &[]),
    (
        "any country music?",
        &["no country music", PHONE],
        &["Strings"],
    ),
    (
        "what shows are on christmas?",
        &["nothing on the calendar on Dec 25"],
        &[],
    ),
    (
        "any comedy tomorrow",
        &["The Side-Eye Comics (tomorrow at 7:30pm"],
        &["Lantern"],
    ),
    (
        "anything for kids tonight?",
        &["Lantern Lights Revue"],
        &["DJ Night", "Open now"],
    ),
    (
        "hay espectaculos para niños esta noche?",
        &["Revista Lantern Lights"],
        &["DJ"],
    ),
    (
        "who is playing at aurora hall tonight",
        &["Lantern Lights Revue at 8pm"],
        &["nothing", "DJ Night"],
    ),
    (
        "when is the next concert",
        &["Harbor Street Brass on Tuesday"],
        &["I see no"],
    ),
    (
        "any free shows this weekend?",
        &["Late Shift DJ Night", "Big Screen Sunday"],
        &["Lantern", "Comics"],
    ),
    (
        "hay algo gratis esta noche",
        &["DJ Late Shift"],
        &["Lantern"],
    ),
    (
        "whats going on tmrw nite",
        &["The Side-Eye Comics (tomorrow at 7:30pm"],
        &["Lantern"],
    ),
    (
        "any shows next saturday",
        &["Nov 28", "Strings by Starlight"],
        &["Lantern"],
    ),
    ("shows next weekend", &["Neon Grove DJ Set"], &["Lantern"]),
    (
        "any events on december 5?",
        &["nothing on the calendar on Dec 5", "Noche de Boleros"],
        &[],
    ),
    (
        "what's happening on november 28",
        &["Lakeside Splash Party (on Sat Nov 28 at 1pm"],
        &["Lantern"],
    ),
    (
        "shows in december",
        &["The Vanishing Hour", "Noche de Boleros"],
        &["Lantern"],
    ),
    ("how much r tix for the lantern show", &["$39-$89"], &[]),
    ("can my 10 year old see the comics", &["18+"], &[]),
    ("is the comedy show good for kids", &["18+"], &["I see no"]),
    ("something fun to do tonight", SUGGESTED, &[]),
    ("do you have a nightclub", &["DJ"], &["Night Owl"]),
    (
        "is there a magic show",
        &["The Vanishing Hour", "Dec 3"],
        &[],
    ),
    ("where can i buy tickets", &["box office"], &["I see no"]),
    ("donde compro boletos", &["taquilla"], &["No veo"]),
    (
        "do you have bag check at the shows",
        &["Bags larger"],
        &["Coming up"],
    ),
];

const DINING: &[Row] = &[
    ("do u have sushi", &["Hoshi Lantern"], &[]),
    (
        "any thai food?",
        &["no thai food listed", "to be sure", PHONE, "Italian"],
        &["nothing", "closed"],
    ),
    (
        "any thai places open now?",
        &["no thai", PHONE, "Open now: Cinder Grove"],
        &["No restaurants"],
    ),
    (
        "kosher restaurants open now?",
        &["no kosher", PHONE, "Open now"],
        &["No restaurants", "None"],
    ),
    (
        "any indian restaurant open tomorrow",
        &["no indian restaurant", PHONE, "Open tomorrow"],
        &[],
    ),
    (
        "algun restaurante peruano abierto esta noche?",
        &["No veo restaurante peruano", PHONE, "Abierto ahora"],
        &[],
    ),
    (
        "tienen comida tailandesa?",
        &["No veo comida tailandesa", PHONE],
        &["No hay"],
    ),
    (
        "which restaurants have outdoor seating",
        &["nothing like that listed", PHONE],
        &["Our restaurants"],
    ),
    (
        "restaurantes con vista",
        &["Low Tide", "Velvet Fern"],
        &["Railcar"],
    ),
    (
        "is there a sushi place open right now",
        &["Yes, Hoshi Lantern is open until 10:30pm"],
        &[],
    ),
    (
        "do you have a steakhouse open monday?",
        &["Cinder Grove is closed on Monday"],
        &["None of those"],
    ),
    (
        "whats open at 3am",
        &["Open then: Night Owl Counter."],
        &["Slice"],
    ),
    (
        "is there anything open after midnite",
        &["Night Owl Counter", "Slice Junction"],
        &["Cinder"],
    ),
    (
        "any vegan restaurants open tonight?",
        &["Fig & Cedar", "Slice Junction"],
        &["Cinder Grove", "Railcar"],
    ),
    ("any bbq or wings", &["The Sideline Tap"], &[]),
    ("halal food?", &["Harvest Loft", "halal on request"], &[]),
    (
        "do you have gluten free pizza",
        &["no gluten free pizza", PHONE],
        &["Slice Junction"],
    ),
    ("any peanut free options", &["allergies", PHONE], &[]),
    (
        "soy alergico al mani",
        &["alergia", PHONE],
        &["Gracias por contarme"],
    ),
    (
        "whats the fanciest place u got",
        &["Cinder Grove"],
        &["Railcar"],
    ),
    (
        "breakfast tomorrow morning",
        &["Night Owl Counter"],
        &["Moonlatch"],
    ),
    (
        "how much is the buffet on sundays",
        &["Harvest Loft", "$$"],
        &[],
    ),
    (
        "is the buffet open for breakfast tomorrow and how much is it",
        &["7am-10pm tomorrow", "$$"],
        &[],
    ),
    (
        "when does cinder grove open and do i need a reservation",
        &["5pm-10pm", "required"],
        &[],
    ),
    ("rooftop bar?", &["Velvet Fern", "21+"], &["azotea"]),
    (
        "any restaraunts open 2nite",
        &["Open now", "Cinder Grove"],
        &[],
    ),
    (
        "is nobody's grill open tonight",
        &[PHONE],
        &["Yes", "open until"],
    ),
    ("What time does Gordon's Pit close?", &[PHONE], &["until"]),
    (
        "a que hora cierra La Parrilla Azul",
        &["Pasé su pregunta", PHONE],
        &["hasta"],
    ),
    (
        "can i bring food to the pool",
        &["Lakeside Pool"],
        &["Our restaurants"],
    ),
];

const HOUSE: &[Row] = &[
    // the spa
    ("acupuncture?", &["no acupuncture", PHONE], &["closed"]),
    (
        "do you have reiki at the spa",
        &["no reiki", PHONE, "Swedish Massage"],
        &["choose from"],
    ),
    (
        "prenatal massage?",
        &["no prenatal massage", PHONE],
        &["Swedish Massage: "],
    ),
    ("cheapest massage", &["Swedish Massage $165"], &["Pedicure"]),
    ("mani pedi price", &["$55", "$80"], &[]),
    ("can men get facials", &["Birch Glow Facial"], &["I see no"]),
    ("is the spa open sunday", &["9am-9pm tomorrow"], &[]),
    (
        "hours for the nail salon",
        &["Fernwater Spa hours"],
        &["Ballroom"],
    ),
    ("cuanto dura el masaje profundo", &["90 minutos"], &["$"]),
    ("hacen depilacion", &["lista", PHONE], &["I see"]),
    // offers
    (
        "military discount",
        &["no military discount", PHONE],
        &["choose from"],
    ),
    ("any promos for seniors?", &[PHONE], &["choose from"]),
    (
        "hay descuentos para militares",
        &["lista", PHONE],
        &["Dos noches con descuento: "],
    ),
    ("do you have any birthday deals", &["$30"], &["I see no"]),
    (
        "any dining deals",
        &["$25 dining credit"],
        &["Our restaurants"],
    ),
    ("spa discount?", &["$35 off"], &["Swedish"]),
    // rooms
    ("how much is a suite", &["$349", "$890"], &["$159"]),
    ("cuanto cuesta una suite", &["$349"], &["$159", "Manicura"]),
    (
        "presidential suite price",
        &["no presidential suite", PHONE],
        &["Prices"],
    ),
    (
        "do you have connecting rooms",
        &["no connecting rooms", PHONE],
        &["choose from"],
    ),
    (
        "is there a room for 2 adults and 2 kids",
        &["Grove Two Queen"],
        &["Arcade", "I see"],
    ),
    (
        "what spa services do you offer",
        &["Swedish Massage"],
        &["Guest Services"],
    ),
    ("smoking rooms?", &["smoke-free"], &["choose from"]),
    (
        "hay habitaciones con cocina",
        &["lista", PHONE],
        &["ropa casual"],
    ),
    (
        "cuanto cuesta la habitacion mas barata",
        &["$159"],
        &["$890"],
    ),
    ("can i check in early", &["4pm"], &[]),
    // hours of places that do not exist, and of places that do
    (
        "what time does the bowling alley open",
        &[PHONE],
        &["until", "opens"],
    ),
    ("starbeans hours", &[PHONE], &["Is it about"]),
    (
        "a que hora abre el boliche",
        &["Pasé su pregunta", PHONE],
        &["abre a"],
    ),
    (
        "is the kids club open",
        &["Tilt & Token Arcade"],
        &["Leaf Club"],
    ),
    ("pool hours tomorrow", &["9am-8pm tomorrow"], &["calendar"]),
    ("room service hours", &["6am"], &["High-Limit"]),
    ("what time does the casino close", &["24 hours"], &[]),
    ("r u guys open", &["24 hours"], &[]),
    // games, rules, services
    ("do you have bingo", &["no bingo", PHONE], &["choose from"]),
    ("min bet on roulette", &["$10"], &[]),
    ("min age to gamble", &["21"], &["Blackjack"]),
    ("can my 19 yr old son come in the casino", &["21"], &["$30"]),
    (
        "when is the next poker tournament",
        &["7pm"],
        &["hours: Mon"],
    ),
    (
        "i think i have a gambling problem",
        &["confidential help"],
        &["Blackjack"],
    ),
    ("weather tomorrow?", &[PHONE], &["Pool"]),
    ("is uber available", &["ride-share"], &[]),
    (
        "how much is parking and wifi",
        &["$20", "free", "WiFi"],
        &[],
    ),
    (
        "do you have a gym and a pool",
        &["Treeline Gym", "Lakeside Pool"],
        &["Splash"],
    ),
    ("how many points for canopy", &["15,000"], &["Penthouse"]),
    ("how often does the shuttle run", &["every 30 minutes"], &[]),
    ("my room is dirty", &["sorry", PHONE], &["Grove"]),
    ("no funciona la tele", &["siento", PHONE], &["sorry"]),
    ("ur the best", &[], &["Open now", "?", PHONE]),
    ("???", &["?"], &[PHONE]),
    (
        "hi || what time does the pool close || and is parking free?",
        &["8pm", "garage"],
        &["AI host"],
    ),
];

#[test] // D11, RAG-4, CMS-19: the reply tells the fact or that it is not listed
fn adversarial_questions_get_true_and_useful_answers() {
    assert!(SHOWS.len() + DINING.len() + HOUSE.len() >= 100);
    let mut desk = Property::new(demo::CONTENT, EVENING);
    let rows: Vec<Row> = [SHOWS, DINING, HOUSE].concat();
    let wrong = wrong(&mut desk, &rows);
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test] // a kind of show that is missing does not hide the other shows
fn a_narrow_question_never_denies_what_is_on() {
    let desk = Property::new(demo::CONTENT, EVENING);
    let on = |names: &[&'static str]| names.to_vec();
    let english = [
        (
            "tonight",
            on(&["Lantern Lights", "Late Shift", "Moonlatch"]),
        ),
        ("tomorrow", on(&["Big Screen", "Side-Eye", "Moonlatch"])),
        (
            "this weekend",
            on(&[
                "Lantern",
                "Late Shift",
                "Big Screen",
                "Side-Eye",
                "Moonlatch",
            ]),
        ),
        (
            "on saturday",
            on(&["Lantern Lights", "Late Shift", "Moonlatch"]),
        ),
    ];
    let kinds = [
        "live music",
        "comedy",
        "concerts",
        "jazz",
        "bands",
        "boxing",
        "magic",
        "karaoke",
        "opera",
        "djs",
        "kids shows",
        "country music",
        "free shows",
        "tournaments",
        "clown shows",
        "family friendly shows",
        "dancing",
    ];
    for (when, names) in &english {
        for kind in kinds {
            for text in [
                format!("any {kind} {when}?"),
                format!("{kind} {when}"),
                format!("Is there {kind} {when}"),
            ] {
                let reply = desk.ask(&text).text;
                assert!(
                    names.iter().any(|name| reply.contains(name)),
                    "{text}: {reply}"
                );
                assert!(
                    !reply.contains("nothing on the calendar"),
                    "{text}: {reply}"
                );
            }
        }
    }
    let spanish = [
        (
            "esta noche",
            on(&["Lantern Lights", "Late Shift", "Moonlatch"]),
        ),
        ("mañana", on(&["pantalla", "Side-Eye", "Moonlatch"])),
    ];
    for (when, names) in &spanish {
        for kind in [
            "musica en vivo",
            "comedia",
            "conciertos",
            "boxeo",
            "magia",
            "karaoke",
            "opera",
            "algo para niños",
        ] {
            let text = format!("¿Hay {kind} {when}?");
            let reply = desk.ask(&text).text;
            assert!(
                names.iter().any(|name| reply.contains(name)),
                "{text}: {reply}"
            );
            assert!(!reply.contains("nada en el calendario"), "{text}: {reply}");
        }
    }
}

#[test] // a cuisine that is missing does not hide the open restaurants
fn an_unknown_cuisine_is_not_listed_rather_than_closed() {
    let desk = Property::new(demo::CONTENT, EVENING);
    for cuisine in [
        "thai",
        "korean",
        "indian",
        "peruvian",
        "vietnamese",
        "ethiopian",
        "kosher",
        "bbq",
    ] {
        for text in [
            format!("any {cuisine} food?"),
            format!("{cuisine} restaurants open now"),
            format!("is there a {cuisine} place open tonight"),
            format!("do you have {cuisine}?"),
        ] {
            let reply = desk.ask(&text);
            assert!(
                reply.text.contains(&format!("I see no {cuisine}")) && reply.text.contains(PHONE),
                "{text}: {}",
                reply.text
            );
            assert!(
                !reply.grounded && !reply.text.contains("are open"),
                "{text}: {}",
                reply.text
            );
        }
    }
}

#[test] // CONV-24: a follow-up is read in its context
fn conversations_go_on_from_what_was_said() {
    for conversation in [
        &[
            ("do you have sushi?", "Hoshi Lantern"),
            ("is it open", "Yes, Hoshi Lantern"),
            ("what about tomorrow", "5pm-10:30pm tomorrow"),
            ("and monday?", "closed on Monday"),
        ][..],
        &[
            ("whats a good steak place", "Cinder Grove"),
            ("dress code?", "smart casual"),
            ("do they have vegan stuff", "no vegan option listed"),
            ("ok book a table for 2 at 8", "Cinder Grove"),
        ],
        &[
            ("Any shows tonight?", "Lantern"),
            (
                "how much are tickets?",
                "Tickets for Lantern Lights Revue: $39-$89. Late Shift DJ Night is free.",
            ),
            ("is the revue ok for kids?", "all ages"),
            ("where is it?", "Aurora Hall"),
            ("can I book it", "Lantern Lights Revue"),
        ],
        &[
            ("¿Tienen alberca?", "Piscina Lakeside"),
            ("¿y a qué hora cierra?", "8pm"),
            ("¿y el spa?", "9pm"),
        ],
        &[
            ("cheap eats open late", "Slice Junction"),
            ("whats open at 3am", "Night Owl Counter."),
        ],
    ] {
        let mut desk = Property::new(demo::CONTENT, EVENING);
        for (text, holds) in conversation {
            let reply = desk.ask(text);
            let host = reply.text;
            desk.state = reply.state;
            assert!(host.contains(holds), "{text}: {host}");
            desk.history.push(Exchange {
                guest: (*text).to_owned(),
                host,
            });
        }
    }
}

/// The short questions that the host may ask the guest at the end of a reply.
static ASKS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let pack: toml::Table = PACK.host.parse().unwrap();
    let asks = pack["say"]
        .as_table()
        .unwrap()
        .iter()
        .filter(|(key, _)| key.starts_with("ask_"));
    let wordings = asks.flat_map(|(_, say)| {
        say.as_table()
            .unwrap()
            .values()
            .flat_map(|w| w.as_array().unwrap())
    });
    let asks: Vec<String> = wordings
        .map(|w| seven_sms::transliterate(w.as_str().unwrap()))
        .collect();
    assert!(asks.iter().any(|ask| ask == "¿Le interesa?"));
    asks
});

#[test] // CONV-24: a question back never causes a second text
fn a_question_back_starts_no_text() {
    let leads = [
        None,
        Some("Hi, I'm Seven, AI host at Silver Birch Resort. STOP to end."),
        Some("Hola, soy Seven, la IA de Silver Birch Resort y Casino. STOP para salir."),
    ];
    let rows: Vec<Row> = [SHOWS, DINING, HOUSE].concat();
    for (n, (text, ..)) in rows.iter().enumerate() {
        for told in leads {
            let mut desk = Property::new(demo::CONTENT, EVENING);
            desk.lead = told.map(str::to_owned);
            desk.seed = n as u64;
            let reply = desk.ask(text).text;
            for sent in leads
                .iter()
                .filter(|sent| sent.map_or(0, str::len) <= told.map_or(0, str::len))
            {
                let whole = sent.map_or_else(|| reply.clone(), |lead| format!("{lead} {reply}"));
                let shaped = seven_sms::shape(&whole, 2);
                assert!(!shaped.truncated, "{text}: {whole}");
                let lonely = shaped.texts.iter().skip(1).any(|t| ASKS.contains(t));
                assert!(!lonely, "{text}: {:?}", shaped.texts);
            }
        }
    }
}
