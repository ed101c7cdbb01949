//! `seven conversation dialogue`: prints a conversation as a test that plays the guest's texts
//! again.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use seven_domain::Language;
use seven_store::conversations::TranscriptLine;

use super::which::{Which, note_reveal};
use crate::{
    commands::{
        args::Reveal,
        context::{Context, Operate},
    },
    out,
};

#[derive(Debug, Args)]
pub struct Dialogue {
    #[command(flatten)]
    which: Which,
    /// Number of rows to show, at most: the newest texts of the conversation.
    #[arg(long, value_name = "N", default_value_t = 40)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=1_000))]
    most: i64,
    #[command(flatten)]
    reveal: Reveal,
}

/// The head of a dialogue as `./scripts/eval` reads it; tests/conversations/README.md describes the
/// format.
#[derive(Debug, Serialize)]
struct Head {
    name: String,
    about: String,
    at: String,
    written: &'static str,
    language: Language,
}

/// The texts that the guest sent before we answered, and our answers.
#[derive(Debug, Default, PartialEq, Eq)]
struct Turn<'a> {
    guest: Vec<&'a str>,
    answers: Vec<&'a str>,
}

impl Operate for Dialogue {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        ensure!(
            self.reveal.reveal,
            "a dialogue consists of the guest's words: --reveal prints them, and the audit log \
             records it"
        );
        let fleet = ctx.fleet().await?;
        let conversation = self.which.find(fleet).await?;
        let mut tx = fleet.store.bind(self.which.casino()).await?;
        let casino = tx.casino_row().await?.context("the casino was removed")?;
        let shown = tx
            .shown_conversation(conversation)
            .await?
            .context("it was deleted this moment")?;
        let lines = tx.transcript(conversation, self.most).await?;
        note_reveal(&mut tx, conversation).await?;
        tx.commit().await?;
        let turns = turns(&lines);
        let first = lines.iter().find(|line| line.direction == "in");
        let first = first.context("the guest wrote none of these texts: raise --most")?;
        let head = Head {
            name: format!("conversation {conversation}"),
            about: "What the guest wrote, and as comments what was answered then".to_owned(),
            at: local(first.at, casino.config.operational.timezone),
            written: "after",
            language: shown
                .language
                .and_then(|language| language.parse().ok())
                .unwrap_or_default(),
        };
        out!("{}", written(&head, &turns)?.trim_end());
        Ok(ExitCode::SUCCESS)
    }
}

fn local(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone)
        .format("%Y-%m-%dT%H:%M:%S")
        .to_string()
}

/// Groups the texts, oldest first; answers before the guest's first text are left out.
fn turns(lines: &[TranscriptLine]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for line in lines {
        let inbound = line.direction == "in";
        match turns.last_mut() {
            Some(turn) if !inbound => turn.answers.push(&line.text),
            Some(turn) if turn.answers.is_empty() => turn.guest.push(&line.text),
            _ if inbound => turns.push(Turn {
                guest: vec![&line.text],
                answers: Vec::new(),
            }),
            _ => {}
        }
    }
    turns
}

/// Writes the dialogue as YAML, with the answers as comments.
fn written(head: &Head, turns: &[Turn<'_>]) -> Result<String> {
    let mut yaml = serde_yaml_ng::to_string(head)?;
    yaml += "turns:\n";
    for turn in turns {
        // Strings are written as JSON: it is valid YAML too, and stays on one line.
        let guest = match &turn.guest[..] {
            [one] => json!(one),
            more => json!(more),
        };
        yaml += &format!("  - guest: {guest}\n");
        for line in turn.answers.iter().flat_map(|answer| answer.lines()) {
            yaml += &format!("    # {line}\n");
        }
    }
    Ok(yaml)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(direction: &str, text: &str) -> TranscriptLine {
        TranscriptLine {
            direction: direction.to_owned(),
            id: uuid::Uuid::nil(),
            at: "2026-11-29T02:00:00Z".parse().unwrap(),
            state: "sent".to_owned(),
            reason: None,
            kind: None,
            turn_id: None,
            text: text.to_owned(),
        }
    }

    #[test] // SEC-96, SEC-97
    fn texts_become_turns_with_the_answers_as_comments() {
        let lines = [
            line("out", "Welcome!"),
            line("in", "is the pool: \"heated\"?\n# and open"),
            line("in", "hello?"),
            line("out", "It is.\nAnything else?"),
            line("out", "Second text"),
            line("in", "no"),
        ];
        let turns = turns(&lines);
        let head = Head {
            name: "x".to_owned(),
            about: "y".to_owned(),
            at: local(lines[0].at, chrono_tz::America::New_York),
            written: "after",
            language: Language::Es,
        };
        let yaml = written(&head, &turns).unwrap();
        assert!(
            yaml.contains("    # It is.\n    # Anything else?\n    # Second text\n"),
            "{yaml}"
        );
        let read: serde_json::Value = serde_yaml_ng::from_str(&yaml).unwrap();
        let wanted = json!({
            "name": "x",
            "about": "y",
            "at": "2026-11-28T21:00:00",
            "written": "after",
            "language": "es",
            "turns": [
                { "guest": ["is the pool: \"heated\"?\n# and open", "hello?"] },
                { "guest": "no" },
            ],
        });
        assert_eq!(read, wanted);
    }
}
