//! Renders the settings file that every worker mounts, and the secrets of each worker. Secrets are
//! mounted as files from Kubernetes secrets, and a worker gets only those it reads.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use seven_settings::{Settings, Worker};

use super::{
    names::{self, metadata},
    values::{CasinoValues, FleetValues, SecretRef},
    yaml::Document,
};

/// Paths of the settings file and of the secrets in a pod.
pub(crate) const SETTINGS_FILE: &str = "/etc/seven/seven.toml";
pub(crate) const SECRETS_DIR: &str = "/etc/seven/secrets";
/// `NATS_CA`: certificate of the authority that signed the NATS servers' certificates. `NATS_DIR`:
/// the folder of this file.
pub(crate) const NATS_CA: &str = "/etc/seven/nats/ca.crt";
pub(crate) const NATS_DIR: &str = "/etc/seven/nats";
pub(crate) const CONFIG_MAP: &str = "seven-settings";

/// All workers: those of `Worker::ALL`, and the two that serve pages.
const AND_PAGES: &[Worker] = &[
    Worker::IngressWebhook,
    Worker::ComplianceGate,
    Worker::AgentSwarm,
    Worker::PersonaEnvelope,
    Worker::OutboundSender,
    Worker::Scheduler,
    Worker::Console,
    Worker::WebGateway,
];
/// The workers that use the fleet's own database login.
const AND_WEB: &[Worker] = &Worker::WITH_WEB;

/// Every secret setting, with the workers that read it.
pub(crate) const SECRETS: [(&str, &[Worker]); 18] = [
    ("postgres.url", AND_WEB),
    // No worker reads the owner's login; only the migration and the backup do.
    ("postgres.owner_url", &[]),
    // The console has its own database login, the only one that can read the operators' accounts.
    ("console.postgres_url", &[Worker::Console]),
    ("console.oidc_client_secrets", &[Worker::Console]),
    ("redis.url", AND_PAGES),
    ("guest_hash.secret", AND_PAGES),
    (
        "telnyx.api_key",
        &[Worker::OutboundSender, Worker::Scheduler],
    ),
    (
        "twilio.account_sid",
        &[Worker::IngressWebhook, Worker::OutboundSender],
    ),
    (
        "twilio.auth_tokens",
        &[Worker::IngressWebhook, Worker::OutboundSender],
    ),
    ("twilio.api_key_secret", &[Worker::OutboundSender]),
    ("model.api_key", &[Worker::AgentSwarm]),
    ("knowledge.api_key", &[Worker::AgentSwarm]),
    ("alerts.slack_webhook_url", &[Worker::Scheduler]),
    ("alerts.pagerduty_routing_key", &[Worker::Scheduler]),
    ("notices.smtp_url", &[Worker::Scheduler]),
    ("web.token_key", &[Worker::WebGateway]),
    ("web.former_token_key", &[Worker::WebGateway]),
    ("web.api_key", &[Worker::WebGateway]),
];

/// Secrets that the values of every fleet must name.
pub(crate) const REQUIRED_SECRETS: [&str; 5] = [
    "postgres.url",
    "postgres.owner_url",
    "redis.url",
    "guest_hash.secret",
    "telnyx.api_key",
];

/// Returns the settings of the rendered fleet, without its secrets. Fails on unknown keys and on
/// secrets given as plain values.
pub(crate) fn of(fleet: &FleetValues) -> Result<Settings> {
    let text = text(fleet)?;
    Settings::parse(&text).map_err(|error| {
        let why = std::error::Error::source(&error).map(ToString::to_string);
        anyhow::anyhow!(
            "{error}{}",
            why.map(|why| format!(": {why}")).unwrap_or_default()
        )
    })
}

/// Returns the fleet's settings as TOML. Fails on secrets in plain text and on settings that follow
/// from other values.
pub fn text(fleet: &FleetValues) -> Result<String> {
    for (key, _) in SECRETS {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        if fleet
            .settings
            .get(section)
            .and_then(|section| section.get(name))
            .is_some()
        {
            bail!("{key} is a secret: name it under `secrets`, so that no file holds it");
        }
    }
    // By default workers listen on the loopback address only. In a pod they listen on all
    // addresses, on the same ports.
    let defaults = Settings::parse("").context("reading the default settings")?;
    let (webhook, ops) = (defaults.ingress.listen.port(), defaults.ops.listen.port());
    let mut all: toml::Table = toml::from_str(&format!(
        "[nats]\nurl = \"tls://{}\"\nca_file = \"{NATS_CA}\"\nreplicas = {}\n[ingress]\nlisten = \"0.0.0.0:{webhook}\"\n\
         [ops]\nlisten = \"0.0.0.0:{ops}\"\n",
        super::nats::address(fleet),
        fleet.nats.replicas,
    ))?;
    let console = fleet.console.as_ref().map(|console| &console.domain);
    let web = fleet.web.as_ref().map(|web| &web.domain);
    for (section, domain, port) in [
        ("console", console, defaults.console.listen.port()),
        ("web", web, defaults.web.listen.port()),
    ] {
        if let Some(domain) = domain {
            let served =
                format!("listen = \"0.0.0.0:{port}\"\npublic_url = \"https://{domain}/\"\n");
            let served = toml::Value::Table(toml::from_str(&served)?);
            all.insert(section.to_owned(), served);
        }
    }
    for (section, ours) in &fleet.settings {
        let (toml::Value::Table(ours), there) = (
            ours,
            all.entry(section.clone())
                .or_insert_with(|| toml::Value::Table(toml::Table::new())),
        ) else {
            bail!("settings.{section} is no section; settings.default.toml shows them");
        };
        let Some(there) = there.as_table_mut() else {
            bail!("settings.{section} is no section")
        };
        for (key, value) in ours {
            if there.insert(key.clone(), value.clone()).is_some() {
                bail!("{section}.{key} follows from the other values; leave it out");
            }
        }
    }
    Ok(toml::to_string(&all)?)
}

