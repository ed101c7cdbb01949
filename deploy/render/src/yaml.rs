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

/// Builds a file from several documents.
pub(crate) fn file(path: &str, documents: &[Document]) -> Result<File, serde_yaml_ng::Error> {
    let mut text = HEAD.to_owned();
    for document in documents {
        text.push_str("---\n");
        text.push_str(&comment(&document.note));
        text.push_str(&serde_yaml_ng::to_string(&document.body)?);
    }
    Ok(File {
        path: path.to_owned(),
        text,
    })
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
