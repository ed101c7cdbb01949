//! Renders the console: its pods, and an entrance with a host name of its own, so that a fault in a
//! page for staff reaches no webhook.

use serde_json::json;
use seven_settings::{Settings, Worker};

use super::{
    names::{APP, metadata, selector, workload},
    scaling::budget,
    values::{Console, FleetValues},
    workload::{console_port, deployment},
    yaml::Document,
};

const WORKER: Worker = Worker::Console;

pub(crate) fn documents(
    fleet: &FleetValues,
    settings: &Settings,
    console: &Console,
) -> Vec<Document> {
    let mut documents = deployment(fleet, settings, WORKER, None, false);
    let (name, port) = (workload(WORKER, None), console_port(settings));
    documents.push(Document::new(
        "The console inside the cluster.",
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata(fleet, &name, WORKER.name(), None),
            "spec": {
                "selector": selector(WORKER.name(), None),
                "ports": [{ "name": "console", "port": port, "targetPort": "console" }],
            },
        }),
    ));
    documents.push(budget(fleet, WORKER, None));
    let mut meta = metadata(fleet, &name, WORKER.name(), None);
    meta["annotations"] = json!(console.annotations);
    documents.push(Document::new(
        "Staff reach the console here; narrow who may call it with the annotations of your ingress controller.",
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": meta,
            "spec": {
                "ingressClassName": fleet.public.ingress_class,
                "tls": [{ "hosts": [console.domain], "secretName": format!("{APP}-console-tls") }],
                "rules": [{
                    "host": console.domain,
                    "http": { "paths": [{
                        "path": "/",
                        "pathType": "Prefix",
                        "backend": { "service": { "name": name, "port": { "number": port } } },
                    }] },
                }],
            },
        }),
    ));
    documents
}
