//! The confidence in a fact, from 0 to 1.

use serde::{Deserialize, Serialize};
use seven_domain::Invalid;

const WHOLE: u16 = 10_000;

/// A fraction between 0 and 1, kept in ten-thousandths so that 0.70 minus 0.30 is exactly 0.40.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(u16);

impl Confidence {
    pub const ZERO: Self = Self(0);
    pub const ONE: Self = Self(WHOLE);
    /// The lowest confidence of a field that agents may see.
    pub const VISIBLE: Self = Self::percent(40);

    /// Makes a confidence from a percentage; a number above 100 counts as 100.
    pub const fn percent(percent: u8) -> Self {
        Self(if percent > 100 {
            WHOLE
        } else {
            percent as u16 * 100
        })
    }

    /// Makes a confidence; fails when the number is not between 0 and 1.
    pub fn new(share: f64) -> Result<Self, Invalid> {
        if (0.0..=1.0).contains(&share) {
            Ok(Self::clamped(share))
        } else {
            Err(Invalid::new("confidence", share.to_string(), "0.0 to 1.0"))
        }
    }

    /// Makes a confidence from any number; a number outside 0..=1 is moved to the nearer end, and
    /// NaN becomes 0.
    pub fn clamped(share: f64) -> Self {
        // The cast saturates, and NaN becomes 0.
        Self((share.clamp(0.0, 1.0) * f64::from(WHOLE)).round() as u16)
    }

    pub fn get(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// Returns the confidence in ten-thousandths.
    pub fn parts(self) -> u16 {
        self.0
    }

    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0).min(WHOLE))
    }

    #[must_use]
    pub fn minus(self, less: Self) -> Self {
        Self(self.0.saturating_sub(less.0))
    }

    /// Returns the confidence after `periods` periods, each of which multiplies it by nine tenths.
    #[must_use]
    pub fn decayed(self, periods: u32) -> Self {
        // More than 100 periods change nothing, because the confidence is 0 by then.
        let parts = (0..periods.min(100)).fold(u32::from(self.0), |parts, _| parts * 9 / 10);
        Self(u16::try_from(parts).unwrap_or(WHOLE))
    }
}

impl TryFrom<f64> for Confidence {
    type Error = Invalid;
    fn try_from(share: f64) -> Result<Self, Invalid> {
        Self::new(share)
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        confidence.get()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arithmetic_is_exact_at_the_limit() {
        // DATA-18: 0.70 contradicted once is 0.40, which agents still see.
        assert_eq!(
            Confidence::percent(70).minus(Confidence::percent(30)),
            Confidence::VISIBLE
        );
        assert_eq!(
            Confidence::percent(90).plus(Confidence::percent(15)),
            Confidence::ONE
        );
        assert_eq!(
            Confidence::percent(10).minus(Confidence::percent(30)),
            Confidence::ZERO
        );
        assert_eq!(Confidence::percent(90).decayed(1), Confidence::percent(81));
        assert!(
            Confidence::new(1.01).is_err()
                && Confidence::new(-0.1).is_err()
                && Confidence::new(f64::NAN).is_err()
        );
        assert_eq!(
            serde_json::to_string(&Confidence::percent(85)).unwrap(),
            "0.85"
        );
        assert!(serde_json::from_str::<Confidence>("1.5").is_err());
    }

    proptest! {
        #[test]
        fn stays_a_share(a in any::<f64>(), b in any::<f64>(), n in any::<u32>()) {
            let (a, b) = (Confidence::clamped(a), Confidence::clamped(b));
            for c in [a, b, a.plus(b), a.minus(b), a.decayed(n)] {
                prop_assert!((0.0..=1.0).contains(&c.get()));
            }
            prop_assert!(a.decayed(n) <= a);
        }
    }
}
