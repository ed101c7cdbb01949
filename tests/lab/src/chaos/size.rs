//! Size of the fleet under test, and the scale of its time intervals.

use seven_settings::Worker;

pub(crate) const CASINOS: usize = 4;

/// Index of the slow casino: its number carries 20 segments per second, four of them for safety
/// texts. Crowds of guests text HELP to this casino at the same time.
pub(crate) const SLOW: usize = CASINOS + 1;

/// Number of processes of each kind of worker.
pub(crate) const PER_KIND: usize = 2;

/// The kinds of workers, each with [`PER_KIND`] processes.
pub(crate) const WORKERS: [Worker; 8] = [
    Worker::IngressWebhook,
    Worker::ComplianceGate,
    Worker::AgentSwarm,
    Worker::PersonaEnvelope,
    Worker::OutboundSender,
    Worker::Scheduler,
    Worker::WebGateway,
    Worker::Console,
];

/// Time scale of the fleet (`[time] scale`) and of the carrier simulator.
pub(crate) const SCALE: f64 = 0.05;
