use super::*;

fn minimal() -> serde_json::Value {
    serde_json::json!({
        "casino_id": "silver_birch",
        "prompts": { "casino_name_display": "Silver Birch" },
        "regulations": { "state": "CT" },
        "operational": {
            "timezone": "America/New_York",
            "telnyx_phone_number": "+18605550100",
            "number_kind": "demo",
            "contact_phone": "1-860-555-0199",
        }
    })
}

#[test] // DEP-21
fn defaults_fill_what_is_left_out() {
    let config: CasinoConfig = serde_json::from_value(minimal()).unwrap();
    config.check().unwrap();
    assert_eq!(config.pack, "casino");
    assert!(config.features.ai_disclosure_enabled && !config.features.outbound_campaigns_enabled);
    assert_eq!(config.operational.max_messages_per_guest_per_day, 20);
    assert_eq!(config.operational.segments_per_second(), 1_000);
}

#[test] // PROD-2
fn the_tier_sets_the_casinos_limit() {
    let mut doc = minimal();
    for (tier, texts) in [("starter", 50), ("standard", 100), ("enterprise", 200)] {
        doc["limits"] = serde_json::json!({ "rate_limit_tier": tier });
        let config: CasinoConfig = serde_json::from_value(doc.clone()).unwrap();
        assert_eq!(config.limits.texts_per_minute(), texts);
    }
    assert_eq!(Limits::default().rate_limit_tier, RateLimitTier::Standard);
}

#[test] // DEP-21
fn unknown_keys_are_refused_by_name() {
    let mut doc = minimal();
    doc["features"] = serde_json::json!({ "ai_disclosure_enabeld": true });
    let error = serde_json::from_value::<CasinoConfig>(doc)
        .unwrap_err()
        .to_string();
    assert!(error.contains("ai_disclosure_enabeld"), "{error}");
}

#[test] // SEC-27, DEP-5
fn a_helpline_that_does_not_hold_is_named() {
    let line = |number: &str, digits: Option<&str>| Helpline {
        number: number.into(),
        digits: digits.map(str::to_owned),
        verified_at: None,
    };
    let mut config: CasinoConfig = serde_json::from_value(minimal()).unwrap();
    config.regulations.state_helpline = Some(line("1-800-GAMBLER", Some("1-800-426-2530")));
    assert_eq!(config.check().unwrap_err()[0].what, "helpline");
}

#[test]
fn cross_field_rules_name_the_field() {
    let mut config: CasinoConfig = serde_json::from_value(minimal()).unwrap();
    config.operational.number_kind = NumberKind::LongCode;
    config.regulations.state = "Conn".into();
    config.schema_version = 2;
    let problems: Vec<_> = config
        .check()
        .unwrap_err()
        .into_iter()
        .map(|p| p.what)
        .collect();
    assert_eq!(
        problems,
        [
            "regulations.state",
            "operational.campaign_segments_per_second",
            "schema_version",
        ]
    );
}
