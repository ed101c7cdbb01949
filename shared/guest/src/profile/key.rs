//! The fields that a profile may have, with their dotted paths.

use seven_domain::Invalid;

use super::Value;

/// The type a field's value must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Int,
    Bool,
    Date,
    List,
}

impl Kind {
    pub fn accepts(self, value: &Value) -> bool {
        matches!(
            (self, value),
            (Self::Text, Value::Text(_))
                | (Self::Int, Value::Int(_))
                | (Self::Bool, Value::Bool(_))
                | (Self::Date, Value::Date(_))
                | (Self::List, Value::List(_))
        ) && !value.is_empty()
    }
}

/// Maximum number of characters of a text, or of an item of a list, that a person enters.
const MOST_CHARACTERS: usize = 200;
/// Maximum number of items of a list that a person enters.
const MOST_ITEMS: usize = 20;

impl Kind {
    /// Parses a value as a person enters it: a number, `yes` or `no`, a date such as 2026-12-24, or
    /// items separated by commas. `None` if the field cannot have this value.
    pub fn read(self, text: &str) -> Option<Value> {
        let text = text.trim();
        let short = |text: &str| text.chars().count() <= MOST_CHARACTERS;
        let value = match self {
            Self::Text => Value::text(text),
            Self::Int => Value::Int(text.parse().ok().filter(|number| *number >= 0)?),
            Self::Bool => Value::Bool(match text.to_lowercase().as_str() {
                "yes" | "y" | "si" | "sí" => true,
                "no" | "n" => false,
                _ => return None,
            }),
            Self::Date => Value::Date(text.parse().ok()?),
            Self::List => {
                let items = text.split([',', ';']).map(str::trim);
                let items: Vec<&str> = items.filter(|item| !item.is_empty()).collect();
                if items.len() > MOST_ITEMS || !items.iter().all(|item| short(item)) {
                    return None;
                }
                Value::list(items)
            }
        };
        let fits = self == Self::List || short(text);
        (fits && !text.chars().any(char::is_control) && self.accepts(&value)).then_some(value)
    }
}

/// A part of the profile with its own retention period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Identity,
    Visit,
    Dining,
    Entertainment,
    Gaming,
    Spa,
    Companions,
}

impl Section {
    /// Returns how many days a field is kept after its last confirmation; `None` means until the
    /// guest's data is deleted.
    pub fn keep_days(self) -> Option<i64> {
        match self {
            Self::Identity => None,
            Self::Dining | Self::Entertainment | Self::Spa => Some(730),
            Self::Visit | Self::Gaming | Self::Companions => Some(365),
        }
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident = $path:literal, $kind:ident, $section:ident;)+) => {
        /// One field of the profile.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = "String", into = "&'static str")]
        pub enum Key { $($(#[$doc])* $key),+ }

        impl Key {
            pub const ALL: &'static [Self] = &[$(Self::$key),+];

            /// Returns the field's dotted path in the document.
            pub fn path(self) -> &'static str {
                match self { $(Self::$key => $path),+ }
            }

            pub fn kind(self) -> Kind {
                match self { $(Self::$key => Kind::$kind),+ }
            }

            pub fn section(self) -> Section {
                match self { $(Self::$key => Section::$section),+ }
            }
        }
    };
}

keys! {
    /// The name by which the guest wants to be called.
    Name = "core_identity.name", Text, Identity;
    FullName = "core_identity.full_name", Text, Identity;
    Email = "core_identity.email", Text, Identity;
    /// The language, as an ISO 639-1 code.
    Language = "core_identity.language", Text, Identity;
    VisitDate = "visit_context.planned_visit_date", Date, Visit;
    /// The last day of the visit, if the guest named it.
    VisitEnd = "visit_context.planned_visit_end", Date, Visit;
    PartySize = "visit_context.party_size", Int, Visit;
    Occasion = "visit_context.occasion", Text, Visit;
    VisitHistory = "visit_context.visit_history", List, Visit;
    VisitFrequency = "visit_context.visit_frequency", Text, Visit;
    /// A period too vague for a date, such as "in December" or "next week".
    DatePreferences = "visit_context.date_preferences", Text, Visit;
    ReferralSource = "visit_context.referral_source", Text, Visit;
    Competitors = "visit_context.competitors_mentioned", List, Visit;
    Dietary = "preferences.dining.dietary_restrictions", List, Dining;
    Cuisine = "preferences.dining.cuisine_preferences", List, Dining;
    Budget = "preferences.dining.budget_range", Text, Dining;
    KidsMenu = "preferences.dining.kids_menu_needed", Bool, Dining;
    Interests = "preferences.entertainment.interests", List, Entertainment;
    Accessibility = "preferences.entertainment.accessibility_needs", List, Entertainment;
    GamingLevel = "preferences.gaming.level", Text, Gaming;
    Games = "preferences.gaming.preferred_games", List, Gaming;
    TypicalSpend = "preferences.gaming.typical_spend", Text, Gaming;
    LoyaltyTier = "preferences.gaming.loyalty_tier", Text, Gaming;
    Treatments = "preferences.spa.treatments_interested", List, Spa;
}

impl Key {
    /// Returns the field at this path.
    pub fn at(path: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|key| key.path() == path)
    }

    /// Returns whether the field is a plan. Plans change, so a new statement replaces the old one
    /// instead of contradicting it.
    pub fn is_plan(self) -> bool {
        matches!(
            self,
            Self::VisitDate
                | Self::VisitEnd
                | Self::PartySize
                | Self::Occasion
                | Self::DatePreferences
                | Self::Budget
        )
    }

    /// Returns whether the field is health data, which marketing may use only if the consent names
    /// this data.
    pub fn is_sensitive(self) -> bool {
        matches!(self, Self::Dietary | Self::Accessibility)
    }
}

