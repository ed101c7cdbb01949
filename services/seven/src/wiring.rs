//! Builds a fleet handle from settings, and runs a worker by its name. Everything is passed
//! explicitly: no dependency-injection container, no globals.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result};
use seven_alerts::{Channels, channels};
use seven_bus::{Bus, Roster, topology};
use seven_cache::Cache;
use seven_domain::{CasinoId, Clock, HashKeys, IdSource, TimeScale};
use seven_http::{Connections, Waits};
use seven_ingress_webhook::Verifiers;
use seven_llm::{embedding::Embedding, guarded::Observer};
use seven_notices::{Mail, Senders};
use seven_providers::{Provider, Records, telnyx, twilio};
use seven_runtime::{Fleet, Timing};
use seven_scheduler::Sheets;
use seven_settings::{Settings, Worker};
use seven_store::Store;
use tokio_util::sync::CancellationToken;

use crate::{
    model::{self, EMBEDDING},
    packs,
};

/// Durations of the steps of a start, in milliseconds.
#[derive(Debug)]
pub struct Laps(Vec<(&'static str, u128)>, tokio::time::Instant);

impl Laps {
    pub fn start() -> Self {
        Self(Vec::new(), tokio::time::Instant::now())
    }

    /// Records the time since the previous step under this name, and starts timing the next step.
    pub fn lap(&mut self, name: &'static str) {
        self.0.push((name, self.1.elapsed().as_millis()));
        self.1 = tokio::time::Instant::now();
    }
}

/// Decides what happens if NATS does not answer within the given time: `Needed` fails the start;
/// `Wanted` starts without NATS and connects when NATS is available.
#[derive(Debug, Clone, Copy)]
pub enum Nats {
    Needed(Duration),
    Wanted(Duration),
}

/// Connects to everything a worker needs. `only` names the casinos that the worker serves; empty
/// for all.
pub async fn fleet(
    settings: &Settings,
    only: Vec<CasinoId>,
    nats: Nats,
    shutdown: CancellationToken,
) -> Result<Fleet> {
    let fleet = handles(settings, only, nats, shutdown).await?;
    let began = tokio::time::Instant::now();
    // An unreachable database does not prevent a worker's start: the NATS bucket has the roster
    // too.
    if let Ok(entries) = fleet.store.roster().await {
        entries
            .into_iter()
            .for_each(|entry| fleet.roster.put(seven_scheduler::control(entry)));
    }
    tracing::info!(millis = began.elapsed().as_millis(), "roster read");
    Ok(fleet)
}

/// Connects as [`fleet`] does, but does not read the roster, so it makes no query to Postgres.
pub(crate) async fn handles(
    settings: &Settings,
    only: Vec<CasinoId>,
    nats: Nats,
    shutdown: CancellationToken,
) -> Result<Fleet> {
    let mut laps = Laps::start();
    let packs = packs::load(&settings.packs.directory)?;
    // Checked before any connection attempt: without this key no guest can be identified.
    let keys = HashKeys::new(settings.hash_key()?);
    laps.lap("packs");
    let clock = settings
        .time
        .at
        .map_or_else(Clock::default, Clock::starting_at);
    let timing = Timing::new(TimeScale::new(settings.time.scale)).with_pauses(settings.time.pauses);
    let connections = settings.postgres.connections_of(!only.is_empty());
    let store = Store::new(&settings.postgres.url, connections, timing.sweep())?;
    let ids = IdSource::new(clock.clone());
    let limits = topology::Limits {
        replicas: settings.nats.replicas,
        duplicate_window: Duration::from_secs(settings.nats.duplicate_window_seconds),
        ack_wait: timing.ack_wait(),
        max_deliver: settings.nats.max_deliver,
        stream_bytes: i64::try_from(settings.nats.stream_bytes)
            .context("setting nats.stream_bytes")?,
    };
    let bus = connect(
        &seven_bus::Settings {
            url: settings.nats.url.clone(),
            access: settings.nats_access(),
            limits,
            instance: ids.uuid().simple().to_string(),
        },
        nats,
        &shutdown,
    )
    .await?;
    laps.lap("nats");
    let cache = Cache::new(
        &seven_cache::Settings {
            url: settings.redis.url.clone(),
            prefix: settings.redis.prefix.clone(),
            senders: settings.sending.senders,
        },
        clock.clone(),
    )?;
    tracing::info!(millis = ?laps.0, "connected");
    Ok(Fleet {
        store,
        bus,
        cache,
        roster: Roster::new(only),
        packs,
        clock,
        ids,
        timing,
        keys,
        shutdown,
    })
}

/// Connects to NATS, and retries while the server is not up. An orchestrator starts worker and
/// server at the same time.
async fn connect(
    settings: &seven_bus::Settings,
    nats: Nats,
    shutdown: &CancellationToken,
) -> Result<Bus> {
    let (Nats::Needed(patience) | Nats::Wanted(patience)) = nats;
    let until = tokio::time::Instant::now() + patience;
    // An operator's command makes one short attempt, so that the operator need not wait.
    let answer = if patience.is_zero() {
        Duration::from_millis(500)
    } else {
        Duration::from_secs(3)
    };
    // Errors show the address without a password that it may contain.
    let address = settings.url.rsplit('@').next().unwrap_or_default();
    let error = loop {
        let error = match tokio::time::timeout(answer, Bus::connect(settings)).await {
            Ok(Ok(bus)) => return Ok(bus),
            // With `Wanted`, a wrong password fails at once. With `Needed` it is retried, because
            // the server may be about to load that password.
            Ok(Err(error)) if error.is_final() && matches!(nats, Nats::Wanted(_)) => {
                return Err(error).with_context(|| format!("NATS at {address}"));
            }
            Ok(Err(error @ seven_bus::Error::TooOld { .. })) => return Err(error.into()),
            Ok(Err(error)) => anyhow::Error::from(error),
            Err(_) => anyhow::anyhow!("no answer within {} s", answer.as_secs_f32()),
        };
        if shutdown.is_cancelled() || tokio::time::Instant::now() >= until {
            break error;
        }
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = tokio::time::sleep(Duration::from_millis(500)) => {}
        }
    };
    if let Nats::Wanted(_) = nats {
        tracing::warn!(
            address,
            error = &*error as &dyn std::error::Error,
            "NATS does not answer; going on without it until it does"
        );
        return Bus::connect_later(settings)
            .await
            .context("preparing the connection to NATS");
    }
    Err(error).with_context(|| {
        format!("NATS at {address} (is the fleet running? ./scripts/dev starts one here)")
    })
}

/// Sets up the embedding that `[knowledge]` names, which finds content by meaning.
pub fn embedding(settings: &Settings, cache: &Cache) -> Result<Embedding> {
    embedding_heard(settings, cache, Arc::new(EMBEDDING))
}

/// Sets up the embedding that `[knowledge]` names; `observer` is told of each of its calls.
pub(crate) fn embedding_heard(
    settings: &Settings,
    cache: &Cache,
    observer: Arc<dyn Observer>,
) -> Result<Embedding> {
    Embedding::new(&settings.knowledge, cache, observer).context("setting up [knowledge]")
}

pub fn telnyx(settings: &Settings) -> Result<telnyx::Telnyx> {
    let api_key = settings.telnyx.api_key.clone().context(
        "setting telnyx.api_key is missing; copy it from Mission Control, Keys & Credentials",
    )?;
    let settings = telnyx::Settings {
        base_url: settings.telnyx.base_url.clone(),
        api_key,
        webhook_url: settings.telnyx.webhook_url.clone(),
        deadline: Timing::new(TimeScale::new(settings.time.scale)).send_deadline(),
    };
    Ok(telnyx::Telnyx::new(settings)?)
}

/// Returns Twilio, the second provider; `None` if the fleet has no account there.
fn twilio(settings: &Settings) -> Result<Option<twilio::Twilio>> {
    let ours = &settings.twilio;
    let (Some(account_sid), Some(token)) = (&ours.account_sid, ours.auth_tokens.first()) else {
        return Ok(None);
    };
    let (user, secret) = match (&ours.api_key_sid, &ours.api_key_secret) {
        (Some(key), Some(secret)) => (key.clone(), secret.clone()),
        _ => (account_sid.clone(), token.clone()),
    };
    let settings = twilio::Settings {
        base_url: ours.base_url.clone(),
        account_sid: account_sid.clone(),
        user,
        secret,
        webhook_url: ours.webhook_url.clone(),
        deadline: Timing::new(TimeScale::new(settings.time.scale)).send_deadline(),
    };
    Ok(Some(twilio::Twilio::new(settings)?))
}

/// Returns every provider the fleet has an account with, in the configured order. Providers missing
/// from that order come last and serve the casinos that name them.
fn providers(settings: &Settings) -> Result<Vec<Arc<dyn Provider>>> {
    let order = |name: &str| {
        settings
            .sending
            .providers
            .iter()
            .position(|n| n == name)
            .unwrap_or(usize::MAX)
    };
    let mut providers: Vec<Arc<dyn Provider>> = vec![Arc::new(telnyx(settings)?)];
    if let Some(twilio) = twilio(settings)? {
        providers.push(Arc::new(twilio));
    }
    providers.sort_by_key(|provider| order(provider.name()));
    Ok(providers)
}

/// Returns the providers whose records are compared with ours. Empty if no Telnyx API key is set;
/// the scheduler then skips the comparison.
fn records(settings: &Settings) -> Result<Vec<Arc<dyn Records>>> {
    if settings.telnyx.api_key.is_none() {
        return Ok(Vec::new());
    }
    Ok(vec![Arc::new(telnyx(settings)?)])
}

/// Returns the channels that receive alerts: the log, and the ones that `[alerts]` names.
pub fn channels(settings: &Settings) -> Result<Channels> {
    let ours = &settings.alerts;
    let channels = channels::Settings {
        slack_webhook_url: ours.slack_webhook_url.clone(),
        pagerduty_routing_key: ours.pagerduty_routing_key.clone(),
        pagerduty_url: ours.pagerduty_url.clone(),
        deadline: Timing::new(TimeScale::new(settings.time.scale)).notice_deadline(),
    };
    Channels::new(&channels).context("setting up [alerts]")
}

/// Prepares the channels through which a casino's own people are notified.
pub fn senders(settings: &Settings) -> Result<Senders> {
    let ours = &settings.notices;
    let mail = ours.smtp_url.clone().zip(ours.mail_from.clone());
    let mail = mail.map(|(url, from)| Mail { url, from });
    let deadline = Timing::new(TimeScale::new(settings.time.scale)).notice_deadline();
    Senders::new(mail.as_ref(), ours.local, deadline).context("setting up [notices]")
}

fn verifiers(settings: &Settings) -> Result<Verifiers> {
    let ours = &settings.twilio;
    let twilio = match &ours.account_sid {
        None => None,
        Some(_) => Some(seven_ingress_webhook::Twilio {
            verifier: twilio::signature::Verifier::new(ours.auth_tokens.clone())?,
            webhook_url: ours.webhook_url.clone(),
        }),
    };
    Ok(Verifiers {
        telnyx: telnyx::signature::Verifier::new(&settings.telnyx.public_keys)?,
        twilio,
    })
}

/// Returns the settings with this worker's database login; only the console has a login of its own.
pub fn settings_of(worker: Worker, mut settings: Settings) -> Result<Settings> {
    if worker == Worker::Console {
        settings.postgres.url = console_login(&settings)?;
    }
    Ok(settings)
}

/// Returns the login that reads the operators' accounts.
pub(crate) fn console_login(settings: &Settings) -> Result<secrecy::SecretString> {
    settings.console.postgres_url.clone().context(
        "setting console.postgres_url is missing: the login seven_console, which alone reads the \
         operators' accounts",
    )
}

/// Runs one worker until the fleet's shutdown. Meanwhile it sends heartbeats and files the alerts
/// that it raises. `listener` is for ingress, console and web gateway.
pub async fn run(
    worker: Worker,
    fleet: Fleet,
    settings: &Settings,
    listener: Option<tokio::net::TcpListener>,
) -> Result<()> {
    let beat = tokio::spawn(seven_runtime::beat(fleet.clone(), worker.name()));
    let filing = tokio::spawn(seven_alerts::file(fleet.clone()));
    let served = Box::pin(serve(worker, fleet, settings, listener)).await;
    if served.is_ok() {
        // Both tasks end with the fleet's shutdown.
        drop(
            tokio::time::timeout(Duration::from_secs(2), async { tokio::join!(beat, filing) })
                .await,
        );
    } else {
        beat.abort();
        filing.abort();
    }
    served
}

/// Returns the limits on ingress's concurrent calls from `[ingress]`.
fn ingress_limits(ours: &seven_settings::Ingress) -> seven_ingress_webhook::Limits {
    seven_ingress_webhook::Limits {
        concurrency: ours.concurrency,
        request: Duration::from_secs(ours.request_seconds),
        connections: Connections {
            most: ours.connections,
            idle: Waits {
                all: ours.connections,
                of_one: ours.connections_per_address,
            },
            head: Duration::from_secs(ours.head_seconds),
            unread: None,
        },
        bodies: Waits {
            all: ours.bodies,
            of_one: ours.bodies_per_address,
        },
    }
}

/// Opens the listener of ingress, console or web gateway; returns none for the other workers.
pub async fn listener(
    worker: Worker,
    settings: &Settings,
) -> Result<Option<tokio::net::TcpListener>> {
    let listen = match worker {
        Worker::IngressWebhook => settings.ingress.listen,
        Worker::Console => settings.console.listen,
        Worker::WebGateway => settings.web.listen,
        _ => return Ok(None),
    };
    let listener = tokio::net::TcpListener::bind(listen)
        .await
        .with_context(|| format!("listening on {listen}"))?;
    Ok(Some(listener))
}

/// Serves until the shutdown. `listener` is for ingress, console and web gateway; if it is `None`,
/// they bind one themselves.
async fn serve(
    worker: Worker,
    fleet: Fleet,
    settings: &Settings,
    listener: Option<tokio::net::TcpListener>,
) -> Result<()> {
    let loops = worker.loops(settings, !fleet.roster.only().is_empty());
    match worker {
        Worker::IngressWebhook => {
            let verifiers = verifiers(settings)?;
            let listener = match listener {
                Some(listener) => listener,
                None => self::listener(worker, settings)
                    .await?
                    .context("ingress has a listener")?,
            };
            let proxies = seven_ingress_webhook::Proxies(settings.ingress.trusted_proxies.clone());
            seven_ingress_webhook::run(
                fleet,
                verifiers,
                proxies,
                ingress_limits(&settings.ingress),
                listener,
            )
            .await;
        }
        Worker::ComplianceGate => {
            let second_reader = settings.gate.second_reader;
            seven_compliance_gate::run(
                fleet,
                settings.limits.fleet_texts_per_minute,
                second_reader,
                loops,
            )
            .await;
        }
        Worker::AgentSwarm => {
            let swarm = seven_agent_swarm::Settings {
                models: model::models(&settings.model, &fleet.packs)?,
                hosted: model::hosted(&settings.model, &fleet.cache)?,
                web_limits: seven_agent_swarm::WebLimits {
                    visitor_nano_usd: settings.cost.web_visitor.0,
                    casino_nano_usd: settings.cost.web_casino.0,
                },
                embedding: embedding(settings, &fleet.cache)?,
                model_deadline: Duration::from_secs(settings.worker.model_deadline_seconds),
                index_bytes: settings.worker.index_megabytes * 1024 * 1024,
            };
            seven_agent_swarm::run(fleet, swarm, loops).await;
        }
        Worker::PersonaEnvelope => seven_persona_envelope::run(fleet, loops).await,
        Worker::OutboundSender => {
            let providers = providers(settings)?;
            // No reassigned-numbers database is connected yet: casinos that require one send no
            // marketing texts.
            let limits = seven_outbound_sender::Limits {
                account: settings.sending.account_segments_per_second.clone(),
                fleet: settings.sending.segments_per_second,
            };
            seven_outbound_sender::run(fleet, providers, None, limits, loops).await?;
        }
        Worker::Console => {
            let listener = match listener {
                Some(listener) => listener,
                None => self::listener(worker, settings)
                    .await?
                    .context("the console has a listener")?,
            };
            seven_console::run(fleet, settings, listener).await?;
        }
        Worker::WebGateway => {
            let listener = match listener {
                Some(listener) => listener,
                None => self::listener(worker, settings)
                    .await?
                    .context("the web gateway has a listener")?,
            };
            seven_web_gateway::run(fleet, settings, listener).await?;
        }
        Worker::Scheduler => {
            Box::pin(seven_scheduler::run(
                fleet,
                Arc::new(settings.clone()),
                records(settings)?,
                channels(settings)?,
                senders(settings)?,
                Sheets::new(settings.notices.local).context("setting up HTTP")?,
            ))
            .await;
        }
    }
    Ok(())
}
