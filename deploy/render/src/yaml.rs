//! Builds YAML files of several documents, each with a comment that states its purpose.

use serde_json::Value;

/// A Kubernetes resource and the note that states its purpose.
#[derive(Debug, Clone)]
pub struct Document {
    pub note: String,
    pub body: Value,
}

/// A rendered file: its path below the output folder, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub text: String,
}

/// The first line of every rendered file.
pub const HEAD: &str = "# Rendered by `seven deploy render`; change the values and render again.\n";
const WIDTH: usize = 120;
/// Words that YAML 1.1 reads as booleans and YAML 1.2 as texts.
const BOOLEANS: [&str; 6] = ["on", "off", "yes", "no", "y", "n"];

impl Document {
    pub(crate) fn new(note: impl Into<String>, body: Value) -> Self {
        Self {
            note: note.into(),
            body,
        }
    }

    /// Returns kind and name, such as `Deployment seven-agent-swarm`, for tests and messages.
    pub fn title(&self) -> String {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!(
            "{} {}",
            text(&self.body["kind"]),
            text(&self.body["metadata"]["name"])
        )
    }
}

pub(crate) fn file(path: &str, documents: &[Document]) -> Result<File, serde_yaml_ng::Error> {
    let mut text = HEAD.to_owned();
    for document in documents {
        text.push_str("---\n");
        text.push_str(&comment(&document.note));
        text.push_str(&quoted(&serde_yaml_ng::to_string(&document.body)?));
    }
    Ok(File {
        path: path.to_owned(),
        text,
    })
}

/// Quotes words that Kubernetes would read as booleans, because it reads YAML 1.1. The YAML writer
/// follows 1.2, where they are texts, and does not quote them.
fn quoted(yaml: &str) -> String {
    let line = |line: &str| match line.rsplit_once(": ") {
        Some((key, word)) if BOOLEANS.contains(&word.to_ascii_lowercase().as_str()) => {
            format!("{key}: '{word}'\n")
        }
        _ => format!("{line}\n"),
    };
    yaml.lines().map(line).collect()
}

/// Formats a note as YAML comment lines.
pub(crate) fn comment(note: &str) -> String {
    let mut lines = vec!["#".to_owned()];
    for word in note.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("# {word}")),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_kubernetes_takes_for_booleans_are_quoted() {
        let body = serde_json::json!({ "a": "off", "b": "No", "c": "office", "d": true });
        let text = file("a.yaml", &[Document::new("x", body)]).unwrap().text;
        assert!(
            text.ends_with("a: 'off'\nb: 'No'\nc: office\nd: true\n"),
            "{text}"
        );
    }

    #[test]
    fn notes_wrap_and_bodies_follow() {
        let document = Document::new(
            "word ".repeat(40),
            serde_json::json!({ "kind": "Job", "metadata": { "name": "a" } }),
        );
        assert_eq!(document.title(), "Job a");
        let text = file("a.yaml", &[document]).unwrap().text;
        assert!(text.lines().all(|line| line.len() <= WIDTH));
        assert!(
            text.ends_with("word\nkind: Job\nmetadata:\n  name: a\n"),
            "{text}"
        );
    }
}
