//! Writes log lines as JSON. All lines begin with the same fields. Phone numbers and mail addresses
//! are masked.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
};

use seven_domain::trace::hex_of;
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::Writer,
        time::{FormatTime, SystemTime},
    },
    registry::LookupSpan,
};

use crate::trace;

/// Writes a log line: first `timestamp` (UTC), `severity` and `logger`; then `trace_id`, `span_id`,
/// `stage` and `casino` of the current work; then `message` and the event's own fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Json;

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let meta = event.metadata();
        line.write_str("{\"timestamp\":\"")?;
        SystemTime.format_time(&mut line)?;
        write!(
            line,
            "\",\"severity\":\"{}\",\"logger\":\"{}\"",
            meta.level(),
            meta.target()
        )?;
        let told = trace::told(|stage, casino, context| {
            let (mut trace_id, mut span_id) = ([0; 32], [0; 16]);
            let (trace_id, span_id) = (
                hex_of(&context.trace_id, &mut trace_id),
                hex_of(&context.span_id, &mut span_id),
            );
            write!(
                line,
                ",\"trace_id\":\"{trace_id}\",\"span_id\":\"{span_id}\",\"stage\":\"{stage}\""
            )?;
            // Written without escaping, because ids contain no character that JSON escapes.
            if let Some(casino) = casino {
                write!(line, ",\"casino\":\"{casino}\"")?;
            }
            Ok::<_, fmt::Error>(casino.is_some())
        });
        let casino = told.transpose()?;
        let mut fields = Fields {
            line,
            known: casino.is_some(),
            casino: casino == Some(true),
            outcome: Ok(()),
        };
        event.record(&mut fields);
        fields.outcome?;
        fields.line.write_str("}\n")
    }
}

struct Fields<'a> {
    line: Writer<'a>,
    /// Whether the line already has the trace and stage of the current work.
    known: bool,
    casino: bool,
    outcome: fmt::Result,
}

impl Fields<'_> {
    fn field(&mut self, field: &Field, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        let name = field.name();
        let said = match name {
            "casino" => self.casino,
            "stage" | "trace" => self.known,
            _ => false,
        };
        if said || self.outcome.is_err() {
            return;
        }
        self.outcome = write!(self.line, ",\"{name}\":").and_then(|()| write(&mut self.line));
    }

    fn text(&mut self, field: &Field, text: &str) {
        self.field(field, |line| quoted(line, &masked(text)));
    }
}

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.field(field, |line| write!(line, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.field(field, |line| write!(line, "{value}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no NaN and no infinity, so these become null.
        self.field(field, |line| {
            if value.is_finite() {
                write!(line, "{value}")
            } else {
                line.write_str("null")
            }
        });
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.field(field, |line| write!(line, "{value}"));
    }

    /// Writes the error and all its sources. No other line has them, because an error is logged
    /// only once, where it is handled.
    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let mut text = value.to_string();
        let mut source = value.source();
        while let Some(error) = source {
            write!(text, ": {error}").ok();
            source = error.source();
        }
        self.text(field, &text);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, &format!("{value:?}"));
    }
}

fn quoted(line: &mut Writer<'_>, text: &str) -> fmt::Result {
    line.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => line.write_str("\\\"")?,
            '\\' => line.write_str("\\\\")?,
            '\n' => line.write_str("\\n")?,
            c if c.is_control() => write!(line, "\\u{:04x}", u32::from(c))?,
            c => line.write_char(c)?,
        }
    }
    line.write_char('"')
}

/// Masks phone numbers in international form and mail addresses. Our own types do this themselves,
/// but errors of libraries may quote a number or an address.
fn masked(text: &str) -> Cow<'_, str> {
    if !text.contains(['+', '@']) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['+', '@']) {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let host = after
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || b"-.".contains(b))
            .count();
        if rest.as_bytes()[at] == b'+' && digits >= 8 {
            clean.push_str(before);
            clean.push_str("+[phone]");
            rest = &after[digits..];
        } else if rest.as_bytes()[at] == b'@'
            && after[..host].contains('.')
            && !before.ends_with(is_delimiter)
        {
            let name = before.rfind(is_delimiter).map_or(0, |end| end + 1);
            clean.push_str(&before[..name]);
            clean.push_str("[mail]");
            rest = &after[host..];
        } else {
            clean.push_str(&rest[..=at]);
            rest = after;
        }
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// Returns whether a character cannot belong to the name before an `@`. Returns true only for ASCII
/// characters, which have one byte, so that byte positions stay valid.
fn is_delimiter(c: char) -> bool {
    c.is_ascii() && !(c.is_ascii_alphanumeric() || "._%+-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // DATA-48
    fn phones_and_mail_addresses_are_masked() {
        for (said, logged) in [
            (
                "sending to +18605550142 failed",
                "sending to +[phone] failed",
            ),
            ("(+18605550142,+18605550143)", "(+[phone],+[phone])"),
            ("mail to maria.x@example.com now", "mail to [mail] now"),
            ("a,ñmaria@example.com", "a,[mail]"),
            ("5+5=10 and a @ b", "5+5=10 and a @ b"),
            ("postgres at user@localhost", "postgres at user@localhost"),
            ("2026-11-23T01:00:00+00:00", "2026-11-23T01:00:00+00:00"),
            ("+", "+"),
        ] {
            assert_eq!(masked(said), logged);
        }
    }

    #[test]
    fn any_text_makes_a_json_string() {
        for text in [
            "a \"quote\"",
            "back\\slash",
            "line\nbreak\ttab\u{1}",
            "ñandú 🎰",
        ] {
            let mut out = String::new();
            quoted(&mut Writer::new(&mut out), text).unwrap();
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }
}
