//! Fault rules: which sends fail, and how. Matching is pure; random numbers are passed in.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;

/// A fault of a send. Faults up to `Error` change the answer to `POST /v2/messages`. The faults
/// after it change the receipts. A send may get one fault of each group, from two rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Not accepted: 429 with code 10011 (Twilio: 20429).
    #[serde(rename = "429")]
    TooManyRequests,
    /// Not accepted, answers 500.
    #[serde(rename = "500_before")]
    ServerErrorBefore,
    /// Accepted, but answers 500.
    #[serde(rename = "500_after")]
    ServerErrorAfter,
    /// Not accepted, never answers.
    TimeoutBefore,
    /// Accepted, never answers.
    TimeoutAfter,
    /// Not accepted, the connection is reset.
    ConnectionReset,
    /// Accepted, the connection is reset.
    ConnectionResetAfter,
    /// Not accepted: answers the HTTP error that belongs to this code of the provider.
    Error(String),

    /// Accepted; finalized as `delivery_failed` with this code.
    FinalizedError(String),
    /// Accepted and delivered, but no webhook reports it.
    LostReceipt,
    /// Both webhooks come much later.
    LateReceipt,
    /// Each webhook comes twice, with the same event id.
    DoubleReceipt,
    /// `message.finalized` comes before `message.sent`.
    ReorderReceipts,
}

/// Conditions of a rule. All given conditions must hold; `{}` matches every send.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Matcher {
    /// `telnyx` or `twilio`; `None` matches both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The guest's whole number, in E.164.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// A string that occurs anywhere in the text; case matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_contains: Option<String>,
    /// If given, only the nth send matches. Counts, from 1, the sends since the rules were set that
    /// meet `provider`, `to` and `text_contains`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// Percentage of the matching sends to which the fault applies, 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(rename = "match", default)]
    pub matcher: Matcher,
    pub fault: Fault,
    /// Maximum number of sends that get the fault; by default unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

/// Body of `PUT /sim/rules`. The endpoint also accepts a list of rules alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// If true, the simulator refuses sends to a guest after the guest's STOP (40300), as Telnyx
    /// does by default.
    pub block_on_stop: bool,
    /// Code of an error of the whole Telnyx account, such as 10009 (wrong API key) or 20100 (no
    /// funds; only sends fail). `None`: the account works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_error: Option<String>,
    /// Code of an error of the whole Twilio account, such as 20003 (wrong credentials) or 30002
    /// (suspended). `None`: the account works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twilio_account_error: Option<String>,
    /// Percentage of webhooks, 0 to 100, that are never called. The ledger records these as
    /// `swallowed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swallow_webhooks_percent: Option<f64>,
    pub rules: Vec<Rule>,
}

/// The send that rules are matched against.
#[derive(Debug, Clone, Copy)]
pub struct Sending<'a> {
    pub provider: &'a str,
    pub to: &'a str,
    pub text: &'a str,
}

/// The faults applied to one send.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    pub answer: Option<Fault>,
    pub receipts: Option<Fault>,
}

/// The active rules, with their counters.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RuleBook {
    pub block_on_stop: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twilio_account_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swallow_webhooks_percent: Option<f64>,
    rules: Vec<Counted>,
}

#[derive(Debug, Clone, Serialize)]
struct Counted {
    #[serde(flatten)]
    rule: Rule,
    /// Number of sends that met `provider`, `to` and `text_contains`.
    seen: u32,
    /// Number of sends that got the fault.
    struck: u32,
}

// === impl Fault ===

impl Fault {
    fn spoils_receipts(&self) -> bool {
        match self {
            Self::FinalizedError(_)
            | Self::LostReceipt
            | Self::LateReceipt
            | Self::DoubleReceipt
            | Self::ReorderReceipts => true,
            Self::TooManyRequests
            | Self::ServerErrorBefore
            | Self::ServerErrorAfter
            | Self::TimeoutBefore
            | Self::TimeoutAfter
            | Self::ConnectionReset
            | Self::ConnectionResetAfter
            | Self::Error(_) => false,
        }
    }

