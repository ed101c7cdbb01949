//! Names and labels of what is rendered: hyphens in DNS and Kubernetes, the casino's id as data (D9, DEP-12, DEP-15). Pure.

use serde_json::{Value, json};
use seven_domain::CasinoId;
use seven_settings::Worker;

use super::values::FleetValues;

/// The label and name prefix of every object of ours in a namespace.
pub(crate) const APP: &str = "seven";
/// Of everything that serves all casinos.
const ALL: &str = "all";

/// The user of a worker at NATS: `agent-swarm`, or `agent-swarm-silver-birch` for one casino's own.
pub fn user(worker: Worker, casino: Option<&CasinoId>) -> String {
    match casino {
        Some(casino) => format!("{}-{}", worker.name(), casino.slug()),
        None => worker.name().to_owned(),
    }
}

/// Deployment, service account, budget and scaler of a worker share this name.
pub fn workload(worker: Worker, casino: Option<&CasinoId>) -> String {
    format!("{APP}-{}", user(worker, casino))
}

/// The variable with a NATS user's password in the server's environment.
pub fn password_variable(user: &str) -> String {
    format!("NATS_PASSWORD_{}", user.to_uppercase().replace('-', "_"))
}

/// The Kubernetes secret with a NATS user's password, under the key `password`. One for each, so that a pod sees only its own.
pub fn password_secret(user: &str) -> String {
    format!("{APP}-nats-{user}")
}

/// Returns the labels that select the pods of a component.
pub(crate) fn selector(component: &str, casino: Option<&CasinoId>) -> Value {
    json!({
        "app.kubernetes.io/name": APP,
        "app.kubernetes.io/component": component,
        "casino_id": casino.map_or(ALL, CasinoId::as_str),
    })
}

/// Labels of everything: what bills, dashboards and people sort by.
pub(crate) fn labels(fleet: &FleetValues, component: &str, casino: Option<&CasinoId>) -> Value {
    let mut labels = selector(component, casino);
    labels["environment"] = json!(fleet.environment);
    labels["managed_by"] = json!("seven-deploy");
    labels
}

/// `metadata` of a resource.
pub(crate) fn metadata(fleet: &FleetValues, name: &str, component: &str, casino: Option<&CasinoId>) -> Value {
    json!({ "name": name, "namespace": fleet.namespace, "labels": labels(fleet, component, casino) })
}
