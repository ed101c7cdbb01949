//! The casino pack's agents (AGENT-20, AGENT-29): who answers what.

use std::sync::LazyLock;

use seven_host::Manifest;

/// The agents as written; [`agents`] is the checked form.
pub const CASINO_AGENTS: &str = include_str!("../casino/agents.toml");

/// The casino pack's agents, read at first use.
pub fn agents() -> &'static Manifest {
    static CASINO: LazyLock<Manifest> = LazyLock::new(|| {
        Manifest::parse(CASINO_AGENTS).expect("the compiled-in agents are checked by this crate's tests")
    });
    &CASINO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // AGENT-2, AGENT-5, AGENT-12, AGENT-20, AGENT-21, C-28
    fn the_casino_has_four_agents_and_every_subject_an_owner() {
        let agents = agents();
        assert_eq!(agents.agents.keys().collect::<Vec<_>>(), ["comp", "dining", "entertainment", "host"]);
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
}
