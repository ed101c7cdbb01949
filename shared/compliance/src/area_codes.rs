//! Maps an area code to the states and time zones in which the number's owner may live (D15).
//! People keep numbers when they move, so callers must obey the rules of all these places.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono_tz::Tz;
use seven_domain::{Invalid, PhoneE164};

use crate::jurisdiction::State;

/// The places to which an area code of country code 1 belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AreaCode {
    /// Every state and time zone that a US number with this code may belong to; never empty.
    Us(Vec<(State, Tz)>),
    /// A country or territory outside the United States that shares country code 1.
    Abroad(String),
    /// A code that is not assigned to any place.
    NoPlace(NoPlace),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlace {
    TollFree,
    Premium,
    Personal,
    Carrier,
    Government,
}

impl NoPlace {
    /// Returns a noun phrase such as "a toll-free code", for the explanation of a sending window.
    pub fn describe(self) -> &'static str {
        match self {
            Self::TollFree => "a toll-free code",
            Self::Premium => "a premium-rate code",
            Self::Personal => "a personal-number code",
            Self::Carrier => "a carrier's service code",
            Self::Government => "a federal government code",
        }
    }
}

/// The start of a phone number, looked up in the table of area codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefix<'a> {
    /// The three digits of the area code, and the places to which it belongs.
    Known(&'a str, &'static AreaCode),
    /// Country code 1 with an area code that was not in service when the table was made.
    UnknownCode(&'a str),
    /// Another country code, or country code 1 with a wrong number of digits.
    NotNorthAmerican,
}

/// Looks up the number's area code.
pub fn prefix_of(phone: &PhoneE164) -> Prefix<'_> {
    match phone.as_str().strip_prefix("+1") {
        Some(national) if national.len() == 10 => {
            let code = &national[..3];
            TABLE
                .get(code)
                .map_or(Prefix::UnknownCode(code), |area| Prefix::Known(code, area))
        }
        _ => Prefix::NotNorthAmerican,
    }
}

/// Returns every US code with its states and zones, ordered by code.
pub fn us() -> impl Iterator<Item = (&'static str, &'static [(State, Tz)])> {
    TABLE.iter().filter_map(|(code, area)| match area {
        AreaCode::Us(places) => Some((code.as_str(), places.as_slice())),
        AreaCode::Abroad(_) | AreaCode::NoPlace(_) => None,
    })
}

/// Returns the date of the table's source, such as `2026-11-06`. The table does not know codes that
/// came into service later.
pub fn source_date() -> &'static str {
    let line = include_str!("../data/area_codes.csv")
        .lines()
        .find_map(|line| line.strip_prefix("# Source dated "));
    line.and_then(|line| line.get(..10)).unwrap_or_default()
}

static TABLE: LazyLock<BTreeMap<String, AreaCode>> = LazyLock::new(|| {
    parse(include_str!("../data/area_codes.csv")).expect("a test parses the file of this build")
});

fn parse(csv: &str) -> Result<BTreeMap<String, AreaCode>, Invalid> {
    let mut table = BTreeMap::new();
    for line in csv.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let bad = || {
            Invalid::new(
                "area_codes.csv",
                format!("`{line}`"),
                "code,kind,place,zone; one kind per code",
            )
        };
        let fields: Vec<&str> = line.split(',').collect();
        let &[code, kind, place, zone] = fields.as_slice() else {
            return Err(bad());
        };
        if code.len() != 3 || !code.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        let area = match kind {
            "us" => AreaCode::Us(vec![(place.parse()?, zone.parse().map_err(|_| bad())?)]),
            "abroad" if !place.is_empty() => AreaCode::Abroad(place.to_owned()),
            "toll_free" => AreaCode::NoPlace(NoPlace::TollFree),
            "premium" => AreaCode::NoPlace(NoPlace::Premium),
            "personal" => AreaCode::NoPlace(NoPlace::Personal),
            "carrier" => AreaCode::NoPlace(NoPlace::Carrier),
            "government" => AreaCode::NoPlace(NoPlace::Government),
            _ => return Err(bad()),
        };
        match (table.get_mut(code), area) {
            (Some(AreaCode::Us(places)), AreaCode::Us(more)) => places.extend(more),
            (Some(_), _) => return Err(bad()),
            (None, area) => drop(table.insert(code.to_owned(), area)),
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test] // D15: the strictest rules apply to a code that is not in the table
    fn unknown_codes_are_known_as_such_and_the_table_tells_its_date() {
        for code in ["457", "471", "621", "679", "837", "924"] {
            let phone: PhoneE164 = format!("+1{code}5550142").parse().unwrap();
            assert!(
                matches!(prefix_of(&phone), Prefix::UnknownCode(unknown) if unknown == code),
                "{code}"
            );
        }
        assert!(chrono::NaiveDate::parse_from_str(source_date(), "%Y-%m-%d").is_ok());
    }

    #[test] // SMS-32
    fn every_state_has_a_code_and_every_code_a_place() {
        parse(include_str!("../data/area_codes.csv")).unwrap();
        let states: BTreeSet<State> = us()
            .flat_map(|(_, places)| places.iter().map(|(state, _)| *state))
            .collect();
        assert_eq!(states, State::all().collect());
        assert!(us().count() >= 360, "{}", us().count());
        for (code, places) in us() {
            let distinct: BTreeSet<String> =
                places.iter().map(|place| format!("{place:?}")).collect();
            assert!(
                !places.is_empty() && distinct.len() == places.len(),
                "{code}"
            );
        }
    }

    #[test] // C-37
    fn codes_that_are_no_us_place_are_named() {
        let kind = |phone: &str| match prefix_of(&phone.parse().unwrap()) {
            Prefix::Known(_, AreaCode::Us(_)) => "us".to_owned(),
            Prefix::Known(_, AreaCode::Abroad(country)) => country.clone(),
            Prefix::Known(_, AreaCode::NoPlace(kind)) => kind.describe().to_owned(),
            Prefix::UnknownCode(code) => format!("unknown {code}"),
            Prefix::NotNorthAmerican => "elsewhere".to_owned(),
        };
        for (phone, expected) in [
            ("+18605550100", "us"),
            ("+17875550100", "us"),
            ("+14165550100", "Canada"),
            ("+18765550100", "Jamaica"),
            ("+18005550100", "a toll-free code"),
            ("+18885550100", "a toll-free code"),
            ("+19005550100", "a premium-rate code"),
            ("+15005550100", "a personal-number code"),
            ("+17005550100", "a carrier's service code"),
            ("+17105550100", "a federal government code"),
            ("+19115550100", "unknown 911"),
            ("+11115550100", "unknown 111"),
            ("+390236618300", "elsewhere"),
            ("+1860555010", "elsewhere"),
            ("+12", "elsewhere"),
        ] {
            assert_eq!(kind(phone), expected, "{phone}");
        }
    }

    #[test]
    fn a_broken_table_is_refused() {
        for bad in [
            "860,us,CT",
            "86x,us,CT,America/New_York",
            "860,us,QQ,America/New_York",
            "860,us,CT,Mars/Base",
            "860,x,,",
        ] {
            assert!(
                parse(&format!("code,kind,place,zone\n{bad}\n")).is_err(),
                "{bad}"
            );
        }
        assert!(parse("code,kind,place,zone\n800,toll_free,,\n800,abroad,Canada,\n").is_err());
    }
}
