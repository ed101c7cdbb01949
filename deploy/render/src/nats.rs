//! Renders the NATS servers: configuration, client users with permissions, and Kubernetes resources
//! (D16). Passwords are environment variables; no file holds one.

mod servers;

use std::fmt::Write;

use seven_bus::permissions::Permissions;
use seven_domain::{CasinoId, Stage};
use seven_settings::Worker;

use super::{
    names::{password_variable, user},
    values::{FleetValues, Values},
    yaml::{File, HEAD},
};

pub(crate) use self::servers::{COMPONENT, documents};

/// The NATS account that holds our streams. The autoscaler KEDA must name it to read a backlog.
pub const ACCOUNT: &str = "SEVEN";
/// The account in which the NATS server reports its own events, and the only user of that account.
const SYSTEM_ACCOUNT: &str = "SYSTEM";
const SYSTEM_USER: &str = "system";
/// The user under which operators' commands and onboarding connect.
pub const OPERATOR: &str = "operator";
pub(crate) const SERVICE: &str = "seven-nats";
pub(crate) const CLIENT_PORT: u16 = 4222;
pub(crate) const MONITORING_PORT: u16 = 8222;
pub(crate) const ROUTE_PORT: u16 = 6222;

const SERVER: &str = include_str!("../../nats/server.conf");
const TLS: &str = include_str!("../../nats/tls.conf");

/// A NATS user and its permissions.
#[derive(Debug, Clone)]
pub struct User {
    pub name: String,
    pub permissions: Permissions,
}

/// Returns the host and port to which clients connect.
pub(crate) fn address(fleet: &FleetValues) -> String {
    format!("{SERVICE}.{}.svc:{CLIENT_PORT}", fleet.namespace)
}

/// Returns the host and port where the autoscaler KEDA reads consumers. In a cluster KEDA puts the
/// name of the leader's server before the host. This name is also the name of the server's pod.
pub(crate) fn monitoring(fleet: &FleetValues) -> String {
    format!(
        "{SERVICE}.{}.svc.cluster.local:{MONITORING_PORT}",
        fleet.namespace
    )
}

/// Returns the users of all clients: the fleet's workers, the workers of single casinos, and
/// operators.
pub fn users(values: &Values) -> Vec<User> {
    let mut users: Vec<User> = Worker::ALL
        .into_iter()
        .map(|worker| user_of(worker, None))
        .collect();
    if values.fleet.console.is_some() {
        users.push(user_of(Worker::Console, None));
    }
    if values.fleet.web.is_some() {
        users.push(user_of(Worker::WebGateway, None));
    }
    for casino in &values.casinos {
        let own = Worker::ALL
            .into_iter()
            .filter(|worker| casino.owns(*worker));
        users.extend(own.map(|worker| user_of(worker, Some(&casino.casino_id))));
    }
    users.push(User {
        name: OPERATOR.to_owned(),
        permissions: Permissions::of(OPERATOR).operate(),
    });
    users
}

/// Returns a worker's user. The user's permissions cover the subjects that the worker's code
/// publishes and consumes. If `casino` is `None`, these are the subjects of all casinos.
pub fn user_of(worker: Worker, casino: Option<&CasinoId>) -> User {
    let name = user(worker, casino);
    let base = Permissions::of(&name).follow(casino);
    let base = worker
        .stages()
        .iter()
        .fold(base, |all, stage| all.work(*stage, casino));
    let permissions = match worker {
        Worker::IngressWebhook => base
            .hand_on(Stage::Gate, casino)
            .hand_on(Stage::Receipts, casino)
            // Ingress takes edits from a casino's spreadsheet and announces that the content
            // changed.
            .announce_content(casino)
            .dead_letter(Stage::Ingress, casino)
            // Allows dead letters for signed webhook events whose phone number belongs to no
            // casino.
            .dead_letter(Stage::Ingress, Some(&CasinoId::unknown())),
        Worker::ComplianceGate => base
            .hand_on(Stage::Swarm, casino)
            .hand_on(Stage::Sender, casino)
            .hint(casino)
            .erase(Stage::Gate),
        Worker::AgentSwarm => base
            .hand_on(Stage::Envelope, casino)
            .hand_on(Stage::Sender, casino)
            .hear_content(casino)
            // When the swarm has computed the embeddings of changed content, it announces a new
            // version of the content.
            .announce_content(casino),
        Worker::PersonaEnvelope => base.hand_on(Stage::Sender, casino),
        Worker::OutboundSender => base.hint(casino),
        Worker::WebGateway => base.hand_on(Stage::Gate, casino).hear_hints(),
        Worker::Console => base
            .hand_on(Stage::Swarm, casino)
            .hand_on(Stage::Sender, casino)
            .announce_content(casino)
            .hear_changes(),
        Worker::Scheduler => base.tend(),
    };
    User { name, permissions }
}

