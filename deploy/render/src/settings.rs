//! The settings file every worker mounts, and which worker gets which secret (DEP-40, SEC-130): by reference, as files, and no worker more
//! than it uses.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use seven_settings::{Settings, Worker};

use super::{
    names::{self, metadata},
    values::{CasinoValues, FleetValues, SecretRef},
    yaml::Document,
};

/// Where the settings and the secrets are in a pod.
pub(crate) const SETTINGS_FILE: &str = "/etc/seven/seven.toml";
pub(crate) const SECRETS_DIR: &str = "/etc/seven/secrets";
/// The certificate that vouches for NATS, and its folder.
pub(crate) const NATS_CA: &str = "/etc/seven/nats/ca.crt";
pub(crate) const NATS_DIR: &str = "/etc/seven/nats";
pub(crate) const CONFIG_MAP: &str = "seven-settings";

const EVERY: &[Worker] = &Worker::ALL;

/// Every secret setting and the workers that read it.
pub(crate) const SECRETS: [(&str, &[Worker]); 12] = [
    ("postgres.url", EVERY),
    // The migration's alone.
    ("postgres.owner_url", &[]),
    ("redis.url", EVERY),
    ("guest_hash.secret", EVERY),
    ("telnyx.api_key", &[Worker::OutboundSender, Worker::Scheduler]),
    ("twilio.account_sid", &[Worker::IngressWebhook, Worker::OutboundSender]),
    ("twilio.auth_tokens", &[Worker::IngressWebhook, Worker::OutboundSender]),
    ("twilio.api_key_secret", &[Worker::OutboundSender]),
    ("model.api_key", &[Worker::AgentSwarm]),
    ("knowledge.api_key", &[Worker::AgentSwarm]),
    ("alerts.slack_webhook_url", &[Worker::Scheduler]),
    ("alerts.pagerduty_routing_key", &[Worker::Scheduler]),
];

/// Without these nothing starts.
pub(crate) const REQUIRED_SECRETS: [&str; 5] =
    ["postgres.url", "postgres.owner_url", "redis.url", "guest_hash.secret", "telnyx.api_key"];

/// The settings the rendered fleet runs with, but for its secrets. Fails on unknown keys and on secrets written out.
pub(crate) fn of(fleet: &FleetValues) -> Result<Settings> {
    let text = text(fleet)?;
    Settings::parse(&text).map_err(|error| {
        let why = std::error::Error::source(&error).map(ToString::to_string);
        anyhow::anyhow!("{error}{}", why.map(|why| format!(": {why}")).unwrap_or_default())
    })
}

/// The same as TOML.
pub fn text(fleet: &FleetValues) -> Result<String> {
    for (key, _) in SECRETS {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        if fleet.settings.get(section).and_then(|section| section.get(name)).is_some() {
            bail!("{key} is a secret: name it under `secrets`, so that no file holds it");
        }
    }
    // The defaults listen on the loopback address alone; in a pod the ports are the same.
    let defaults = Settings::parse("").context("reading the default settings")?;
    let (webhook, ops) = (defaults.ingress.listen.port(), defaults.ops.listen.port());
    let mut all: toml::Table = toml::from_str(&format!(
        "[nats]\nurl = \"tls://{}\"\nca_file = \"{NATS_CA}\"\nreplicas = {}\n[ingress]\nlisten = \"0.0.0.0:{webhook}\"\n\
         [ops]\nlisten = \"0.0.0.0:{ops}\"\n",
        super::nats::address(fleet),
        fleet.nats.replicas,
    ))?;
    for (section, ours) in &fleet.settings {
        let (toml::Value::Table(ours), there) =
            (ours, all.entry(section.clone()).or_insert_with(|| toml::Value::Table(toml::Table::new())))
        else {
            bail!("settings.{section} is no section; settings.default.toml shows them");
        };
        let Some(there) = there.as_table_mut() else { bail!("settings.{section} is no section") };
        for (key, value) in ours {
            if there.insert(key.clone(), value.clone()).is_some() {
                bail!("{section}.{key} follows from the other values; leave it out");
            }
        }
    }
    Ok(toml::to_string(&all)?)
}

