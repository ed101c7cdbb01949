//! The workers of the fleet.

use std::time::Duration;

use seven_bus::WorkerSettings;
use seven_domain::Stage;

use crate::Settings;

/// The workers of the fleet, under the names that `seven run` accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Worker {
    IngressWebhook,
    ComplianceGate,
    AgentSwarm,
    PersonaEnvelope,
    OutboundSender,
    Scheduler,
    /// Serves the pages for staff. Answers to guests do not depend on it.
    Console,
    /// Serves guests of the casinos' websites.
    WebGateway,
}

impl Worker {
    /// The workers that handle guests' texts.
    pub const ALL: [Self; 6] = [
        Self::IngressWebhook,
        Self::ComplianceGate,
        Self::AgentSwarm,
        Self::PersonaEnvelope,
        Self::OutboundSender,
        Self::Scheduler,
    ];

    /// The workers that handle guests' messages, both texts and messages from the web.
    pub const WITH_WEB: [Self; 7] = [
        Self::IngressWebhook,
        Self::ComplianceGate,
        Self::AgentSwarm,
        Self::PersonaEnvelope,
        Self::OutboundSender,
        Self::Scheduler,
        Self::WebGateway,
    ];

    /// Returns the name that `seven run` accepts.
    pub fn name(self) -> &'static str {
        match self {
            Self::IngressWebhook => "ingress-webhook",
            Self::ComplianceGate => "compliance-gate",
            Self::AgentSwarm => "agent-swarm",
            Self::PersonaEnvelope => "persona-envelope",
            Self::OutboundSender => "outbound-sender",
            Self::Scheduler => "scheduler",
            Self::Console => "console",
            Self::WebGateway => "web-gateway",
        }
    }

    /// Returns the stages whose messages this worker consumes from the bus.
    pub fn stages(self) -> &'static [Stage] {
        match self {
            Self::IngressWebhook | Self::Scheduler | Self::Console | Self::WebGateway => &[],
            Self::ComplianceGate => &[Stage::Gate],
            Self::AgentSwarm => &[Stage::Swarm],
            Self::PersonaEnvelope => &[Stage::Envelope],
            Self::OutboundSender => &[Stage::Sender, Stage::Receipts],
        }
    }

    /// Returns the settings of the worker's loops; `own` is true for a worker that serves one
    /// casino. Workers that consume nothing from the bus have no loops.
    pub fn loops(self, settings: &Settings, own: bool) -> WorkerSettings {
        let concurrency = match self {
            Self::OutboundSender => settings.worker.sender_concurrency,
            Self::IngressWebhook
            | Self::ComplianceGate
            | Self::AgentSwarm
            | Self::PersonaEnvelope
            | Self::Scheduler
            | Self::Console
            | Self::WebGateway => settings.worker.concurrency,
        };
        let loops = WorkerSettings {
            concurrency,
            deadline: Duration::from_secs(settings.worker.handler_deadline_seconds),
            ..WorkerSettings::default()
        };
        match self {
            // Both workers wait only for the database, so they take as many messages as the
            // database can serve at once, plus one in reserve.
            Self::ComplianceGate | Self::PersonaEnvelope => {
                let connections =
                    usize::try_from(settings.postgres.connections_of(own)).unwrap_or(usize::MAX);
                loops.at_most(seven_runtime::database_work(connections, own).saturating_add(1))
            }
            Self::IngressWebhook
            | Self::AgentSwarm
            | Self::OutboundSender
            | Self::Scheduler
            | Self::Console
            | Self::WebGateway => loops,
        }
    }
}
