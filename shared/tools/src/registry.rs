//! The tools as data: those that this crate implements, and the searches that a manifest declares
//! (D18).

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;
use seven_host::{Agent, Manifest, SearchTool};
use seven_llm::ToolSpec;

use crate::{availability, create, events, hours, offers, profile, redeem, search};

/// A tool that is implemented in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Builtin {
    SearchKnowledgeBase,
    GetRestaurantHours,
    CheckAvailability,
    GetEventSchedule,
    GetGuestProfile,
    UpdateGuestProfile,
    GetEligibleOffers,
    CreateOffer,
    TrackRedemption,
}

/// A manifest names a tool that does not exist, or declares a search under a built-in tool's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownTool {
    #[error("`{agent}` names the tool `{tool}`, which does not exist; there are {known}")]
    Missing {
        agent: String,
        tool: String,
        known: String,
    },
    #[error(
        "the manifest declares the search `{tool}`, but that tool is built in; call it something else"
    )]
    Taken { tool: String },
}

// === impl Builtin ===

impl Builtin {
    pub(crate) const ALL: [Self; 9] = [
        Self::SearchKnowledgeBase,
        Self::GetRestaurantHours,
        Self::CheckAvailability,
        Self::GetEventSchedule,
        Self::GetGuestProfile,
        Self::UpdateGuestProfile,
        Self::GetEligibleOffers,
        Self::CreateOffer,
        Self::TrackRedemption,
    ];

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SearchKnowledgeBase => "search_knowledge_base",
            Self::GetRestaurantHours => "get_restaurant_hours",
            Self::CheckAvailability => "check_availability",
            Self::GetEventSchedule => "get_event_schedule",
            Self::GetGuestProfile => "get_guest_profile",
            Self::UpdateGuestProfile => "update_guest_profile",
            Self::GetEligibleOffers => "get_eligible_offers",
            Self::CreateOffer => "create_offer",
            Self::TrackRedemption => "track_redemption",
        }
    }

    /// Returns whether the tool deals with offers; the calls of such tools are audited.
    pub(crate) fn is_about_offers(self) -> bool {
        matches!(
            self,
            Self::GetEligibleOffers | Self::CreateOffer | Self::TrackRedemption
        )
    }

    fn description(self) -> &'static str {
        match self {
            Self::SearchKnowledgeBase => {
                "Finds what the property says about itself: any subject, or one category. Facts come from here, never from memory."
            }
            Self::GetRestaurantHours => {
                "Tells when a restaurant or another place is open: now, or on a date and at a time, holidays and nights past midnight included."
            }
            Self::CheckAvailability => {
                "Tells what is known before a reservation: whether the place is open then and whether it takes reservations. It cannot book; a person confirms."
            }
            Self::GetEventSchedule => {
                "Lists shows and events of a date or of a range of dates, in order."
            }
            Self::GetGuestProfile => {
                "Tells what is known of this guest, and what is doubtful and should be asked again."
            }
            Self::UpdateGuestProfile => {
                "Stores one thing the guest just said of themselves. Only what stands in the guest's own new texts can be stored."
            }
            Self::GetEligibleOffers => {
                "Lists the offers this guest may get now, or tells why there are none. Never tell the guest how this is decided."
            }
            Self::CreateOffer => {
                "Makes one offer of get_eligible_offers to this guest. It is made when the reply is sent; calling it twice makes one."
            }
            Self::TrackRedemption => {
                "Tells what became of this guest's offers; with offer_id and redeemed, notes that the guest has used one."
            }
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::SearchKnowledgeBase => schema::<search::Arguments>(),
            Self::GetRestaurantHours => schema::<hours::Arguments>(),
            Self::CheckAvailability => schema::<availability::Arguments>(),
            Self::GetEventSchedule => schema::<events::Arguments>(),
            Self::GetGuestProfile => schema::<profile::Nothing>(),
            Self::UpdateGuestProfile => schema::<profile::Arguments>(),
            Self::GetEligibleOffers => schema::<offers::Arguments>(),
            Self::CreateOffer => schema::<create::Arguments>(),
            Self::TrackRedemption => schema::<redeem::Arguments>(),
        }
    }
}

/// Returns the names of the built-in tools.
pub fn known() -> impl Iterator<Item = &'static str> {
    Builtin::ALL.into_iter().map(Builtin::name)
}

/// Checks that every tool named by an agent of the manifest exists.
pub fn check(manifest: &Manifest) -> Result<(), UnknownTool> {
    if let Some(tool) = manifest
        .tools
        .keys()
        .find(|name| Builtin::of(name).is_some())
    {
        return Err(UnknownTool::Taken { tool: tool.clone() });
    }
    let exists = |name: &String| Builtin::of(name).is_some() || manifest.tools.contains_key(name);
    for (agent, entry) in &manifest.agents {
        if let Some(tool) = entry.tools.iter().find(|name| !exists(name)) {
            let built_in = known().map(str::to_owned);
            let known: Vec<String> = built_in.chain(manifest.tools.keys().cloned()).collect();
            return Err(UnknownTool::Missing {
                agent: agent.clone(),
                tool: tool.clone(),
                known: known.join(", "),
            });
        }
    }
    Ok(())
}

/// The tools that an agent may call, by name.
#[derive(Debug, Clone)]
pub(crate) struct Toolset {
    tools: Vec<String>,
    searches: std::collections::BTreeMap<String, SearchTool>,
}

/// One tool of a toolset.
#[derive(Debug, Clone)]
pub(crate) enum Tool {
    Builtin(Builtin),
    Search(SearchTool),
}

impl Toolset {
    pub(crate) fn of(agent: &Agent) -> Self {
        Self {
            tools: agent.tools.clone(),
            searches: agent.searches.clone(),
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.tools
    }

    pub(crate) fn get(&self, name: &str) -> Option<Tool> {
        if !self.tools.iter().any(|tool| tool == name) {
            return None;
        }
        let declared = || self.searches.get(name).cloned().map(Tool::Search);
        Builtin::of(name).map(Tool::Builtin).or_else(declared)
    }
}

impl Tool {
    pub(crate) fn spec(&self, name: &str) -> ToolSpec {
        let (description, parameters) = match self {
            Self::Builtin(tool) => (tool.description(), tool.schema()),
            Self::Search(tool) => (tool.description.as_str(), schema::<search::Declared>()),
        };
        ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters,
        }
    }
}

/// Returns a schema without references and without `$schema`, because some providers accept
/// neither.
fn schema<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut value = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(object) = value.as_object_mut() {
        object.remove("title");
        object.remove("description");
        object
            .entry("properties")
            .or_insert_with(|| serde_json::json!({}));
    }
    value
}
