//! Cost of tokens, in integers: prices in micro-dollars per million tokens, costs in nano-dollars.

use std::{fmt, iter::Sum, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize};

use crate::Usage;

/// Billionths of a US dollar. One token of the cheapest model costs tens of these, so no cost
/// rounds to zero.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct NanoUsd(pub u64);

/// US dollars per million tokens, read from a decimal string with at most six places, such as
/// "0.30".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsdPerMillion {
    micros: u64,
}

/// The prices of one model. The default is zero, which is right for local servers only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: UsdPerMillion,
    pub output: UsdPerMillion,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a price is a decimal number of dollars with at most six places, such as \"0.30\"")]
pub struct BadPrice;

impl Price {
    /// Returns the cost, rounded up to the next nano-dollar once per call.
    pub fn of(&self, usage: Usage) -> NanoUsd {
        // Micro-dollars per million tokens are pico-dollars per token.
        let pico =
            |tokens: u64, price: UsdPerMillion| u128::from(tokens) * u128::from(price.micros);
        let pico = pico(usage.input_tokens, self.input)
            .saturating_add(pico(usage.output_tokens, self.output));
        NanoUsd(u64::try_from(pico.div_ceil(1_000)).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for NanoUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "${}.{:09}",
            self.0 / 1_000_000_000,
            self.0 % 1_000_000_000
        )
    }
}

impl Sum for NanoUsd {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        Self(costs.fold(0, |sum, cost| sum.saturating_add(cost.0)))
    }
}

impl FromStr for UsdPerMillion {
    type Err = BadPrice;

    fn from_str(text: &str) -> Result<Self, BadPrice> {
        let (whole, places) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(places) || places.len() > 6 {
            return Err(BadPrice);
        }
        let number = |text: &str| text.parse::<u64>().map_err(|_| BadPrice);
        let micros = number(whole)?.checked_mul(1_000_000).ok_or(BadPrice)?;
        let micros = micros
            .checked_add(number(&format!("{places:0<6}"))?)
            .ok_or(BadPrice)?;
        Ok(Self { micros })
    }
}

impl<'de> Deserialize<'de> for UsdPerMillion {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}
