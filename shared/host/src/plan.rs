//! The plan for a turn, such as the topic to explore next. The guest never sees the plan.

use serde::{Deserialize, Serialize};
use seven_guest::Topic;

/// Maximum length of a plan's `conversation_note`, in characters.
const MOST_NOTE: usize = 200;

/// The direction in which the next text may lead the conversation. In JSON it is one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Next {
    /// Ask about a topic of the guest's profile.
    Ask(Topic),
    Else(NoTopic),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoTopic {
    OfferReady,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sentiment {
    Positive,
    Neutral,
    /// Guarded or brief, but not negative.
    Cautious,
    Negative,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub next_topic: Next,
    #[serde(default)]
    pub extraction_targets: Vec<String>,
    /// From 0 to 1: 0 just started, 0.4 engaged, 0.7 ready for a soft offer, 1 ready for a formal
    /// one.
    pub offer_readiness: f64,
    #[serde(default)]
    pub conversation_note: String,
    pub sentiment: Sentiment,
    #[serde(default)]
    pub reciprocity: bool,
}

/// The reason why a planner's answer is refused; the turn goes on without a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the plan is not of the schema: {0}")]
    Schema(String),
    #[error("offer_readiness has to be between 0 and 1")]
    Readiness,
    #[error("conversation_note may have {MOST_NOTE} characters")]
    Note,
}

// === impl Next ===

impl Next {
    pub fn topic(self) -> Option<Topic> {
        match self {
            Self::Ask(topic) => Some(topic),
            Self::Else(_) => None,
        }
    }

    /// Returns every word that is allowed as a plan's `next_topic`.
    pub fn words() -> impl Iterator<Item = &'static str> {
        Topic::ALL
            .into_iter()
            .map(Topic::as_str)
            .chain(["offer_ready", "none"])
    }
}

impl Plan {
    /// Returns the plan for a turn in which no model plans. The plan asks about `topic`, if there
    /// is one.
    pub fn own(topic: Option<Topic>) -> Self {
        Self {
            next_topic: topic.map_or(Next::Else(NoTopic::None), Next::Ask),
            extraction_targets: Vec::new(),
            offer_readiness: 0.0,
            conversation_note: String::new(),
            sentiment: Sentiment::Neutral,
            reciprocity: false,
        }
    }

    pub fn parse(json: &str) -> Result<Self, Problem> {
        let plan: Self =
            serde_json::from_str(json).map_err(|error| Problem::Schema(error.to_string()))?;
        if !(0.0..=1.0).contains(&plan.offer_readiness) {
            return Err(Problem::Readiness);
        }
        if plan.conversation_note.chars().count() > MOST_NOTE {
            return Err(Problem::Note);
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // AGENT-49, CONV-27, CONV-46, DATA-62
    fn only_what_the_schema_allows_is_a_plan() {
        let plan = |topic: &str, readiness: &str, note: &str| {
            format!(
                r#"{{"next_topic":"{topic}","offer_readiness":{readiness},"conversation_note":"{note}","sentiment":"cautious"}}"#
            )
        };
        let good = Plan::parse(&plan("dining", "0.35", "anniversary")).unwrap();
        assert_eq!(
            (good.next_topic, good.sentiment, good.reciprocity),
            (Next::Ask(Topic::Dining), Sentiment::Cautious, false)
        );
        for word in Next::words() {
            let read = Plan::parse(&plan(word, "0", "")).unwrap();
            assert_eq!(
                serde_json::to_value(read.next_topic).unwrap(),
                word,
                "written as it is read"
            );
        }
        assert!(matches!(
            Plan::parse(&plan("weather", "0.3", "")),
            Err(Problem::Schema(_))
        ));
        assert_eq!(
            Plan::parse(&plan("none", "1.1", "")),
            Err(Problem::Readiness)
        );
        assert_eq!(
            Plan::parse(&plan("none", "-0.1", "")),
            Err(Problem::Readiness)
        );
        assert_eq!(
            Plan::parse(&plan("none", "1", &"x".repeat(201))),
            Err(Problem::Note)
        );
        assert!(
            matches!(
                Plan::parse("{\"next_topic\":\"none\""),
                Err(Problem::Schema(_))
            ),
            "cut off"
        );
    }
}
