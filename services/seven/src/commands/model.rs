//! `seven model check`: calls the hosted model of the settings once for each purpose.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;
use seven_agent_swarm::{
    Hosted,
    trial::{self, Fitness},
};
use seven_domain::Language;
use seven_host::{Plan, Prompt, Prompts, Route, guests_words, prompt::Colleague, trial::CASES};
use seven_llm::{
    ToolSpec,
    chat::{ChatModel, ChatRequest, Error, Message},
};
use seven_packs::Pack;
use tokio::time::Instant;

use super::{
    args::Json,
    context::{Context, Operate, log},
    output::short,
};
use crate::{model, out, packs};

#[derive(Debug, Subcommand)]
pub enum Model {
    /// Call the hosted model once for each purpose; print form, time and answer.
    ///
    /// The model routes, plans, writes (once with a tool), and judges four drafts, some of which
    /// are wrong. This makes about ten calls, for which the provider charges. Fails if a call gives
    /// no usable answer, or if the judge does not tell right drafts from wrong ones.
    Check(Check),
}

#[derive(Debug, Args)]
pub struct Check {
    /// Seconds to wait for each call. Without it: the deadlines in [model].
    #[arg(long, value_name = "N")]
    wait: Option<u64>,
    #[command(flatten)]
    json: Json,
}

/// One kind of call, with its result.
#[derive(Debug, Serialize)]
struct Row {
    call: &'static str,
    model: String,
    /// How the server was asked for an answer that fits a JSON Schema; `-` if the call has no
    /// schema.
    form: &'static str,
    ms: u128,
    ok: bool,
    /// The model's answer, or the reason why there is none.
    answer: String,
}

impl Operate for Model {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let Self::Check(Check {
            wait,
            json: Json { json },
        }) = self;
        log()?;
        let settings = ctx.settings()?;
        let mut hosted = model::unguarded(&settings.model)?.context(
            "the settings name no hosted model; set provider, name and base_url in [model] \
             (docs/models.md), or name such a file with --config",
        )?;
        if let Some(seconds) = wait {
            let wait = Duration::from_secs(seconds);
            let deadlines = &mut hosted.deadlines;
            (deadlines.route, deadlines.plan) = (wait, wait);
            (deadlines.speak, deadlines.judge) = (wait, wait);
        }
        let packs = packs::load(&settings.packs.directory)?;
        let pack = packs.iter().next().context("there is no pack")?;
        let rows = check(&hosted, pack).await;
        let ok = rows.iter().all(|row| row.ok);
        if json {
            super::json_rows(&rows)?;
        } else {
            let columns = ["call", "model", "form", "ms", "result", "answer"];
            let mut table = ctx.table(columns).wide(["model"]);
            for row in rows {
                table.add_row([
                    row.call.to_owned(),
                    row.model,
                    row.form.to_owned(),
                    row.ms.to_string(),
                    if row.ok { "ok" } else { "FAILED" }.to_owned(),
                    short(&row.answer, ctx.view),
                ]);
            }
            out!("{table}");
        }
        Ok(if ok {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

async fn check(hosted: &Hosted, pack: &Pack) -> Vec<Row> {
    let prompts = pack.prompts();
    let (quick, speaker, judge) = (&*hosted.quick, &*hosted.speaker, &*hosted.judge);
    let deadlines = hosted.deadlines;
    let route = ChatRequest {
        output_schema: Some(Route::schema(&pack.agents)),
        ..request(prompts, Prompt::Router, pack, deadlines.route)
    };
    let plan = ChatRequest {
        output_schema: Some(Plan::schema()),
        ..request(prompts, Prompt::Planner, pack, deadlines.plan)
    };
    let write = request(prompts, Prompt::Agent(Language::En), pack, deadlines.speak);
    let with_tool = ChatRequest {
        tools: vec![tool()],
        ..write.clone()
    };
    vec![
        ask("route", quick, &route, |text| Route::parse(text).is_some()).await,
        ask("plan", quick, &plan, |text| Plan::parse(text).is_ok()).await,
        ask("write", speaker, &write, |text| !text.is_empty()).await,
        ask("write with a tool", speaker, &with_tool, |_| true).await,
        ask_judge(judge, &trial::requests(prompts, deadlines.judge)).await,
    ]
}

/// Builds a request about the first case of the judge's trial.
fn request(prompts: &Prompts, prompt: Prompt, pack: &Pack, deadline: Duration) -> ChatRequest {
    let case = CASES[0];
    // An agent's prompt comes with the guest's words as a plain message of the conversation. For
    // all other prompts, the words are wrapped in a tag.
    let words = match prompt {
        Prompt::Agent(_) => case.guest.to_owned(),
        _ => guests_words(case.guest),
    };
    let agents = pack.agents.agents.iter().map(|(name, agent)| Colleague {
        name: name.clone(),
        title: agent.title.clone(),
        subjects: agent.subjects.clone(),
    });
    let facts = seven_host::PromptFacts {
        agents: agents.collect(),
        ..case.facts()
    };
    ChatRequest {
        system: prompts.render(prompt, &facts),
        messages: vec![Message::User(words)],
        tools: Vec::new(),
        output_schema: None,
        temperature: Some(0.0),
        max_output_tokens: Some(400),
        deadline,
    }
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: "search_knowledge_base".to_owned(),
        description: "Searches the casino's content.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "query": { "type": "string" } },
            "required": ["query"],
        }),
    }
}

