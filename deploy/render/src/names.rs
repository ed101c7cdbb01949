//! Names and labels of the rendered resources. Names use hyphens, because DNS allows no
//! underscores; the `casino_id` label keeps the casino's id unchanged (D9).

use serde_json::{Value, json};
use seven_domain::CasinoId;
use seven_settings::Worker;

use super::values::FleetValues;

/// Application label of every rendered resource, and prefix of resource names.
pub(crate) const APP: &str = "seven";
/// Casino label of resources that serve all casinos.
const ALL: &str = "all";

/// Returns the NATS user of a worker, such as `agent-swarm`. If the worker belongs to one casino,
/// the casino's slug follows, as in `agent-swarm-silver-birch`.
pub fn user(worker: Worker, casino: Option<&CasinoId>) -> String {
    match casino {
        Some(casino) => format!("{}-{}", worker.name(), casino.slug()),
        None => worker.name().to_owned(),
    }
}

/// Returns the name that a worker's Deployment, service account, disruption budget and scaler
/// share.
pub fn workload(worker: Worker, casino: Option<&CasinoId>) -> String {
    format!("{APP}-{}", user(worker, casino))
}

/// Returns the name of the environment variable that holds a NATS user's password on the server.
pub fn password_variable(user: &str) -> String {
    format!("NATS_PASSWORD_{}", user.to_uppercase().replace('-', "_"))
}

/// Returns the name of the Kubernetes secret that holds a NATS user's password under the key
/// `password`. Each user has its own secret, so that a pod sees only its own password.
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

/// Returns the labels that every rendered resource carries; dashboards and billing group by them.
pub(crate) fn labels(fleet: &FleetValues, component: &str, casino: Option<&CasinoId>) -> Value {
    let mut labels = selector(component, casino);
    labels["environment"] = json!(fleet.environment);
    labels["managed_by"] = json!("seven-deploy");
    labels
}

pub(crate) fn metadata(
    fleet: &FleetValues,
    name: &str,
    component: &str,
    casino: Option<&CasinoId>,
) -> Value {
    json!({
        "name": name,
        "namespace": fleet.namespace,
        "labels": labels(fleet, component, casino),
    })
}
