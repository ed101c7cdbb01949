//! Collects the facts that a turn's prompts contain: about the casino, the guest, and the content
//! rows that may answer.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use chrono::Timelike;
use seven_domain::{CasinoId, Language, ReplyLength};
use seven_guest::{DialogueState, Key, completeness::completeness};
use seven_host::{
    Manifest, Plan, PromptFacts,
    prompt::{Colleague, PastExchange, Row, fill},
};
use seven_knowledge::{Category, Item, Query, Retrieved, formatter};
use seven_llm::Request;
use seven_telemetry::metrics;

use super::dialogue::settled;
use crate::{turn_input::TurnInput, types::Work};

/// Maximum number of rows that an agent gets without calling a tool.
const MOST_ROWS: usize = 8;
/// Maximum number of these rows that are included because the last reply named them.
const MOST_LISTED: usize = 3;
/// Maximum number of characters that a prompt asks for in a text message. Together with the guest's
/// name, the reply must fit into two segments. One emoji more than halves a segment's capacity.
const CHARACTERS: usize = 160;
const CHARACTERS_WITH_EMOJI: usize = 110;
/// A question with more characters than this is labelled `long` in the metrics.
const LONG: usize = 80;

/// Returns whether this guest's turns use the casino's second prompt.
pub(super) fn has_variant(work: &Work) -> bool {
    work.config.features.prompt_variant_enabled && work.config.prompts.has_variant()
}

/// The facts that all prompts of the turn share, and the rows that were retrieved.
#[derive(Debug)]
pub(super) struct Context {
    shared: PromptFacts,
    rows: Vec<(Arc<Item>, Option<f32>)>,
    has_minors: bool,
    /// How the search found its rows: "vector" or "keyword".
    source: &'static str,
}

// === impl Context ===

impl Context {
    /// Collects the facts of a turn. `state` is the state of the dialogue after the guest's new
    /// texts.
    pub(super) fn of(
        work: &Work,
        input: &TurnInput,
        state: &DialogueState,
        query: &Query<'_>,
    ) -> Self {
        let request = &input.request;
        let began = Instant::now();
        let found = request.index.retrieve(query);
        metrics()
            .guests
            .step_seconds
            .with_label_values(&["retrieval", work.lease.channel.as_str()])
            .observe(began.elapsed().as_secs_f64());
        let source = source(query.has_vector(), &found);
        count(&work.casino, &request.texts, source, &found);
        let rows = rows(request, found);
        let profile = &request.profile;
        let name = profile
            .get(Key::Name)
            .and_then(|name| name.as_text())
            .map(str::to_owned);
        let percent = completeness(&input.profile, request.now).get() * 100.0;
        let slots = [
            ("casino_name", request.casino_name.as_str()),
            ("casino_phone", &request.contact_phone),
            ("persona_name", &request.persona),
            ("guest_name", name.as_deref().unwrap_or_default()),
        ];
        let prompts = &work.config.prompts;
        let own = if has_variant(work) {
            prompts.system_prompt_variant.as_deref()
        } else {
            prompts.system_prompt_override.as_deref()
        };
        let shared = PromptFacts {
            casino: request.casino_name.clone(),
            persona: request.persona.clone(),
            manner: work.config.branding.clone(),
            phone: request.contact_phone.clone(),
            local_time: request
                .now
                .with_timezone(&request.zone)
                .format("%A %-d %B %Y, %H:%M")
                .to_string(),
            language: if input.language == Language::En {
                "English"
            } else {
                "Spanish"
            },
            summary: request.summary.clone(),
            history: request
                .history
                .iter()
                .map(|e| PastExchange {
                    guest: e.guest.clone(),
                    host: e.host.clone(),
                })
                .collect(),
            dialogue: settled(state, &request.index),
            rows: rows.iter().map(|(item, _)| row(item, request)).collect(),
            profile: profile.to_json(),
            known: !profile.facts.is_empty(),
            completeness: percent.round() as u8,
            regulations: regulations(request),
            open_now: open_now(request),
            system_prompt: fill(own.unwrap_or_default(), &slots),
            name,
            characters: match request.length {
                ReplyLength::Texts if work.config.branding.emoji_allowed => CHARACTERS_WITH_EMOJI,
                ReplyLength::Texts => CHARACTERS,
                ReplyLength::Message { usual, .. } => usual,
            },
            ..PromptFacts::default()
        };
        Self {
            shared,
            rows,
            has_minors: state.has_minors(),
            source,
        }
    }

