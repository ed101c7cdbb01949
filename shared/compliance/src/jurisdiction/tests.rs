use super::*;

fn rules(phone: &str) -> Rules {
    of(&phone.parse().unwrap(), None)
}

fn home(zone: Tz, state: &str) -> Residence {
    Residence {
        zone,
        state: Some(state.parse().unwrap()),
    }
}

#[test] // CONV-21, SEC-53b, DEP-5
fn the_table_says_what_the_specification_says() {
    let laws = Laws::shipped();
    for (state, required, names, cooling_off) in [
        ("CA", true, Some("SB 243"), None),
        ("NV", false, None, None),
        ("NJ", true, Some("DGE"), Some((24, 100))),
        ("CT", false, None, None),
        ("PA", false, None, None),
        ("MS", false, None, None),
        ("CO", true, Some("SB 205"), None),
        ("ME", true, Some("ME"), None),
    ] {
        let law = laws.of(state.parse().unwrap());
        assert_eq!(law.ai_disclosure.required, required, "{state}");
        assert_eq!(law.ai_disclosure.law.is_some(), names.is_some(), "{state}");
        assert!(
            law.ai_disclosure
                .law
                .iter()
                .all(|law| law.contains(names.unwrap())),
            "{state}"
        );
        assert_eq!(
            law.cooling_off
                .map(|wait| (wait.hours, wait.offers_above_dollars)),
            cooling_off,
            "{state}"
        );
    }
}

#[test] // C-23
fn a_state_nobody_wrote_about_gets_the_safe_rules() {
    for state in State::all() {
        let law = Laws::shipped().of(state);
        assert!(law.self_exclusion_check, "{state}");
        assert_eq!(
            law.verified_at, None,
            "{state}: only counsel's word sets this"
        );
        let spoken_of = ["NV", "CT", "PA", "MS"].contains(&state.as_str());
        assert_eq!(law.ai_disclosure.required, !spoken_of, "{state}");
    }
    assert_eq!(
        Laws::shipped().of("WY".parse().unwrap()).source,
        "47 CFR 64.1200(c)(1)"
    );
}

#[test] // CONV-21, C-23
fn the_strictest_rule_of_every_candidate_holds() {
    let connecticut = rules("+18605550100");
    assert_eq!(
        (connecticut.basis, connecticut.states.len()),
        (Basis::AreaCode, 1)
    );
    assert!(
        !connecticut.ai_disclosure_required
            && connecticut.self_exclusion_check
            && !connecticut.verified
    );
    // 201 may mean New Jersey or New York.
    let two = rules("+12015550100");
    assert_eq!(two.states, ["NJ".parse().unwrap(), "NY".parse().unwrap()]);
    assert!(two.ai_disclosure_required);
    assert_eq!(
        two.cooling_off,
        Some(CoolingOff {
            hours: 24,
            offers_above_dollars: 100
        })
    );
    for anywhere in ["+18005550100", "+14165550100", "+390236618300"] {
        let rules = rules(anywhere);
        assert_eq!(
            (rules.basis, rules.states.len()),
            (Basis::Unknown, 51),
            "{anywhere}"
        );
        assert!(
            rules.ai_disclosure_required && rules.self_exclusion_check,
            "{anywhere}"
        );
        assert_eq!(rules.cooling_off, two.cooling_off, "{anywhere}");
        assert!(rules.ai_disclosure_laws.len() >= 4, "{anywhere}");
    }
}

#[test]
fn the_longest_wait_and_the_lowest_value_are_combined() {
    let table = include_str!("../../data/states.toml").replacen(
        "name = \"New York\"",
        "name = \"New York\"\ncooling_off = { hours = 12, offers_above_dollars = 50 }\nverified_at = \"2026-01-01\"",
        1,
    );
    let laws = Laws::parse(&table).unwrap();
    let both = with(&laws, &"+12015550100".parse().unwrap(), None);
    assert_eq!(
        both.cooling_off,
        Some(CoolingOff {
            hours: 24,
            offers_above_dollars: 50
        })
    );
    assert!(!both.verified);
    assert!(with(&laws, &"+12125550100".parse().unwrap(), None).verified);
}

#[test] // D15
fn the_profile_outranks_the_area_code() {
    let moved = of(
        &"+12015550100".parse().unwrap(),
        Some(&home(chrono_tz::America::New_York, "CT")),
    );
    assert_eq!(
        (moved.basis, moved.states),
        (Basis::Profile, vec!["CT".parse().unwrap()])
    );
    assert!(!moved.ai_disclosure_required);
}

#[test]
fn a_table_with_a_mistake_is_refused() {
    let good = include_str!("../../data/states.toml");
    for (from, to, says) in [
        ("[states.WY]\nname = \"Wyoming\"\n", "", "WY is missing"),
        (
            "name = \"Wyoming\"",
            "name = \"Wyoming\"\nhours = \"09:00-20:00\"",
            "hours without source",
        ),
        (
            "name = \"Wyoming\"",
            "name = \"Wyoming\"\nhours_on = { sonntag = \"none\" }\nsource=\"x\"\ngrade=\"B\"",
            "sonntag",
        ),
        (
            "name = \"Wyoming\"",
            "name = \"Wyoming\"\nquiet = true",
            "quiet",
        ),
        ("[states.WY]", "[states.QQ]", "QQ"),
        (
            "hours = \"10:00-21:00\"",
            "hours = \"21:00-10:00\"",
            "21:00-10:00",
        ),
    ] {
        assert!(good.contains(from), "{from}");
        let error = Laws::parse(&good.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn no_state_may_allow_what_the_federal_rule_forbids() {
    let table = include_str!("../../data/states.toml").replacen("10:00-21:00", "06:00-23:00", 1);
    let kentucky = Laws::parse(&table).unwrap().of("KY".parse().unwrap()).week;
    assert_eq!(
        kentucky.on(chrono::Weekday::Tue).unwrap().to_string(),
        "08:00-21:00"
    );
}
