use chrono::{DateTime, NaiveDate};
use seven_domain::{
    ContactChannel, Language,
    config::{Brand, Campaign, Entity},
};

use super::*;

fn helpline(verified: bool) -> Helpline {
    let verified_at = verified.then(|| NaiveDate::from_ymd_opt(2026, 11, 2).unwrap());
    Helpline {
        number: "1-800-555-0100".into(),
        digits: None,
        verified_at,
    }
}

fn registered(vertical: &str) -> Registered {
    Registered {
        brand: Brand {
            legal_name: "Silver Birch Holdings".into(),
            entity: Entity::Private,
            tax_id: "00-0000000".into(),
            website: "https://silver-birch.example".into(),
            vertical: vertical.into(),
            stock_symbol: None,
        },
        campaign: Campaign {
            use_case: "mixed".into(),
            sub_use_cases: vec!["customer_care".into(), "marketing".into()],
            opt_in: "enrolment in the loyalty programme".into(),
            message_flow: "guests text in".into(),
            samples: ["one", "two", "three"].map(str::to_owned).to_vec(),
        },
    }
}

/// Returns the facts of a casino with nothing missing.
fn ready() -> Facts {
    let mut config = crate::onboard::read_casino("casino.json", seven_packs::demo::CASINO).unwrap();
    config.operational.telnyx_phone_number = "+18602340100".parse().unwrap();
    config.operational.twilio_phone_number = None;
    config.operational.number_kind = NumberKind::LongCode;
    config.operational.campaign_class = Some(seven_domain::config::CampaignClass::E);
    config.operational.brand_tier = Some(seven_domain::config::BrandTier::High);
    config.operational.registration = Registration::Approved;
    config.operational.registered = Some(registered("hospitality"));
    config.regulations.responsible_gaming_helpline = Some(helpline(true));
    config.regulations.state_helpline = Some(helpline(true));
    config.features.outbound_campaigns_enabled = true;
    Facts {
        config,
        shown: Shown {
            status: CasinoStatus::Active,
            delivered: 9,
            stop_confirmed: 1,
            help_delivered: 1,
            opted_in: 4,
            without_proof: 0,
            small_campaigns: 1,
        },
        content: BTreeMap::from([("dining".into(), 5), ("entertainment".into(), 3)]),
        least: BTreeMap::from([("dining".into(), 5), ("entertainment".into(), 3)]),
        without_vector: Some(0),
        pack_helpline: Some(helpline(true)),
        unverified_states: Vec::new(),
        public_keys: 1,
        probe: Probe::Refused(401),
        webhook_url: "https://a.example/webhooks/telnyx".into(),
        apart: Ok(30),
        too_long: Vec::new(),
        gate: Ok(3),
        pages: Ok(vec!["privacy".into(), "terms".into()]),
        switches: Vec::new(),
        contacts: vec![desk()],
    }
}

/// Returns a contact of level 1 that was reached. It is told of sev0 to sev2 and of dangers to
/// life.
fn desk() -> Contact {
    Contact {
        contact_id: uuid::Uuid::from_u128(1),
        name: "Host desk".into(),
        channel: ContactChannel::Mail,
        address: "desk@casino.example".to_owned().into(),
        language: Language::En,
        severity: CaseSeverity::Sev2,
        level: 1,
        security: true,
        weekly: false,
        outages: false,
        content: false,
        words: false,
        quiet_from: None,
        quiet_to: None,
        created_at: DateTime::UNIX_EPOCH,
        reached_at: Some(DateTime::UNIX_EPOCH),
        verified_at: None,
        guest_id: None,
        conversation_id: None,
    }
}

fn missing(facts: &Facts) -> Vec<&'static str> {
    judge(facts)
        .into_iter()
        .filter(|line| !line.ok)
        .map(|line| line.what)
        .collect()
}

#[test] // DEP-30, DEP-43
fn a_casino_with_everything_is_ready() {
    assert_eq!(missing(&ready()), [""; 0]);
    assert!(
        judge(&ready())
            .iter()
            .all(|line| line.ok == line.todo.is_none())
    );
}

#[test] // DEP-30, DEP-43, SMS-59
fn each_thing_that_is_missing_is_named_alone() {
    type Break = fn(&mut Facts);
    let breaks: &[(&str, Break)] = &[
        ("status", |f| f.shown.status = CasinoStatus::Suspended),
        ("pages", |f| {
            f.pages = Err(vec!["set operational.terms_page".into()]);
        }),
        ("status", |f| f.switches = vec!["kill".into()]),
        ("content", |f| {
            f.content = BTreeMap::from([("dining".into(), 4), ("entertainment".into(), 3)]);
        }),
        ("content", |f| {
            f.content = BTreeMap::from([("dining".into(), 5)]);
        }),
        ("content", |f| f.content.clear()),
        ("gate", |f| {
            f.gate = Err(vec!["\"STOP\" is pass, not opt_out".into()]);
        }),
        ("vectors", |f| f.without_vector = Some(2)),
        ("number", |f| {
            f.config.operational.number_kind = NumberKind::Demo;
        }),
        ("number", |f| {
            f.config.operational.telnyx_phone_number = "+18605550100".parse().unwrap();
        }),
        ("registration", |f| {
            f.config.operational.registration = Registration::Pending;
        }),
        ("registration", |f| f.config.operational.brand_tier = None),
        ("registration", |f| f.config.operational.registered = None),
        ("registration", |f| {
            f.config.operational.registered = Some(registered(""));
        }),
        ("registration", |f| {
            f.config.operational.twilio_phone_number = Some("+18602340101".parse().unwrap());
        }),
        ("sending laws", |f| f.unverified_states = vec!["TX".into()]),
        ("helplines", |f| {
            f.config.regulations.state_helpline = Some(helpline(false));
        }),
        ("helplines", |f| f.config.regulations.state_helpline = None),
        ("contacts", |f| f.contacts.clear()),
        ("contacts", |f| f.contacts[0].level = 2),
        ("contacts", |f| f.contacts[0].severity = CaseSeverity::Sev1),
        ("contacts", |f| f.contacts[0].security = false),
        ("contacts", |f| f.contacts[0].reached_at = None),
        ("public key", |f| f.public_keys = 0),
        ("signature", |f| f.probe = Probe::Answered(200)),
        ("signature", |f| {
            f.probe = Probe::Silent("connection refused".into());
        }),
        ("isolation", |f| f.apart = Err(vec!["guests".into()])),
        ("texts", |f| f.too_long = vec!["help (en)".into()]),
        ("consent", |f| f.shown.without_proof = 1),
        ("rehearsal", |f| f.shown.stop_confirmed = 0),
        ("rehearsal", |f| f.shown.small_campaigns = 0),
    ];
    for (what, break_it) in breaks {
        let mut facts = ready();
        break_it(&mut facts);
        assert_eq!(missing(&facts), [*what]);
    }
}

#[test]
fn another_trade_needs_what_its_pack_says() {
    let mut facts = ready();
    (
        facts.pack_helpline,
        facts.config.regulations.responsible_gaming_helpline,
    ) = (None, None);
    facts.config.regulations.state_helpline = None;
    facts.least = BTreeMap::from([("berths".into(), 2)]);
    assert_eq!(missing(&facts), ["content"]);
    facts.content.insert("berths".into(), 2);
    assert_eq!(missing(&facts), [""; 0]);
}
