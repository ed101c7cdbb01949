//! Renders network policies, which deny every connection that is not listed here. Workers do not
//! connect to each other, so no worker of one casino reaches a worker of another.

use serde_json::{Value, json};
use seven_settings::{Settings, Worker};

use super::{
    daily::{BACKUP, EXPORTS},
    names::{APP, metadata},
    nats::{self, CLIENT_PORT, MONITORING_PORT, ROUTE_PORT},
    operator,
    values::{FleetValues, Peer},
    workload::{console_port, ops_port, web_port, webhook_port},
    yaml::Document,
};

/// Workers that call external services: carriers, hosted models, and the services that notify
/// people of alerts.
const CALL_OUT: [Worker; 3] = [
    Worker::AgentSwarm,
    Worker::OutboundSender,
    Worker::Scheduler,
];
/// Private address ranges. Calls to external services may not reach them, because a worker that is
/// tricked into a request must not reach internal services.
const PRIVATE: [&str; 5] = [
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "100.64.0.0/10",
];

/// Port of the pod that cert-manager starts to prove that our host names are ours (ACME HTTP-01).
const SOLVER_PORT: u16 = 8089;

pub(crate) fn policies(fleet: &FleetValues, settings: &Settings) -> Vec<Document> {
    let workers: Vec<&str> = Worker::ALL.into_iter().map(Worker::name).collect();
    let console = fleet.console.as_ref().map(|_| Worker::Console.name());
    let gateway = fleet.web.as_ref().map(|_| Worker::WebGateway.name());
    let workers: Vec<&str> = workers.into_iter().chain(console).chain(gateway).collect();
    let people = [operator::COMPONENT];
    let connecting: Vec<&str> = workers
        .iter()
        .copied()
        .chain(people)
        .chain([EXPORTS])
        .collect();
    let with_jobs: Vec<&str> = connecting
        .iter()
        .copied()
        .chain(["migrate", BACKUP])
        .collect();
    // The console calls external services only if some casino has its own login provider.
    let asks = console.filter(|_| !settings.console.oidc.is_empty());
    let calling: Vec<&str> = CALL_OUT
        .into_iter()
        .map(Worker::name)
        .chain(people)
        .collect();
    let outside: Vec<&str> = calling.iter().copied().chain(asks).collect();
    let web = [Worker::IngressWebhook.name()];
    let nats_pods = json!({ "podSelector": pods(&[nats_component()]) });
    let public = json!({ "ipBlock": { "cidr": "0.0.0.0/0", "except": PRIVATE } });
    let mut all = vec![
        policy(
            fleet,
            "default-deny",
            "Nothing goes in or out that no other policy names.",
            &json!({}),
            json!({ "policyTypes": ["Ingress", "Egress"] }),
        ),
        egress(
            fleet,
            "dns",
            "Names of servers.",
            &ours(),
            &namespace("kube-system"),
            &[("UDP", 53), ("TCP", 53)],
        ),
        egress(
            fleet,
            "nats",
            "Every worker and operators to the bus.",
            &pods(&connecting),
            &nats_pods,
            &[("TCP", CLIENT_PORT)],
        ),
        egress(
            fleet,
            "postgres",
            "Every worker, operators, the migration and the backup to Postgres.",
            &pods(&with_jobs),
            &peer(&fleet.network.postgres),
            &[("TCP", fleet.network.postgres.port)],
        ),
        egress(
            fleet,
            "redis",
            "Every worker and operators to Redis.",
            &pods(&connecting),
            &peer(&fleet.network.redis),
            &[("TCP", fleet.network.redis.port)],
        ),
        egress(
            fleet,
            "providers",
            "Senders, models, alerts and casinos' own logins to services outside, never to private addresses.",
            &pods(&outside),
            &public,
            &[("TCP", 443)],
        ),
        egress(
            fleet,
            "mail",
            "Notices to casinos' own people by mail, and operators who try one.",
            &pods(&[Worker::Scheduler.name(), operator::COMPONENT]),
            &public,
            &[("TCP", 465), ("TCP", 587)],
        ),
        ingress(
            fleet,
            "webhook",
            "Webhooks come through the ingress controller.",
            &pods(&web),
            &[from(
                &namespace(&fleet.network.ingress_controller),
                &[webhook_port(settings)],
            )],
        ),
        ingress(
            fleet,
            "metrics",
            "Prometheus reads every worker.",
            &pods(&workers),
            &[from(
                &namespace(&fleet.network.monitoring),
                &[ops_port(settings)],
            )],
        ),
        ingress(
            fleet,
            "acme",
            "cert-manager proves here that the hosts are ours, with a pod of its own for as long as that takes (HTTP-01).",
            &json!({ "matchLabels": { "acme.cert-manager.io/http01-solver": "true" } }),
            &[from(
                &namespace(&fleet.network.ingress_controller),
                &[SOLVER_PORT],
            )],
        ),
        nats_servers(fleet, &connecting, &nats_pods),
    ];
    let within = [
        (
            "collector",
            "Every worker's spans to the collector.",
            &fleet.network.collector,
            &workers,
        ),
        (
            "models",
            "Swarm, scheduler and operators to models within.",
            &fleet.network.models,
            &calling,
        ),
    ];
    if let Some(console) = console {
        all.push(ingress(
            fleet,
            "console",
            "Staff come through the ingress controller.",
            &pods(&[console]),
            &[from(
                &namespace(&fleet.network.ingress_controller),
                &[console_port(settings)],
            )],
        ));
    }
    if let Some(gateway) = gateway {
        all.push(ingress(
            fleet,
            "web",
            "Guests of the casinos' websites come through the ingress controller.",
            &pods(&[gateway]),
            &[from(
                &namespace(&fleet.network.ingress_controller),
                &[web_port(settings)],
            )],
        ));
    }
    for (name, note, to, who) in within {
        if let Some(to) = to {
            all.push(egress(
                fleet,
                name,
                note,
                &pods(who),
                &peer(to),
                &[("TCP", to.port)],
            ));
        }
    }
    all
}

