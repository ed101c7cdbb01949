//! Providers' error codes as data: `data/*.toml` says how to react to each code. Only the code
//! decides, not the title or the detail that comes with the code. An unknown code is not retried
//! and raises an alert.

use std::sync::LazyLock;

use serde::Deserialize;

/// The reaction to an error code. The sender acts on this class alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Too many requests: repeat the request after a pause.
    Throttled,
    /// May succeed later: try the text again after the waits that `retry` lists for the code.
    Transient,
    /// Never send this text again.
    Permanent,
    /// The provider has recorded an opt-out of this guest: send the guest nothing until they opt
    /// in.
    OptedOut,
    /// The casino's number, profile or campaign is at fault: never send this text again; a person
    /// has to act.
    Configuration,
    /// The casino's spending limit for today is used up: the casino sends nothing until it resets.
    SpendLimit,
    /// Keys, funds or the whole account are at fault: nothing is accepted until somebody acts.
    Account,
    /// The provider may have accepted the text despite the error.
    Doubtful,
}

/// The severity of the alert that a code raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertLevel {
    #[default]
    None,
    Warning,
    Critical,
}

/// One row of a provider's table: a code or a range of codes, and how to react.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRow {
    /// One code, or the first and the last code of a range, in digits.
    codes: Vec<String>,
    /// The meaning in our own words, for operators.
    pub meaning: String,
    pub class: ErrorClass,
    /// Seconds before each further attempt after a transient failure.
    #[serde(default)]
    pub retry: Vec<u32>,
    #[serde(default)]
    pub alert: AlertLevel,
}

/// The meaning of a code: from a table, or assumed if no table lists the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub class: ErrorClass,
    /// Seconds before each further attempt; empty if the text is not sent again.
    pub retry: &'static [u32],
    pub alert: AlertLevel,
    /// False for a code that no table lists.
    pub known: bool,
    /// The meaning in our own words.
    pub meaning: &'static str,
}

/// A provider's table of error codes.
#[derive(Debug)]
pub struct Table {
    rows: Vec<(u32, u32, ErrorRow)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    error: Vec<ErrorRow>,
}

#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("the table of error codes cannot be read")]
    Toml(#[from] toml::de::Error),
    #[error("error codes {codes:?}: {problem}")]
    Row {
        codes: Vec<String>,
        problem: &'static str,
    },
}

static TELNYX: LazyLock<Table> = LazyLock::new(|| {
    Table::read(include_str!("../data/telnyx_errors.toml")).expect("the table holds, says a test")
});
static TWILIO: LazyLock<Table> = LazyLock::new(|| {
    Table::read(include_str!("../data/twilio_errors.toml")).expect("the table holds, says a test")
});

/// Reaction to a code that no table lists: the text is not sent again, and an alert is raised.
const UNKNOWN: Verdict = Verdict {
    class: ErrorClass::Permanent,
    retry: &[],
    alert: AlertLevel::Warning,
    known: false,
    meaning: "a code we do not know",
};
/// Reaction to HTTP status 429 if the body names no code.
const THROTTLED: Verdict = Verdict {
    class: ErrorClass::Throttled,
    alert: AlertLevel::None,
    meaning: "too many requests",
    ..UNKNOWN
};
const REFUSED_KEY: Verdict = Verdict {
    class: ErrorClass::Account,
    alert: AlertLevel::Critical,
    meaning: "the key is refused",
    ..UNKNOWN
};

/// Returns the meaning of a provider's code. If the response's body named no code, `code` is empty
/// and the HTTP status decides. A code that no table lists is unknown.
pub fn verdict(provider: &str, code: &str, http_status: u16) -> Verdict {
    match provider {
        crate::telnyx::NAME => TELNYX.verdict(code, http_status),
        crate::twilio::NAME => TWILIO.verdict(code, http_status),
        _ => by_status(code, http_status),
    }
}

fn by_status(code: &str, http_status: u16) -> Verdict {
    match http_status {
        429 if code.is_empty() => THROTTLED,
        401 | 403 if code.is_empty() => REFUSED_KEY,
        _ => UNKNOWN,
    }
}

// === impl Table ===

impl Table {
    /// Parses and checks a table. Codes are digits, ranges ascend and do not overlap, and only
    /// transient codes have `retry`.
    pub fn read(text: &str) -> Result<Self, TableError> {
        let file: File = toml::from_str(text)?;
        let mut rows = Vec::with_capacity(file.error.len());
        let mut last = None;
        for row in file.error {
            let bad = |problem| TableError::Row {
                codes: row.codes.clone(),
                problem,
            };
            let number = |code: &String| {
                code.parse::<u32>()
                    .map_err(|_| bad("a code is not a number"))
            };
            let (first, end) = match row.codes.as_slice() {
                [one] => (number(one)?, number(one)?),
                [first, end] => (number(first)?, number(end)?),
                _ => return Err(bad("one code, or the first and last of a range")),
            };
            if end < first || last.is_some_and(|last| first <= last) {
                return Err(bad("codes ascend and do not overlap"));
            }
            if (row.class == ErrorClass::Transient) == row.retry.is_empty() {
                return Err(bad("transient codes have a schedule, others have none"));
            }
            last = Some(end);
            rows.push((first, end, row));
        }
        Ok(Self { rows })
    }

    /// Returns the meaning of a code in this table. If the code is empty, the HTTP status decides.
    /// Any other code that the table does not list is unknown.
    pub fn verdict(&'static self, code: &str, http_status: u16) -> Verdict {
        match self.row(code) {
            Some(row) => Verdict {
                class: row.class,
                retry: &row.retry,
                alert: row.alert,
                known: true,
                meaning: &row.meaning,
            },
            None => by_status(code, http_status),
        }
    }

    fn row(&self, code: &str) -> Option<&ErrorRow> {
        let digits = !code.is_empty() && code.bytes().all(|b| b.is_ascii_digit());
        let code = if digits {
            code.parse::<u32>().ok()?
        } else {
            return None;
        };
        let after = self.rows.partition_point(|(first, ..)| *first <= code);
        let (_, end, row) = self.rows.get(after.checked_sub(1)?)?;
        (code <= *end).then_some(row)
    }
}

#[cfg(test)]
#[path = "errors_tests.rs"]
mod tests;
