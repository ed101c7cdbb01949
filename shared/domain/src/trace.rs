//! W3C trace context: one trace per guest text, carried in message headers and in every row that
//! the text causes.

use std::{fmt, str::FromStr};

use rand::RngCore;
use sha2::{Digest, Sha256};

use crate::Invalid;

/// A trace context in the form of `traceparent`, version 00. Neither id is all zeros.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    /// Whether the trace's spans are always exported, whatever their outcome (bit 0 of the flags).
    pub sampled: bool,
}

impl TraceContext {
    /// Starts a new trace.
    pub fn start() -> Self {
        let mut trace_id = [0; 16];
        rand::rng().fill_bytes(&mut trace_id);
        trace_id[0] |= 1;
        Self {
            trace_id,
            span_id: Self::span(),
            sampled: true,
        }
    }

    /// Returns the trace of one guest text. The trace id derives from the provider's message id. A
    /// repeated webhook therefore gets the same trace in every process. The span id is new.
    pub fn of_text(provider: &str, message_id: &str) -> Self {
        let digest = Sha256::new()
            .chain_update(provider)
            .chain_update([0])
            .chain_update(message_id)
            .finalize();
        let mut trace_id = [0; 16];
        trace_id.copy_from_slice(&digest[..16]);
        trace_id[0] |= 1;
        Self {
            trace_id,
            span_id: Self::span(),
            sampled: true,
        }
    }

    /// Returns a new span id.
    pub fn span() -> [u8; 8] {
        let mut span_id = [0; 8];
        rand::rng().fill_bytes(&mut span_id);
        span_id[0] |= 1;
        span_id
    }

    pub fn trace_hex(&self) -> String {
        hex::encode(self.trace_id)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut trace, mut span) = ([0; 32], [0; 16]);
        let flags = if self.sampled { "01" } else { "00" };
        write!(
            f,
            "00-{}-{}-{flags}",
            hex_of(&self.trace_id, &mut trace),
            hex_of(&self.span_id, &mut span)
        )
    }
}

/// Writes `bytes` as lower-case hex into `room`, which must be twice as long.
pub fn hex_of<'a>(bytes: &[u8], room: &'a mut [u8]) -> &'a str {
    match hex::encode_to_slice(bytes, room) {
        Ok(()) => std::str::from_utf8(room).unwrap_or_default(),
        Err(_) => "",
    }
}

impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceContext({self})")
    }
}

impl FromStr for TraceContext {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let bad = || Invalid::new("traceparent", "malformed", "00-<32 hex>-<16 hex>-<2 hex>");
        let mut parts = text.split('-');
        let (Some("00"), Some(trace), Some(span), Some(flags), None) = (
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
        ) else {
            return Err(bad());
        };
        let (mut trace_id, mut span_id) = ([0; 16], [0; 8]);
        hex::decode_to_slice(trace, &mut trace_id).map_err(|_| bad())?;
        hex::decode_to_slice(span, &mut span_id).map_err(|_| bad())?;
        if trace_id == [0; 16] || span_id == [0; 8] {
            return Err(bad());
        }
        let mut bits = [0];
        hex::decode_to_slice(flags, &mut bits).map_err(|_| bad())?;
        Ok(Self {
            trace_id,
            span_id,
            sampled: bits[0] & 1 == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_refuses_nonsense() {
        let trace = TraceContext::start();
        assert_eq!(trace.to_string().parse::<TraceContext>().unwrap(), trace);
        let quiet = TraceContext {
            sampled: false,
            ..trace
        };
        assert!(quiet.to_string().ends_with("-00"));
        assert_eq!(quiet.to_string().parse::<TraceContext>().unwrap(), quiet);
        for bad in [
            "",
            "00-00-00-00",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert!(bad.parse::<TraceContext>().is_err());
        }
    }

    #[test]
    fn copies_of_a_webhook_share_a_trace_and_no_span() {
        let (one, two) = (
            TraceContext::of_text("telnyx", "m1"),
            TraceContext::of_text("telnyx", "m1"),
        );
        assert_eq!(one.trace_id, two.trace_id);
        assert_ne!(one.span_id, two.span_id);
        for (provider, message) in [("telnyx", "m2"), ("twilio", "m1"), ("telnyxm", "1")] {
            assert_ne!(
                TraceContext::of_text(provider, message).trace_id,
                one.trace_id
            );
        }
    }
}
