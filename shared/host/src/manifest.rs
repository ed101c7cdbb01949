//! The agents of a pack, with their subjects, their tools, and the agents to which each may hand a
//! turn (D18). A manifest that cannot work is refused when the pack is read, before any guest is
//! affected.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use seven_domain::Language;
use seven_knowledge::{Categories, Category, Retrieval};

/// The reason why a manifest is refused; each message says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the manifest cannot be read: {0}")]
    Toml(String),
    #[error("`{by}` names the agent `{name}`, which the manifest does not have; it has {known}")]
    Unknown {
        by: String,
        name: String,
        known: String,
    },
    #[error("the subject `{subject}` belongs to `{first}` and to `{second}`; give it to one")]
    Twice {
        subject: String,
        first: String,
        second: String,
    },
    #[error("`{agent}` has {count} tools; above {MOST_TOOLS} models confuse them")]
    TooManyTools { agent: String, count: usize },
    #[error("`{agent}` hands over to itself")]
    Itself { agent: String },
    #[error("the search tool `{tool}` has no {lacks}")]
    Search { tool: String, lacks: &'static str },
    #[error("[retrieval]: {0}")]
    Retrieval(String),
    #[error("the category `{name}` is read as `{read}`; declare it by that name")]
    Category { name: String, read: String },
}

/// Maximum number of tools of one agent; with more, models choose badly.
pub const MOST_TOOLS: usize = 15;

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The agent that speaks if no other fits.
    pub default_agent: String,
    #[serde(default)]
    pub limits: Limits,
    /// Agents by name.
    pub agents: BTreeMap<String, Agent>,
    /// Search tools of this trade, by name; each finds rows of its categories.
    #[serde(default)]
    pub tools: BTreeMap<String, SearchTool>,
    /// Content categories with required fields; any other category may have any fields.
    #[serde(default)]
    pub categories: Categories,
    /// Settings of the content search.
    #[serde(default)]
    pub retrieval: Retrieval,
}

/// A tool that finds content rows of some categories. It is declared in data and needs no code
/// (D18).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SearchTool {
    /// The tool's purpose, as told to the model.
    pub description: String,
    /// Content categories that the tool searches; aliases are accepted.
    pub categories: Vec<String>,
}

/// Limits of one turn. A turn that exceeds them still ends in a text for the guest, never in an
/// error.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    pub steps: u32,
    pub handoffs: u32,
    pub tool_calls: u32,
    pub retries: u32,
    /// The confidence, from 0 to 1, below which a domain that the router chose counts as off topic.
    pub least_confidence: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 16,
            handoffs: 2,
            tool_calls: 8,
            retries: 1,
            least_confidence: 0.3,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The agent's title, for the router and for `seven turn show`.
    pub title: String,
    /// The agent's identity and way of thinking in each language, for its prompt.
    #[serde(default)]
    pub role: Role,
    /// Content categories and router domains that belong to this agent, aliases included.
    #[serde(default)]
    pub subjects: Vec<String>,
    #[serde(default)]
    pub tools: Vec<String>,
    /// The agent's search tools by name; filled in when the manifest is read.
    #[serde(skip)]
    pub searches: BTreeMap<String, SearchTool>,
    /// Agents that this agent may hand the turn to.
    #[serde(default)]
    pub hands_to: Vec<String>,
    /// Ignored; accepted in this release only so that older packs can still be read.
    #[serde(default, skip_serializing)]
    pub learns: seven_domain::config::Retired,
    /// Whether the agent may speak of offers and comps.
    #[serde(default)]
    pub offers: bool,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Role {
    pub en: String,
    pub es: String,
}

impl Role {
    pub fn of(&self, language: Language) -> &str {
        match language {
            Language::En => &self.en,
            Language::Es => &self.es,
        }
    }
}

impl Manifest {
    pub fn parse(source: &str) -> Result<Self, Problem> {
        let mut manifest: Self =
            toml::from_str(source).map_err(|error| Problem::Toml(error.to_string()))?;
        manifest.check()?;
        let Self { agents, tools, .. } = &mut manifest;
        for agent in agents.values_mut() {
            let declared = agent
                .tools
                .iter()
                .filter_map(|name| Some((name.clone(), tools.get(name)?.clone())));
            agent.searches = declared.collect();
        }
        Ok(manifest)
    }

    /// Returns the agent that the subject belongs to, or else the default agent.
    pub fn agent_for(&self, subject: Option<&str>) -> &str {
        let asked = subject.map(|subject| subject.trim().to_lowercase());
        let owner = asked.and_then(|asked| {
            self.agents
                .iter()
                .find(|(name, agent)| **name == asked || agent.subjects.contains(&asked))
                .map(|(name, _)| name)
        });
        owner.unwrap_or(&self.default_agent)
    }

    pub fn may_hand(&self, from: &str, to: &str) -> bool {
        self.agents
            .get(from)
            .is_some_and(|agent| agent.hands_to.iter().any(|name| name == to))
    }

    /// Lists every agent with the agents to which it may hand the turn, as in "dining > host;
    /// host* > dining"; `*` marks the default agent.
    pub fn registry(&self) -> String {
        let star = |name: &String| if *name == self.default_agent { "*" } else { "" };
        let line = |(name, agent): (&String, &Agent)| {
            format!("{name}{} > {}", star(name), agent.hands_to.join(", "))
        };
        self.agents.iter().map(line).collect::<Vec<_>>().join("; ")
    }