/// Returns each password variable of the NATS server, with the user whose password it holds.
pub fn password_variables(values: &Values) -> Vec<(String, String)> {
    let named = users(values)
        .into_iter()
        .map(|user| user.name)
        .chain([SYSTEM_USER.to_owned()]);
    named.map(|user| (password_variable(&user), user)).collect()
}

/// Returns the files of the server's configuration: common settings, TLS, cluster and users.
pub fn files(values: &Values) -> Vec<File> {
    let file = |name: &str, text: String| File {
        path: format!("nats/{name}"),
        text: format!("{HEAD}{text}"),
    };
    vec![
        file("server.conf", SERVER.to_owned()),
        file("tls.conf", TLS.to_owned()),
        file("cluster.conf", cluster(&values.fleet)),
        file("users.conf", users_conf(values)),
    ]
}

fn cluster(fleet: &FleetValues) -> String {
    if fleet.nats.replicas < 2 {
        return "# One server: no cluster.\n".to_owned();
    }
    let routes: Vec<String> = (0..fleet.nats.replicas)
        .map(|n| {
            format!(
                "    \"nats-route://{SERVICE}-{n}.{SERVICE}.{}.svc.cluster.local:{ROUTE_PORT}\"",
                fleet.namespace
            )
        })
        .collect();
    format!(
        "# Servers know each other by their certificates: both sides show one that the same authority signed. They tell clients no\n\
         # addresses of pods, which no certificate vouches for; KEDA then asks each server by the name in its route.\n\
         cluster {{\n  name: \"{SERVICE}\"\n  no_advertise: true\n  listen: \"0.0.0.0:{ROUTE_PORT}\"\n  tls {{\n    cert_file: $NATS_TLS_CERT\n    \
         key_file: $NATS_TLS_KEY\n    ca_file: $NATS_TLS_CA\n    verify: true\n  }}\n  routes: [\n{}\n  ]\n}}\n",
        routes.join("\n")
    )
}

fn users_conf(values: &Values) -> String {
    let mut text = format!(
        "# Who may do what, as the code publishes and subscribes (`seven deploy render`). A password is a variable of the server's environment,\n\
         # of letters and digits and beginning with a letter, or the server takes it for a number.\n\
         accounts {{\n  {ACCOUNT} {{\n    jetstream: enabled\n    users: [\n"
    );
    for user in users(values) {
        write_user(&mut text, &user);
    }
    let password = password_variable(SYSTEM_USER);
    // Writing to a `String` cannot fail.
    let _ = write!(
        text,
        "    ]\n  }}\n  {SYSTEM_ACCOUNT} {{\n    users: [ {{ user: \"{SYSTEM_USER}\", password: ${password} }} ]\n  }}\n}}\n\
         system_account: {SYSTEM_ACCOUNT}\n"
    );
    text
}

fn write_user(text: &mut String, user: &User) {
    let list = |subjects: &std::collections::BTreeSet<String>| {
        subjects
            .iter()
            .map(|subject| format!("            \"{subject}\"\n"))
            .collect::<String>()
    };
    let (name, password) = (&user.name, password_variable(&user.name));
    let (publish, subscribe) = (
        list(&user.permissions.publish),
        list(&user.permissions.subscribe),
    );
    let _ = write!(
        text,
        "      {{\n        user: \"{name}\"\n        password: ${password}\n        permissions {{\n          publish {{ allow: [\n{publish}          \
         ] }}\n          subscribe {{ allow: [\n{subscribe}          ] }}\n        }}\n      }}\n"
    );
}
