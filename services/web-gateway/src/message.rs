//! A guest's message: checks it, and stores it durably as ingress stores a text (D2).

use std::time::Duration;

use prost::Message as _;
use seven_bus::{Outgoing, events::InboundText, subject};
use seven_domain::{Address, Stage, TraceContext, WEB};
use seven_faults::failpoint;
use seven_telemetry::{metrics, trace};
use uuid::Uuid;

use crate::{app::App, mutant, problem::Problem, session::Session};

/// Maximum length of a message, in characters (WEB-1).
const MOST_CHARS: usize = 4_096;
/// How long to wait for the bus before the message goes to the spool in Postgres.
const PUBLISH_TIMEOUT: Duration = Duration::from_millis(750);

/// A guest's message that passed the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// The id chosen by the client; a second call with this id stores no second message.
    pub(crate) id: Uuid,
    text: String,
}

impl Message {
    /// Checks a message. Without an id, it gets a new one.
    ///
    /// # Errors
    /// Returns the rule that the text breaks.
    pub(crate) fn new(text: &str, id: Option<Uuid>) -> Result<Self, Problem> {
        // Postgres cannot store NUL characters, and they carry no meaning.
        let text = text.replace('\0', "");
        let chars = text.chars().count();
        if text.trim().is_empty() || chars > MOST_CHARS {
            let wanted = format!("`message` must have 1 to {MOST_CHARS} characters");
            return Err(Problem::Invalid(format!("{wanted}; it has {chars}")));
        }
        let id = id.filter(|_| !mutant::takes_twice());
        let id = id.unwrap_or_else(Uuid::new_v4);
        Ok(Self { id, text })
    }

    /// Returns the message's id at its casino. The id is a hash of the visitor's id and `self.id`.
    /// So the deletion of a guest need not search message ids for the visitor's id.
    pub(crate) fn key(&self, session: &Session) -> String {
        Uuid::new_v5(&session.visitor, self.id.as_bytes()).to_string()
    }

    /// Makes the message durable: on the bus, or else in the spool.
    ///
    /// # Errors
    /// Fails when both refuse the message; nothing is stored then.
    pub(crate) async fn keep(&self, app: &App, session: &Session) -> Result<(), Problem> {
        let key = self.key(session);
        let now = app.fleet.clock.now().timestamp_millis();
        let event = InboundText {
            provider: WEB.to_owned(),
            provider_message_id: key.clone(),
            event_id: key.clone(),
            from: Address::Visitor(session.visitor).text(),
            to: String::new(),
            text: self.text.clone(),
            media_count: 0,
            autoresponse: String::new(),
            occurred_at: now,
            received_at: now,
            channel: WEB.to_owned(),
        };
        trace::assume(TraceContext::of_text(WEB, &key));
        let trace = trace::current().unwrap_or_else(|| TraceContext::of_text(WEB, &key));
        let trace = trace.to_string();
        let message = Outgoing {
            subject: subject(Stage::Gate, &session.casino, None),
            key: &key,
            copy: None,
            trace: &trace,
            payload: event.encode_to_vec().into(),
        };
        failpoint!("web.before_publish");
        let casino = &session.casino;
        let by = match app.fleet.bus.publish(&message, PUBLISH_TIMEOUT).await {
            Ok(()) => "bus",
            Err(error) => {
                tracing::warn!(
                    %casino,
                    error = &error as &dyn std::error::Error,
                    "publishing a message failed; it is spooled"
                );
                let mut tx = app.fleet.store.bind(casino).await?;
                tx.spool(&app.fleet.spooled(&message)).await?;
                tx.commit().await?;
                "spool"
            }
        };
        metrics()
            .web
            .messages
            .with_label_values(&[casino.as_str(), by])
            .inc();
        failpoint!("web.after_publish");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // WEB-1
    fn a_message_has_1_to_4096_characters() {
        for (text, taken) in [
            ("", false),
            (" \n\u{0}", false),
            ("?", true),
            (&"é".repeat(MOST_CHARS), true),
            (&"é".repeat(MOST_CHARS + 1), false),
        ] {
            assert_eq!(Message::new(text, None).is_ok(), taken);
        }
        let id = Uuid::from_u128(7);
        let message = Message::new("a\u{0}b", Some(id)).unwrap();
        assert_eq!((message.id, message.text.as_str()), (id, "ab"));
    }
}
