use seven_domain::{Clock, IdSource};

use super::*;

fn twilio() -> Twilio {
    drop(rustls::crypto::ring::default_provider().install_default());
    Twilio::new(Settings {
        base_url: "https://api.twilio.com/".parse().unwrap(),
        account_sid: "AC0123456789abcdef0123456789abcdef".into(),
        user: "AC0123456789abcdef0123456789abcdef".into(),
        secret: SecretString::from("token"),
        webhook_url: "https://sms.example.net/webhooks/twilio".parse().unwrap(),
        deadline: Duration::from_secs(10),
    })
    .unwrap()
}

fn request(service: Option<&str>) -> SendRequest {
    SendRequest {
        casino: "silver_birch".parse().unwrap(),
        attempt: IdSource::new(Clock::default()).next(),
        from: "+18605550120".parse().unwrap(),
        to: "+18605550142".parse().unwrap(),
        text: "Table for two & a view?".into(),
        messaging_profile_id: service.map(str::to_owned),
    }
}

#[test] // SMS-39
fn the_request_is_a_form_with_its_own_callback() {
    let twilio = twilio();
    assert_eq!(
        twilio.at("/Messages.json").as_str(),
        "https://api.twilio.com/2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json"
    );
    let request = request(None);
    let form = super::super::webhook::fields(twilio.form(&request).as_bytes());
    let names: Vec<&str> = form.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["To", "From", "Body", "StatusCallback"]);
    assert_eq!(form[2].1, "Table for two & a view?");
    assert_eq!(
        form[3].1,
        format!(
            "https://sms.example.net/webhooks/twilio/{}#rc=3&rp=all",
            request.attempt
        )
    );
}

#[test]
fn a_messaging_service_stands_beside_the_sender() {
    let form = super::super::webhook::fields(twilio().form(&request(Some("MG1"))).as_bytes());
    assert_eq!(form[1], ("From".to_owned(), "+18605550120".to_owned()));
    assert_eq!(
        form[2],
        ("MessagingServiceSid".to_owned(), "MG1".to_owned())
    );
}

#[test]
fn answers_are_read_by_how_sure_they_are() {
    let ok = read(
        StatusCode::CREATED,
        br#"{"sid":"SM1","status":"queued","error_code":null}"#,
    );
    assert_eq!(
        ok,
        SendOutcome::Accepted {
            provider_message_id: "SM1".into()
        }
    );
    assert!(matches!(
        read(StatusCode::CREATED, b"<html>"),
        SendOutcome::Ambiguous { .. }
    ));
    assert!(matches!(
        read(StatusCode::BAD_GATEWAY, b""),
        SendOutcome::Ambiguous {
            http_status: Some(502),
            ..
        }
    ));
    let refused = |status: StatusCode, code: u32| {
        let body = format!(
            r#"{{"code":{code},"message":"m","more_info":"https://x","status":{}}}"#,
            status.as_u16()
        );
        match read(status, body.as_bytes()) {
            SendOutcome::Refused {
                class, code: said, ..
            } => {
                assert_eq!(said, code.to_string());
                class
            }
            other => panic!("{code}: {other:?}"),
        }
    };
    assert_eq!(
        refused(StatusCode::BAD_REQUEST, 21_610),
        ErrorClass::OptedOut
    );
    assert_eq!(
        refused(StatusCode::UNAUTHORIZED, 20_003),
        ErrorClass::Account
    );
    assert_eq!(
        refused(StatusCode::TOO_MANY_REQUESTS, 20_429),
        ErrorClass::Throttled
    );
    assert_eq!(
        refused(StatusCode::BAD_REQUEST, 21_211),
        ErrorClass::Permanent
    );
    assert_eq!(
        refused(StatusCode::BAD_REQUEST, 29_999),
        ErrorClass::Permanent
    );
    let quoted =
        br#"{"code":21211,"message":"The 'To' number +18605550142 is not valid.","status":400}"#;
    assert!(matches!(
        read(StatusCode::BAD_REQUEST, quoted),
        SendOutcome::Refused { detail, .. } if detail.is_empty()
    ));
}

#[test]
fn an_account_sid_is_no_path() {
    let settings = Settings {
        account_sid: "AC/../x".into(),
        ..twilio().settings
    };
    assert!(matches!(Twilio::new(settings), Err(Error::AccountSid)));
}
