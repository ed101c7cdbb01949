//! The address from which a guest writes: a phone number or a visitor of the website (D32).

use std::{fmt, str::FromStr};

use uuid::Uuid;

use crate::{Channel, Invalid, PhoneE164};

/// The prefix of a visitor's address; no phone number begins with it.
const WEB: &str = "web:";

/// The address from which a guest writes. `Debug` masks a phone number and omits a visitor's id.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Address {
    Phone(PhoneE164),
    /// A visitor of the casino's website, identified by the id of the browser's session.
    Visitor(Uuid),
}

impl Address {
    pub fn channel(&self) -> Channel {
        match self {
            Self::Phone(_) => Channel::Sms,
            Self::Visitor(_) => Channel::Web,
        }
    }

    pub fn phone(&self) -> Option<&PhoneE164> {
        match self {
            Self::Phone(phone) => Some(phone),
            Self::Visitor(_) => None,
        }
    }

    pub fn visitor(&self) -> Option<Uuid> {
        match self {
            Self::Phone(_) => None,
            Self::Visitor(visitor) => Some(*visitor),
        }
    }

    /// Returns the address as text: the phone number in E.164, or `web:` and the visitor's id.
    pub fn text(&self) -> String {
        match self {
            Self::Phone(phone) => phone.as_str().to_owned(),
            Self::Visitor(visitor) => format!("{WEB}{visitor}"),
        }
    }
}

impl FromStr for Address {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let Some(visitor) = text.strip_prefix(WEB) else {
            return text.parse().map(Self::Phone);
        };
        // Refuses other spellings of the id, because a deletion searches the bus only for the
        // spelling that `Address::text` returns.
        let visitor = visitor
            .parse::<Uuid>()
            .ok()
            .map(Self::Visitor)
            .filter(|address| address.text() == text);
        visitor.ok_or_else(|| {
            Invalid::new(
                "visitor",
                "is no id in small letters",
                "`web:` and an id such as 0199f3a0-0000-7000-8000-000000000001",
            )
        })
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Phone(phone) => phone.fmt(f),
            Self::Visitor(_) => f.write_str("Visitor(..)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D32
    fn an_address_is_a_phone_or_a_visitor_in_one_spelling() {
        let visitor = "web:0199f3a0-0000-7000-8000-000000000001";
        for text in ["+18605550100", visitor] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.text(), text);
            assert_eq!(address.phone().is_some(), address.channel() == Channel::Sms);
            assert_eq!(
                address.visitor().is_some(),
                address.channel() == Channel::Web
            );
            assert!(!format!("{address:?}").contains("555"));
        }
        for bad in [
            "",
            "web:",
            "web:1",
            "8605550100",
            "WEB:0199f3a0-0000-7000-8000-000000000001",
            "web:0199F3A0-0000-7000-8000-000000000001",
            "web:0199f3a0000070008000000000000001",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }
}