impl TryFrom<String> for Key {
    type Error = Invalid;
    fn try_from(path: String) -> Result<Self, Invalid> {
        Self::at(&path).ok_or_else(|| {
            Invalid::new(
                "profile field",
                path,
                "a path such as visit_context.party_size",
            )
        })
    }
}

impl From<Key> for &'static str {
    fn from(key: Key) -> Self {
        key.path()
    }
}

/// One field of a companion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompanionKey {
    Relationship,
    Name,
    Age,
    Dining,
}

impl CompanionKey {
    pub const ALL: [Self; 4] = [Self::Relationship, Self::Name, Self::Age, Self::Dining];

    pub fn path(self) -> &'static str {
        match self {
            Self::Relationship => "relationship",
            Self::Name => "name",
            Self::Age => "age",
            Self::Dining => "preferences.dining",
        }
    }

    pub fn kind(self) -> Kind {
        match self {
            Self::Relationship | Self::Name => Kind::Text,
            Self::Age => Kind::Int,
            Self::Dining => Kind::List,
        }
    }
}

/// Returns the profile path for an extracted fact, by the name that agents and the planner use for
/// that fact. `None` if the name is unknown.
pub fn home_of_target(target: &str) -> Option<&'static str> {
    let key = match target {
        "kids_ages" => return Some("companions[].age"),
        "companion_preferences" => return Some("companions[].preferences.dining"),
        "companion_type" | "companions" | "companion_details" => {
            return Some("companions[].relationship");
        }
        "name" => Key::Name,
        "email" => Key::Email,
        "language" => Key::Language,
        "visit_date" | "planned_visit_date" => Key::VisitDate,
        "party_size" | "companion_count" => Key::PartySize,
        "occasion" | "occasions" | "special_occasion" | "special_occasions" => Key::Occasion,
        "visit_history" => Key::VisitHistory,
        "visit_frequency" => Key::VisitFrequency,
        "date_preferences" => Key::DatePreferences,
        "referral_source" => Key::ReferralSource,
        "dietary_restrictions" | "dietary" => Key::Dietary,
        "cuisine_preferences" | "cuisine" => Key::Cuisine,
        "budget_range" | "budget" => Key::Budget,
        "kids_menu_needed" => Key::KidsMenu,
        "interests" | "music_preferences" => Key::Interests,
        "accessibility_needs" => Key::Accessibility,
        "gaming_level" => Key::GamingLevel,
        "gaming_type" | "preferred_games" => Key::Games,
        "spend_pattern" | "typical_spend" => Key::TypicalSpend,
        "loyalty_tier" => Key::LoyaltyTier,
        "spa_preferences" | "treatments_interested" => Key::Treatments,
        _ => return None,
    };
    Some(key.path())
}
