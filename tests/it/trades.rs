//! Packs are data (SUP-2, SUP-3, SUP-4, AGENT-5, CMS-11):
//! - A casino and a marina run in one process.
//! - A fifth agent is one section of a file.
//! - A broken pack is refused at the start.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use seven::{onboard, wiring};
use seven_carrier_sim::Text;
use seven_domain::{CasinoConfig, CasinoId};
use seven_host::Record;
use seven_packs::{CASINO, Files, demo};
use seven_settings::Settings;
use seven_testkit::Scratch;
use tokio_util::sync::CancellationToken;

use crate::harness::{GUEST, House, Wanted, house};

const MARINA: &str = include_str!("../packs/marina.json");
const MARINA_CONTENT: &str = include_str!("../packs/marina-content.json");
const BOATER: &str = "+17275550142";

fn packs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packs")
}

/// Returns settings with the packs in `directory` in addition to the compiled-in packs. The clock
/// starts on a Thursday at 19:00 at the casino.
fn with_packs(directory: &Path) -> Wanted {
    Wanted {
        at: Some("2026-11-27T00:00:00Z"),
        extra: format!("packs.directory = {:?}\n", directory.display().to_string()),
        ..Wanted::default()
    }
}

/// The demo casino and the marina, on one fleet.
struct Town {
    house: House,
    marina: CasinoConfig,
    texts: i64,
}

impl Town {
    async fn new(unique: &str) -> Self {
        let house = house(unique, with_packs(&packs())).await;
        let marina = onboard::read_casino("marina.json", MARINA).unwrap();
        let fleet = &house.stack.fleet;
        onboard::add_casino(fleet, &marina, "test").await.unwrap();
        onboard::load_content(
            fleet,
            &marina.casino_id,
            "marina-content.json",
            MARINA_CONTENT,
            "test",
        )
        .await
        .unwrap();
        Self {
            house,
            marina,
            texts: 0,
        }
    }

    /// Sends this text as the casino's guest and returns the replies, joined.
    async fn casino(&mut self, text: &str) -> String {
        let number = self
            .house
            .config
            .operational
            .telnyx_phone_number
            .as_str()
            .to_owned();
        self.say(GUEST, number, text).await
    }

    /// Sends this text as the marina's guest and returns the replies, joined.
    async fn marina(&mut self, text: &str) -> String {
        let number = self
            .marina
            .operational
            .telnyx_phone_number
            .as_str()
            .to_owned();
        self.say(BOATER, number, text).await
    }

    async fn say(&mut self, from: &str, to: String, text: &str) -> String {
        let before = self.house.texts_to(from).len();
        let text = Text {
            from: from.to_owned(),
            to: Some(to),
            text: Some(text.to_owned()),
            ..Text::default()
        };
        self.house.stack.sim.text(text).unwrap();
        self.texts += 1;
        self.house.settle(self.texts).await;
        self.house.texts_to(from)[before..].join(" ")
    }
}

/// Returns the agent and the record of the newest turn.
async fn last(house: &House, casino: &CasinoId) -> (String, Record) {
    let mut tx = house.stack.fleet.store.bind(casino).await.unwrap();
    let newest = tx.newest_turns(1).await.unwrap();
    let told = tx.shown_turn(newest[0].turn_id).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    (told.agent, serde_json::from_value(told.record).unwrap())
}

