//! Size of the fleet under test, and the scale of its time intervals.

use seven_settings::Worker;

pub(crate) const CASINOS: usize = 4;

/// The workers that guests' messages need, by text and on the web.
pub(crate) const WORKERS: [Worker; 7] = [
    Worker::IngressWebhook,
    Worker::ComplianceGate,
    Worker::AgentSwarm,
    Worker::PersonaEnvelope,
    Worker::OutboundSender,
    Worker::Scheduler,
    Worker::WebGateway,
];

/// Number of processes of each kind of worker.
pub(crate) const PER_KIND: usize = 2;

/// Scale of all time intervals of the fleet and of the carrier.
pub(crate) const SCALE: f64 = 0.05;
