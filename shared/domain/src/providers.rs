//! The names of the text-messaging providers, and a casino's numbers and registrations at each.

use crate::{
    Invalid, PhoneE164,
    config::{NumberKind, Operational, Registration},
};

/// The providers' names in documents, settings, rows and labels.
pub const TELNYX: &str = "telnyx";
pub const TWILIO: &str = "twilio";
pub const PROVIDERS: [&str; 2] = [TELNYX, TWILIO];
/// The provider's name in rows of website messages, which no provider sends (D33).
pub const WEB: &str = "web";

impl Operational {
    /// Returns the casino's number at a provider. An unknown provider is treated as Telnyx.
    pub fn number_at(&self, provider: &str) -> Option<&PhoneE164> {
        match provider {
            TWILIO => self.twilio_phone_number.as_ref(),
            _ => Some(&self.telnyx_phone_number),
        }
    }

    /// Returns the provider of a number of the casino; `None` if the casino has no such number.
    pub fn owner_of(&self, number: &PhoneE164) -> Option<&'static str> {
        PROVIDERS
            .into_iter()
            .find(|provider| self.number_at(provider) == Some(number))
    }

    /// Returns every number to which guests may write.
    pub fn numbers(&self) -> impl Iterator<Item = &PhoneE164> {
        std::iter::once(&self.telnyx_phone_number).chain(&self.twilio_phone_number)
    }

    /// Returns whether the casino's number at this provider may send proactive texts: carriers have
    /// approved the number, or it is a demo number.
    pub fn registered_at(&self, provider: &str) -> bool {
        let state = if provider == TWILIO {
            self.twilio_registration
        } else {
            self.registration
        };
        state == Registration::Approved || self.number_kind == NumberKind::Demo
    }

    pub(crate) fn provider_problems(&self) -> Vec<Invalid> {
        let mut problems = Vec::new();
        let known =
            |name: &String| PROVIDERS.contains(&name.as_str()) && self.number_at(name).is_some();
        if !self.providers.iter().all(known) {
            let expected = "telnyx, or twilio where the casino has a twilio_phone_number";
            problems.push(Invalid::new(
                "operational.providers",
                format!("{:?}", self.providers),
                expected,
            ));
        }
        if self.twilio_phone_number.as_ref() == Some(&self.telnyx_phone_number) {
            let expected = "another number than telnyx_phone_number";
            problems.push(Invalid::new(
                "operational.twilio_phone_number",
                "the number at Telnyx".to_owned(),
                expected,
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use crate::CasinoConfig;

    fn document(operational: &serde_json::Value) -> CasinoConfig {
        let mut doc = serde_json::json!({
            "casino_id": "silver_birch",
            "prompts": { "casino_name_display": "Silver Birch" },
            "regulations": { "state": "CT" },
            "operational": {
                "timezone": "America/New_York",
                "telnyx_phone_number": "+18605550100",
                "number_kind": "toll_free",
                "contact_phone": "1-860-555-0199",
            }
        });
        for (key, value) in operational.as_object().unwrap() {
            doc["operational"][key] = value.clone();
        }
        serde_json::from_value(doc).unwrap()
    }

    #[test] // SMS-39
    fn a_casino_names_only_providers_where_it_has_a_number() {
        let problem = |operational: serde_json::Value| {
            document(&operational)
                .check()
                .err()
                .map(|problems| problems[0].what)
        };
        let second = "+18605550120";
        assert_eq!(problem(serde_json::json!({})), None);
        assert_eq!(
            problem(serde_json::json!({
                "twilio_phone_number": second,
                "providers": ["twilio", "telnyx"],
            })),
            None
        );
        assert_eq!(
            problem(serde_json::json!({ "providers": ["twilio"] })),
            Some("operational.providers")
        );
        assert_eq!(
            problem(serde_json::json!({ "providers": ["bandwidth"] })),
            Some("operational.providers")
        );
        let same = serde_json::json!({ "twilio_phone_number": "+18605550100" });
        assert_eq!(problem(same), Some("operational.twilio_phone_number"));
    }

    #[test]
    fn each_number_has_a_provider_and_a_campaign_of_its_own() {
        let ours = document(&serde_json::json!({
            "twilio_phone_number": "+18605550120",
            "registration": "approved",
        }))
        .operational;
        let number = |text: &str| text.parse().unwrap();
        assert_eq!(ours.owner_of(&number("+18605550120")), Some("twilio"));
        assert_eq!(ours.owner_of(&number("+18605550100")), Some("telnyx"));
        assert_eq!(ours.owner_of(&number("+18605550199")), None);
        assert_eq!(ours.numbers().count(), 2);
        assert!(ours.registered_at("telnyx") && !ours.registered_at("twilio"));
    }
}
