//! State that all handlers and background tasks of the simulator share.

use std::{future::Future, sync::Mutex};

use chrono::{DateTime, SubsecRound, Utc};
use rand::Rng as _;
use seven_domain::{Clock, IdSource, TimeScale};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    dialect::Dialect,
    error::Error,
    ledger::Ledger,
    lock::lock,
    rules::{Faults, Plan, RuleBook, Sending},
    settings::Settings,
    signing::Signer,
};

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) settings: Settings,
    pub(crate) scale: TimeScale,
    pub(crate) ids: IdSource,
    pub(crate) signer: Signer,
    pub(crate) client: reqwest::Client,
    pub(crate) ledger: Ledger,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    clock: Clock,
    rules: Mutex<RuleBook>,
}

/// Returns whether `text` is an http or https URL with a host, as a webhook needs it.
pub(crate) fn is_http_url(text: &str) -> bool {
    reqwest::Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

// === impl Core ===

impl Core {
    pub(crate) fn new(settings: Settings) -> Result<Self, Error> {
        if !is_http_url(&settings.webhook_url) {
            return Err(Error::WebhookUrl {
                url: settings.webhook_url,
            });
        }
        // reqwest panics if no TLS provider is installed. If the program has installed one, that
        // one stays.
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            drop(rustls::crypto::ring::default_provider().install_default());
        }
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(settings.ack_deadline)
            .build()
            .map_err(|source| Error::Client { source })?;
        let clock = Clock::default();
        Ok(Self {
            scale: TimeScale::new(settings.time_scale),
            ids: IdSource::new(clock.clone()),
            signer: Signer::from_seed(&settings.signing_seed),
            client,
            ledger: Ledger::open(settings.ledger_file.as_deref())?,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            clock,
            rules: Mutex::default(),
            settings,
        })
    }

    /// Returns the time, truncated to the millisecond as Telnyx writes times.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now().trunc_subsecs(3)
    }

    /// Spawns a task that ends with the simulator.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            stop.run_until_cancelled(task).await;
        });
    }

    pub(crate) fn set_rules(&self, plan: Plan) -> Result<(), Error> {
        *lock(&self.rules) = RuleBook::new(plan)?;
        Ok(())
    }

    pub(crate) fn rules(&self) -> RuleBook {
        lock(&self.rules).clone()
    }

    pub(crate) fn blocks_on_stop(&self) -> bool {
        lock(&self.rules).block_on_stop
    }

    pub(crate) fn account_error(&self, dialect: Dialect) -> Option<String> {
        let rules = lock(&self.rules);
        match dialect {
            Dialect::Telnyx => rules.account_error.clone(),
            Dialect::Twilio => rules.twilio_account_error.clone(),
        }
    }

    /// Decides at random whether to drop a webhook. The rules give the probability.
    pub(crate) fn swallows(&self) -> bool {
        let share = lock(&self.rules).swallow_webhooks_percent;
        share.is_some_and(|share| rand::rng().random_range(0.0..100.0) < share)
    }

    pub(crate) fn strike(&self, sending: Sending<'_>) -> Faults {
        lock(&self.rules).strike(sending, || rand::rng().random_range(0.0..100.0))
    }
}