/// Returns a hash of the settings file; pods carry it as an annotation and restart when it changes.
pub(crate) fn digest(fleet: &FleetValues) -> String {
    use sha2::{Digest, Sha256};
    let text = text(fleet).unwrap_or_default();
    hex::encode(Sha256::digest(text.as_bytes()))
        .chars()
        .take(16)
        .collect()
}

/// Renders the ConfigMap that holds the settings file.
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

/// Returns the secrets that a worker reads: the name of each setting and the reference to its
/// value.
fn secrets_of<'a>(
    fleet: &'a FleetValues,
    worker: Worker,
    casino: Option<&'a CasinoValues>,
) -> Vec<(&'static str, &'a SecretRef)> {
    let of = |name: &str| {
        casino
            .and_then(|c| c.secrets.get(name))
            .or_else(|| fleet.secrets.get(name))
    };
    SECRETS
        .iter()
        .filter(|(_, who)| who.contains(&worker))
        .filter_map(|(name, _)| Some((*name, of(name)?)))
        .collect()
}

fn file(setting: &str, from: &SecretRef) -> Value {
    json!({
        "secret": {
            "name": from.name,
            "items": [{ "key": from.key, "path": setting.replace('.', "__") }],
        },
    })
}

/// Builds the volume of a worker's secrets: one file per secret, and its NATS password.
pub(crate) fn volume(fleet: &FleetValues, worker: Worker, casino: Option<&CasinoValues>) -> Value {
    let user = names::user(worker, casino.map(|casino| &casino.casino_id));
    let password = SecretRef {
        name: names::password_secret(&user),
        key: "password".into(),
    };
    let mut sources: Vec<Value> = secrets_of(fleet, worker, casino)
        .into_iter()
        .map(|(setting, from)| file(setting, from))
        .collect();
    sources.push(file("nats.password", &password));
    json!({ "name": "secrets", "projected": { "defaultMode": 0o440, "sources": sources } })
}

/// Builds the volume with the certificate of the NATS servers' authority. Leaves out the private
/// key that is in the same secret.
pub(crate) fn nats_volume(fleet: &FleetValues) -> Value {
    json!({
        "name": "nats",
        "secret": {
            "secretName": fleet.nats.tls_secret,
            "items": [{ "key": "ca.crt", "path": "ca.crt" }],
        },
    })
}

/// Builds the volume of the migration, which holds only the database owner's login.
pub(crate) fn owner_volume(fleet: &FleetValues) -> Value {
    chosen(fleet, &["postgres.owner_url"])
}

/// Builds the volume of the backup's secrets:
/// - the owner's login, which reads the data,
/// - the workers' login, which records the backup,
/// - the hash key, for the check value in the backup's manifest.
pub(crate) fn backup_volume(fleet: &FleetValues) -> Value {
    chosen(
        fleet,
        &["postgres.owner_url", "postgres.url", "guest_hash.secret"],
    )
}

/// Builds the volume with the secrets of the job that exports the audit log. The job needs no key
/// of a provider or model.
pub(crate) fn exports_volume(fleet: &FleetValues) -> Value {
    with_nats(chosen(
        fleet,
        &["postgres.url", "redis.url", "guest_hash.secret"],
    ))
}

/// Builds the volume of secrets that operators' commands read, without the database owner's login.
pub(crate) fn operator_volume(fleet: &FleetValues) -> Value {
    let names: Vec<&str> = SECRETS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| *name != "postgres.owner_url")
        .collect();
    with_nats(chosen(fleet, &names))
}

/// Adds the password of the operators' NATS user.
fn with_nats(mut volume: Value) -> Value {
    let password = SecretRef {
        name: names::password_secret(super::nats::OPERATOR),
        key: "password".into(),
    };
    if let Some(sources) = volume["projected"]["sources"].as_array_mut() {
        sources.push(file("nats.password", &password));
    }
    volume
}

fn chosen(fleet: &FleetValues, names: &[&str]) -> Value {
    let sources: Vec<Value> = names
        .iter()
        .filter_map(|name| Some(file(name, fleet.secrets.get(*name)?)))
        .collect();
    json!({ "name": "secrets", "projected": { "defaultMode": 0o440, "sources": sources } })
}
