//! Judges a draft twice (D10). First code checks the draft's facts, because no model is trusted
//! with facts. Then a model gives its verdict.

use std::sync::Arc;

use seven_compliance::offers::Action;
use seven_host::{
    Check, Event, Evidence, Finding, Prompt, Unfounded, Verdict, draft_to_judge, guests_words,
};
use seven_llm::chat::{ChatRequest, Message};
use seven_offline_host::is_for_adults;

use super::Play;
use crate::vetting::vet;

/// The confidence that is assumed if the judge's verdict has no figure between 0 and 1. It is the
/// lowest: on channels where a person can answer instead of the host, a person then does.
const UNSTATED: f64 = 0.0;

impl Play<'_> {
    /// Judges the current draft; the first `attempt` is 0.
    pub(super) async fn judge(&mut self, agent: &str, attempt: u32) -> Event {
        self.findings = self.findings_of(agent);
        if attempt > 0 && self.is_only_long() {
            self.shorten(agent);
        }
        if !self.findings.is_empty() {
            let what: Vec<String> = self.findings.iter().map(Finding::feedback).collect();
            return Event::Judged(Verdict::Retry(what.join(" ")));
        }
        let facts = self.known.for_judge(self.toolbox.evidence());
        let texts = self.input.request.texts.join("\n");
        let request = self.request(Prompt::Validator, &facts, self.hosted.deadlines.judge);
        let request = ChatRequest {
            messages: vec![Message::User(format!(
                "{}\n{}",
                guests_words(&texts),
                draft_to_judge(&self.draft)
            ))],
            output_schema: Some(Verdict::schema()),
            ..request
        };
        let model = Arc::clone(&self.hosted.judge);
        let reply = self.chat("validator", &*model, &request).await.ok();
        let judged = reply.and_then(|reply| Verdict::parse(&reply.text));
        self.confidence = judged.as_ref().map(|(_, given)| given.unwrap_or(UNSTATED));
        judged.map_or(Event::NotJudged { clean: true }, |(verdict, _)| {
            Event::Judged(verdict)
        })
    }

    fn is_only_long(&self) -> bool {
        matches!(
            self.findings[..],
            [Finding::TooLong { .. } | Finding::TooManyCharacters { .. }]
        )
    }

    /// Cuts the draft to as many sentences as fit, if the agent was asked to shorten it and did
    /// not.
    fn shorten(&mut self, agent: &str) {
        let ends = self
            .draft
            .match_indices(['.', '!', '?'])
            .map(|(at, end)| at + end.len());
        let ends: Vec<usize> = ends
            .filter(|end| self.draft[*end..].starts_with(' '))
            .collect();
        for end in ends.into_iter().rev() {
            self.draft.truncate(end);
            self.findings = self.findings_of(agent);
            if !self.is_only_long() {
                return;
            }
        }
    }

    /// Compares the draft with the agent's rows and its tools' results. A claim that only the guest
    /// made does not count as a fact.
    fn findings_of(&self, agent: &str) -> Vec<Finding> {
        let tools = self.toolbox.evidence();
        let evidence = Evidence::of(
            self.known
                .evidence()
                .chain(tools.iter().map(String::as_str)),
        );
        let evidence = evidence.with_guest(self.input.request.texts.iter().map(String::as_str));
        let may_offer = self
            .work
            .pack
            .agents
            .agents
            .get(agent)
            .is_some_and(|agent| agent.offers);
        let check = Check {
            evidence: &evidence,
            length: self.input.request.length,
            lead: self.input.request.lead.as_deref(),
            // The draft may offer something only if a tool of this turn has granted it.
            offers: may_offer
                && self
                    .toolbox
                    .offer_calls()
                    .iter()
                    .any(|call| call.refusal.is_none()),
            asked_identity: false,
            emoji: self.work.config.branding.emoji_allowed,
        };
        let mut findings = check.findings(&self.draft);
        let rows = self.known.rows().map(|(item, _)| item).chain(
            self.toolbox
                .rows_used()
                .iter()
                .filter_map(|(id, _)| self.work.index.get(id)),
        );
        if self.known.has_minors() {
            findings.extend(self.for_adults().map(Finding::ForAdults));
        }
        let vetted = vet(&self.draft, &self.input.request, rows);
        if vetted.action == Action::Reject {
            let invented = vetted
                .unverified_offers
                .into_iter()
                .map(|offer| Finding::Unfounded(Unfounded::Money(offer.text)));
            findings.extend(
                invented
                    .filter(|found| !findings.contains(found))
                    .collect::<Vec<_>>(),
            );
        }
        findings
    }

    /// Returns the names of adults-only places that the draft mentions.
    fn for_adults(&self) -> impl Iterator<Item = String> {
        let request = &self.input.request;
        let mentions = request.index.mentions(&self.draft, request.now).into_iter();
        mentions
            .filter(|mention| mention.telling && is_for_adults(&mention.item))
            .map(|mention| mention.item.name.clone())
    }
}
