//! Renders how workers scale. Most workers scale by the backlog of their consumers, which the
//! autoscaler KEDA reads. Ingress scales by CPU use, the web gateway by open streams. A disruption
//! budget lets maintenance end one pod of a worker at a time.

use serde_json::{Value, json};
use seven_bus::topology;
use seven_domain::{CasinoId, Queue, Stage};
use seven_settings::{Settings, Worker};

use super::{
    names::{metadata, selector, workload},
    nats,
    values::{CasinoValues, FleetValues, Size, Values},
    yaml::Document,
};

/// CPU use, in percent of the requested CPU, above which ingress gets more processes.
const INGRESS_CPU: u32 = 60;

/// Average number of open streams per web gateway above which another gateway starts. It is half of
/// the connections that one gateway takes.
const WEB_STREAMS: &str = "6000";

/// Smallest backlog per process at which another process starts. A smaller backlog is processed
/// before a new process is ready.
const LEAST_BACKLOG: usize = 32;

/// Returns the scaler of a worker, or `None` when the worker runs a fixed number of processes.
pub(crate) fn scaler(
    values: &Values,
    settings: &Settings,
    worker: Worker,
    casino: Option<&CasinoValues>,
) -> Option<Document> {
    let fleet = &values.fleet;
    let (size, own) = (size(fleet, worker, casino), casino.is_some());
    if worker == Worker::IngressWebhook {
        return Some(by_cpu(fleet, worker, casino, &size));
    }
    let triggers: Vec<Value> = served(values, worker, casino)
        .into_iter()
        .flat_map(|casino| triggers(fleet, settings, (worker, own), casino, &size))
        .collect();
    if triggers.is_empty() {
        return None;
    }
    Some(by_backlog(fleet, worker, casino, &size, &triggers))
}

/// Returns the size of a worker of the fleet, or of a worker that serves only `casino`.
fn size(fleet: &FleetValues, worker: Worker, casino: Option<&CasinoValues>) -> Size {
    match casino {
        None => fleet.size(worker).clone(),
        Some(casino) => {
            let usual = &fleet.own_workers;
            let max = casino.max.unwrap_or(usual.max);
            Size {
                max,
                fallback: usual.fallback.map(|n| n.min(max)),
                ..usual.clone()
            }
        }
    }
}

/// Returns the casinos whose backlogs decide how the worker scales. If the worker serves one casino
/// alone, this is that casino. Otherwise these are all casinos that have no worker of this kind for
/// themselves.
fn served<'a>(
    values: &'a Values,
    worker: Worker,
    casino: Option<&'a CasinoValues>,
) -> Vec<&'a CasinoId> {
    match casino {
        Some(casino) => vec![&casino.casino_id],
        None => values
            .casinos
            .iter()
            .filter(|casino| !casino.owns(worker))
            .map(|casino| &casino.casino_id)
            .collect(),
    }
}

fn triggers(
    fleet: &FleetValues,
    settings: &Settings,
    (worker, own): (Worker, bool),
    casino: &CasinoId,
    size: &Size,
) -> Vec<Value> {
    let mut all = Vec::new();
    for stage in worker.stages() {
        for queue in topology::queues_of(*stage) {
            all.push(trigger(
                fleet,
                *stage,
                casino,
                *queue,
                threshold(settings, worker, own, *queue, size),
            ));
        }
    }
    all
}

/// Returns the backlog per process at which another process starts. It is higher than the number of
/// messages that one process handles at the same time. Otherwise these alone would start another
/// process.
pub(crate) fn threshold(
    settings: &Settings,
    worker: Worker,
    own: bool,
    queue: Option<Queue>,
    size: &Size,
) -> usize {
    let usual = LEAST_BACKLOG.max(2 * worker.loops(settings, own).permits(queue));
    match (queue, size.lag_threshold) {
        (Some(Queue::Urgent | Queue::Safety), _) | (_, None) => usual,
        (_, Some(threshold)) => threshold,
    }
}

fn trigger(
    fleet: &FleetValues,
    stage: Stage,
    casino: &CasinoId,
    queue: Option<Queue>,
    threshold: usize,
) -> Value {
    let consumer = topology::consumer_name(stage, casino, queue);
    json!({
        "type": "nats-jetstream",
        "name": consumer,
        "metadata": {
            "natsServerMonitoringEndpoint": nats::monitoring(fleet),
            "account": nats::ACCOUNT,
            "stream": topology::stream_of(stage),
            "consumer": consumer,
            "lagThreshold": threshold.to_string(),
            "activationLagThreshold": "0",
            "useHttps": "false",
        },
    })
}