fn names(content: &str) -> Vec<String> {
    let content: serde_json::Value = serde_json::from_str(content).unwrap();
    content["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn each_trade_has_its_agents_its_content_and_its_voice() {
    let mut town = Town::new("trades_voices").await;
    let (casino, marina) = (town.house.casino().clone(), town.marina.casino_id.clone());

    let first = town.casino("Which restaurants do you have?").await;
    assert!(
        first.starts_with("Hi, I'm Seven, AI host at Silver Birch Resort")
            && first.contains("Nonna Salvia"),
        "{first}"
    );
    assert_eq!(last(&town.house, &casino).await.0, "dining");

    let first = town.marina("Which boats can I rent?").await;
    assert!(
        first.starts_with("Ahoy, Marlow here, the AI of Tern Hollow Marina"),
        "{first}"
    );
    for (text, agent, fact) in [
        ("how much is the Lazy Otter?", "rentals", "$340 a half day"),
        ("what tours do you have", "rentals", "Dolphin Dusk Cruise"),
        ("how much is a berth?", "harbour", "$3.40 a foot per night"),
        (
            "¿a qué hora cierra el muelle de combustible?",
            "harbour",
            "6pm",
        ),
        ("is there wifi on the docks", "harbour", "every dock"),
    ] {
        let said = town.marina(text).await;
        assert!(said.contains(fact), "{text}: {said}");
        let (spoke, record) = last(&town.house, &marina).await;
        assert_eq!(
            (spoke.as_str(), record.findings.len()),
            (agent, 0),
            "{text}: {:?}",
            record.findings
        );
    }
    let said = town.marina("any italian restaurants?").await;
    assert!(
        said.contains("1-727-555-0151"),
        "what the content lacks gets the marina's own phone: {said}"
    );
    town.casino("do you rent boats?").await;
    nothing_crossed(&town.house);
    town.house.stop().await;
}

/// Asserts that neither the casino nor the marina ever says a name, a number or a helpline of the
/// other.
fn nothing_crossed(house: &House) {
    let (to_the_casinos, to_the_marinas) = (house.said_to(GUEST), house.said_to(BOATER));
    let casinos = [
        "Silver Birch",
        "Seven",
        "casino",
        "860-555",
        "1-800-522-4700",
        "1-888-789-7777",
        "gambl",
    ];
    for name in casinos
        .into_iter()
        .map(str::to_owned)
        .chain(names(demo::CONTENT))
    {
        assert!(
            !to_the_marinas.contains(&name),
            "the marina says `{name}`: {to_the_marinas}"
        );
    }
    for name in ["Tern Hollow", "Marlow", "727-555", "VHF"]
        .into_iter()
        .map(str::to_owned)
        .chain(names(MARINA_CONTENT))
    {
        assert!(
            !to_the_casinos.contains(&name),
            "the casino says `{name}`: {to_the_casinos}"
        );
    }
}

#[tokio::test]
async fn each_trade_guards_its_own_and_stop_is_stop_in_both() {
    let mut town = Town::new("trades_guards").await;

    let distress = "we're taking on water by the jetty";
    let said = town.marina(distress).await;
    assert!(
        said.starts_with("Mayday on VHF 16 or call 911") && said.contains("1-727-555-0151"),
        "{said}"
    );
    let said = town.casino(distress).await;
    assert!(
        !said.is_empty() && !said.contains("911"),
        "plain words at the casino, answered by the host: {said}"
    );

    let gambling = "i cant stop gambling, i lost the rent";
    let said = town.casino(gambling).await;
    assert!(
        said.contains("1-800-522-4700") && said.contains("1-888-789-7777"),
        "{said}"
    );
    let said = town.marina(gambling).await;
    assert!(
        !said.is_empty() && !said.contains("1-8"),
        "no layer of the marina, so its agent answers: {said}"
    );

    let (at_the_casino, at_the_marina) = (
        town.casino("I want to kill myself").await,
        town.marina("I want to kill myself").await,
    );
    assert!(
        at_the_casino.contains("988")
            && at_the_marina.contains("988")
            && at_the_casino != at_the_marina
    );
    let cases = "select count(*) from escalations where casino_id = 'tern_hollow' and reason in ('emergency', 'crisis')";
    assert_eq!(
        town.house.number(cases).await,
        2,
        "a person at the marina is told of both"
    );
    let gambling = "select count(*) from escalations where reason = 'responsible_gaming' and casino_id = 'silver_birch'";
    assert_eq!(town.house.number(gambling).await, 1);
    let strays = "select count(*) from escalations where reason = 'responsible_gaming' and casino_id = 'tern_hollow'";
    assert_eq!(
        town.house.number(strays).await,
        0,
        "problem gambling is the casino's case alone"
    );

    let (bye, farewell) = (town.casino("STOP").await, town.marina("STOP").await);
    assert!(
        bye.starts_with("Silver Birch Resort: you are unsubscribed"),
        "{bye}"
    );
    assert!(
        farewell.starts_with("Tern Hollow Marina: done, you are off our list"),
        "{farewell}"
    );
    assert_eq!(
        (town.casino("hello").await, town.marina("hello").await),
        (String::new(), String::new())
    );
    assert!(
        town.marina("man overboard!").await.starts_with("Mayday"),
        "help comes after a STOP too"
    );
    nothing_crossed(&town.house);
    town.house.stop().await;
}

#[tokio::test] // CMS-24
async fn what_a_pack_does_not_have_is_refused_with_the_reason() {
    let town = Town::new("trades_refused").await;
    let fleet = &town.house.stack.fleet;
    let mut hotel = town.marina.clone();
    hotel.pack = "hotel".to_owned();
    hotel.casino_id = "some_hotel".parse().unwrap();
    let error = format!(
        "{:#}",
        onboard::add_casino(fleet, &hotel, "test")
            .await
            .unwrap_err()
    );
    for part in [
        "some_hotel was not added",
        "no pack is called `hotel`",
        "casino, marina",
        "packs.directory",
    ] {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
    assert_eq!(
        town.house
            .number("select count(*) from casinos where casino_id = 'some_hotel'")
            .await,
        0
    );

    let broken = MARINA_CONTENT.replacen("\"seats\": 10", "\"seets\": 10", 1);
    let load =
        onboard::load_content(fleet, &town.marina.casino_id, "new.json", &broken, "test").await;
    let error = format!("{:#}", load.unwrap_err());
    for part in [
        "2 problems, nothing was loaded",
        "new.json:3:details.seats: is missing",
        "details.seets: is no field here",
    ] {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
    town.house.stop().await;
}

/// Writes a pack's files into the subfolder `name` of `directory`.
fn write(directory: &Path, name: &str, files: &Files) {
    let folder = directory.join(name);
    fs::create_dir_all(folder.join("prompts")).unwrap();
    let prompts = &files.prompts;
    for (file, text) in [
        ("agents.toml", &files.agents),
        ("rules.toml", &files.rules),
        ("texts.toml", &files.texts),
        ("guardrails.toml", &files.guardrails),
        ("offers.toml", &files.offers),
        ("host.toml", &files.host),
        ("prompts/router.j2", &prompts.router),
        ("prompts/planner.j2", &prompts.planner),
        ("prompts/validator.j2", &prompts.validator),
        ("prompts/agent_en.j2", &prompts.agent_en),
        ("prompts/agent_es.j2", &prompts.agent_es),
    ] {
        fs::write(folder.join(file), text.as_ref()).unwrap();
    }
}

#[tokio::test]
async fn a_pack_with_a_broken_file_stops_the_start() {
    let marina = Files::read(|file| fs::read_to_string(packs().join("marina").join(file))).unwrap();
    let mut no_words = marina.clone();
    no_words.host = marina.host.replace("unanswered = ", "unanserd = ").into();
    let mut no_help = marina.clone();
    no_help.texts = marina
        .texts
        .replace("right now: somebody listens", "now")
        .replace("988", "us")
        .into();
    for (files, says) in [
        (no_words, ["host.toml", "[say.unanswered] is missing"]),
        (
            no_help,
            ["pack `marina`", "`crisis` (en) has to hold `988`"],
        ),
    ] {
        let scratch = Scratch::new("trades_broken").unwrap();
        write(scratch.path(), "marina", &files);
        // No server listens at these addresses: the packs are read before any connection is made.
        let settings = format!(
            "nats.url = \"nats://127.0.0.1:1\"\nredis.url = \"redis://127.0.0.1:1\"\npostgres.url = \"postgres://nobody@127.0.0.1:1/none\"\npacks.directory = {:?}\n",
            scratch.path().display().to_string()
        );
        let settings = Settings::parse(&settings).unwrap();
        let start = wiring::fleet(
            &settings,
            Vec::new(),
            seven::wiring::Nats::Needed(Duration::ZERO),
            CancellationToken::new(),
        )
        .await;
        let error = format!("{:#}", start.expect_err("a broken pack does not start"));
        for part in says {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    }
}

/// Returns the casino pack with one more agent and one more category. Both are sections of
/// agents.toml; the offline host gets words for the new category.
fn with_a_concierge() -> Files {
    let mut files = CASINO.clone();
    let hands = "hands_to = [\"dining\", \"entertainment\", \"comp\"]";
    assert!(files.agents.contains(hands));
    let agents = files.agents.replace(
        hands,
        "hands_to = [\"dining\", \"entertainment\", \"comp\", \"concierge\"]",
    );
    files.agents = format!(
        "{agents}\n[agents.concierge]\ntitle = \"Concierge\"\nrole.en = \"You know what is worth a trip outside.\"\nrole.es = \"Usted sabe que vale la pena fuera.\"\nsubjects = [\"excursions\"]\ntools = [\"search_knowledge_base\"]\nhands_to = [\"host\"]\n\
         \n[categories.excursions]\nfields.price = {{ kind = \"price\", required = true }}\nfields.hours = {{ kind = \"hours\" }}\n"
    )
    .into();
    let topic = "[topics.excursions]\nlabel = { en = \"excursions\", es = \"excursiones\" }\n[topics.excursions.words]\nen = [\"excursion*\", \"day trip*\"]\nes = [\"excursion*\"]\n[topics.excursions.also]\nen = []\nes = []\n\n[[kinds]]\n";
    files.host = files.host.replacen("[[kinds]]\n", topic, 1).into();
    files
}

#[tokio::test] // AGENT-5, AGENT-20
async fn a_fifth_agent_and_its_category_are_edits_of_a_file() {
    let scratch = Scratch::new("trades_concierge_packs").unwrap();
    write(scratch.path(), "resort", &with_a_concierge());
    let mut casino: serde_json::Value = serde_json::from_str(demo::CASINO).unwrap();
    casino["pack"] = "resort".into();
    let mut content: serde_json::Value = serde_json::from_str(demo::CONTENT).unwrap();
    let trip = serde_json::json!({"id": "excursion_001", "category": "excursions",
        "name": "Covered Bridge Ride",
        "description": "A bus ride to four covered bridges with a picnic.",
        "details": {"price": "$58 a person", "hours": "Tue, Sat 9am-3pm"}});
    content["items"].as_array_mut().unwrap().push(trip.clone());
    let wanted = Wanted {
        casino: Some((casino.to_string(), content.to_string())),
        ..with_packs(scratch.path())
    };
    let house = house("trades_concierge", wanted).await;

    for (sent, (text, agent, fact)) in (1..).zip([
        (
            "do you have any day trips?",
            "concierge",
            "Covered Bridge Ride",
        ),
        ("how much is the covered bridge ride", "concierge", "$58"),
        ("Which restaurants do you have?", "dining", "Nonna Salvia"),
        (
            "What time does the Lakeside Pool open?",
            "host",
            "Lakeside Pool",
        ),
    ]) {
        house.text(GUEST, text);
        house.settle(sent).await;
        let (spoke, record) = last(&house, house.casino()).await;
        assert_eq!(
            (spoke.as_str(), record.findings.len()),
            (agent, 0),
            "{text}: {:?}",
            record.findings
        );
        assert!(
            house.said_to(GUEST).contains(fact),
            "{text}: {}",
            house.said_to(GUEST)
        );
    }
    // The pack declares the fields of the new category, so a missing field is reported as it is in
    // other categories.
    content["items"].as_array_mut().unwrap().last_mut().unwrap()["details"] =
        serde_json::json!({"hours": "Sat 9am-3pm"});
    let load = onboard::load_content(
        &house.stack.fleet,
        house.casino(),
        "new.json",
        &content.to_string(),
        "test",
    )
    .await;
    assert!(
        load.unwrap_err()
            .to_string()
            .contains("details.price: is missing")
    );
    house.stop().await;
}
