use seven_domain::Language;
use seven_host::{Prompt, PromptFacts};

use super::*;

#[test] // SEC-20 to SEC-25, spec 40 sections 12.1 to 12.3; SUP-3
fn the_compiled_in_pack_passes_every_check_of_a_pack() {
    if let Err(error) = Pack::parse("casino", &CASINO) {
        panic!("{error}: {:#?}", std::error::Error::source(&error));
    }
}

#[test] // AGENT-2, AGENT-5, AGENT-12, AGENT-20, AGENT-21, C-28, AGENT-29
fn the_casino_has_four_agents_and_every_subject_an_owner() {
    let agents = &casino().agents;
    assert_eq!(
        agents.agents.keys().collect::<Vec<_>>(),
        ["comp", "dining", "entertainment", "host"]
    );
    for (subject, agent) in [
        ("dining", "dining"),
        ("dining_agent", "dining"),
        ("entertainment", "entertainment"),
        ("spa", "entertainment"),
        ("promotions", "comp"),
        ("loyalty", "comp"),
        ("incentive", "comp"),
        ("amenities", "host"),
        ("gaming", "host"),
        ("parking", "host"),
    ] {
        assert_eq!(agents.agent_for(Some(subject)), agent, "{subject}");
    }
    for (from, agent) in &agents.agents {
        let others: Vec<_> = agents.agents.keys().filter(|name| *name != from).collect();
        assert!(others.iter().all(|to| agents.may_hand(from, to)), "{from}");
        assert_eq!(agent.offers, from == "comp");
    }
}

#[test] // AGENT-32, AGENT-33, AGENT-34, AGENT-35, AGENT-53, CONV-29, SMS-25
fn every_agent_has_a_role_in_both_languages_and_a_plan_stays_a_hint() {
    let plan = serde_json::json!({
        "next_topic": "dining",
        "offer_readiness": 0.2,
        "sentiment": "neutral",
        "conversation_note": "anniversary",
    });
    for agent in casino().agents.agents.values() {
        for language in Language::ALL {
            let role = agent.role.of(language).to_owned();
            let facts = PromptFacts {
                role: role.clone(),
                plan: serde_json::from_value(plan.clone()).ok(),
                ..PromptFacts::default()
            };
            let prompt = casino().prompts().render(Prompt::Agent(language), &facts);
            assert!(role.len() > 80 && prompt.contains(&role), "{}", agent.title);
            assert!(prompt.contains("dining. anniversary"));
        }
    }
}

#[test] // WEB-27
fn both_languages_are_told_the_same_rules() {
    let facts = PromptFacts {
        casino: "Silver Birch".into(),
        local_time: "Friday 6:30 PM".into(),
        ..PromptFacts::default()
    };
    for (language, rules) in [
        (
            Language::En,
            [
                "Speak of Silver Birch only",
                "may change",
                "Match the guest",
                "You book nothing",
            ],
        ),
        (
            Language::Es,
            [
                "Habla solo de Silver Birch",
                "pueden cambiar",
                "Sigue al huésped",
                "No haces reservas",
            ],
        ),
    ] {
        let told = casino().prompts().render(Prompt::Agent(language), &facts);
        for part in rules.into_iter().chain(["Friday 6:30 PM"]) {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
