//! search_knowledge_base, and the searches that a manifest declares (D18).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use seven_host::SearchTool;
use seven_knowledge::Category;

use crate::{
    Toolbox,
    fault::{Answer, arguments},
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The guest's question, in a few of the guest's own words.
    query: String,
    /// Only rows of this category.
    #[serde(default)]
    category: Option<String>,
    /// Only what is open now.
    #[serde(default)]
    open_now: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declared {
    /// The guest's wish, in a few of the guest's own words; empty lists what there is.
    #[serde(default)]
    query: String,
    /// Only what is open now.
    #[serde(default)]
    open_now: bool,
}

impl Toolbox<'_> {
    pub(crate) fn search_knowledge_base(&mut self, given: &Value) -> Answer {
        let Arguments {
            query,
            category,
            open_now,
        } = arguments(given)?;
        let categories: Vec<Category> = category
            .iter()
            .map(|name| Category::from(name.as_str()))
            .collect();
        let has = |category: &Category| {
            self.given
                .index
                .current(self.given.now)
                .any(|item| item.category == *category)
        };
        // If the casino has no row of a category, all categories are searched. A wrong guess of the
        // model then hides no answer.
        let unknown = categories.iter().any(|category| !has(category));
        let categories = if unknown { Vec::new() } else { categories };
        Ok(self.rows(&query, &categories, open_now))
    }

    pub(crate) fn search_declared(&mut self, tool: &SearchTool, given: &Value) -> Answer {
        let Declared { query, open_now } = arguments(given)?;
        let categories: Vec<Category> = tool
            .categories
            .iter()
            .map(|name| Category::from(name.as_str()))
            .collect();
        Ok(self.rows(&query, &categories, open_now))
    }

    /// Returns the rows that match. If no row matches, returns the first rows of the given
    /// categories, with a note.
    fn rows(&mut self, query: &str, categories: &[Category], open_now: bool) -> Value {
        let open =
            |item: &seven_knowledge::Item| !open_now || item.is_open(self.given.now, self.zone());
        // Rows that are not open are filtered out below, so more rows are requested here.
        let rows_wanted = self.given.retrieval.rows;
        let most = if open_now {
            4 * rows_wanted
        } else {
            rows_wanted
        };
        let found = self
            .retrieve(query, categories, most)
            .into_iter()
            .filter(|found| open(&found.item));
        let mut rows: Vec<_> = found
            .map(|found| (found.item, Some(found.scores.fused)))
            .collect();
        rows.truncate(rows_wanted);
        let matched = !rows.is_empty();
        if !matched && !categories.is_empty() {
            let others = self.given.index.current(self.given.now);
            let others = others
                .filter(|item| categories.contains(&item.category) && open(item))
                .take(rows_wanted);
            rows = others
                .map(|item| (std::sync::Arc::clone(item), None))
                .collect();
        }
        let shown: Vec<Value> = rows
            .iter()
            .map(|(item, score)| self.show(item, *score))
            .collect();
        let mut result = json!({ "rows": shown });
        if shown.is_empty() {
            result["note"] = json!(format!(
                "the content says nothing of this; {}",
                self.ask_people()
            ));
        } else if !matched && !query.trim().is_empty() {
            result["note"] = json!(
                "no row says these words; these are others of the category, and only what they say is so"
            );
        }
        result
    }
}
