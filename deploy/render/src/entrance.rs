//! Renders the public entrance for webhooks: one host name for the fleet and one for each casino.
//! The host name decides which ingress takes the call: the fleet's, or the casino's own if it has
//! one. The phone number to which a text was sent decides the text's casino.

use serde_json::{Value, json};
use seven_domain::CasinoId;
use seven_settings::{Settings, Worker};

use super::{
    names::{APP, metadata, selector, workload},
    values::{FleetValues, Values},
    workload::webhook_port,
    yaml::Document,
};

const WORKER: Worker = Worker::IngressWebhook;
/// The only path that is reachable from outside; health and metrics use another port.
const PATH: &str = "/webhooks/";

/// Returns the host name that a casino configures at its provider for webhooks.
pub fn host(fleet: &FleetValues, casino: &CasinoId) -> String {
    format!("{}.{}", casino.slug(), fleet.public.domain)
}

/// Renders the Kubernetes Service through which the cluster reaches the ingress-webhook worker.
pub(crate) fn service(
    fleet: &FleetValues,
    settings: &Settings,
    casino: Option<&CasinoId>,
) -> Document {
    Document::new(
        "Ingress inside the cluster.",
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata(fleet, &workload(WORKER, casino), WORKER.name(), casino),
            "spec": {
                "selector": selector(WORKER.name(), casino),
                "ports": [{
                    "name": "webhook",
                    "port": webhook_port(settings),
                    "targetPort": "webhook",
                }],
            },
        }),
    )
}

/// Renders the Ingress through which webhooks enter the cluster.
pub(crate) fn ingress(values: &Values, settings: &Settings) -> Document {
    let fleet = &values.fleet;
    let mut hosts = vec![(fleet.public.domain.clone(), None)];
    for casino in &values.casinos {
        hosts.push((
            host(fleet, &casino.casino_id),
            Some(&casino.casino_id).filter(|_| casino.owns(WORKER)),
        ));
    }
    let names: Vec<&String> = hosts.iter().map(|(host, _)| host).collect();
    let rules: Vec<Value> = hosts
        .iter()
        .map(|(host, own)| rule(settings, host, *own))
        .collect();
    let mut meta = metadata(fleet, &format!("{APP}-public"), WORKER.name(), None);
    meta["annotations"] = json!(fleet.public.annotations);
    Document::new(
        "Only a provider's signature vouches for a call; everybody may make one. The issuer in the annotations renews the certificate.",
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": meta,
            "spec": {
                "ingressClassName": fleet.public.ingress_class,
                "tls": [{ "hosts": names, "secretName": format!("{APP}-public-tls") }],
                "rules": rules,
            },
        }),
    )
}

fn rule(settings: &Settings, host: &str, own: Option<&CasinoId>) -> Value {
    json!({
        "host": host,
        "http": { "paths": [{
            "path": PATH,
            "pathType": "Prefix",
            "backend": {
                "service": {
                    "name": workload(WORKER, own),
                    "port": { "number": webhook_port(settings) },
                },
            },
        }] },
    })
}
