//! The invented casino of these tests. It is Friday 2026-12-18 there, 20:00 in New York.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use seven_domain::{CasinoConfig, Language, Offer, OfferStatus, OfferTier, TurnId};
use seven_guest::{
    Confidence, Grant, GrantRef, Key, Observation, Phase, Profile, Scope, Source, Value as Known,
    offers::Facts,
};
use seven_host::{Agent, Manifest};
use seven_knowledge::{Index, Item, Reference, parse_content};
use uuid::Uuid;

use crate::{Given, Guest, Toolbox, effect::offer_id};

pub(super) const PHONE: &str = "1-860-555-0199";

pub(super) fn now() -> DateTime<Utc> {
    "2026-12-19T01:00:00Z".parse().unwrap()
}

pub(super) fn content() -> Vec<Item> {
    let promotion = |id: &str, name: &str, kind: &str, value: u32, more: &Value| {
        let mut details = json!({
            "promo_type": kind,
            "value": value,
            "valid_from": "2026-12-01",
            "valid_until": "2026-12-31",
        });
        details
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({
            "id": id,
            "category": "promotions",
            "name": name,
            "description": format!("A treat worth ${value}."),
            "details": details,
        })
    };
    let items = json!([
        {"id": "dining_001", "category": "dining", "name": "Ember Room",
         "description": "Wood-fired steaks and a vegan tasting plate.",
         "description_es": "Carnes a la brasa.",
         "details": {"cuisine": "Steakhouse", "price_range": "$$$", "hours": "Wed-Sun 5pm-10pm",
            "reservations": "Recommended",
            "special_hours": [
                {"date": "12-25", "hours": "closed", "name": "Christmas Day"},
                {"date": "2026-12-31", "hours": "5pm-2am"},
            ]}},
        {"id": "dining_002", "category": "dining", "name": "Night Owl Diner",
         "description": "Burgers and pancakes.",
         "details": {
             "cuisine": "American",
             "price_range": "$",
             "hours": "Daily 6pm-4am",
             "reservations": "Walk-in only",
         }},
        {"id": "spa_001", "category": "spa", "name": "Cedar Massage", "description": "Deep tissue.",
         "details": {
             "treatment_type": "Massage",
             "duration_minutes": 60,
             "price": 145,
             "booking_required": true,
         }},
        {"id": "show_001", "category": "shows", "name": "Lake Trio",
         "description": "Jazz for the end of the year.",
         "details": {
             "event_type": "Concert",
             "venue": "Blue Hall",
             "starts_at": "2026-12-20 20:00",
             "ticket_price_min": 25,
             "duration_minutes": 90,
         }},
        {"id": "show_002", "category": "shows", "name": "Laugh Cellar", "description": "Comedy.",
         "details": {
             "event_type": "Comedy",
             "venue": "Cellar",
             "schedule": "Fri-Sat 9pm",
             "duration_minutes": 60,
         }},
        {"id": "hall_001", "category": "meetings", "name": "Willow Hall",
         "description": "A hall for parties.",
         "details": {"capacity": 80, "reservations": "By phone"}},
        {
            "id": "pool_001",
            "category": "hours",
            "name": "Pool",
            "description": "Heated.",
            "details": {"hours": "Daily 7am-10pm"},
        },
        promotion(
            "promo_dinner",
            "Dinner Treat",
            "Dining credit",
            10,
            &json!({"redemption_method": "At host"}),
        ),
        promotion("promo_play", "Lucky Start", "Free play", 10, &json!({})),
        promotion("promo_few", "Last Slice", "Dining credit", 5, &json!({"max_redemptions": 2})),
        promotion("promo_suite", "Suite Night", "Hotel discount", 90, &json!({})),
        promotion(
            "promo_soon",
            "January Supper",
            "Dining credit",
            10,
            &json!({"valid_from": "2026-12-24"}),
        ),
        promotion(
            "promo_over",
            "Old Supper",
            "Dining credit",
            10,
            &json!({"valid_until": "2026-12-10"}),
        ),
        {
            "id": "offer_own",
            "category": "offer",
            "name": "Tea for Two",
            "description": "Tea and cake.",
            "details": {"value": 8, "redemption_method": "At the cafe"},
        },
        {
            "id": "offer_vague",
            "category": "offer",
            "name": "Something Nice",
            "description": "A surprise.",
            "details": {},
        },
    ]);
    let reference = Reference {
        now: now(),
        zone: chrono_tz::America::New_York,
    };
    parse_content("house.json", &items.to_string(), reference).unwrap()
}

pub(super) fn agent(tools: &[&str]) -> Agent {
    let pack = format!(
        "default_agent = \"one\"\n[agents.one]\ntitle = \"One\"\ntools = {tools:?}\n\
         [tools.search_dining]\ndescription = \"Finds food.\"\ncategories = [\"restaurants\"]\n"
    );
    Manifest::parse(&pack).unwrap().agents["one"].clone()
}

