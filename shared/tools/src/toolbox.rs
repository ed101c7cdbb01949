//! The tools of one turn: what they are given, what they answered, what they staged.

use std::{collections::BTreeMap, fmt};

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use serde_json::{Value, json};
use seven_domain::{CasinoConfig, Language, Offer, OfferCall, OfferId, TurnId};
use seven_guest::{
    Confidence, Grant, Profile,
    completeness::completeness,
    offers::{Facts, Policy},
};
use seven_host::{Agent, record::ToolCall};
use seven_knowledge::{Embedder, Index};
use seven_llm::ToolSpec;

use crate::{
    Effect,
    fault::{Answer, Fault},
    registry::{Builtin, Tool, Toolset},
};

/// Arguments longer than this are not kept in the turn's record.
const MOST_ARGUMENTS: usize = 4_096;

/// The casino's side of a turn.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    pub casino: &'a CasinoConfig,
    pub index: &'a Index,
    /// The property's time, as guests are told it.
    pub now: DateTime<Utc>,
    /// The reply's.
    pub language: Language,
    pub turn: TurnId,
    pub policy: &'a Policy,
    /// Offers already given out, by content row, casino-wide.
    pub issued: &'a BTreeMap<String, u32>,
    /// Of the index's space. One that does not answer at once is not waited for: rows are then found by words.
    pub embedder: Option<&'a dyn Embedder>,
}

/// The guest's side of a turn.
#[derive(Clone, Copy)]
pub struct Guest<'a> {
    pub profile: &'a Profile,
    /// The grant under which the guest's own words may be kept; nothing is stored without it.
    pub grant: Option<&'a Grant>,
    /// The guest's new texts.
    pub texts: &'a [String],
    /// Counts of offers are taken from `offers` where those say more.
    pub facts: Facts,
    /// This guest's offers so far.
    pub offers: &'a [Offer],
}

/// The tools of one turn. One agent at a time has them.
pub struct Toolbox<'a> {
    pub(crate) given: Given<'a>,
    pub(crate) guest: Guest<'a>,
    /// With what this turn's calls stored.
    pub(crate) profile: Profile,
    pub(crate) effects: Vec<Effect>,
    pub(crate) readiness: Confidence,
    /// The subject of the running call, for the audit.
    pub(crate) about: About,
    toolset: Toolset,
    calls: Vec<ToolCall>,
    offer_calls: Vec<OfferCall>,
    /// The last call was about offers.
    audited: bool,
    evidence: Vec<String>,
    rows: Vec<(String, Option<f32>)>,
}

/// The subject of a call about offers, and the reason of a refusal.
#[derive(Debug, Default)]
pub(crate) struct About {
    pub(crate) items: Vec<String>,
    pub(crate) offers: Vec<OfferId>,
    pub(crate) refusal: Option<&'static str>,
}

// === impl Toolbox ===

