//! W3C trace context: one trace per guest text, carried in message headers and on every row it leaves behind (OBS-1).

use std::{fmt, str::FromStr};

use rand::RngCore;

use crate::Invalid;

/// `traceparent` version 00. `trace_id` is 16 bytes, `span_id` 8, neither all zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
}

impl TraceContext {
    /// Starts a new trace.
    pub fn start() -> Self {
        let mut rng = rand::rng();
        let (mut trace_id, mut span_id) = ([0; 16], [0; 8]);
        rng.fill_bytes(&mut trace_id);
        rng.fill_bytes(&mut span_id);
        trace_id[0] |= 1;
        span_id[0] |= 1;
        Self { trace_id, span_id }
    }

    pub fn trace_hex(&self) -> String {
        hex::encode(self.trace_id)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-01", hex::encode(self.trace_id), hex::encode(self.span_id))
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
        let (Some("00"), Some(trace), Some(span), Some(_flags), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(bad());
        };
        let (mut trace_id, mut span_id) = ([0; 16], [0; 8]);
        hex::decode_to_slice(trace, &mut trace_id).map_err(|_| bad())?;
        hex::decode_to_slice(span, &mut span_id).map_err(|_| bad())?;
        if trace_id == [0; 16] || span_id == [0; 8] {
            return Err(bad());
        }
        Ok(Self { trace_id, span_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_refuses_nonsense() {
        let trace = TraceContext::start();
        assert_eq!(trace.to_string().parse::<TraceContext>().unwrap(), trace);
        for bad in ["", "00-00-00-00", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"] {
            assert!(bad.parse::<TraceContext>().is_err());
        }
    }
}