pub(super) fn all_tools() -> Vec<&'static str> {
    crate::known().chain(["search_dining"]).collect()
}

pub(super) fn grant() -> Grant {
    Grant {
        scope: Scope::Personalization,
        detail: String::new(),
        reference: GrantRef(Uuid::nil()),
        version: 1,
    }
}

/// Owns everything that a toolbox borrows.
#[derive(Clone)]
pub(super) struct House {
    pub(super) casino: CasinoConfig,
    pub(super) index: Index,
    pub(super) profile: Profile,
    pub(super) grant: Option<Grant>,
    pub(super) texts: Vec<String>,
    pub(super) facts: Facts,
    pub(super) offers: Vec<Offer>,
    pub(super) issued: BTreeMap<String, u32>,
    pub(super) language: Language,
    pub(super) now: DateTime<Utc>,
}

impl House {
    /// Makes a house. The guest's name and party size are known, and are enough for an offer of the
    /// lowest tier.
    pub(super) fn new() -> Self {
        let zone = chrono_tz::America::New_York;
        let casino = json!({
            "casino_id": "silver_birch",
            "prompts": { "casino_name_display": "Silver Birch" },
            "regulations": { "state": "CT" },
            "operational": {
                "timezone": "America/New_York",
                "telnyx_phone_number": "+18605550100",
                "number_kind": "demo",
                "contact_phone": PHONE,
            }
        });
        let mut house = Self {
            casino: serde_json::from_value(casino).unwrap(),
            index: Index::build(content()).in_zone(zone),
            profile: Profile::new(now()),
            grant: Some(grant()),
            texts: Vec::new(),
            facts: facts(),
            offers: Vec::new(),
            issued: BTreeMap::new(),
            language: Language::En,
            now: now(),
        };
        house.know(Key::Name, Known::text("Ana"));
        house.know(Key::PartySize, Known::Int(2));
        house
    }

    pub(super) fn say(mut self, text: &str) -> Self {
        self.texts.push(text.to_owned());
        self
    }

    pub(super) fn know(&mut self, key: Key, value: Known) {
        let (confidence, source) = (Confidence::ONE, Source::SelfReported);
        self.profile.observe(Observation {
            key,
            value,
            confidence,
            source,
            at: now(),
            grant: grant(),
            correction: false,
        });
    }

    /// Sets the time, given in UTC.
    pub(super) fn at(mut self, utc: &str) -> Self {
        self.now = utc.parse().unwrap();
        self
    }

    pub(super) fn toolbox(&self) -> Toolbox<'_> {
        self.toolbox_of(&all_tools())
    }

    pub(super) fn toolbox_of(&self, tools: &[&str]) -> Toolbox<'_> {
        let given = Given {
            casino: &self.casino,
            index: &self.index,
            retrieval: &seven_packs::casino().agents.retrieval,
            now: self.now,
            language: self.language,
            turn: turn(),
            policy: &seven_packs::casino().offers,
            issued: &self.issued,
            embedder: None,
        };
        let guest = Guest {
            profile: &self.profile,
            grant: self.grant.as_ref(),
            texts: &self.texts,
            facts: self.facts,
            offers: &self.offers,
        };
        Toolbox::new(given, guest, &agent(tools))
    }

    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.toolbox().call(tool, arguments)
    }
}

pub(super) fn turn() -> TurnId {
    TurnId(Uuid::from_u128(7))
}

pub(super) fn facts() -> Facts {
    Facts {
        phase: Phase::Offer,
        asked: false,
        suppressed: false,
        conversational_consent: true,
        marketing_consent: true,
        paused: false,
        self_excluded: false,
        responsible_gaming: false,
        readiness: Confidence::percent(60),
        guest_texts: 5,
        substantive_exchanges: 4,
        texts_since_rejection: None,
        offers_this_arc: 0,
        offers_today: 0,
        offers_this_month: 0,
        dollars_this_week: 0,
    }
}

/// Returns an offer that this guest got `days_ago` days ago.
pub(super) fn had(item: &str, days_ago: i64, dollars: u32) -> Offer {
    let turn = TurnId(Uuid::from_u128(u128::from(days_ago.unsigned_abs()) + 100));
    Offer {
        id: offer_id(turn, item),
        turn,
        item: item.into(),
        tier: OfferTier::Dining,
        dollars,
        status: OfferStatus::Issued,
        issued_at: now() - TimeDelta::days(days_ago),
        expires_at: now() + TimeDelta::days(5),
        redeemed_at: None,
    }
}

pub(super) fn kind(result: &Value) -> &str {
    result["error"]["kind"].as_str().unwrap_or("none")
}