impl<'a> Toolbox<'a> {
    pub fn new(given: Given<'a>, guest: Guest<'a>, agent: &Agent) -> Self {
        Self {
            given,
            guest,
            profile: guest.profile.clone(),
            effects: Vec::new(),
            readiness: guest.facts.readiness,
            about: About::default(),
            toolset: Toolset::of(agent),
            calls: Vec::new(),
            offer_calls: Vec::new(),
            audited: false,
            evidence: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// After a handoff another agent's toolset holds; what was found and staged stays.
    pub fn hand_to(&mut self, agent: &Agent) {
        self.toolset = Toolset::of(agent);
    }

    /// The plan's offer readiness, which the toolbox cannot know when it is made (AGENT-54).
    pub fn planned(&mut self, readiness: Confidence) {
        self.readiness = readiness;
    }

    /// Names and schemas for a model; names that are not this agent's tools are left out.
    pub fn specs(&self, names: &[String]) -> Vec<ToolSpec> {
        names.iter().filter_map(|name| Some(self.toolset.get(name)?.spec(name))).collect()
    }

    /// Runs one tool. Never fails: an error is `{"error": {"kind", "message", "fix"}}` (AGENT-47).
    pub fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.about = About::default();
        let answer = match self.toolset.get(name) {
            Some(Tool::Builtin(tool)) => self.run(tool, arguments),
            Some(Tool::Search(tool)) => self.search_declared(&tool, arguments),
            None => Err(self.not_owned(name)),
        };
        self.audit(name, &answer);
        let result = answer.unwrap_or_else(|fault| fault.to_json());
        let size = arguments.to_string().len();
        let arguments = if size > MOST_ARGUMENTS { json!({ "omitted_bytes": size }) } else { arguments.clone() };
        let name = name.chars().take(64).collect();
        self.calls.push(ToolCall { name, arguments, result: result.clone(), millis: 0 });
        result
    }

    /// Notes how long the last call took, in milliseconds (AGENT-45).
    pub fn took(&mut self, millis: u64) {
        if let Some(call) = self.calls.last_mut() {
            call.millis = millis;
        }
        if let Some(call) = self.offer_calls.last_mut().filter(|_| self.audited) {
            call.millis = millis;
        }
    }

    /// All calls with their results, for the turn's record.
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// Returns the changes that the turn's commit has to write, if the turn ends in the reply.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Every call about offers, for the audit, whatever the turn ends in (AGENT-46).
    pub fn offer_calls(&self) -> &[OfferCall] {
        &self.offer_calls
    }

    /// Returns the results of the tools, in plain sentences, for checking a draft. They hold
    /// nothing that only the guest said.
    pub fn evidence(&self) -> Vec<String> {
        self.evidence.clone()
    }

    /// Content rows the tools returned, with the retrieval's score where there was one, in the order of their first use.
    pub fn rows_used(&self) -> &[(String, Option<f32>)] {
        &self.rows
    }

    fn run(&mut self, tool: Builtin, arguments: &Value) -> Answer {
        match tool {
            Builtin::SearchKnowledgeBase => self.search_knowledge_base(arguments),
            Builtin::GetRestaurantHours => self.get_restaurant_hours(arguments),
            Builtin::CheckAvailability => self.check_availability(arguments),
            Builtin::GetEventSchedule => self.get_event_schedule(arguments),
            Builtin::GetGuestProfile => self.get_guest_profile(arguments),
            Builtin::UpdateGuestProfile => self.update_guest_profile(arguments),
            Builtin::GetEligibleOffers => self.get_eligible_offers(arguments),
            Builtin::CreateOffer => self.create_offer(arguments),
            Builtin::TrackRedemption => self.track_redemption(arguments),
        }
    }

    fn not_owned(&self, name: &str) -> Fault {
        let own = self.toolset.names().join(", ");
        let shown: String = name.chars().take(64).collect();
        let fix = if own.is_empty() { "you have no tools; answer".to_owned() } else { format!("yours are {own}") };
        if Builtin::of(name).is_some() {
            return Fault::new("not_your_tool", format!("`{shown}` belongs to a colleague"), fix);
        }
        Fault::new("unknown_tool", format!("there is no tool `{shown}` here"), fix)
    }

    fn audit(&mut self, name: &str, answer: &Answer) {
        self.audited = Builtin::of(name).is_some_and(Builtin::is_about_offers);
        if !self.audited {
            return;
        }
        let about = std::mem::take(&mut self.about);
        let refusal = answer.as_ref().err().map(|fault| fault.kind).or(about.refusal);
        self.offer_calls.push(OfferCall {
            tool: name.to_owned(),
            items: about.items,
            offers: about.offers,
            refusal: refusal.map(str::to_owned),
            completeness: self.completeness(),
            millis: 0,
        });
    }

    /// In percent.
    pub(crate) fn completeness(&self) -> u8 {
        (completeness(&self.profile, self.given.now).get() * 100.0).round() as u8
    }

    pub(crate) fn zone(&self) -> Tz {
        self.given.casino.operational.timezone
    }

    pub(crate) fn today(&self) -> NaiveDate {
        self.given.now.with_timezone(&self.zone()).date_naive()
    }

    /// How a guest reaches people.
    pub(crate) fn phone(&self) -> &'a str {
        &self.given.casino.operational.contact_phone
    }

    pub(crate) fn found(&mut self, sentence: String) {
        if !sentence.is_empty() && !self.evidence.contains(&sentence) {
            self.evidence.push(sentence);
        }
    }

    pub(crate) fn used(&mut self, id: &str, score: Option<f32>) {
        if !self.rows.iter().any(|(known, _)| known == id) {
            self.rows.push((id.to_owned(), score));
        }
    }
}

impl fmt::Debug for Guest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guest({} texts, {} offers)", self.texts.len(), self.offers.len())
    }
}

impl fmt::Debug for Toolbox<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Toolbox({} calls, {} effects)", self.calls.len(), self.effects.len())
    }
}
