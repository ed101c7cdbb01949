//! The log as a channel. Every fleet has it, and it never fails.

use seven_domain::Severity;

use super::{Action, Notice, Notifier, TellFuture};
use crate::LOG;

/// Writes one line per notice.
#[derive(Debug, Clone, Copy)]
pub struct Log;

impl Notifier for Log {
    fn channel(&self) -> &'static str {
        LOG
    }

    fn tell<'a>(&'a self, notice: &'a Notice) -> TellFuture<'a> {
        let Notice {
            alert_id,
            action,
            name,
            casino,
            provider,
            code,
            severity,
            summary,
            repeats,
            ..
        } = notice;
        let action = action.as_str();
        if *severity == Severity::Critical && notice.action == Action::Trigger {
            tracing::error!(
                %alert_id,
                action,
                alert = name,
                casino,
                provider,
                error_code = code,
                %severity,
                repeats,
                "{summary}"
            );
        } else {
            tracing::warn!(
                %alert_id,
                action,
                alert = name,
                casino,
                provider,
                error_code = code,
                %severity,
                repeats,
                "{summary}"
            );
        }
        Box::pin(std::future::ready(Ok("written".to_owned())))
    }
}