fn by_backlog(
    fleet: &FleetValues,
    worker: Worker,
    casino: Option<&CasinoValues>,
    size: &Size,
    triggers: &[Value],
) -> Document {
    let id = casino.map(|casino| &casino.casino_id);
    let name = workload(worker, id);
    let note = match casino {
        None => {
            "The largest of its triggers counts (KEDA). Casinos that have this worker for themselves are not among them: their own grows."
        }
        Some(_) => "Its own consumer's backlog, and nobody else's.",
    };
    Document::new(
        format!(
            "{note} A backlog that cannot be read leaves the fallback's number, not none and not \
             the most."
        ),
        json!({
            "apiVersion": "keda.sh/v1alpha1",
            "kind": "ScaledObject",
            "metadata": metadata(fleet, &name, worker.name(), id),
            "spec": {
                "scaleTargetRef": { "name": name },
                "pollingInterval": fleet.scaling.polling_interval,
                "cooldownPeriod": fleet.scaling.scale_down_after,
                "minReplicaCount": size.min,
                "maxReplicaCount": size.max,
                "fallback": {
                    "failureThreshold": fleet.scaling.failures_before_fallback,
                    "replicas": size.fallback(),
                    "behavior": "currentReplicasIfHigher",
                },
                "advanced": { "horizontalPodAutoscalerConfig": { "behavior": calm(fleet) } },
                "triggers": triggers,
            },
        }),
    )
}

/// Returns the scaling behaviour. The number of processes rises at once. It falls only after a
/// quiet period, and by at most half per minute, because each process that ends returns its
/// unfinished messages to the bus.
fn calm(fleet: &FleetValues) -> Value {
    json!({
        "scaleDown": {
            "stabilizationWindowSeconds": fleet.scaling.scale_down_after,
            "policies": [{ "type": "Percent", "value": 50, "periodSeconds": 60 }],
        },
    })
}

fn by_cpu(
    fleet: &FleetValues,
    worker: Worker,
    casino: Option<&CasinoValues>,
    size: &Size,
) -> Document {
    let id = casino.map(|casino| &casino.casino_id);
    let name = workload(worker, id);
    Document::new(
        "Ingress has no backlog: what it cannot take, Telnyx holds. It grows by CPU, which its signature checks cost.",
        json!({
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": metadata(fleet, &name, worker.name(), id),
            "spec": {
                "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": name },
                "minReplicas": size.min,
                "maxReplicas": size.max,
                "metrics": [{
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": { "type": "Utilization", "averageUtilization": INGRESS_CPU },
                    },
                }],
                "behavior": calm(fleet),
            },
        }),
    )
}

/// Renders the web gateway's scaler.
pub(crate) fn by_streams(fleet: &FleetValues, size: &Size) -> Document {
    let worker = Worker::WebGateway;
    let name = workload(worker, None);
    Document::new(
        "Open streams cost memory, not CPU, so their number decides. The cluster's metrics adapter reads seven_web_streams from Prometheus.",
        json!({
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": metadata(fleet, &name, worker.name(), None),
            "spec": {
                "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": name },
                "minReplicas": size.min,
                "maxReplicas": size.max,
                "metrics": [{
                    "type": "Pods",
                    "pods": {
                        "metric": { "name": "seven_web_streams" },
                        "target": { "type": "AverageValue", "averageValue": WEB_STREAMS },
                    },
                }],
                "behavior": calm(fleet),
            },
        }),
    )
}

/// Renders the disruption budget: node maintenance may end one pod of a worker at a time.
pub(crate) fn budget(
    fleet: &FleetValues,
    worker: Worker,
    casino: Option<&CasinoValues>,
) -> Document {
    let id = casino.map(|casino| &casino.casino_id);
    Document::new(
        "Maintenance takes one of its pods at a time.",
        json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": metadata(fleet, &workload(worker, id), worker.name(), id),
            "spec": {
                "maxUnavailable": 1,
                "selector": { "matchLabels": selector(worker.name(), id) },
            },
        }),
    )
}
