use proptest::prelude::*;

use super::*;

fn verifier(tokens: &[&str]) -> Verifier {
    Verifier::new(
        tokens
            .iter()
            .map(|token| SecretString::from(*token))
            .collect(),
    )
    .unwrap()
}

fn fields(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// This test and the next use test vectors of Twilio's own libraries. In this one, all fields are
/// different; in the next, a field occurs three times with two values.
#[test]
fn the_published_example_verifies() {
    let call = fields(&[
        ("CallSid", "CA1234567890ABCDE"),
        ("Caller", "+14158675309"),
        ("Digits", "1234"),
        ("From", "+14158675309"),
        ("To", "+18005551212"),
    ]);
    let address = url("https://mycompany.com/myapp.php?foo=1&bar=2");
    assert_eq!(
        sign("12345", address.as_str(), &call),
        "RSOYDt4T1cUTdK1PDd93/VVr8B8="
    );
    assert_eq!(
        verifier(&["12345"]).verify(
            &address,
            address.query(),
            &call,
            Some("RSOYDt4T1cUTdK1PDd93/VVr8B8=")
        ),
        Ok(())
    );
}

#[test]
fn a_field_that_comes_twice_is_signed_once() {
    let call = fields(&[
        ("Sid", "CA123"),
        ("SidAccount", "AC123"),
        ("Digits", "5678"),
        ("Digits", "1234"),
        ("Digits", "1234"),
    ]);
    assert_eq!(
        sign(
            "12345",
            "https://mycompany.com/myapp.php?foo=1&bar=2",
            &call
        ),
        "IK+Dwps556ElfBT0I3Rgjkr1wJU="
    );
}

#[test]
fn each_refusal_has_its_reason() {
    let (call, address) = (
        fields(&[("Body", "STOP")]),
        url("https://sms.example.net/webhooks/twilio"),
    );
    let right = sign("token", address.as_str(), &call);
    let check = |signature: Option<&str>| {
        verifier(&["token"]).verify(&address, address.query(), &call, signature)
    };
    assert_eq!(check(Some(&right)), Ok(()));
    assert_eq!(check(None), Err(Refusal::MissingHeaders));
    for wrong in [
        "",
        "not base64!",
        "AAAA",
        &right[..right.len() - 4],
        &sign("other", address.as_str(), &call),
    ] {
        assert_eq!(
            check(Some(wrong)),
            Err(Refusal::InvalidSignature),
            "{wrong}"
        );
    }
    let elsewhere = sign("token", "https://sms.example.net/webhooks/twilio/x", &call);
    assert_eq!(check(Some(&elsewhere)), Err(Refusal::InvalidSignature));
}

#[test]
fn the_port_of_the_scheme_may_be_written_or_not_and_the_fragment_is_never_signed() {
    let call = fields(&[("Body", "hi")]);
    let check = |configured: &str, signed: &str| {
        verifier(&["t"])
            .verify(
                &url(configured),
                None,
                &call,
                Some(&sign("t", signed, &call)),
            )
            .is_ok()
    };
    assert!(check("https://a.example/w", "https://a.example:443/w"));
    assert!(check("https://a.example:8443/w", "https://a.example/w"));
    assert!(check(
        "http://127.0.0.1:8080/w#rc=3&rp=all",
        "http://127.0.0.1:8080/w"
    ));
    assert!(!check("https://a.example/w", "http://a.example/w"));
    assert!(!check("https://a.example/w", "https://b.example/w"));
}

#[test]
fn a_rotation_accepts_both_tokens_and_no_token_is_an_error() {
    let (call, address) = (fields(&[("Body", "hi")]), url("https://a.example/w"));
    for token in ["old", "new"] {
        let signature = sign(token, address.as_str(), &call);
        assert_eq!(
            verifier(&["new", "old"]).verify(&address, address.query(), &call, Some(&signature)),
            Ok(())
        );
    }
    assert!(Verifier::new(Vec::new()).is_err());
    assert!(Verifier::new(vec![SecretString::from("")]).is_err());
}

fn any_fields() -> impl Strategy<Value = Vec<(String, String)>> {
    proptest::collection::vec(("[A-Za-z0-9]{1,12}", "\\PC{0,40}"), 0..12)
}

proptest! {
    #[test]
    fn what_was_signed_verifies_in_any_order(
        call in any_fields(),
        token in "[a-f0-9]{32}",
        turn in 0usize..12,
    ) {
        let address = url("https://sms.example.net:8443/webhooks/twilio?a=1");
        let signature = sign(&token, address.as_str(), &call);
        let mut turned = call;
        let by = turn % turned.len().max(1);
        turned.rotate_left(by);
        prop_assert_eq!(
            verifier(&[&token]).verify(&address, address.query(), &turned, Some(&signature)),
            Ok(())
        );
    }

    #[test]
    fn any_change_of_a_value_is_refused(
        call in any_fields(),
        at in 0usize..12,
        more in "[a-z]{1,5}",
    ) {
        prop_assume!(!call.is_empty());
        let address = url("https://sms.example.net/webhooks/twilio");
        let signature = sign("token", address.as_str(), &call);
        let mut bent = call.clone();
        let at = at % bent.len();
        bent[at].1.push_str(&more);
        // Names and values are joined without a separator. A change that only moves characters from
        // one field to the next keeps the signature, so the test skips such changes.
        let joined = |fields: &[(String, String)]| {
            let mut sorted = fields.to_vec();
            sorted.sort();
            sorted.dedup();
            sorted.into_iter().map(|(name, value)| name + &value).collect::<String>()
        };
        prop_assume!(joined(&call) != joined(&bent));
        prop_assert_eq!(
            verifier(&["token"]).verify(&address, address.query(), &bent, Some(&signature)),
            Err(Refusal::InvalidSignature)
        );
    }

    #[test]
    fn no_signature_text_panics_or_passes(signature in "\\PC{0,60}") {
        let call = fields(&[("Body", "hi")]);
        prop_assert!(
            verifier(&["token"])
                .verify(&url("https://a.example/w"), None, &call, Some(&signature))
                .is_err()
        );
    }
}

#[test] // D1: a query is signed as it was called
fn signs_in_a_query_that_addresses_escape_keep_the_signature() {
    let (call, address) = (
        fields(&[("Body", "hi")]),
        url("https://sms.example.net/webhooks/twilio"),
    );
    for query in ["host=O'Brien", "?a=1&b='x'", "a=b c\"d"] {
        let signed = sign(
            "token",
            &format!("https://sms.example.net/webhooks/twilio?{query}"),
            &call,
        );
        assert_eq!(
            verifier(&["token"]).verify(&address, Some(query), &call, Some(&signed)),
            Ok(()),
            "{query}"
        );
    }
    let signed = sign(
        "token",
        "https://sms.example.net/webhooks/twilio?a=1",
        &call,
    );
    assert_eq!(
        verifier(&["token"]).verify(&address, Some("a=2"), &call, Some(&signed)),
        Err(Refusal::InvalidSignature)
    );
}