    fn code(&self) -> Option<&str> {
        match self {
            Self::Error(code) | Self::FinalizedError(code) => Some(code),
            _ => None,
        }
    }

    /// Returns the fault's name as written in a rule, for the ledger.
    pub(crate) fn label(&self) -> String {
        match serde_json::to_value(self) {
            Ok(Value::String(name)) => name,
            Ok(other) => other.to_string(),
            Err(_) => format!("{self:?}"),
        }
    }
}

// === impl Plan ===

impl Plan {
    /// Reads the body of `PUT /sim/rules`.
    pub fn from_json(body: Value) -> Result<Self, Error> {
        let plan = match body {
            list @ Value::Array(_) => serde_json::from_value(list).map(|rules| Self {
                rules,
                ..Self::default()
            }),
            object => serde_json::from_value(object),
        };
        plan.map_err(|e| Error::request(format!("rules: {e}")))
    }

    fn check(&self) -> Result<(), Error> {
        if self
            .swallow_webhooks_percent
            .is_some_and(|share| !(0.0..=100.0).contains(&share))
        {
            return Err(Error::request("swallow_webhooks_percent must be 0 to 100"));
        }
        for (at, rule) in self.rules.iter().enumerate() {
            if rule
                .matcher
                .percent
                .is_some_and(|share| !(0.0..=100.0).contains(&share))
            {
                return Err(Error::request(format!(
                    "rule {at}: percent must be 0 to 100"
                )));
            }
            if rule.matcher.nth == Some(0) {
                return Err(Error::request(format!("rule {at}: nth counts from 1")));
            }
            if rule
                .fault
                .code()
                .is_some_and(|code| code.is_empty() || !code.bytes().all(|b| b.is_ascii_digit()))
            {
                return Err(Error::request(format!(
                    "rule {at}: an error code is digits, such as \"40008\""
                )));
            }
        }
        Ok(())
    }
}

// === impl RuleBook ===

impl RuleBook {
    pub fn new(plan: Plan) -> Result<Self, Error> {
        plan.check()?;
        let rules = plan
            .rules
            .iter()
            .cloned()
            .map(|rule| Counted {
                rule,
                seen: 0,
                struck: 0,
            })
            .collect();
        let Plan {
            block_on_stop,
            account_error,
            twilio_account_error,
            swallow_webhooks_percent,
            ..
        } = plan;
        Ok(Self {
            block_on_stop,
            account_error,
            twilio_account_error,
            swallow_webhooks_percent,
            rules,
        })
    }

    /// Returns the faults of a send: for each group, the fault of the first rule that applies.
    /// Every rule counts the sends that it matches. `roll` draws a number from 0.0 to 100.0; it is
    /// called only for rules with a percentage.
    pub fn strike(&mut self, sending: Sending<'_>, mut roll: impl FnMut() -> f64) -> Faults {
        let mut faults = Faults::default();
        for counted in &mut self.rules {
            let Matcher {
                provider,
                to,
                text_contains,
                nth,
                percent,
            } = &counted.rule.matcher;
            let named = provider
                .as_deref()
                .is_none_or(|provider| provider == sending.provider)
                && to.as_deref().is_none_or(|to| to == sending.to)
                && text_contains
                    .as_deref()
                    .is_none_or(|part| sending.text.contains(part));
            if !named {
                continue;
            }
            counted.seen += 1;
            let slot = if counted.rule.fault.spoils_receipts() {
                &mut faults.receipts
            } else {
                &mut faults.answer
            };
            let due = slot.is_none()
                && counted
                    .rule
                    .times
                    .is_none_or(|times| counted.struck < times)
                && nth.is_none_or(|nth| nth == counted.seen)
                && percent.is_none_or(|share| roll() < share);
            if due {
                counted.struck += 1;
                *slot = Some(counted.rule.fault.clone());
            }
        }
        faults
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
