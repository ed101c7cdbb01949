use seven_domain::config::Registration;

use super::*;

const FIRST: &str = "+18605550100";
const SECOND: &str = "+18605550120";
const OLD: &str = "+18605550111";

pub(crate) fn ours(change: impl FnOnce(&mut Operational)) -> Operational {
    let mut ours: Operational = serde_json::from_value(serde_json::json!({
        "timezone": "America/New_York", "telnyx_phone_number": FIRST, "twilio_phone_number": SECOND,
        "number_kind": "toll_free", "contact_phone": "1-860-555-0199",
    }))
    .unwrap();
    change(&mut ours);
    ours
}

#[test] // SMS-39
fn the_order_is_the_casinos_else_the_guests_else_the_fleets() {
    let (number, fleet) = (
        |text: &str| text.parse::<PhoneE164>().unwrap(),
        ["telnyx", "twilio"],
    );
    let plain = ours(|_| {});
    let reversed = ours(|o| o.providers = vec!["twilio".into(), "telnyx".into()]);
    let only = ours(|o| o.providers = vec!["telnyx".into()]);
    let none = ours(|o| o.twilio_phone_number = None);
    let approved = ours(|o| o.twilio_registration = Registration::Approved);
    for (ours, writes_to, lane, expected) in [
        (&plain, FIRST, Lane::Reply, &["telnyx", "twilio"][..]),
        (&plain, SECOND, Lane::Reply, &["twilio", "telnyx"]),
        (&plain, OLD, Lane::Reply, &["telnyx", "twilio"]),
        (&reversed, FIRST, Lane::Safety, &["twilio", "telnyx"]),
        (&only, SECOND, Lane::Reply, &["telnyx"]),
        (&none, FIRST, Lane::Reply, &["telnyx"]),
        (&plain, FIRST, Lane::Bulk, &["telnyx"]),
        (&approved, FIRST, Lane::Bulk, &["telnyx", "twilio"]),
    ] {
        assert_eq!(
            order(ours, Some(&number(writes_to)), lane, &fleet),
            expected,
            "{writes_to} {lane:?}"
        );
    }
    assert_eq!(
        order(
            &plain,
            Some(&number(OLD)),
            Lane::Reply,
            &["twilio", "telnyx"]
        ),
        ["twilio", "telnyx"]
    );
    assert_eq!(
        order(&plain, Some(&number(SECOND)), Lane::Reply, &["telnyx"]),
        ["telnyx"],
        "no account there"
    );
}

#[test]
fn a_text_comes_from_the_number_that_is_the_providers() {
    let plain = ours(|_| {});
    for (writes_to, provider, from) in [
        (FIRST, "telnyx", FIRST),
        (FIRST, "twilio", SECOND),
        (SECOND, "telnyx", FIRST),
        (SECOND, "twilio", SECOND),
        (OLD, "telnyx", FIRST),
        (OLD, "twilio", SECOND),
    ] {
        let number = from_number(&plain, &writes_to.parse().unwrap(), provider);
        assert_eq!(number.as_str(), from, "{writes_to} {provider}");
    }
}

#[test] // SMS-40
fn only_what_the_provider_did_not_take_counts_against_it() {
    let refused = |class| SendOutcome::Refused {
        http_status: 400,
        code: "1".into(),
        class,
        detail: String::new(),
    };
    for (outcome, said) in [
        (
            SendOutcome::Accepted {
                provider_message_id: "m".into(),
            },
            Outcome::Success,
        ),
        (
            SendOutcome::NotSent {
                detail: String::new(),
            },
            Outcome::Failure,
        ),
        (
            SendOutcome::Ambiguous {
                http_status: Some(502),
                detail: String::new(),
            },
            Outcome::Failure,
        ),
        (refused(ErrorClass::Throttled), Outcome::Failure),
        (refused(ErrorClass::Transient), Outcome::Success),
        (refused(ErrorClass::Permanent), Outcome::Success),
        (refused(ErrorClass::OptedOut), Outcome::Success),
        (refused(ErrorClass::Account), Outcome::Neutral),
        (refused(ErrorClass::SpendLimit), Outcome::Neutral),
    ] {
        assert_eq!(speaks(&outcome), said, "{outcome:?}");
    }
}