    pub(super) fn source(&self) -> &'static str {
        self.source
    }

    pub(super) fn has_minors(&self) -> bool {
        self.has_minors
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (&Arc<Item>, Option<f32>)> {
        self.rows.iter().map(|(item, score)| (item, *score))
    }

    /// Returns the texts whose facts a reply may state: the rows, and general facts about the
    /// casino.
    pub(super) fn evidence(&self) -> impl Iterator<Item = &str> {
        let rows = self.shared.rows.iter().map(|row| row.text.as_str());
        let own = [
            &self.shared.casino,
            &self.shared.phone,
            &self.shared.persona,
            &self.shared.local_time,
        ];
        let more = self
            .shared
            .regulations
            .iter()
            .chain(&self.shared.name)
            .map(String::as_str);
        rows.chain(own.into_iter().map(String::as_str)).chain(more)
    }

    pub(super) fn for_router(&self, manifest: &Manifest) -> PromptFacts {
        PromptFacts {
            agents: manifest
                .agents
                .keys()
                .map(|name| colleague(manifest, name))
                .collect(),
            ..self.shared.clone()
        }
    }

    pub(super) fn for_planner(&self) -> PromptFacts {
        self.shared.clone()
    }

    pub(super) fn for_judge(&self, tool_rows: Vec<String>) -> PromptFacts {
        let mut facts = self.shared.clone();
        facts.rows.extend(tool_rows.into_iter().map(|text| Row {
            id: "tool".to_owned(),
            text,
        }));
        facts
    }

    /// Returns the facts for an agent's prompt; `feedback` says what was wrong with the last draft.
    pub(super) fn for_agent(
        &self,
        manifest: &Manifest,
        name: &str,
        language: Language,
        plan: Option<Plan>,
        feedback: Option<String>,
    ) -> PromptFacts {
        let mut facts = PromptFacts {
            plan,
            feedback,
            ..self.shared.clone()
        };
        if let Some(agent) = manifest.agents.get(name) {
            facts.role = agent.role.of(language).to_owned();
            facts.offers = agent.offers;
            facts.handovers = agent
                .hands_to
                .iter()
                .map(|to| colleague(manifest, to))
                .collect();
        }
        facts
    }
}

fn colleague(manifest: &Manifest, name: &str) -> Colleague {
    let agent = manifest.agents.get(name);
    Colleague {
        name: name.to_owned(),
        title: agent.map(|agent| agent.title.clone()).unwrap_or_default(),
        subjects: agent
            .map(|agent| agent.subjects.clone())
            .unwrap_or_default(),
    }
}

fn row(item: &Item, request: &Request) -> Row {
    let spanish = item.description_es.as_deref().unwrap_or_default();
    Row {
        id: item.id.clone(),
        text: format!("{} {spanish}", formatter::text(item, request.zone))
            .trim_end()
            .to_owned(),
    }
}

/// Returns how a search found its rows; `by_vector` says whether the question had a vector. Rows
/// without a vector are found by words, even if the question has a vector.
fn source(by_vector: bool, found: &[Retrieved]) -> &'static str {
    let similar = found.iter().any(|row| row.scores.cosine.is_some());
    if by_vector && (found.is_empty() || similar) {
        "vector"
    } else {
        "keyword"
    }
}

