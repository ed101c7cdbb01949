//! Compares the pack of another trade (`tests/packs/marina`) with the casino's, and tests packs
//! that must be refused.

use std::{fs, path::Path};

use seven_domain::Language;

use super::*;
use crate::{Packs, casino};

fn marina_files() -> Files {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packs/marina");
    Files::read(|file| fs::read_to_string(folder.join(file))).unwrap()
}

fn chain(error: &Error) -> String {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| {
        error.source()
    });
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

fn marina() -> Pack {
    Pack::parse("marina", &marina_files()).unwrap_or_else(|error| panic!("{}", chain(&error)))
}

#[test] // SUP-3, SUP-4: a pack has its own agents, texts and numbers
fn another_trade_is_another_folder() {
    let pack = marina();
    assert_eq!(
        pack.agents.agents.keys().collect::<Vec<_>>(),
        ["harbour", "rentals"]
    );
    for (subject, agent) in [
        ("berths", "harbour"),
        ("tours", "rentals"),
        ("boats", "rentals"),
        ("dining", "harbour"),
        ("", "harbour"),
    ] {
        assert_eq!(pack.agents.agent_for(Some(subject)), agent, "{subject}");
    }
    assert!(
        pack.agents.may_hand("harbour", "rentals") && pack.agents.may_hand("rentals", "harbour")
    );
    assert_eq!(
        pack.agents.categories.names().collect::<Vec<_>>(),
        ["berths", "boats", "fuel", "tours"]
    );
    assert!(pack.rules.helpline.is_none() && !pack.texts.has(TextKey::ResponsibleGaming));
    assert_ne!(pack.rules.quiet_window(), casino().rules.quiet_window());
    for &key in TextKey::ALL.iter().filter(|key| pack.texts.has(**key)) {
        for language in Language::ALL {
            let slots = Slots {
                casino: "X",
                phone: "Y",
                persona: "Z",
                helpline: "",
                state_helpline: "",
                min_age: 21,
                guest: "",
                topic: "",
            };
            assert_ne!(
                pack.texts.render(key, language, &slots),
                casino().texts.render(key, language, &slots)
            );
        }
    }
}

#[test] // SUP-2, SEC-20
fn each_pack_guards_its_own() {
    let marina = marina();
    for (text, at_the_casino, at_the_marina) in [
        ("we're taking on water by the jetty", "pass", "emergency"),
        ("the bilge pump cant keep up", "pass", "emergency"),
        (
            "i cant stop gambling, i lost the rent",
            "responsible_gaming",
            "pass",
        ),
        ("how do i avoid a CTR", "bsa_aml", "pass"),
        (
            "my husband is having a heart attack",
            "emergency",
            "emergency",
        ),
        ("I want to kill myself", "crisis", "crisis"),
        ("STOP", "opt_out", "opt_out"),
        ("stop texting me", "opt_out", "opt_out"),
        ("what time do you open on sunday", "pass", "pass"),
    ] {
        let verdicts =
            [casino().guardrails(), marina.guardrails()].map(|rails| rails.decide(text).verdict);
        assert_eq!(
            verdicts.map(|verdict| verdict.as_str()),
            [at_the_casino, at_the_marina],
            "{text}"
        );
    }
}

#[test] // SUP-3: a broken file is refused when it is read, and the error names the place
fn a_broken_file_is_named() {
    type Break = fn(&mut Files);
    let broken: [(Break, &[&str]); 9] = [
        (
            |f| {
                f.agents = f
                    .agents
                    .replace("hands_to = [\"rentals\"]", "hands_to = [\"sales\"]")
                    .into();
            },
            &["agents.toml", "`sales`", "it has harbour, rentals"],
        ),
        (
            |f| f.agents = f.agents.replace("kind = \"flag\"", "kind = \"yes\"").into(),
            &["agents.toml", "`yes`"],
        ),
        (
            |f| f.rules = f.rules.replace("max_texts = 2", "max_texts = 0").into(),
            &["rules.toml", "above 0"],
        ),
        (
            |f| f.texts = f.texts.replace("[help]", "[helpp]").into(),
            &["texts.toml", "helpp"],
        ),
        (
            |f| f.texts = f.texts.replace("or call 911 now", "now").into(),
            &["`emergency` (en) has to hold `911`"],
        ),
        (
            |f| {
                f.texts = f
                    .texts
                    .replace("Pictures do not", "Pictures from {{ helpline }} do not")
                    .into();
            },
            &["`mms_text_only`", "names none"],
        ),
        (
            |f| {
                f.guardrails = f
                    .guardrails
                    .replace("\"man overboard!\"", "\"nice weather\"")
                    .into();
            },
            &["sea_mayday", "nice weather"],
        ),
        (
            |f| {
                f.guardrails = f
                    .guardrails
                    .replace("layer = \"crisis\"", "layer = \"abuse\"")
                    .into();
            },
            &["no rule of the layer `crisis`"],
        ),
        (
            |f| f.prompts.router = "{% for".into(),
            &["prompts of the pack"],
        ),
    ];
    for (number, (change, says)) in broken.into_iter().enumerate() {
        let mut files = marina_files();
        change(&mut files);
        let error = chain(
            &Pack::parse("marina", &files)
                .err()
                .unwrap_or_else(|| panic!("break {number} was accepted")),
        );
        let missing: Vec<_> = std::iter::once(&"the pack `marina`")
            .chain(says)
            .filter(|part| !error.contains(**part))
            .collect();
        assert!(missing.is_empty(), "{number} lacks {missing:?}: {error}");
    }
}

#[test] // SUP-3
fn packs_are_known_by_name() {
    let packs = Packs::shipped().with([marina()]).unwrap();
    assert_eq!(packs.get("marina").unwrap().agents.default_agent, "harbour");
    let unknown = packs.get("hotel").unwrap_err().to_string();
    assert!(
        unknown.contains("`hotel`; there is casino, marina"),
        "{unknown}"
    );
    assert!(matches!(packs.with([marina()]), Err(Error::Twice(name)) if name == "marina"));
}
