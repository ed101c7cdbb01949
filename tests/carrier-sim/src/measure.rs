//! Measures a text's encoding and its number of segments, which Telnyx calls parts.

use seven_sms::Encoding;

/// A text's encoding and number of segments, as Telnyx would report them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measured {
    /// "GSM-7" or "UCS-2".
    pub(crate) encoding: &'static str,
    /// Number of segments; at least 1, also for an MMS without text.
    pub(crate) parts: u32,
}

pub(crate) fn measure(text: &str) -> Measured {
    let measure = seven_sms::measure(text);
    let encoding = match measure.encoding {
        Encoding::Gsm7 => "GSM-7",
        Encoding::Ucs2 => "UCS-2",
    };
    Measured {
        encoding,
        parts: u32::try_from(measure.segments).unwrap_or(u32::MAX).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelled_as_telnyx_spells_it() {
        assert_eq!(
            measure(""),
            Measured {
                encoding: "GSM-7",
                parts: 1
            }
        );
        assert_eq!(
            measure(&"a".repeat(161)),
            Measured {
                encoding: "GSM-7",
                parts: 2
            }
        );
        assert_eq!(
            measure(&"ç".repeat(71)),
            Measured {
                encoding: "UCS-2",
                parts: 2
            }
        );
    }
}