async fn ask(
    call: &'static str,
    model: &dyn ChatModel,
    request: &ChatRequest,
    usable: impl Fn(&str) -> bool,
) -> Row {
    let began = Instant::now();
    let outcome = model.chat(request).await;
    let ms = began.elapsed().as_millis();
    let (ok, answer) = match outcome {
        Ok(reply) if !reply.tool_calls.is_empty() => {
            let names = reply.tool_calls.iter().map(|call| call.name.as_str());
            (
                true,
                format!("calls {}", names.collect::<Vec<_>>().join(", ")),
            )
        }
        Ok(reply) => {
            let words: Vec<&str> = reply.text.split_whitespace().collect();
            (usable(&reply.text), words.join(" "))
        }
        Err(error) => (false, told(&error)),
    };
    let has_schema = request.output_schema.is_some();
    Row {
        call,
        model: model.name().to_owned(),
        form: model.format().filter(|_| has_schema).unwrap_or("-"),
        ms,
        ok,
        answer,
    }
}

async fn ask_judge(judge: &dyn ChatModel, requests: &[ChatRequest]) -> Row {
    let began = Instant::now();
    let outcome = trial::examine(judge, requests).await;
    let number = requests.len();
    let (ok, answer) = match outcome {
        Ok(Fitness::Fit) => (true, format!("{number} of {number} drafts judged right")),
        Ok(Fitness::Unfit(wrong)) => {
            let right = number - usize::from(wrong);
            let rest = "the offline host answers instead";
            (
                false,
                format!("{right} of {number} drafts judged right; {rest}"),
            )
        }
        Ok(Fitness::Unknown) => (false, "no verdict".to_owned()),
        Err(error) => (false, told(&error)),
    };
    Row {
        call: "judge",
        model: judge.name().to_owned(),
        form: judge.format().unwrap_or("-"),
        ms: began.elapsed().as_millis(),
        ok,
        answer,
    }
}

/// Returns the error with its causes and a hint on what to check next.
fn told(error: &Error) -> String {
    let next = match error {
        Error::Connection { .. } => "; does a server listen at model.base_url?",
        Error::Timeout { .. } => "; --wait N waits longer, and [model] has the deadlines of turns",
        Error::Refused {
            status: 401 | 403, ..
        } => "; check model.api_key",
        Error::Refused { status: 404, .. } => {
            "; model.base_url must end where /chat/completions begins, and model.name must exist"
        }
        Error::Answer { .. } | Error::Unavailable { .. } => "; see the server's log",
        _ => "",
    };
    format!("{error}{next}")
}

/// Describes how many turns the hosted model answered, and why it did not answer the others. `None`
/// if there were no turns.
pub fn answered(turns: &[(String, i64)]) -> Option<String> {
    let all: i64 = turns.iter().map(|(_, n)| n).sum();
    let by_model = turns.iter().find(|(outcome, _)| outcome == "model");
    let by_model = by_model.map_or(0, |(_, n)| *n);
    let others = turns.iter().filter(|(outcome, _)| outcome != "model");
    let others: Vec<String> = others
        .map(|(why, n)| format!("{} {n}", why.replace('_', " ")))
        .collect();
    let rest = if others.is_empty() {
        String::new()
    } else {
        format!("; the others: {}", others.join(", "))
    };
    (all > 0).then(|| format!("answered {by_model} of {all} turns{rest}"))
}

#[cfg(test)]
mod tests {
    use super::answered;

    #[test]
    fn the_share_of_the_model_is_told_with_the_reasons() {
        let turns = |all: &[(&str, i64)]| {
            let all = all.iter().map(|(why, n)| ((*why).to_owned(), *n));
            answered(&all.collect::<Vec<_>>())
        };
        assert_eq!(turns(&[]), None);
        assert_eq!(turns(&[("model", 3)]).unwrap(), "answered 3 of 3 turns");
        let mixed = turns(&[("not_judged", 5), ("model", 3), ("timeout", 1)]).unwrap();
        assert_eq!(
            mixed,
            "answered 3 of 9 turns; the others: not judged 5, timeout 1"
        );
        assert_eq!(
            turns(&[("refused", 2)]).unwrap(),
            "answered 0 of 2 turns; the others: refused 2"
        );
    }
}