    fn check(&self) -> Result<(), Problem> {
        self.known("default_agent", &self.default_agent)?;
        self.retrieval.check().map_err(Problem::Retrieval)?;
        for (name, tool) in &self.tools {
            let lacks = [
                (tool.description.trim().is_empty(), "description"),
                (tool.categories.is_empty(), "categories"),
            ];
            if let Some((_, lacks)) = lacks.into_iter().find(|(empty, _)| *empty) {
                return Err(Problem::Search {
                    tool: name.clone(),
                    lacks,
                });
            }
        }
        for name in self.categories.names() {
            let read = Category::from(name);
            if read.as_str() != name {
                return Err(Problem::Category {
                    name: name.to_owned(),
                    read: read.as_str().to_owned(),
                });
            }
        }
        let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, agent) in &self.agents {
            if agent.tools.len() > MOST_TOOLS {
                return Err(Problem::TooManyTools {
                    agent: name.clone(),
                    count: agent.tools.len(),
                });
            }
            for to in &agent.hands_to {
                self.known(name, to)?;
                if to == name {
                    return Err(Problem::Itself {
                        agent: name.clone(),
                    });
                }
            }
            for subject in &agent.subjects {
                if let Some(first) = owners.insert(subject, name) {
                    let (first, second) = (first.to_owned(), name.clone());
                    return Err(Problem::Twice {
                        subject: subject.clone(),
                        first,
                        second,
                    });
                }
            }
        }
        Ok(())
    }

    fn known(&self, by: &str, name: &str) -> Result<(), Problem> {
        if self.agents.contains_key(name) {
            return Ok(());
        }
        let known: Vec<&str> = self.agents.keys().map(String::as_str).collect();
        Err(Problem::Unknown {
            by: by.to_owned(),
            name: name.to_owned(),
            known: known.join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACK: &str = r#"
default_agent = "host"
[agents.host]
title = "Host"
subjects = ["amenities"]
hands_to = ["dining"]
[agents.dining]
title = "Dining"
subjects = ["dining", "restaurant"]
hands_to = ["host"]
"#;

    #[test] // AGENT-12, AGENT-20, AGENT-21
    fn subjects_find_their_agent() {
        let manifest = Manifest::parse(PACK).unwrap();
        for (subject, agent) in [
            (Some("dining"), "dining"),
            (Some(" Restaurant "), "dining"),
            (Some("amenities"), "host"),
            (Some("boats"), "host"),
            (None, "host"),
        ] {
            assert_eq!(manifest.agent_for(subject), agent, "{subject:?}");
        }
        assert_eq!(manifest.registry(), "dining > host; host* > dining");
        assert!(
            manifest.may_hand("host", "dining")
                && !manifest.may_hand("host", "comp")
                && !manifest.may_hand("x", "host")
        );
    }

    #[test] // D18
    fn a_search_tool_is_a_declaration() {
        let owned = PACK.replacen(
            "subjects = [\"amenities\"]",
            "tools = [\"search_boats\", \"other\"]",
            1,
        );
        let boats =
            "[tools.search_boats]\ndescription = \"Finds boats.\"\ncategories = [\"boats\"]\n";
        let manifest = Manifest::parse(&format!("{owned}{boats}")).unwrap();
        let found = &manifest.agents["host"].searches;
        assert_eq!(found.keys().collect::<Vec<_>>(), ["search_boats"]);
        assert_eq!(found["search_boats"].categories, ["boats"]);
        assert!(manifest.agents["dining"].searches.is_empty());
        for (from, to, lacks) in [
            ("\"Finds boats.\"", "\" \"", "no description"),
            ("[\"boats\"]", "[]", "no categories"),
        ] {
            let problem = Manifest::parse(&format!("{owned}{}", boats.replace(from, to)))
                .unwrap_err()
                .to_string();
            assert!(problem.contains(lacks), "{problem}");
        }
    }

    #[test] // AGENT-2, AGENT-5
    fn a_topology_that_cannot_work_is_refused() {
        let tools = format!("tools = [{}]", "\"t\",".repeat(16));
        for (from, to, says) in [
            (
                "default_agent = \"host\"",
                "default_agent = \"triage\"",
                "`triage`",
            ),
            (
                "hands_to = [\"dining\"]",
                "hands_to = [\"spa\"]",
                "it has dining, host",
            ),
            (
                "hands_to = [\"dining\"]",
                "hands_to = [\"host\"]",
                "to itself",
            ),
            (
                "subjects = [\"amenities\"]",
                "subjects = [\"dining\"]",
                "give it to one",
            ),
            ("title = \"Host\"", "title = \"Host\"\ncolour = 1", "colour"),
            (
                "[agents.dining]",
                "[categories.events]\n[agents.dining]",
                "read as `entertainment`",
            ),
            (
                "[agents.dining]",
                "[categories.tours.fields]\nprice.kind = \"euros\"\n[agents.dining]",
                "euros",
            ),
            (
                "title = \"Host\"",
                &format!("title = \"Host\"\n{tools}"),
                "16 tools",
            ),
        ] {
            let problem = Manifest::parse(&PACK.replacen(from, to, 1))
                .unwrap_err()
                .to_string();
            assert!(problem.contains(says), "{problem}");
        }
    }
}