/// Stands for these settings where they are used.
pub(crate) fn digest(fleet: &FleetValues) -> String {
    use sha2::{Digest, Sha256};
    let text = text(fleet).unwrap_or_default();
    hex::encode(Sha256::digest(text.as_bytes())).chars().take(16).collect()
}

/// The ConfigMap with them.
pub(crate) fn config_map(fleet: &FleetValues) -> Result<Document> {
    Ok(Document::new(
        "Settings of every worker. Secrets are not here: each worker mounts those it reads.",
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata(fleet, CONFIG_MAP, "settings", None),
            "data": { "seven.toml": text(fleet)? },
        }),
    ))
}

/// The secrets a worker reads: its setting and where its value is.
fn secrets_of<'a>(
    fleet: &'a FleetValues,
    worker: Worker,
    casino: Option<&'a CasinoValues>,
) -> Vec<(&'static str, &'a SecretRef)> {
    let of = |name: &str| casino.and_then(|c| c.secrets.get(name)).or_else(|| fleet.secrets.get(name));
    SECRETS.iter().filter(|(_, who)| who.contains(&worker)).filter_map(|(name, _)| Some((*name, of(name)?))).collect()
}

fn file(setting: &str, from: &SecretRef) -> Value {
    json!({ "secret": { "name": from.name, "items": [{ "key": from.key, "path": setting.replace('.', "__") }] } })
}

/// The volume of a worker's secrets: one file for each, and its password at NATS.
pub(crate) fn volume(fleet: &FleetValues, worker: Worker, casino: Option<&CasinoValues>) -> Value {
    let user = names::user(worker, casino.map(|casino| &casino.casino_id));
    let password = SecretRef { name: names::password_secret(&user), key: "password".into() };
    let mut sources: Vec<Value> =
        secrets_of(fleet, worker, casino).into_iter().map(|(setting, from)| file(setting, from)).collect();
    sources.push(file("nats.password", &password));
    json!({ "name": "secrets", "projected": { "defaultMode": 0o440, "sources": sources } })
}

/// The volume with the certificate of NATS; the key beside it stays where it is.
pub(crate) fn nats_volume(fleet: &FleetValues) -> Value {
    json!({
        "name": "nats",
        "secret": { "secretName": fleet.nats.tls_secret, "items": [{ "key": "ca.crt", "path": "ca.crt" }] },
    })
}

/// The volume of the migration: the owner's login and nothing else.
pub(crate) fn owner_volume(fleet: &FleetValues) -> Value {
    chosen(fleet, &["postgres.owner_url"])
}

/// The volume of the backup: the owner's login reads, the workers' notes that it was made, and the manifest has a check of the hash key.
pub(crate) fn backup_volume(fleet: &FleetValues) -> Value {
    chosen(fleet, &["postgres.owner_url", "postgres.url", "guest_hash.secret"])
}

/// Builds the volume of secrets that operators' commands read, without the database owner's login.
pub(crate) fn operator_volume(fleet: &FleetValues) -> Value {
    let names: Vec<&str> = SECRETS.iter().map(|(name, _)| *name).filter(|name| *name != "postgres.owner_url").collect();
    let mut volume = chosen(fleet, &names);
    let password = SecretRef { name: names::password_secret(super::nats::OPERATOR), key: "password".into() };
    if let Some(sources) = volume["projected"]["sources"].as_array_mut() {
        sources.push(file("nats.password", &password));
    }
    volume
}

fn chosen(fleet: &FleetValues, names: &[&str]) -> Value {
    let sources: Vec<Value> = names.iter().filter_map(|name| Some(file(name, fleet.secrets.get(*name)?))).collect();
    json!({ "name": "secrets", "projected": { "defaultMode": 0o440, "sources": sources } })
}
