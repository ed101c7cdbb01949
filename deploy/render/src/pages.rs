//! Renders the two workers that browsers reach, the console and the web gateway. Each has its own
//! entrance and host name, so that a fault in a page does not affect webhooks.

use std::collections::BTreeMap;

use serde_json::json;
use seven_settings::{Settings, Worker};

use super::{
    names::{APP, metadata, selector, workload},
    scaling::{budget, by_streams},
    values::{Console, FleetValues, Web},
    workload::{console_port, deployment, web_port},
    yaml::Document,
};

/// Annotations that keep nginx from buffering a stream's frames and from closing a quiet stream.
const STREAMING: [(&str, &str); 3] = [
    ("nginx.ingress.kubernetes.io/proxy-buffering", "off"),
    ("nginx.ingress.kubernetes.io/proxy-read-timeout", "3600"),
    ("nginx.ingress.kubernetes.io/proxy-body-size", "64k"),
];

/// A worker that browsers reach, and its public address.
struct Page<'a> {
    worker: Worker,
    /// Name of the worker's port, and part of the name of its certificate's secret.
    name: &'static str,
    port: u16,
    domain: &'a str,
    annotations: BTreeMap<String, String>,
    /// Notes for the Service and for the Ingress, which the files show as comments.
    notes: [&'static str; 2],
    scaled: bool,
}

pub(crate) fn console(
    fleet: &FleetValues,
    settings: &Settings,
    console: &Console,
) -> Vec<Document> {
    let page = Page {
        worker: Worker::Console,
        name: "console",
        port: console_port(settings),
        domain: &console.domain,
        annotations: console.annotations.clone(),
        notes: [
            "The console inside the cluster.",
            "Staff reach the console here; narrow who may call it with the annotations of your ingress controller.",
        ],
        scaled: false,
    };
    page.documents(fleet, settings)
}

pub(crate) fn web(fleet: &FleetValues, settings: &Settings, web: &Web) -> Vec<Document> {
    let streaming = STREAMING.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let page = Page {
        worker: Worker::WebGateway,
        name: "web",
        port: web_port(settings),
        domain: &web.domain,
        annotations: streaming
            .into_iter()
            .chain(web.annotations.clone())
            .collect(),
        notes: [
            "The web gateway inside the cluster.",
            "Guests of the casinos' websites reach the web gateway here. It buffers nothing: a stream shows its frames at once.",
        ],
        scaled: true,
    };
    let mut documents = page.documents(fleet, settings);
    documents.push(by_streams(fleet, &web.size));
    documents
}

impl Page<'_> {
    fn documents(&self, fleet: &FleetValues, settings: &Settings) -> Vec<Document> {
        let (worker, port_name) = (self.worker, self.name);
        let mut documents = deployment(fleet, settings, worker, None, self.scaled);
        let name = workload(worker, None);
        documents.push(Document::new(
            self.notes[0],
            json!({
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": metadata(fleet, &name, worker.name(), None),
                "spec": {
                    "selector": selector(worker.name(), None),
                    "ports": [{ "name": port_name, "port": self.port, "targetPort": port_name }],
                },
            }),
        ));
        documents.push(budget(fleet, worker, None));
        let mut meta = metadata(fleet, &name, worker.name(), None);
        meta["annotations"] = json!(self.annotations);
        documents.push(Document::new(
            self.notes[1],
            json!({
                "apiVersion": "networking.k8s.io/v1",
                "kind": "Ingress",
                "metadata": meta,
                "spec": {
                    "ingressClassName": fleet.public.ingress_class,
                    "tls": [{
                        "hosts": [self.domain],
                        "secretName": format!("{APP}-{port_name}-tls"),
                    }],
                    "rules": [{
                        "host": self.domain,
                        "http": { "paths": [{
                            "path": "/",
                            "pathType": "Prefix",
                            "backend": {
                                "service": { "name": name, "port": { "number": self.port } },
                            },
                        }] },
                    }],
                },
            }),
        ));
        documents
    }
}
