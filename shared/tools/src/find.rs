//! Finds content rows by question or by name, and shows them in a tool's result.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use serde_json::{Value, json};
use seven_domain::Language;
use seven_knowledge::{Category, Embedder, Item, Purpose, Query, Retrieved, Vector, formatter};

use crate::{Toolbox, fault::Fault};

/// Maximum number of names suggested to a model that asked for an unknown place.
const MOST_NAMES: usize = 8;

impl Toolbox<'_> {
    /// Returns the rows that fit the question, best first; empty `categories` means all.
    pub(crate) fn retrieve(
        &self,
        text: &str,
        categories: &[Category],
        most: usize,
    ) -> Vec<Retrieved> {
        let query = Query::new(text, self.given.now)
            .as_set(self.given.retrieval)
            .within(categories)
            .at_most(most);
        let embedder = self
            .given
            .embedder
            .filter(|embedder| self.given.index.space() == Some(embedder.space()));
        let query = match embedder.and_then(|embedder| Some((embedder, at_once(embedder, text)?))) {
            Some((embedder, vector)) => query.vector(embedder.space(), vector),
            None => query,
        };
        self.given.index.retrieve(&query)
    }

    /// Returns the row with this id or name that `wanted` accepts. Returns an error if there is
    /// none, because an error is better than the wrong place.
    pub(crate) fn place(
        &self,
        name: &str,
        wanted: impl Fn(&Item) -> bool,
    ) -> Result<Arc<Item>, Fault> {
        let (index, now) = (self.given.index, self.given.now);
        let by_id = index.current(now).find(|item| item.id == name.trim());
        let mut named: Vec<_> = index.mentions(name, now);
        named.sort_by_key(|mention| {
            (
                !mention.whole,
                !mention.telling,
                mention.item.category != Category::Dining,
            )
        });
        let all = || {
            by_id
                .into_iter()
                .chain(named.iter().map(|mention| &mention.item))
        };
        if let Some(item) = all().find(|item| wanted(item)) {
            return Ok(Arc::clone(item));
        }
        if let Some(item) = all().next() {
            let message = format!("the content says nothing of that about {}", item.name);
            return Err(Fault::new("not_in_content", message, self.ask_people()));
        }
        let names = index
            .current(now)
            .filter(|item| wanted(item))
            .take(MOST_NAMES)
            .map(|item| item.name.clone());
        let names: Vec<String> = names.collect();
        let fix = if names.is_empty() {
            self.ask_people()
        } else {
            format!(
                "there is, among others: {}; say honestly that a place of that name is not known \
                 here",
                names.join(", ")
            )
        };
        Err(Fault::new(
            "unknown_place",
            "the content has no place of this name",
            fix,
        ))
    }

    pub(crate) fn ask_people(&self) -> String {
        format!(
            "say that you do not know it, and give the number {}",
            self.phone()
        )
    }

    /// Shows a row in a tool's result, and records it as used and as evidence.
    pub(crate) fn show(&mut self, item: &Item, score: Option<f32>) -> Value {
        let text = self.text(item);
        self.used(&item.id, score);
        self.found(text.clone());
        let name = item.name(self.given.language);
        let mut row =
            json!({"id": item.id, "name": name, "category": item.category.as_str(), "text": text});
        if item.hours().is_some() {
            row["open_now"] = json!(item.is_open(self.given.now, self.zone()));
        }
        row
    }

    /// Returns the row's text. For a Spanish reply, the text includes the Spanish name and
    /// description, so that the reply may use their words.
    pub(crate) fn text(&self, item: &Item) -> String {
        let text = formatter::text(item, self.zone());
        match (self.given.language, &item.description_es) {
            (Language::Es, Some(spanish)) => {
                format!("{text} {} {spanish}", item.name(Language::Es))
            }
            _ => text,
        }
    }
}

/// Returns the vector of a text if the embedder computes it without waiting. The offline embedder
/// does.
pub(crate) fn at_once(embedder: &dyn Embedder, text: &str) -> Option<Vector> {
    let texts = [text];
    let mut embedding = embedder.embed(&texts, Purpose::Query);
    match embedding
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(Ok(mut vectors)) => vectors.pop(),
        Poll::Ready(Err(_)) | Poll::Pending => None,
    }
}