/// Counts a search and its result.
fn count(casino: &CasinoId, texts: &[String], source: &str, found: &[Retrieved]) {
    let best = |score: fn(&Retrieved) -> Option<f32>| {
        found.iter().filter_map(score).max_by(f32::total_cmp)
    };
    let score = best(|row| row.scores.cosine)
        .or_else(|| best(|row| Some(row.scores.bm25)))
        .unwrap_or_default();
    let outcome = if found.is_empty() { "zero" } else { "found" };
    let guests = &metrics().guests;
    guests
        .retrievals
        .with_label_values(&[casino.as_str(), outcome, source])
        .inc();
    let length = if texts.iter().map(|text| text.chars().count()).sum::<usize>() > LONG {
        "long"
    } else {
        "short"
    };
    guests
        .retrieval_score
        .with_label_values(&[casino.as_str(), length])
        .observe(f64::from(score));
    if let Some(share) = diversity(found.iter().map(|row| &row.item.category)) {
        guests
            .retrieval_diversity
            .with_label_values(&[casino.as_str()])
            .observe(share);
    }
}

/// Returns how varied the found rows are, from 0 to 1: the number of different categories divided
/// by the number of rows. `None` if nothing was found.
fn diversity<'a>(categories: impl Iterator<Item = &'a Category>) -> Option<f64> {
    let categories: Vec<&Category> = categories.collect();
    let different = categories
        .iter()
        .enumerate()
        .filter(|(n, one)| !categories[..*n].contains(one))
        .count();
    (different > 0).then(|| different as f64 / categories.len() as f64)
}

/// Returns the rows for the prompts, in this order:
/// - rows that the texts name,
/// - rows that the last reply named, because a follow-up may refer to them,
/// - rows that the search found.
///
/// A row has a score if the search found it.
fn rows(request: &Request, found: Vec<Retrieved>) -> Vec<(Arc<Item>, Option<f32>)> {
    let asked = request.texts.join("\n");
    let named = |text: &str| {
        let mentions = request
            .index
            .mentions(text, request.now)
            .into_iter()
            .filter(|mention| mention.telling);
        mentions.map(|mention| mention.item).collect::<Vec<_>>()
    };
    let listed = request.state.listed.iter();
    let listed = listed.filter_map(|id| request.index.get(id).cloned());
    let scores: BTreeMap<_, _> = found
        .iter()
        .map(|row| (row.item.id.clone(), row.scores.fused))
        .collect();
    let all = named(&asked)
        .into_iter()
        .chain(listed.take(MOST_LISTED))
        .chain(found.into_iter().map(|row| row.item));
    let mut rows: Vec<(Arc<Item>, Option<f32>)> = Vec::new();
    for item in all {
        if rows.len() < MOST_ROWS && !rows.iter().any(|(known, _)| known.id == item.id) {
            let score = scores.get(&item.id).copied();
            rows.push((item, score));
        }
    }
    rows
}

/// Returns the casino's rules, whatever the guest asked.
fn regulations(request: &Request) -> Vec<String> {
    let rules = request
        .index
        .by_category(&Category::Regulations, request.now);
    rules
        .iter()
        .map(|item| formatter::text(item, request.zone))
        .collect()
}

/// Returns the names of the places that are open now. Empty between 06:00 and 22:00, casino time.
fn open_now(request: &Request) -> Vec<String> {
    let hour = request.now.with_timezone(&request.zone).hour();
    if (6..22).contains(&hour) {
        return Vec::new();
    }
    let open = request
        .index
        .current(request.now)
        .filter(|item| item.is_open(request.now, request.zone));
    open.map(|item| item.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // OBS-16
    fn diversity_is_categories_by_rows() {
        use Category::{Dining, Regulations};
        for (found, wanted) in [
            (&[][..], None),
            (&[Dining], Some(1.0)),
            (&[Dining, Regulations], Some(1.0)),
            (&[Dining, Dining, Regulations, Dining], Some(0.5)),
        ] {
            assert_eq!(diversity(found.iter()), wanted, "{found:?}");
        }
    }

    #[test] // RAG-43
    fn a_search_that_finds_nothing_is_counted_by_how_it_searched() {
        let casino: CasinoId = "zero_results".parse().unwrap();
        for (by_vector, series) in [(true, "vector"), (false, "keyword")] {
            count(
                &casino,
                &["stamps?".to_owned()],
                source(by_vector, &[]),
                &[],
            );
            let series = format!(
                "seven_retrievals_total{{casino=\"zero_results\",outcome=\"zero\",source=\"{series}\"}} 1"
            );
            assert!(seven_telemetry::render().contains(&series), "{series}");
        }
    }
}
