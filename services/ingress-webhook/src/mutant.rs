//! Promises that `./scripts/chaos --mutants` breaks here (`seven_faults`); a product build has none of it.

use std::time::Duration;

use seven_bus::{Bus, Outgoing};
use seven_faults::{mutant, where_armed};

/// Ingress answers 200 and publishes a moment later. Long enough for a kill to find something.
pub(crate) fn publishes_later(bus: &Bus, message: &Outgoing<'_>) -> bool {
    where_armed!({
        if !mutant!("ack_before_publish") {
            return false;
        }
        let (bus, subject, key) = (bus.clone(), message.subject.clone(), message.key.to_owned());
        let (trace, payload) = (message.trace.to_owned(), message.payload.clone());
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            let message = Outgoing { subject, key: &key, copy: None, trace: &trace, payload };
            bus.publish(&message, Duration::from_secs(3)).await.ok();
        });
        true
    } else {
        let _ = (bus, message, Duration::ZERO);
        mutant!("ack_before_publish")
    })
}

/// A STOP to a number that was handed on stays with the casino that has it now.
pub(crate) fn forgets_former() -> bool {
    mutant!("forgets_former")
}
