//! Lets an agent write the reply with the help of its tools, or hand the turn to another agent.

use std::sync::Arc;

use serde_json::json;
use seven_host::{Event, Plan, Prompt};
use seven_llm::{
    ToolSpec,
    chat::{ChatRequest, Message, ToolCall, ToolResult},
};
use seven_telemetry::trace;
use tokio::time::Instant;

use super::{Down, Play, is_down};

const TRANSFER: &str = "transfer_to_";

impl Play<'_> {
    /// Lets the agent work until there is a result: a draft, a handover to another agent, or no
    /// usable answer.
    pub(super) async fn speak(
        &mut self,
        agent: &str,
        plan: Option<Plan>,
        feedback: Option<String>,
    ) -> Result<Event, Down> {
        let manifest = &self.work.pack.agents;
        let Some(own) = manifest.agents.get(agent) else {
            return Ok(Event::SpeechFailed);
        };
        self.toolbox.hand_to(own);
        let mut plan = plan.unwrap_or_else(|| Plan::own(self.input.request.ask));
        if self.input.grant.is_none() {
            // Facts about this guest may not be stored, so the agent asks for none, whatever the
            // planner wants.
            plan.next_topic = Plan::own(None).next_topic;
        }
        let plan = Some(plan);
        let state = &self.input.request.state;
        let topic = plan.as_ref().and_then(|plan| plan.next_topic.topic());
        self.topic = topic.filter(|topic| state.may_ask() && !state.knows(*topic));
        let facts = self
            .known
            .for_agent(manifest, agent, self.input.language, plan, feedback);
        let request = self.request(
            Prompt::Agent(self.input.language),
            &facts,
            self.hosted.deadlines.speak,
        );
        let mut request = ChatRequest {
            tools: self
                .toolbox
                .specs(&own.tools)
                .into_iter()
                .chain(own.hands_to.iter().map(|to| transfer(to)))
                .collect(),
            temperature: Some(self.hosted.temperature),
            messages: self.conversation(),
            ..request
        };
        let model = Arc::clone(&self.hosted.speaker);
        loop {
            let reply = match self.chat(agent, &*model, &request).await {
                Ok(reply) => reply,
                Err(error) if is_down(&error) => return Err(Down(error.kind())),
                Err(_) => return Ok(Event::SpeechFailed),
            };
            if reply.tool_calls.is_empty() {
                self.draft = reply.text.trim().to_owned();
                return Ok(Event::Spoke);
            }
            if let Some(to) = reply
                .tool_calls
                .iter()
                .find_map(|call| call.name.strip_prefix(TRANSFER))
            {
                return Ok(Event::HandsTo(to.to_owned()));
            }
            if request.tools.is_empty() {
                // The model calls a tool although the request offered none.
                return Ok(Event::SpeechFailed);
            }
            let results = reply
                .tool_calls
                .iter()
                .map(|call| self.call(call))
                .collect();
            request.messages.push(Message::AssistantCalls {
                text: reply.text,
                calls: reply.tool_calls,
            });
            request.messages.push(Message::ToolResults(results));
            if self.tool_calls == 0 {
                request.tools.clear();
            }
        }
    }

    fn call(&mut self, call: &ToolCall) -> ToolResult {
        let started = Instant::now();
        // A tool name that the model made up is not recorded.
        let name = seven_tools::known()
            .find(|name| *name == call.name)
            .unwrap_or("unknown");
        let mut span = trace::step("seven.tool.", name);
        let content = match self.tool_calls.checked_sub(1) {
            Some(left) => {
                self.tool_calls = left;
                let content = self.toolbox.call(&call.name, &call.arguments);
                self.toolbox
                    .took(u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX));
                content
            }
            None => {
                json!({
                    "error": {
                        "kind": "too_many_calls",
                        "message": "no more tool calls in this turn",
                        "fix": "answer with what you have",
                    },
                })
            }
        };
        if span.is_recorded() {
            span.set("seven.result_keys", keys(&content));
            if let Some(rows) = content
                .as_object()
                .and_then(|fields| fields.values().find_map(|v| v.as_array()))
            {
                span.set("seven.results_count", rows.len());
            }
            if content.get("error").is_some() {
                span.set("error.type", "tool_error");
            }
        }
        drop(span);
        ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content,
        }
    }

    /// Returns the earlier exchanges word for word, then all new texts. The store limits how many
    /// exchanges there are.
    fn conversation(&self) -> Vec<Message> {
        let request = &self.input.request;
        let earlier = request.history.iter().flat_map(|e| {
            [
                Message::User(e.guest.clone()),
                Message::Assistant(e.host.clone()),
            ]
        });
        earlier
            .chain([Message::User(request.texts.join("\n"))])
            .collect()
    }
}

/// Returns the field names of a tool's result. The tool defines them, so they tell nothing about
/// the guest.
fn keys(content: &serde_json::Value) -> Vec<String> {
    content
        .as_object()
        .map(|fields| fields.keys().cloned().collect())
        .unwrap_or_default()
}

fn transfer(to: &str) -> ToolSpec {
    ToolSpec {
        name: format!("{TRANSFER}{to}"),
        description: format!("Hands the turn to {to}, silently. Write no text with it."),
        parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}),
    }
}
