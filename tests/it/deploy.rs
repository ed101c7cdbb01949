//! Tests the rendered configuration on real servers (DEP-14, SEC-160):
//! - The configuration and the code use the same names.
//! - Every worker can do its work as its own NATS user.
//! - No casino's NATS user reaches another casino.

mod files;
mod isolation;
mod names;
mod older;
mod roles;
mod tls;

use std::path::PathBuf;

use secrecy::SecretString;
use seven_bus::{Access, Bus, topology};
use seven_deploy::{self, values::Values};
use seven_domain::CasinoId;
use seven_testkit::{Nats, Scratch};

/// The two casinos of `deploy/values`: `BUSY` has its own workers, `QUIET` has none.
const BUSY: &str = "silver_birch";
const QUIET: &str = "amber_coast";
const QUIET_NUMBER: &str = "+16095550103";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn example() -> Values {
    Values::load(
        &root().join("deploy/values/fleet.yaml"),
        &root().join("deploy/values/casinos"),
    )
    .unwrap()
}

/// A NATS server with the configuration that is rendered for the example fleet. Only the number of
/// replicas differs: it is 1.
struct Secured {
    nats: Nats,
    monitoring: u16,
    scratch: Scratch,
}

/// The three files of a TLS server: its certificate, its key, and the certificate of the authority
/// that signed it.
type Certificates = [PathBuf; 3];

impl Secured {
    async fn start(unique: &str, certificates: Option<Certificates>) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let scratch = Scratch::new(unique).unwrap();
        let mut values = example();
        values.fleet.nats.replicas = 1;
        for file in seven_deploy::nats::files(&values) {
            let path = scratch.path().join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, file.text).unwrap();
        }
        let mut environment: Vec<(String, String)> =
            seven_deploy::nats::password_variables(&values)
                .into_iter()
                .map(|(variable, user)| (variable, password(&user)))
                .collect();
        match certificates {
            Some(paths) => environment.extend(
                ["NATS_TLS_CERT", "NATS_TLS_KEY", "NATS_TLS_CA"]
                    .into_iter()
                    .zip(paths)
                    .map(|(name, path)| (name.to_owned(), path.display().to_string())),
            ),
            None => {
                std::fs::write(scratch.path().join("nats/tls.conf"), "# Without TLS.\n").unwrap();
            }
        }
        let config = scratch.path().join("nats/server.conf");
        let (nats, monitoring) =
            Nats::start_configured(&scratch.path().join("server"), &config, environment)
                .await
                .unwrap();
        Self {
            nats,
            monitoring,
            scratch,
        }
    }

    async fn bus(&self, user: &str) -> Bus {
        let settings = seven_bus::Settings {
            url: self.nats.url(),
            access: access(user),
            limits: topology::Limits::default(),
            instance: user.to_owned(),
        };
        Bus::connect(&settings).await.unwrap()
    }

    /// Returns the log lines in which the server reports a permission violation.
    fn violations(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.scratch.path().join("server/nats.log")).unwrap();
        log.lines()
            .filter(|line| line.contains("Violation"))
            .map(str::to_owned)
            .collect()
    }
}

fn password(user: &str) -> String {
    format!("pw{}", user.replace('-', ""))
}

fn access(user: &str) -> Access {
    Access {
        user: Some((user.to_owned(), SecretString::from(password(user)))),
        ca_file: None,
    }
}

fn casino(id: &str) -> CasinoId {
    id.parse().unwrap()
}
