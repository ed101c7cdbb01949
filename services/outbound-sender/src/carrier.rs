//! A provider of texts, behind a breaker that all senders share (SMS-40).

use std::{fmt, sync::Arc};

use seven_cache::{Breaker, Outcome, Permit, Transition};
use seven_domain::{AuditEvent, CasinoId};
use seven_providers::Provider;
use seven_runtime::Fleet;
use seven_store::audit::Entry;
use seven_telemetry::{Alert, metrics};

/// One provider with its breaker, which all senders share through Redis.
pub(crate) struct Carrier {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) breaker: Breaker,
}

impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carrier")
            .field("provider", &self.name())
            .finish_non_exhaustive()
    }
}

impl Carrier {
    pub(crate) fn new(fleet: &Fleet, provider: Arc<dyn Provider>) -> Self {
        let breaker = fleet.cache.breaker(
            &breaker_name(provider.name()),
            fleet.timing.provider_breaker(),
        );
        Self { provider, breaker }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.provider.name()
    }

    /// Gives the permit back with the call's outcome. Returns and announces the change of the
    /// breaker's state, if there is one. If the provider works again, wakes waiting texts.
    pub(crate) async fn ended(
        &self,
        fleet: &Fleet,
        permit: Permit,
        outcome: Outcome,
    ) -> Option<Transition> {
        let moved = self.breaker.record(permit, outcome).await;
        if let Some(moved) = moved {
            self.tell(fleet, moved).await;
        }
        moved
    }

    async fn tell(&self, fleet: &Fleet, moved: Transition) {
        metrics()
            .breakers
            .with_label_values(&[self.breaker.name(), moved.as_str()])
            .inc();
        match moved {
            Transition::Opened { .. } => {
                let text = "the provider failed too often and is not called for a while; texts take the casino's other provider or wait";
                Alert {
                    name: "provider_breaker_open",
                    casino: "",
                    provider: self.name(),
                    code: "",
                    text,
                }
                .raise();
                note(fleet, AuditEvent::CircuitBreakerOpened, self.name()).await;
            }
            Transition::Closed => {
                if let Err(error) = fleet.store.wake_held(None).await {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "waiting texts are checked again at their scheduled time"
                    );
                }
            }
            Transition::Reopened | Transition::HalfOpened => {}
        }
    }
}

/// Returns the name of a provider's shared breaker.
pub fn breaker_name(provider: &str) -> String {
    format!("provider/{provider}")
}

/// Writes an audit entry for the whole fleet, filed under no casino. A failure is only logged.
async fn note(fleet: &Fleet, event: AuditEvent, provider: &str) {
    let written = async {
        let mut tx = fleet.store.bind(&CasinoId::unknown()).await?;
        tx.audit(&Entry::of(
            event,
            "outbound-sender",
            provider,
            serde_json::json!({ "provider": provider }),
        ))
        .await?;
        tx.commit().await
    };
    if let Err(error) = written.await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "an audit entry could not be written"
        );
    }
}
