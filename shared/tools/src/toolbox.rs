//! The tools of one turn: their inputs, their answers and the changes they staged.

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
use seven_knowledge::{Embedder, Index, Retrieval};
use seven_llm::ToolSpec;

use crate::{
    Effect,
    fault::{Answer, Fault},
    registry::{Builtin, Tool, Toolset},
};

/// Maximum length of a call's arguments in the turn's record, in bytes.
const MOST_ARGUMENTS: usize = 4_096;

/// Inputs of a turn, without those about the guest, which are in [`Guest`].
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    pub casino: &'a CasinoConfig,
    pub index: &'a Index,
    /// Settings of the search in `index`.
    pub retrieval: &'a Retrieval,
    /// The present time as guests and casinos see it. Opening hours and offers are checked against
    /// it.
    pub now: DateTime<Utc>,
    /// The language of the reply.
    pub language: Language,
    pub turn: TurnId,
    pub policy: &'a Policy,
    /// Number of offers already given out in the whole casino, by content row.
    pub issued: &'a BTreeMap<String, u32>,
    /// Embeds questions. Ignored if its vector space differs from that of the index. If the
    /// embedder does not answer at once, rows are found by words alone.
    pub embedder: Option<&'a dyn Embedder>,
}

/// The inputs of a turn that come from the guest.
#[derive(Clone, Copy)]
pub struct Guest<'a> {
    pub profile: &'a Profile,
    /// The consent under which the guest's own words may be stored; if `None`, nothing is stored.
    pub grant: Option<&'a Grant>,
    /// The guest's new texts.
    pub texts: &'a [String],
    /// Facts about the guest. If `offers` yields a higher count of offers than these facts, that
    /// count is used instead.
    pub facts: Facts,
    /// This guest's offers so far.
    pub offers: &'a [Offer],
}

/// The tools of one turn. Only one agent at a time can use them.
pub struct Toolbox<'a> {
    pub(crate) given: Given<'a>,
    pub(crate) guest: Guest<'a>,
    /// The profile with the changes of this turn's calls.
    pub(crate) profile: Profile,
    pub(crate) effects: Vec<Effect>,
    pub(crate) readiness: Confidence,
    /// The items and offers that the running call concerns, for the audit.
    pub(crate) about: About,
    toolset: Toolset,
    calls: Vec<ToolCall>,
    offer_calls: Vec<OfferCall>,
    /// True if the last call was about offers.
    audited: bool,
    evidence: Vec<String>,
    rows: Vec<(String, Option<f32>)>,
}

/// The items and offers that a call concerns, and the reason if it was refused.
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

    /// Gives the turn to another agent, which can call only its own tools. Earlier results and
    /// staged changes stay.
    pub fn hand_to(&mut self, agent: &Agent) {
        self.toolset = Toolset::of(agent);
    }

    /// Sets the plan's offer readiness, which is not yet known when the toolbox is made.
    pub fn planned(&mut self, readiness: Confidence) {
        self.readiness = readiness;
    }

    /// Returns the specifications of the named tools for a model; names that are not this agent's
    /// tools are left out.
    pub fn specs(&self, names: &[String]) -> Vec<ToolSpec> {
        names
            .iter()
            .filter_map(|name| Some(self.toolset.get(name)?.spec(name)))
            .collect()
    }

    /// Runs one tool. Never fails: an error is the value `{"error": {"kind", "message", "fix"}}`.
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
        let arguments = if size > MOST_ARGUMENTS {
            json!({ "omitted_bytes": size })
        } else {
            arguments.clone()
        };
        let name = name.chars().take(64).collect();
        self.calls.push(ToolCall {
            name,
            arguments,
            result: result.clone(),
            millis: 0,
        });
        result
    }

    /// Records how long the last call took, in milliseconds.
    pub fn took(&mut self, millis: u64) {
        if let Some(call) = self.calls.last_mut() {
            call.millis = millis;
        }
        if let Some(call) = self.offer_calls.last_mut().filter(|_| self.audited) {
            call.millis = millis;
        }
    }

    /// Returns all calls with their results, for the turn's record.
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// Returns the changes that the turn's commit has to write, if the turn ends in a reply.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Returns every call about offers. These are audited however the turn ends.
    pub fn offer_calls(&self) -> &[OfferCall] {
        &self.offer_calls
    }

    /// Returns the tools' results as plain sentences, for checking a draft. They contain no fact
    /// that only the guest stated.
    pub fn evidence(&self) -> Vec<String> {
        self.evidence.clone()
    }

    /// Returns the content rows that tools returned, in the order of first use. A row that a search
    /// found has its score.
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
        let fix = if own.is_empty() {
            "you have no tools; answer".to_owned()
        } else {
            format!("yours are {own}")
        };
        if Builtin::of(name).is_some() {
            return Fault::new(
                "not_your_tool",
                format!("`{shown}` belongs to a colleague"),
                fix,
            );
        }
        Fault::new(
            "unknown_tool",
            format!("there is no tool `{shown}` here"),
            fix,
        )
    }

    fn audit(&mut self, name: &str, answer: &Answer) {
        self.audited = Builtin::of(name).is_some_and(Builtin::is_about_offers);
        if !self.audited {
            return;
        }
        let about = std::mem::take(&mut self.about);
        let refusal = answer
            .as_ref()
            .err()
            .map(|fault| fault.kind)
            .or(about.refusal);
        self.offer_calls.push(OfferCall {
            tool: name.to_owned(),
            items: about.items,
            offers: about.offers,
            refusal: refusal.map(str::to_owned),
            completeness: self.completeness(),
            millis: 0,
        });
    }

    /// Returns the completeness of the profile, in percent.
    pub(crate) fn completeness(&self) -> u8 {
        (completeness(&self.profile, self.given.now).get() * 100.0).round() as u8
    }

    pub(crate) fn zone(&self) -> Tz {
        self.given.casino.operational.timezone
    }

    pub(crate) fn today(&self) -> NaiveDate {
        self.given.now.with_timezone(&self.zone()).date_naive()
    }

    /// Returns the phone number at which guests reach people.
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
        write!(
            f,
            "Guest({} texts, {} offers)",
            self.texts.len(),
            self.offers.len()
        )
    }
}

impl fmt::Debug for Toolbox<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Toolbox({} calls, {} effects)",
            self.calls.len(),
            self.effects.len()
        )
    }
}
