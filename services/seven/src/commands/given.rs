//! Parsers of arguments. Their errors say which input is valid; the errors of the libraries do not.

use std::{str::FromStr, time::Duration};

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use chrono_tz::Tz;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use seven_domain::Invalid;

/// A time, a day (UTC), or a span before now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    At(DateTime<Utc>),
    Ago(Duration),
}

/// Returns a parser that accepts the names of the values in `all`; the help lists the names.
pub(super) fn one_of<T>(
    all: &[T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> + use<T>
where
    T: FromStr<Err = Invalid> + Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().map(|value| name(*value)))
        .try_map(|name| name.parse::<T>())
}

/// Parses a text that is not blank; spaces around it are removed.
pub(super) fn words(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("it is empty; the audit log keeps it".to_owned())
    } else {
        Ok(text.trim().to_owned())
    }
}

pub fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    text.parse().map_err(|_| {
        format!("`{text}` is no time; expected one with its zone, such as 2026-11-01T18:00:00Z")
    })
}

pub(super) fn zone(text: &str) -> Result<Tz, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no time zone; expected a name such as America/New_York"))
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse::<f64>()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("`{text}` is no share; expected 0 to 1, such as 0.15"))
}

/// Parses a span: `90m`, `2h` or `3d`; not zero.
pub(super) fn span(text: &str) -> Result<TimeDelta, String> {
    match text.parse() {
        Ok(When::Ago(ago)) if !ago.is_zero() => {
            TimeDelta::from_std(ago).map_err(|error| error.to_string())
        }
        _ => Err(format!(
            "`{text}` is no span; expected a number and s, m, h or d, such as 90m, 2h or 3d"
        )),
    }
}

// === impl When ===

impl When {
    pub(super) fn at(self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::At(at) => at,
            Self::Ago(ago) => now - ago,
        }
    }

    pub(super) fn said(self) -> String {
        match self {
            Self::At(at) => at.to_rfc3339(),
            Self::Ago(ago) => format!("{} s ago", ago.as_secs()),
        }
    }
}

impl FromStr for When {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if let Ok(at) = DateTime::parse_from_rfc3339(text) {
            return Ok(Self::At(at.to_utc()));
        }
        if let Ok(day) = text.parse::<NaiveDate>() {
            return Ok(Self::At(day.and_time(NaiveTime::MIN).and_utc()));
        }
        let invalid = || {
            Invalid::new(
                "time",
                text,
                "30s, 30m, 2h, 7d, a day (UTC) or a time, such as 2026-11-22 or 2026-11-22T19:00:00Z",
            )
        };
        let unit: u64 = match text.chars().last() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 3_600,
            Some('d') => 86_400,
            _ => return Err(invalid()),
        };
        let number: u64 = text[..text.len() - 1].parse().map_err(|_| invalid())?;
        // Limit of ten years: no row is kept for longer.
        let seconds = number
            .checked_mul(unit)
            .filter(|seconds| *seconds <= 3_650 * 86_400)
            .ok_or_else(invalid)?;
        Ok(Self::Ago(Duration::from_secs(seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named_with_what_would_be_right() {
        assert!(span("90m") == Ok(TimeDelta::minutes(90)));
        assert!(zone("America/New_York").is_ok() && share("0.15").is_ok());
        assert!(
            moment("2026-11-01T18:00:00-05:00").is_ok()
                && words("ana").is_ok()
                && words(" ").is_err()
        );
        let wrong = [
            moment("now").unwrap_err(),
            span("0m").unwrap_err(),
            span("-2h").unwrap_err(),
            zone("Mars").unwrap_err(),
            share("2").unwrap_err(),
        ];
        for error in wrong {
            assert!(
                error.starts_with('`')
                    && error.contains("; expected ")
                    && error.contains("such as "),
                "{error}"
            );
        }
    }

    #[test]
    fn times_are_read_as_said_or_as_ago() {
        let ago = |seconds| When::Ago(Duration::from_secs(seconds));
        for (text, when) in [
            ("45s", ago(45)),
            ("30m", ago(1_800)),
            ("2h", ago(7_200)),
            ("7d", ago(604_800)),
        ] {
            assert_eq!(text.parse::<When>().unwrap(), when, "{text}");
        }
        let at = "2026-11-22T19:00:00+01:00".parse::<When>().unwrap();
        assert_eq!(at, When::At("2026-11-22T18:00:00Z".parse().unwrap()));
        assert_eq!(
            "2026-11-22".parse::<When>().unwrap(),
            When::At("2026-11-22T00:00:00Z".parse().unwrap())
        );
        for bad in [
            "",
            "h",
            "2",
            "-2h",
            "2w",
            "2.5h",
            "99999999999999999999d",
            "4000d",
            "yesterday",
            "é",
        ] {
            assert!(bad.parse::<When>().is_err(), "{bad}");
        }
    }
}
