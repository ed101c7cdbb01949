//! Explains a reply on the handset's page: the reply's path through the fleet, and the time that
//! each stage needed. The explanation holds ids, names and times, never a text or a phone.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use seven_carrier_sim::Explain;
use seven_store::{
    Store,
    timeline::{InboundLine, OutboundLine, TurnLine},
};
use tokio::time::timeout;
use uuid::Uuid;

/// Short timeout, because a page waits for the answer.
const PATH_TIMEOUT: Duration = Duration::from_secs(2);

/// Builds the explanation from the rows. If `shifted`, the fleet's clock differs from the
/// database's clock. Times then start when the database stored the guest's text, because the time
/// of its receipt came from the fleet's clock.
pub(crate) fn explain(store: Store, shifted: bool) -> Explain {
    Explain::new(move |attempt| {
        let store = store.clone();
        async move {
            match timeout(PATH_TIMEOUT, path(&store, attempt, shifted)).await {
                Ok(Ok(path)) => path,
                Ok(Err(error)) => {
                    tracing::warn!(%error, %attempt, "reading a reply's path");
                    None
                }
                Err(_) => {
                    tracing::warn!(%attempt, "reading a reply's path took too long");
                    None
                }
            }
        }
    })
}

/// Finds the path of the text that an attempt sent. Searches all casinos, because an attempt's id
/// does not name its casino and one simulator serves the whole fleet.
async fn path(store: &Store, attempt: Uuid, shifted: bool) -> seven_store::Result<Option<Value>> {
    for entry in store.roster().await? {
        let mut tx = store.bind(&entry.casino).await?;
        let Some((text, turn, inbound)) = tx.explain_attempt(attempt).await? else {
            continue;
        };
        let (attempts, _) = tx.sends(&[text.outbound_id]).await?;
        tx.commit().await?;
        let called = attempts
            .iter()
            .find(|a| a.attempt_id == attempt)
            .map(|a| a.started_at);
        return Ok(Some(told(
            &text,
            turn.as_ref(),
            inbound.as_ref(),
            called,
            shifted,
        )));
    }
    Ok(None)
}

fn told(
    text: &OutboundLine,
    turn: Option<&TurnLine>,
    inbound: Option<&InboundLine>,
    called: Option<DateTime<Utc>>,
    shifted: bool,
) -> Value {
    let received = inbound.map(|i| if shifted { i.stored_at } else { i.received_at });
    let stages = [
        ("ingress", received),
        ("gate", inbound.map(|i| i.stored_at)),
        ("swarm", turn.map(|t| t.created_at)),
        // A canned text has no step in the envelope, because the gate writes it itself.
        ("envelope", turn.map(|_| text.created_at)),
        ("sender", called),
    ];
    let start = received.unwrap_or(text.created_at);
    let steps: Vec<Value> = stages
        .into_iter()
        .filter_map(|(stage, at)| {
            at.map(|at| json!({"stage": stage, "ms": (at - start).num_milliseconds().max(0)}))
        })
        .collect();
    let mut told = Map::new();
    let mut tell = |name: &str, value: Value| {
        if !value.is_null() {
            told.insert(name.to_owned(), value);
        }
    };
    tell("verdict", json!(inbound.map(|i| &i.verdict)));
    tell(
        "pattern_id",
        json!(inbound.and_then(|i| i.pattern_id.as_deref())),
    );
    tell("agent", json!(text.agent));
    tell("intent", json!(turn.map(|t| &t.intent)));
    tell("model", json!(turn.map(|t| &t.model)));
    tell(
        "sources",
        turn.map_or_else(|| json!([]), |t| t.sources.clone()),
    );
    tell("grounded", json!(turn.map(|t| t.grounded)));
    tell("steps", json!(steps));
    Value::Object(told)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use seven_domain::{Disposition, MessageClass, OutboundState, TurnState};

    use super::*;

    fn at(ms: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::milliseconds(ms)
    }

    fn inbound(verdict: &str, pattern_id: Option<&str>) -> InboundLine {
        InboundLine {
            inbound_id: Uuid::nil(),
            body: "the guest's words".to_owned(),
            verdict: verdict.to_owned(),
            pattern_id: pattern_id.map(str::to_owned),
            disposition: Disposition::Answered,
            disposition_ref: None,
            reason: None,
            tries: 0,
            last_error: None,
            sweeps: 0,
            received_at: at(1_000),
            stored_at: at(1_012),
            closed_at: None,
            trace: String::new(),
        }
    }

    fn turn() -> TurnLine {
        TurnLine {
            turn_id: Uuid::nil(),
            agent: "host".to_owned(),
            model: "offline".to_owned(),
            intent: "venue_info".to_owned(),
            sources: json!(["dining_001"]),
            grounded: true,
            state: TurnState::Shaped,
            reason: None,
            created_at: at(1_040),
            trace: String::new(),
        }
    }

    fn outbound(agent: &str) -> OutboundLine {
        OutboundLine {
            outbound_id: Uuid::nil(),
            turn_id: None,
            inbound_id: None,
            part: 1,
            parts: 1,
            kind: "reply".to_owned(),
            class: MessageClass::Reply,
            body: "the host's words".to_owned(),
            encoding: "gsm7".to_owned(),
            segments: 1,
            agent: agent.to_owned(),
            state: OutboundState::Sent,
            reason: None,
            error_code: None,
            tries: 1,
            created_at: at(1_055),
            not_before: at(3_500),
            sent_at: None,
            ended_at: None,
            trace: String::new(),
            campaign_id: None,
            risk_score_at_send: None,
        }
    }

    #[test]
    fn a_reply_went_through_all_stages() {
        let told = told(
            &outbound("host"),
            Some(&turn()),
            Some(&inbound("pass", None)),
            Some(at(3_510)),
            false,
        );
        let expected = json!({
            "verdict": "pass", "agent": "host", "intent": "venue_info", "model": "offline",
            "sources": ["dining_001"], "grounded": true,
            "steps": [
                {"stage": "ingress", "ms": 0}, {"stage": "gate", "ms": 12},
                {"stage": "swarm", "ms": 40},
                {"stage": "envelope", "ms": 55}, {"stage": "sender", "ms": 2_510},
            ],
        });
        assert_eq!(told, expected, "and no words of either side");
    }

    #[test]
    fn a_canned_text_came_from_the_gate() {
        let inbound = inbound("opt_out", Some("optout.kw.en.1"));
        let told = told(
            &outbound("gate"),
            None,
            Some(&inbound),
            Some(at(1_070)),
            false,
        );
        let expected = json!({
            "verdict": "opt_out", "pattern_id": "optout.kw.en.1", "agent": "gate", "sources": [],
            "steps": [
                {"stage": "ingress", "ms": 0},
                {"stage": "gate", "ms": 12},
                {"stage": "sender", "ms": 70},
            ],
        });
        assert_eq!(told, expected);
    }

    #[test]
    fn a_shifted_clock_is_not_compared_with_the_databases() {
        let mut inbound = inbound("pass", None);
        inbound.received_at = at(-1_000_000);
        let told = told(
            &outbound("host"),
            Some(&turn()),
            Some(&inbound),
            Some(at(1_070)),
            true,
        );
        let ms: Vec<_> = told["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["ms"].as_i64().unwrap())
            .collect();
        assert_eq!(ms, [0, 0, 28, 43, 58]);
    }
}