fn nats_component() -> &'static str {
    nats::COMPONENT
}

fn nats_servers(fleet: &FleetValues, workers: &[&str], nats_pods: &Value) -> Document {
    let own = pods(&[nats_component()]);
    let mut body = policy(
        fleet,
        "nats-servers",
        "The bus takes workers, its own kind, and those who read its figures (port 8222 has no authentication).",
        &own,
        json!({ "policyTypes": ["Ingress", "Egress"] }),
    );
    body.body["spec"]["ingress"] = json!([
        from(&json!({ "podSelector": pods(workers) }), &[CLIENT_PORT]),
        from(nats_pods, &[ROUTE_PORT]),
        from(&namespace(&fleet.network.keda), &[MONITORING_PORT]),
        from(&namespace(&fleet.network.monitoring), &[MONITORING_PORT]),
    ]);
    body.body["spec"]["egress"] =
        json!([{ "to": [nats_pods], "ports": ports(&[("TCP", ROUTE_PORT)]) }]);
    body
}

fn policy(
    fleet: &FleetValues,
    name: &str,
    note: &str,
    selected: &Value,
    mut spec: Value,
) -> Document {
    spec["podSelector"] = selected.clone();
    Document::new(
        note,
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata(fleet, &format!("{APP}-{name}"), "network", None),
            "spec": spec,
        }),
    )
}

fn egress(
    fleet: &FleetValues,
    name: &str,
    note: &str,
    selected: &Value,
    to: &Value,
    open: &[(&str, u16)],
) -> Document {
    let rules =
        json!({ "policyTypes": ["Egress"], "egress": [{ "to": [to], "ports": ports(open) }] });
    policy(fleet, &format!("to-{name}"), note, selected, rules)
}

fn ingress(
    fleet: &FleetValues,
    name: &str,
    note: &str,
    selected: &Value,
    rules: &[Value],
) -> Document {
    policy(
        fleet,
        &format!("from-{name}"),
        note,
        selected,
        json!({ "policyTypes": ["Ingress"], "ingress": rules }),
    )
}

fn from(who: &Value, open: &[u16]) -> Value {
    let open: Vec<(&str, u16)> = open.iter().map(|port| ("TCP", *port)).collect();
    json!({ "from": [who], "ports": ports(&open) })
}

fn ports(open: &[(&str, u16)]) -> Vec<Value> {
    open.iter()
        .map(|(protocol, port)| json!({ "protocol": protocol, "port": port }))
        .collect()
}

/// Selects all pods that we render.
fn ours() -> Value {
    json!({ "matchLabels": { "app.kubernetes.io/name": APP } })
}

fn pods(components: &[&str]) -> Value {
    json!({
        "matchLabels": { "app.kubernetes.io/name": APP },
        "matchExpressions": [{
            "key": "app.kubernetes.io/component",
            "operator": "In",
            "values": components,
        }],
    })
}

fn namespace(name: &str) -> Value {
    json!({ "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": name } } })
}

fn peer(peer: &Peer) -> Value {
    match (&peer.cidr, &peer.namespace) {
        (Some(cidr), _) => json!({ "ipBlock": { "cidr": cidr } }),
        (None, name) => namespace(name.as_deref().unwrap_or_default()),
    }
}
