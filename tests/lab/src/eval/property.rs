//! The casino at which dialogues are played, and what its host may say.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use chrono::{DateTime, NaiveDateTime, Utc};
use seven::onboard;
use seven_domain::{CasinoConfig, Language};
use seven_host::Evidence;
use seven_knowledge::{Item, Reference, formatter, parse_content};
use seven_packs::TextKey;
use seven_runtime::Fleet;

use super::judge::House;

/// The casino at which the dialogues are played: its document and its content.
#[derive(Debug, Clone)]
pub struct Property {
    pub config: CasinoConfig,
    pub content: String,
    /// Name of the content's file, for error messages.
    pub content_file: String,
}

// === impl Property ===

impl Property {
    /// Reads the casino from these files. If a file is not given, the demo's document or content is
    /// used.
    pub fn read(casino: Option<&Path>, content: Option<&Path>) -> Result<Self> {
        let (casino_file, casino) = read(casino, "demo/casino.json", seven_packs::demo::CASINO)?;
        let (content_file, content) =
            read(content, "demo/content.json", seven_packs::demo::CONTENT)?;
        let mut config = onboard::read_casino(&casino_file, &casino)?;
        // Lifts the limit of texts per guest, because a dialogue is played faster than people type.
        config.limits.guest_texts_per_minute = u32::MAX;
        Ok(Self {
            config,
            content,
            content_file,
        })
    }

    /// Returns the content's rows, whose relative dates count from the local time `at`.
    ///
    /// # Errors
    /// Fails if a row is wrong, and names each problem as file:row:field.
    pub fn items(&self, at: NaiveDateTime) -> Result<Vec<Item>> {
        let now = self.instant(at)?;
        let zone = self.config.operational.timezone;
        let items = parse_content(&self.content_file, &self.content, Reference { now, zone });
        items.map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            anyhow!("{}", problems.join("\n"))
        })
    }

    /// Converts `at` from the casino's local time; fails if the casino's clock skips this time.
    pub fn instant(&self, at: NaiveDateTime) -> Result<DateTime<Utc>> {
        let at_casino = at
            .and_local_timezone(self.config.operational.timezone)
            .earliest();
        let at_casino = at_casino.with_context(|| format!("{at} is no time at the casino"))?;
        Ok(at_casino.with_timezone(&Utc))
    }
}

/// Returns the file's name and text; `None` selects the demo's.
fn read(file: Option<&Path>, demo_file: &str, demo: &str) -> Result<(String, String)> {
    let Some(file) = file else {
        return Ok((demo_file.to_owned(), demo.to_owned()));
    };
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()));
    Ok((file.display().to_string(), text?))
}

/// Collects the casino's fallback texts, phone, row names and evidence. If `grounds` is set, the
/// rows' content is part of the evidence.
pub(super) fn house(
    fleet: &Fleet,
    config: &CasinoConfig,
    items: &[Item],
    grounds: bool,
) -> Result<House> {
    let zone = config.operational.timezone;
    let pack = fleet.packs.of(config)?;
    let ours = [
        TextKey::Disclosure,
        TextKey::Redisclosure,
        TextKey::Fallback,
    ];
    let texts = ours
        .into_iter()
        .flat_map(|key| Language::ALL.map(|language| pack.say(key, language, config)));
    let rows = items.iter().filter(|_| grounds).flat_map(|item| {
        let mut said = vec![formatter::text(item, zone)];
        words(&item.to_json(), &mut said);
        said
    });
    let truths: Vec<String> = texts.chain(rows).collect();
    Ok(House {
        fallbacks: Language::ALL
            .map(|language| pack.say(TextKey::Fallback, language, config))
            .to_vec(),
        phone: config.operational.contact_phone.clone(),
        names: items
            .iter()
            .map(|item| (item.id.clone(), names(item)))
            .collect(),
        evidence: Evidence::of(truths.iter().map(String::as_str)),
    })
}

/// Adds every text and number of a stored row to `said`, including the Spanish texts.
fn words(row: &serde_json::Value, said: &mut Vec<String>) {
    match row {
        serde_json::Value::String(text) => said.push(text.clone()),
        serde_json::Value::Array(list) => list.iter().for_each(|one| words(one, said)),
        serde_json::Value::Object(fields) => fields.values().for_each(|one| words(one, said)),
        serde_json::Value::Number(number) => said.push(number.to_string()),
        serde_json::Value::Bool(_) | serde_json::Value::Null => {}
    }
}

fn names(item: &Item) -> Vec<String> {
    std::iter::once(item.name.clone())
        .chain(item.name_es.clone())
        .collect()
}
