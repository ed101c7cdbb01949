//! Renders a fleet's Kubernetes manifests and NATS configuration. The input is one values file for
//! the fleet and one for each casino. Names and ports come from the code. The only I/O is reading
//! the values.

mod cron;
mod daily;
mod entrance;
pub mod load;
mod names;
pub mod nats;
mod network;
mod operator;
mod pages;
mod scaling;
mod settings;
pub mod values;
mod workload;
mod yaml;

#[cfg(test)]
mod tests;

use anyhow::Result;
use serde_json::json;

pub use self::{
    entrance::host,
    names::{password_secret, password_variable, user, workload as workload_name},
    settings::text as settings_text,
    workload::grace_seconds,
    yaml::{Document, File, HEAD},
};
use self::{
    names::metadata,
    values::{CasinoValues, Values},
    workload::{deployment, migration},
};
use seven_settings::{Settings, Worker};

/// Renders every file of a fleet: the Kubernetes manifests in the order to apply them, then NATS's
/// configuration.
pub fn render(values: &Values) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for (path, documents) in manifests(values)? {
        files.push(yaml::file(&format!("kubernetes/{path}"), &documents)?);
    }
    files.extend(nats::files(values));
    Ok(files)
}

/// Returns the path and the documents of each Kubernetes manifest file, in the order to apply them.
pub fn manifests(values: &Values) -> Result<Vec<(String, Vec<Document>)>> {
    let fleet = &values.fleet;
    let settings = settings::of(fleet)?;
    let mut files = vec![
        ("00-namespace.yaml".to_owned(), vec![namespace(values)]),
        (
            "10-settings.yaml".to_owned(),
            vec![settings::config_map(fleet)?],
        ),
        (
            "20-network.yaml".to_owned(),
            network::policies(fleet, &settings),
        ),
        ("30-nats.yaml".to_owned(), nats::documents(values)),
        ("40-migrate.yaml".to_owned(), vec![migration(fleet)?]),
    ];
    if let Some(backup) = &fleet.backup {
        files.push(("45-backup.yaml".to_owned(), daily::backup(fleet, backup)));
    }
    if let Some(exports) = &fleet.exports {
        files.push(("46-exports.yaml".to_owned(), daily::exports(fleet, exports)));
    }
    files.push((
        "48-operator.yaml".to_owned(),
        vec![operator::deployment(fleet)],
    ));
    for worker in Worker::ALL {
        files.push((
            format!("50-{}.yaml", worker.name()),
            one(values, &settings, worker, None),
        ));
    }
    if let Some(console) = &fleet.console {
        files.push((
            "55-console.yaml".to_owned(),
            pages::console(fleet, &settings, console),
        ));
    }
    if let Some(web) = &fleet.web {
        files.push(("56-web.yaml".to_owned(), pages::web(fleet, &settings, web)));
    }
    for casino in &values.casinos {
        for worker in Worker::ALL
            .into_iter()
            .filter(|worker| casino.owns(*worker))
        {
            let path = format!("60-{}-{}.yaml", casino.casino_id.slug(), worker.name());
            files.push((path, one(values, &settings, worker, Some(casino))));
        }
    }
    files.push((
        "70-public.yaml".to_owned(),
        vec![entrance::ingress(values, &settings)],
    ));
    Ok(files)
}

/// Renders the manifests of one worker: its Deployment and everything that belongs to it.
fn one(
    values: &Values,
    settings: &Settings,
    worker: Worker,
    casino: Option<&CasinoValues>,
) -> Vec<Document> {
    let fleet = &values.fleet;
    let scaler = scaling::scaler(values, settings, worker, casino);
    let mut documents = deployment(fleet, settings, worker, casino, scaler.is_some());
    if worker == Worker::IngressWebhook {
        documents.push(entrance::service(
            fleet,
            settings,
            casino.map(|casino| &casino.casino_id),
        ));
    }
    documents.push(scaling::budget(fleet, worker, casino));
    documents.extend(scaler);
    documents
}

fn namespace(values: &Values) -> Document {
    let fleet = &values.fleet;
    let mut meta = metadata(fleet, &fleet.namespace, "namespace", None);
    if let Some(meta) = meta.as_object_mut() {
        meta.remove("namespace");
    }
    meta["labels"]["pod-security.kubernetes.io/enforce"] = json!("restricted");
    Document::new(
        "Pods run without root, without rights on the node, and with a read-only root file system; the cluster refuses others here.",
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": meta }),
    )
}
