//! Settings: defaults in the binary, overridden by a TOML file, secrets and the environment. A
//! process with invalid settings does not start. The names of the workers are defined here too.

use std::path::{Path, PathBuf};

use figment::{
    Figment,
    providers::{Env, Format, Toml},
};
use serde::Deserialize;
use seven_domain::HashKey;
use seven_llm::embedding::Provider as Embedder;

use self::{model::Provider, secrets::Secrets};

mod address;
mod console;
mod error;
mod ingress;
pub mod model;
pub mod rotation;
mod secrets;
mod sending;
mod stores;
mod tls;
mod watching;
mod web;
mod work;
mod worker;

pub use self::{
    address::is_here,
    console::{Console, Oidc},
    error::{Error, Fault, Faults},
    ingress::Ingress,
    sending::{Limits, Sending, Telnyx, Twilio},
    stores::{Backup, Nats, Postgres, Redis, Stores},
    watching::{Alerts, Notices, Ops, Telemetry},
    web::Web,
    work::{Gate, GuestHash, Packs, Time, Work},
    worker::Worker,
};

const DEFAULTS: &str = include_str!("../settings.default.toml");

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// True if there was no file, no folder of secrets and no running `./scripts/dev`. Then only
    /// the defaults and the environment apply.
    #[serde(skip)]
    of_no_fleet: bool,
    pub stores: Stores,
    pub nats: Nats,
    pub postgres: Postgres,
    pub redis: Redis,
    pub telnyx: Telnyx,
    pub twilio: Twilio,
    pub sending: Sending,
    pub limits: Limits,
    pub gate: Gate,
    pub alerts: Alerts,
    pub notices: Notices,
    pub ingress: Ingress,
    pub console: Console,
    pub web: Web,
    pub ops: Ops,
    pub cost: seven_cost::Prices,
    pub guest_hash: GuestHash,
    pub backup: Backup,
    pub worker: Work,
    pub packs: Packs,
    pub model: model::Settings,
    /// `seven_llm::embedding` documents these fields.
    pub knowledge: seven_llm::embedding::Settings,
    pub telemetry: Telemetry,
    pub time: Time,
}

impl Settings {
    /// Reads the settings from `file`; without it, from the file that `SEVEN_CONFIG` names; without
    /// that, from the file of a running `./scripts/dev`. Settings that the file lacks keep their
    /// defaults. Secrets in the folder that `SEVEN_SECRETS` names override the file, and the
    /// environment overrides both.
    pub fn load(file: Option<&Path>) -> Result<Self, Error> {
        let named = file
            .map(Path::to_path_buf)
            .or_else(|| std::env::var_os("SEVEN_CONFIG").map(PathBuf::from));
        let secrets = std::env::var_os("SEVEN_SECRETS");
        let nothing = named.is_none() && secrets.is_none() && !dev_file().exists();
        let mut figment = Figment::from(Toml::string(DEFAULTS));
        match named {
            Some(path) if !path.exists() => return Err(Error::NoFile(path)),
            Some(path) => figment = figment.merge(Toml::file(path)),
            None => figment = figment.merge(Toml::file(dev_file())),
        }
        if let Some(folder) = secrets {
            figment = figment.merge(Secrets::read(Path::new(&folder))?);
        }
        let mut settings: Self = figment
            .merge(
                Env::prefixed("SEVEN_")
                    .split("__")
                    .ignore(&["config", "secrets"])
                    .filter(|k| k.as_str().contains('.')),
            )
            .extract()
            .map_err(Box::new)?;
        settings.of_no_fleet = nothing;
        settings.check()?;
        Ok(settings)
    }

    /// Parses a TOML text that overrides the defaults, for fleets that `./scripts/dev` and the
    /// tests start.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let settings: Self = Figment::from(Toml::string(DEFAULTS))
            .merge(Toml::string(text))
            .extract()
            .map_err(Box::new)?;
        settings.check()?;
        Ok(settings)
    }

    /// Checks every section and the rules that concern several sections, and reports all faults at
    /// once.
    fn check(&self) -> Result<(), Error> {
        let mut faults = Faults::default();
        self.time.check(&mut faults);
        tls::check(self, &mut faults);
        faults.need(
            !matches!(self.model.provider, Provider::Fixed | Provider::Echo) || self.sends_here(),
            "model.provider",
            "`fixed` and `echo` answer nobody, and the providers' addresses are not on this machine",
            "offline, gemini or openai; fixed and echo only with a simulated carrier",
        );
        faults.need(
            self.knowledge.provider != Embedder::Local || self.knowledge.folder.is_some(),
            "knowledge.folder",
            "missing",
            "the folder of the local embedding's weights, which ./scripts/weights prints",
        );
        self.worker.check(&mut faults);
        self.telemetry.check(&mut faults);
        self.model.check(&mut faults);
        self.sending.check(&self.twilio, &mut faults);
        self.twilio.check(&mut faults);
        self.alerts.check(&mut faults);
        self.notices.check(self.sends_here(), &mut faults);
        self.ingress.check(&mut faults);
        self.console.check(&mut faults);
        self.web.check(&mut faults);
        self.nats.check(&mut faults);
        self.postgres.check(&mut faults);
        faults.none()
    }

    /// Returns true if the send APIs of all providers are on this machine.
    fn sends_here(&self) -> bool {
        is_here(&self.telnyx.base_url)
            && (self.twilio.account_sid.is_none() || is_here(&self.twilio.base_url))
    }

    /// Returns the credentials with which this worker connects to NATS.
    pub fn nats_access(&self) -> seven_bus::Access {
        seven_bus::Access {
            user: self.nats.user.clone().zip(self.nats.password.clone()),
            ca_file: self.nats.ca_file.clone(),
        }
    }

    pub fn hash_key(&self) -> Result<HashKey, Error> {
        if self.of_no_fleet && self.guest_hash.secret.is_none() {
            return Err(Error::NoFleet);
        }
        let secret = self.guest_hash.secret.clone().ok_or_else(|| {
            Error::Faults(Faults(vec![Fault {
                key: "guest_hash.secret",
                problem: "missing".into(),
                expected: "a random text of 32 characters or more, the same for all workers",
            }]))
        })?;
        Ok(HashKey {
            id: self.guest_hash.id,
            secret,
        })
    }
}

/// Returns the file in which `./scripts/dev` stores the settings of its fleet, so that operators'
/// commands find them.
pub fn dev_file() -> PathBuf {
    dev_dir().join("seven.toml")
}

pub fn dev_dir() -> PathBuf {
    std::env::var_os("SEVEN_DEV_DIR").map_or_else(|| PathBuf::from("target/dev"), PathBuf::from)
}

#[cfg(test)]
mod tests;
