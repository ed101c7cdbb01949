//! Guarantees that `./scripts/chaos --mutants` breaks here on purpose (`seven_faults`); a product
//! build contains none of this code.

use std::time::Duration;

use seven_bus::{Bus, Outgoing};
use seven_faults::{mutant, where_armed};

/// Breaks a guarantee: ingress answers 200 but publishes the event only four seconds later. If
/// ingress is killed in between, the event is lost.
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

/// Breaks a guarantee: a STOP to a number that was handed on reaches only the casino that has the
/// number now.
pub(crate) fn forgets_former() -> bool {
    mutant!("forgets_former")
}
